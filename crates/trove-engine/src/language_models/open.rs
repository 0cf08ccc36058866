//! Models that are open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use trove_domain::id::LlmProviderId;
use trove_domain::llm_provider::{LlmProvider, LlmProviderDetails};
use trove_domain::port::{LanguageModel, LanguageModelEndpoint};

use crate::administration::llm_providers::{LlmProviderError, ProviderSecrets};

/// Most models that are kept open. More are in use in no deployment; whoever has them pays with
/// connections that are made anew.
const MODELS_MAX: usize = 256;

/// A state of a provider, and one of its models.
type Key = (LlmProviderId, i64, String);

/// Models by the revision of their provider: a changed provider is another one.
#[derive(Default)]
pub(crate) struct OpenModels(Mutex<HashMap<Key, Arc<dyn LanguageModel>>>);

impl OpenModels {
    /// The model, opened if it is not yet.
    pub(crate) fn get_or_open(
        &self,
        provider: &LlmProvider,
        model: &str,
        open: impl FnOnce() -> Result<Arc<dyn LanguageModel>, LlmProviderError>,
    ) -> Result<Arc<dyn LanguageModel>, LlmProviderError> {
        let key = (provider.id, provider.revision, model.to_owned());
        let mut models = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = models.get(&key) {
            return Ok(Arc::clone(model));
        }
        let opened = open()?;
        // Nobody asks for older states any more; who still talks to one keeps it.
        models.retain(|(id, revision, _), _| *id != key.0 || *revision >= key.1);
        if models.len() >= MODELS_MAX {
            models.clear();
        }
        models.insert(key, Arc::clone(&opened));
        Ok(opened)
    }
}

/// Where and how a model of a provider is reached.
pub(crate) fn endpoint(
    details: &LlmProviderDetails,
    secrets: &ProviderSecrets,
    model: &str,
) -> LanguageModelEndpoint {
    let tokens = details.model(model).and_then(|model| model.input_tokens_max);
    LanguageModelEndpoint {
        provider: details.name.clone(),
        kind: details.kind.clone(),
        api_base: details.api_base.clone(),
        api_key: secrets.api_key.clone(),
        api_version: details.api_version.clone(),
        deployment: details.deployment.clone(),
        custom: secrets.custom_config.clone().unwrap_or_default(),
        model: model.to_owned(),
        context_tokens: tokens.and_then(|tokens| usize::try_from(tokens).ok()),
    }
}
