//! `GET /admin/llm/built-in/options`

use actix_web::HttpResponse;
use serde::Serialize;
use trove_domain::llm_provider::ModelConfiguration;
use utoipa::ToSchema;

use super::records::ModelReply;
use crate::error::ApiError;
use crate::extract::Caller;

/// Kinds of provider, with the name to display and models that are known to be there. The first
/// model is the one to begin with. Servers of one's own have the models that were put there.
const KINDS: [(&str, &str, &[&str]); 13] = [
    ("openai", "OpenAI", &["gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini"]),
    ("azure", "Azure OpenAI", &[]),
    ("anthropic", "Anthropic", &[]),
    ("deepseek", "DeepSeek", &[]),
    ("groq", "Groq", &[]),
    ("mistral", "Mistral", &[]),
    ("openrouter", "OpenRouter", &[]),
    ("ollama", "Ollama", &[]),
    ("vllm", "vLLM", &[]),
    ("litellm", "LiteLLM", &[]),
    ("lm_studio", "LM Studio", &[]),
    ("llama_cpp", "llama.cpp", &[]),
    ("openai_compatible", "OpenAI-compatible", &[]),
];

/// A kind of provider for people.
pub(super) fn display_name(kind: &str) -> String {
    let known = KINDS.iter().find(|(name, ..)| *name == kind);
    known.map_or(kind, |(_, display, _)| display).to_owned()
}

/// A kind of provider.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WellKnownLLMProviderDescriptor)]
pub(crate) struct OptionReply {
    /// What a provider of this kind has as `provider`.
    name: &'static str,
    /// Models that are known to be there.
    known_models: Vec<ModelReply>,
    /// The model to begin with; null when none is known.
    recommended_default_model: Option<RecommendedModel>,
}

/// A model to begin with.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SimpleKnownModel)]
pub(crate) struct RecommendedModel {
    /// Its name at the provider.
    name: &'static str,
    /// Name to display.
    display_name: Option<String>,
}

/// The kinds of provider that there are.
///
/// Every server that speaks the interface of OpenAI can be used with its address in `api_base`.
#[utoipa::path(
    get, path = "/admin/llm/built-in/options", tag = "language models",
    operation_id = "list_llm_options",
    responses((status = 200, description = "The kinds.", body = Vec<OptionReply>))
)]
pub(crate) async fn list_llm_options(_caller: Caller) -> Result<HttpResponse, ApiError> {
    let option = |(name, _, models): (&'static str, &str, &'static [&'static str])| OptionReply {
        name,
        known_models: models
            .iter()
            .map(|model| ModelReply::new(ModelConfiguration::new((*model).to_owned()), name))
            .collect(),
        recommended_default_model: models
            .first()
            .map(|name| RecommendedModel { name, display_name: None }),
    };
    let options: Vec<OptionReply> = KINDS.into_iter().map(option).collect();
    Ok(HttpResponse::Ok().json(options))
}
