use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::port::LanguageModelError;

use crate::administration::llm_providers::LlmProviderError;

/// Why a call has no model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LanguageModelChoiceError {
    /// There is no such provider, or none that the caller may use.
    #[error("there is no LLM provider {name:?}")]
    UnknownProvider {
        /// Its name, shortened.
        name: String,
    },
    /// An administrator may not use the provider so: it is bound to agents.
    #[error("the LLM provider {name:?} may not be used here")]
    Forbidden {
        /// Its name, shortened.
        name: String,
    },
    /// The provider has no such model.
    #[error("the LLM provider {provider:?} has no model {model:?}")]
    UnknownModel {
        /// Name of the provider, shortened.
        provider: String,
        /// Name of the model, shortened.
        model: String,
    },
    /// The model is there and cannot be opened.
    #[error(transparent)]
    Provider(#[from] LlmProviderError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LanguageModelChoiceError {
    pub(super) fn unknown_provider(name: &str) -> Self {
        Self::UnknownProvider { name: shown(name) }
    }

    pub(super) fn forbidden(name: &str) -> Self {
        Self::Forbidden { name: shown(name) }
    }

    pub(super) fn unknown_model(provider: &str, model: &str) -> Self {
        Self::UnknownModel { provider: shown(provider), model: shown(model) }
    }

    /// Why the model could not be opened, when it is that.
    #[must_use]
    pub fn model_error(&self) -> Option<&LanguageModelError> {
        match self {
            Self::Provider(LlmProviderError::Model(error)) => Some(error),
            _ => None,
        }
    }
}

fn shown(name: &str) -> String {
    crate::administration::llm_providers::shown(name)
}

impl Classify for LanguageModelChoiceError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownProvider { .. } | Self::UnknownModel { .. } => ErrorKind::NotFound,
            Self::Forbidden { .. } => ErrorKind::Forbidden,
            Self::Provider(error) => error.kind(),
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> Option<&'static str> {
        match self {
            // What clients of the interface know this refusal by.
            Self::Forbidden { .. } => Some("UNAUTHORIZED"),
            _ => None,
        }
    }
}
