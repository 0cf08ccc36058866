use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::{AgentId, LlmProviderId};
use trove_domain::port::{LanguageModelError, ProviderRefusal, SecretCipherError};

/// Why something was not done with a provider.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LlmProviderError {
    /// There is no such provider.
    #[error("there is no LLM provider {0}")]
    NoSuchProvider(LlmProviderId),
    /// A change of a provider that there is not.
    #[error("there is no LLM provider {which} to update; send is_creation=true to make one")]
    NothingToUpdate {
        /// Its id or name.
        which: String,
    },
    /// The provider has no such model.
    #[error("the LLM provider {id} has no model {model:?}")]
    NoSuchModel {
        /// The provider.
        id: LlmProviderId,
        /// The model.
        model: String,
    },
    /// The provider has no model for a purpose, and none was named.
    #[error("the LLM provider {0} has no default model for this; name one")]
    NoModelFor(LlmProviderId),
    /// There is no such agent for the caller.
    #[error("there is no agent {0}")]
    NoSuchAgent(AgentId),
    /// A provider is to be bound to an agent that there is not.
    #[error("personas: there is no agent {0}")]
    UnknownAgent(AgentId),
    /// A provider is to be bound to a group that there is not.
    #[error("groups: one of the groups does not exist")]
    UnknownGroup,
    /// Another provider has the name.
    #[error("there is an LLM provider {0:?} already; choose another name")]
    NameTaken(String),
    /// There are too many.
    #[error("there are {max} LLM providers already, which is the most", max = trove_domain::llm_provider::LlmProvider::COUNT_MAX)]
    Full,
    /// A default provider is to be removed.
    #[error(
        "the LLM provider {0} is the default, for texts, images or naming conversations; make \
         another one the default first, or send force=true"
    )]
    IsDefault(LlmProviderId),
    /// A field holds what it cannot hold.
    #[error("{field}: {why}")]
    Field {
        /// Its name in the interface.
        field: &'static str,
        /// What is wrong with it. Shows nothing of a secret.
        why: String,
    },
    /// The stored secrets would go to another address.
    #[error(
        "the address or the settings of the provider change, and its stored {field} would be sent \
         there: send {field} again, with {field}_changed set to true"
    )]
    SecretsNeeded {
        /// `api_key` or `custom_config`.
        field: &'static str,
    },
    /// Others keep changing the provider.
    #[error("the LLM provider was changed by others at the same time; look at it and try again")]
    Busy,
    /// There is no default to test.
    #[error("there is no default LLM provider")]
    NoDefault,
    /// There is nothing that reaches models.
    #[error("this deployment cannot reach language models")]
    NoFactory,
    /// The model does not answer, or cannot be opened.
    #[error(transparent)]
    Model(LanguageModelError),
    /// The model answers, and says nothing.
    #[error("the model {0}")]
    Silent(&'static str),
    /// An address that is not stored does not answer as a model would.
    #[error("{0}")]
    Unproven(&'static str),
    /// There is no key for secrets in this process.
    #[error("this process has no key for secrets")]
    NoCipher,
    /// The key for secrets was changed while this process ran.
    #[error("the key for secrets was changed while this process ran; start it again")]
    KeyChanged,
    /// A secret could not be sealed or opened.
    #[error("a secret of an LLM provider cannot be used")]
    Cipher(#[from] SecretCipherError),
    /// The stored settings are not what was stored.
    #[error("the custom settings of the LLM provider {0} are damaged")]
    Damaged(LlmProviderId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LlmProviderError {
    /// Why a provider called `name` was not stored.
    pub(super) fn of(refusal: ProviderRefusal, name: String) -> Self {
        match refusal {
            ProviderRefusal::NameTaken => Self::NameTaken(name),
            ProviderRefusal::Full => Self::Full,
            ProviderRefusal::NoSuchGroup => Self::UnknownGroup,
            ProviderRefusal::Superseded => Self::Busy,
            ProviderRefusal::KeyChanged => Self::KeyChanged,
        }
    }
}

impl Classify for LlmProviderError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchProvider(_)
            | Self::NoSuchModel { .. }
            | Self::NoModelFor(_)
            | Self::NoSuchAgent(_) => ErrorKind::NotFound,
            Self::NothingToUpdate { .. }
            | Self::UnknownAgent(_)
            | Self::UnknownGroup
            | Self::NameTaken(_)
            | Self::Full
            | Self::IsDefault(_)
            | Self::Field { .. }
            | Self::SecretsNeeded { .. }
            | Self::NoDefault
            // Whatever is wrong, it is what was to be found out.
            | Self::Model(_)
            | Self::Silent(_)
            | Self::Unproven(_) => ErrorKind::Invalid,
            Self::Busy => ErrorKind::Conflict,
            Self::NoFactory => ErrorKind::Unsupported,
            Self::NoCipher | Self::Damaged(_) => ErrorKind::Internal,
            Self::KeyChanged => ErrorKind::Unavailable,
            Self::Cipher(error) => error.kind(),
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> Option<&'static str> {
        match self {
            Self::NoSuchAgent(_) => Some("PERSONA_NOT_FOUND"),
            _ => None,
        }
    }
}
