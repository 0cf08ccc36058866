//! A factory of language models that say what a test tells them to.

use std::sync::{Arc, Mutex};

use trove_domain::llm::LlmRequest;
use trove_domain::port::{
    LanguageModel, LanguageModelEndpoint, LanguageModelError, LanguageModelFactory,
};

use crate::scripted_model::ScriptedLanguageModel;

type Script = Arc<
    dyn Fn(&LanguageModelEndpoint, &LlmRequest) -> Result<String, LanguageModelError> + Send + Sync,
>;

/// Opens models that answer by a script, and keeps the endpoints they were opened with.
///
/// An endpoint of the kind `unknown` cannot be opened.
pub struct ScriptedLanguageModels {
    script: Script,
    opened: Mutex<Vec<LanguageModelEndpoint>>,
}

impl ScriptedLanguageModels {
    /// Models that answer a request with what `script` says, given where they were opened.
    pub fn new(
        script: impl Fn(&LanguageModelEndpoint, &LlmRequest) -> Result<String, LanguageModelError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { script: Arc::new(script), opened: Mutex::default() }
    }

    /// The endpoints that models were opened with, oldest first.
    pub fn opened(&self) -> Vec<LanguageModelEndpoint> {
        self.opened.lock().unwrap().clone()
    }
}

impl Default for ScriptedLanguageModels {
    /// Models that agree with everything.
    fn default() -> Self {
        Self::new(|_, _| Ok("yes".to_owned()))
    }
}

impl LanguageModelFactory for ScriptedLanguageModels {
    fn open(
        &self,
        endpoint: LanguageModelEndpoint,
    ) -> Result<Arc<dyn LanguageModel>, LanguageModelError> {
        if endpoint.kind == "unknown" {
            let detail = "there is no kind of provider called unknown".to_owned();
            return Err(LanguageModelError::Invalid { detail });
        }
        self.opened.lock().unwrap().push(endpoint.clone());
        let script = Arc::clone(&self.script);
        let (provider, model) = (endpoint.provider.clone(), endpoint.model.clone());
        let scripted = ScriptedLanguageModel::new(move |request| script(&endpoint, request));
        Ok(Arc::new(scripted.named(&provider, &model)))
    }
}
