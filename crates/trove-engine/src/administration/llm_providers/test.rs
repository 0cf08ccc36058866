//! Asks a model something tiny, to see whether it answers.
//!
//! This is no way to send a stored key elsewhere: an unsaved address gets the secrets that come
//! with the request and no others. Nor is it a way to look around in the network: of an unsaved
//! address only the outcome is told, not what it said.

use std::time::Duration;

use futures::StreamExt;
use secrecy::ExposeSecret;
use trove_domain::id::LlmProviderId;
use trove_domain::llm::{FinishReason, LlmEvent, LlmMessage, LlmRequest};
use trove_domain::llm_provider::{LlmProviderDetails, ModelConfiguration, ModelPurpose};
use trove_domain::port::{LanguageModel, LanguageModelError};

use super::{Connection, LlmProviderError, check};
use crate::Engine;
use crate::language_models::endpoint;

/// What is to be tried out.
#[derive(Clone, Debug)]
pub struct ModelTest {
    /// The stored provider whose secrets may be used, by id.
    pub id: Option<LlmProviderId>,
    /// The same by name.
    pub name: Option<String>,
    /// What kind of provider it is.
    pub kind: String,
    /// Where and how it is reached.
    pub connection: Connection,
    /// The model to ask.
    pub model: String,
}

/// Longest time that a test takes: shorter than clients wait.
const TIME_MAX: Duration = Duration::from_secs(20);

/// Most tokens of the answer, for which nobody cares.
const ANSWER_TOKENS_MAX: u32 = 16;

impl Engine {
    /// Asks the model that would be reached so.
    ///
    /// # Errors
    ///
    /// [`LlmProviderError::Model`] and [`LlmProviderError::Unproven`] when it does not answer,
    /// [`LlmProviderError::Silent`] when the answer is empty.
    pub async fn test_llm(&self, test: ModelTest) -> Result<(), LlmProviderError> {
        check::name("provider", &test.kind)?;
        check::name("model", &test.model)?;
        check::connection(&test.connection)?;
        let factory =
            self.backends().language_models.as_ref().ok_or(LlmProviderError::NoFactory)?;
        let present = self.present(test.id, test.name.as_deref()).await?;
        if let (Some(id), None) = (test.id, &present) {
            return Err(LlmProviderError::NoSuchProvider(id));
        }
        let secrets = self.secrets_to_use(&test.kind, &test.connection, present.as_ref())?;
        let Connection { api_base, api_version, deployment, .. } = test.connection;
        let is_stored = api_base.is_none()
            || present.as_ref().is_some_and(|present| present.details.api_base == api_base);
        let details = LlmProviderDetails {
            name: test.name.unwrap_or_else(|| test.kind.clone()),
            kind: test.kind,
            api_base,
            api_version,
            deployment,
            api_key: None,
            custom_config: None,
            default_models: [].into(),
            public: false,
            auto_mode: false,
            groups: [].into(),
            agents: [].into(),
            models: vec![ModelConfiguration::new(test.model.clone())],
        };
        // Settings of a kind may hold an address, too.
        let is_stored = is_stored
            && secrets.custom_config.as_ref().is_none_or(|config| {
                config.values().all(|value| !value.expose_secret().contains("://"))
            });
        let model = factory.open(endpoint(&details, &secrets, &test.model));
        let asked = match model {
            Ok(model) => ask(model.as_ref()).await,
            Err(error) => Err(error.into()),
        };
        asked.map_err(|error| match error {
            LlmProviderError::Model(error) if !is_stored => outcome(error),
            error => error,
        })
    }

