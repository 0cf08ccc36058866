//! What a provider said when it did not answer, and what that means.

use std::time::Duration;

use serde_json::Value;
use trove_domain::port::LanguageModelError;

use crate::endpoint::Endpoint;

/// An error as a provider words it; everything may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) message: String,
    pub(crate) code: String,
    pub(crate) kind: String,
    /// The parameter that the error is about.
    pub(crate) param: String,
    /// Where a status is part of the body.
    pub(crate) status: Option<u16>,
}

impl Said {
    /// Reads the body of an answer.
    pub(crate) fn from_body(body: &[u8]) -> Self {
        if let Ok(value) = serde_json::from_slice::<Value>(body) {
            return Self::from_value(&value);
        }
        let text = String::from_utf8_lossy(body);
        let message = if text.trim_start().starts_with('<') {
            "it answered with a page of HTML, as a proxy does".to_owned()
        } else {
            text.into_owned()
        };
        Self { message, ..Self::default() }
    }

    /// Reads `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}`, and lists of
    /// these.
    pub(crate) fn from_value(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let error = match &value["error"] {
            Value::Null => value,
            error => error,
        };
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Null | Value::Object(_) | Value::Array(_) => String::new(),
            other => other.to_string(),
        };
        let mut said = Self {
            message: text(&error["message"]),
            code: text(&error["code"]).to_ascii_lowercase(),
            kind: text(&error["type"]).to_ascii_lowercase(),
            param: text(&error["param"]),
            status: None,
        };
        said.status = said.code.parse().ok().filter(|status| (400..600).contains(status));
        if let Value::String(message) = error {
            said.message.clone_from(message);
        }
        if said.message.is_empty() {
            said.message = match &value["detail"] {
                Value::Null => text(&value["message"]),
                Value::String(detail) => detail.clone(),
                detail => detail.to_string(),
            };
        }
        said
    }

    fn mentions(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|word| message.contains(word))
    }

    /// Whether this is about a parameter that the server does not know or does not take.
    pub(crate) fn refuses(&self, parameter: &str) -> bool {
        let named = self.param == parameter || self.message.contains(parameter);
        let coded = ["unsupported_parameter", "unsupported_value", "unknown_parameter"];
        let worded = [
            "unsupported",
            "not supported",
            "not support",
            "unrecognized",
            "unknown",
            "unexpected",
            "not permitted",
            "extra_forbidden",
            "extra fields",
            "not allowed",
            "invalid parameter",
        ];
        named && (coded.contains(&self.code.as_str()) || self.mentions(&worded))
    }

    fn is_context_length(&self) -> bool {
        self.code == "context_length_exceeded"
            || self.kind == "exceed_context_size_error"
            || self.mentions(&[
                "context length",
                "context window",
                "context size",
                "maximum context",
                "prompt is too long",
                "input is too long",
                "input is too large",
                "exceeds the maximum number of tokens",
                "too many input tokens",
                "reduce the length",
                "input length exceeds",
                "maximum input length",
                "must have less than",
            ])
    }

    fn is_quota(&self) -> bool {
        matches!(self.code.as_str(), "insufficient_quota" | "billing_hard_limit_reached")
            || self.kind == "insufficient_quota"
    }

    fn is_unknown_model(&self) -> bool {
        matches!(self.code.as_str(), "model_not_found" | "deploymentnotfound" | "model_not_exist")
            || self.kind == "model_not_found"
            || self.mentions(&["model"])
                && self.mentions(&[
                    "does not exist",
                    "not found",
                    "unknown model",
                    "invalid model",
                    "not a valid model",
                ])
    }
}

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: LanguageModelError,
    /// What the provider said, if it said anything.
    pub(crate) said: Box<Said>,
    /// Whether the same request may succeed soon.
    pub(crate) is_passing: bool,
    /// When the provider wants to be asked again.
    pub(crate) retry_after: Option<Duration>,
}