    /// Asks the default model of the deployment.
    ///
    /// # Errors
    ///
    /// [`LlmProviderError::NoDefault`], [`LlmProviderError::Model`], [`LlmProviderError::Silent`].
    pub async fn test_default_llm(&self) -> Result<(), LlmProviderError> {
        let store = &self.backends().llm_providers;
        let model = match store.get_default(ModelPurpose::Text).await? {
            Some(provider) => {
                let model = provider.details.default_models.get(&ModelPurpose::Text);
                let model = model.ok_or(LlmProviderError::NoModelFor(provider.id))?;
                self.open_model(&provider, model)?
            }
            None => {
                // The built-in model quotes: it answers always and follows no instruction.
                let configured = self.backends().language_model.clone();
                configured
                    .filter(|model| model.info().follows_instructions)
                    .ok_or(LlmProviderError::NoDefault)?
            }
        };
        ask(model.as_ref()).await
    }
}

async fn ask(model: &dyn LanguageModel) -> Result<(), LlmProviderError> {
    let request = LlmRequest {
        messages: vec![LlmMessage::user("Say yes.")],
        output_tokens_max: ANSWER_TOKENS_MAX,
        temperature: None,
        deadline: TIME_MAX,
        pause_max: TIME_MAX,
    };
    let unavailable = |detail: &str| {
        LlmProviderError::Model(LanguageModelError::Unavailable {
            provider: model.info().provider.clone(),
            detail: detail.to_owned(),
            source: None,
        })
    };
    let answer = async {
        let mut stream = model.stream(request).await?;
        let (mut spoke, mut thought) = (false, false);
        while let Some(event) = stream.next().await {
            match event? {
                LlmEvent::Text(text) => spoke |= !text.trim().is_empty(),
                LlmEvent::Reasoning(text) => thought |= !text.trim().is_empty(),
                LlmEvent::Finished { reason, .. } => return judge(spoke, thought, reason),
            }
        }
        Err(unavailable("the answer has no end"))
    };
    let answered = tokio::time::timeout(TIME_MAX, answer).await;
    answered.unwrap_or_else(|_| Err(unavailable("it did not answer in time")))
}

/// Whether an answer shows that the model works. One that was cut off does without a word, too: a
/// model that thinks first has used up the little that it was given, and need not tell what it
/// thought.
fn judge(spoke: bool, thought: bool, reason: FinishReason) -> Result<(), LlmProviderError> {
    let why = match reason {
        _ if spoke => return Ok(()),
        FinishReason::Length => return Ok(()),
        FinishReason::ContentFilter => "was asked to say yes, and its provider withheld the answer",
        FinishReason::Stop if thought => "thought about it and gave no answer",
        FinishReason::Stop => "gave an empty answer",
    };
    Err(LlmProviderError::Silent(why))
}

impl From<LanguageModelError> for LlmProviderError {
    fn from(error: LanguageModelError) -> Self {
        Self::Model(error)
    }
}

/// What is told of an address that nobody has stored: nothing that it said.
fn outcome(error: LanguageModelError) -> LlmProviderError {
    LlmProviderError::Unproven(match error {
        // Said by us, before anything was sent.
        LanguageModelError::Invalid { .. } => return LlmProviderError::Model(error),
        LanguageModelError::Authentication { .. } => "the server does not accept the key",
        LanguageModelError::Quota { .. } => "the server takes no more requests at present",
        LanguageModelError::UnknownModel { .. } => {
            "the server has no such model, or api_base is not the address of its interface"
        }
        _ => {
            "the server cannot be reached, or does not answer as a language model; once the \
             provider is saved, its test says more"
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_works_when_it_says_something_or_is_cut_off() {
        for (spoke, thought, reason, why) in [
            (true, false, FinishReason::Stop, None),
            (true, true, FinishReason::ContentFilter, None),
            (false, true, FinishReason::Length, None),
            (false, false, FinishReason::Length, None),
            (false, false, FinishReason::Stop, Some("empty")),
            (false, true, FinishReason::Stop, Some("no answer")),
            (false, false, FinishReason::ContentFilter, Some("withheld")),
        ] {
            let said = judge(spoke, thought, reason).err().map(|error| error.to_string());
            let as_expected = match (&said, why) {
                (None, None) => true,
                (Some(said), Some(why)) => said.contains(why),
                _ => false,
            };
            assert!(as_expected, "{spoke} {thought} {reason:?}: {said:?}");
        }
    }
}