impl From<LanguageModelError> for Failure {
    fn from(error: LanguageModelError) -> Self {
        Self { error, said: Box::default(), is_passing: false, retry_after: None }
    }
}

impl Failure {
    /// Sorts an answer that is an error by its status (if there is one) and its words.
    pub(crate) fn of_answer(
        endpoint: &Endpoint,
        status: Option<u16>,
        said: Said,
        retry_after: Option<Duration>,
    ) -> Self {
        let status = status.filter(|status| !(200..300).contains(status)).or(said.status);
        let detail = detail(endpoint, status, &said);
        let provider = endpoint.provider.clone();
        let model = endpoint.model.clone();
        let quota = |detail| LanguageModelError::Quota {
            provider: endpoint.provider.clone(),
            detail,
            retry_after,
        };
        let unavailable = |detail| LanguageModelError::Unavailable {
            provider: endpoint.provider.clone(),
            detail,
            source: None,
        };
        let kind = said.kind.as_str();
        let code = said.code.as_str();
        let mut is_passing = false;
        let error = match status {
            Some(401) => LanguageModelError::Authentication { provider, detail },
            _ if said.is_quota() => quota(detail),
            Some(402) => quota(detail),
            Some(429) => {
                is_passing = true;
                quota(detail)
            }
            Some(413) => LanguageModelError::ContextLength { model, detail },
            _ if said.is_context_length() => LanguageModelError::ContextLength { model, detail },
            Some(300..400) => LanguageModelError::Refused {
                provider,
                detail: format!(
                    "{detail}; redirects are not followed, so set the address that it leads to"
                ),
            },
            Some(404) => LanguageModelError::UnknownModel { provider, model, detail },
            Some(400 | 403 | 422) if said.is_unknown_model() => {
                LanguageModelError::UnknownModel { provider, model, detail }
            }
            Some(403) => LanguageModelError::Authentication { provider, detail },
            Some(408 | 425 | 500..) => {
                is_passing = true;
                unavailable(detail)
            }
            Some(_) => LanguageModelError::Refused { provider, detail },
            // In the middle of a stream.
            None if code == "invalid_api_key" || kind.contains("authentication") => {
                LanguageModelError::Authentication { provider, detail }
            }
            None if code.contains("rate_limit") || kind.contains("rate_limit") => quota(detail),
            None if kind == "invalid_request_error" => {
                LanguageModelError::Refused { provider, detail }
            }
            None => unavailable(detail),
        };
        Self { error, said: Box::new(said), is_passing, retry_after }
    }
}

/// The provider's words, fit to be shown.
fn detail(endpoint: &Endpoint, status: Option<u16>, said: &Said) -> String {
    let mut words = endpoint.secrets.scrub(&said.message);
    if words.is_empty() {
        words = endpoint.secrets.scrub(if said.code.is_empty() { &said.kind } else { &said.code });
    }
    match (status, words.as_str()) {
        (Some(status), "") => format!("status {status}"),
        (Some(status), words) => format!("{words} (status {status})"),
        (None, "") => "it did not say why".to_owned(),
        (None, words) => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;
    use trove_domain::port::{LanguageModelEndpoint, LanguageModelError};

    use super::{Failure, Said};
    use crate::endpoint::Endpoint;

    fn endpoint() -> Endpoint {
        let endpoint = LanguageModelEndpoint {
            provider: "ours".to_owned(),
            kind: "openai".to_owned(),
            api_base: None,
            api_key: Some("sk-canary".into()),
            api_version: None,
            deployment: None,
            custom: BTreeMap::new(),
            model: "m".to_owned(),
            context_tokens: None,
        };
        Endpoint::resolve(&endpoint, "chat/completions").unwrap()
    }

    fn sorted(status: u16, body: &str) -> (&'static str, String) {
        let said = Said::from_body(body.as_bytes());
        let status = (status > 0).then_some(status);
        let error = Failure::of_answer(&endpoint(), status, said, None).error;
        let name = match &error {
            LanguageModelError::Authentication { .. } => "authentication",
            LanguageModelError::UnknownModel { .. } => "model",
            LanguageModelError::Quota { .. } => "quota",
            LanguageModelError::ContextLength { .. } => "context",
            LanguageModelError::Refused { .. } => "refused",
            LanguageModelError::Unavailable { .. } => "unavailable",
            _ => "other",
        };
        (name, error.to_string())
    }

    #[test]
    fn errors_are_sorted_by_status_and_words() {
        for (status, body, expected) in [
            (
                401,
                r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#,
                "authentication",
            ),
            (403, "", "authentication"),
            (
                404,
                r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#,
                "model",
            ),
            (404, r#"{"error":"model \"m\" not found, try pulling it first"}"#, "model"),
            (400, r#"{"error":{"message":"invalid model name passed in model=m"}}"#, "model"),
            (
                429,
                r#"{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}"#,
                "quota",
            ),
            (429, r#"{"error":{"message":"You exceeded","code":"insufficient_quota"}}"#, "quota"),
            (402, r#"{"error":{"message":"Insufficient credits","code":402}}"#, "quota"),
            (
                400,
                r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#,
                "context",
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens."}"#,
                "context",
            ),
            (
                500,
                r#"{"error":{"message":"the request exceeds the available context size"}}"#,
                "context",
            ),
            (413, "", "context"),
            (
                500,
                r#"{"error":{"message":"input is too large to process. increase the physical batch size","code":500}}"#,
                "context",
            ),
            (400, r#"{"error":{"message":"flagged","code":"content_filter"}}"#, "refused"),
            (422, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "refused"),
            (307, "", "refused"),
            (500, "<html>", "unavailable"),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "unavailable",
            ),
            (0, r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#, "quota"),
            (0, r#"{"error":{"message":"out of memory","code":500}}"#, "unavailable"),
            (0, r#"{"error":{"message":"x","type":"invalid_request_error"}}"#, "refused"),
            (0, r#"{"error":{}}"#, "unavailable"),
        ] {
            assert_eq!(sorted(status, body).0, expected, "{status} {body}");
        }
    }

    #[test]
    fn words_are_shown_without_the_key() {
        let shown = sorted(401, r#"{"error":{"message":"no such key:\n sk-canary"}}"#).1;
        assert_eq!(shown, "ours does not accept the key: no such key: ******** (status 401)");
        let shown = sorted(502, "<html><body>sk-canary</body></html>").1;
        assert!(shown.contains("a page of HTML") && shown.contains("502"), "{shown}");
        let shown = sorted(401, r#"{"error":{"code":"SK-CANARY","message":""}}"#).1;
        assert!(!shown.to_lowercase().contains("canary"), "{shown}");
        assert!(sorted(503, "").1.contains("status 503"));
        assert!(sorted(503, &"x".repeat(10_000)).1.len() < 400);
    }

    #[test]
    fn a_refused_parameter_is_told_from_a_wrong_value() {
        let said = |value| Said::from_value(&value);
        let unsupported = said(json!({ "error": {
            "message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "param": "max_tokens", "code": "unsupported_parameter" } }));
        assert!(unsupported.refuses("max_tokens"));
        assert!(!unsupported.refuses("temperature"));
        let old = said(json!({ "error": {
            "message": "Unrecognized request argument supplied: stream_options" } }));
        assert!(old.refuses("stream_options"));
        let strict = said(json!({ "detail": [{ "type": "extra_forbidden",
            "loc": ["body", "reasoning_effort"], "msg": "Extra inputs are not permitted" }] }));
        assert!(strict.refuses("reasoning_effort"));
        let large = said(json!({ "error": {
            "message": "max_tokens is too large: 9000", "param": "max_tokens" } }));
        assert!(!large.refuses("max_tokens"));
    }
}
