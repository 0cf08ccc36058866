//! The interface's document: what the handlers say of themselves, and what the table of routes
//! knows about all of them.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;
use utoipa::OpenApi as _;
use utoipa::openapi::path::{HttpMethod, Operation, PathItem};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, ResponseBuilder, Server};

use crate::endpoint::{EndpointInfo, Gate, Policy};
use crate::routes::{self, Document};

/// Name of the one security scheme.
const SCHEME: &str = "BearerAuth";

/// The document, for the default prefix.
#[must_use]
pub fn openapi() -> OpenApi {
    at_prefix("/api")
}

/// The document as it is served below `prefix`.
pub(crate) fn document(prefix: &str) -> Bytes {
    // A document of plain structures has no way to fail.
    Bytes::from(serde_json::to_vec(&at_prefix(prefix)).unwrap_or_default())
}

fn at_prefix(prefix: &str) -> OpenApi {
    let mut document = Document::openapi();
    let base = if prefix.is_empty() { "/" } else { prefix };
    document.servers = Some(vec![Server::new(base)]);
    let mut scheme = Http::new(HttpAuthScheme::Bearer);
    scheme.description =
        Some("An API key. Browsers send the cookie of a session instead.".to_owned());
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(SCHEME, SecurityScheme::Http(scheme));

    let infos = routes::inventory();
    for info in infos.iter().filter(|info| info.documented) {
        let Some(method) = http_method(info) else { continue };
        if let Some(neutral) = info.companion_of {
            // Neutral paths come first in the inventory, and are complete by now.
            let source = document.paths.paths.get_mut(neutral);
            let operation = source.and_then(|item| operation(item, &method).clone());
            if let Some(mut copy) = operation {
                copy.operation_id = copy.operation_id.map(|id| format!("{id}_companion"));
                copy.description = Some(format!("The same as `{neutral}`."));
                let item = document.paths.paths.entry(info.path.to_owned()).or_default();
                *self::operation(item, &method) = Some(copy);
            }
        } else if let Some(item) = document.paths.paths.get_mut(info.path)
            && let Some(operation) = operation(item, &method)
        {
            describe(operation, info);
        }
    }
    with_sorted_examples(document)
}

/// Examples are free JSON, whose keys come sorted or as written depending on a feature of
/// `serde_json` that any crate of a build may turn on. Sorted, the document is the same always.
fn with_sorted_examples(document: OpenApi) -> OpenApi {
    fn sort(value: Value) -> Value {
        match value {
            Value::Object(entries) => {
                let entries: BTreeMap<String, Value> = entries.into_iter().collect();
                entries.into_iter().map(|(key, value)| (key, sort(value))).collect()
            }
            Value::Array(items) => items.into_iter().map(sort).collect(),
            scalar => scalar,
        }
    }
    let sorted = serde_json::to_value(&document).map(sort).and_then(serde_json::from_value);
    sorted.unwrap_or(document)
}

fn http_method(info: &EndpointInfo) -> Option<HttpMethod> {
    Some(match info.method.as_str() {
        "GET" => HttpMethod::Get,
        "POST" => HttpMethod::Post,
        "PUT" => HttpMethod::Put,
        "PATCH" => HttpMethod::Patch,
        "DELETE" => HttpMethod::Delete,
        _ => return None,
    })
}

fn operation<'a>(item: &'a mut PathItem, method: &HttpMethod) -> &'a mut Option<Operation> {
    match method {
        HttpMethod::Get => &mut item.get,
        HttpMethod::Put => &mut item.put,
        HttpMethod::Post => &mut item.post,
        HttpMethod::Delete => &mut item.delete,
        HttpMethod::Patch => &mut item.patch,
        HttpMethod::Options => &mut item.options,
        HttpMethod::Head => &mut item.head,
        HttpMethod::Trace => &mut item.trace,
    }
}

/// Adds what policy, gate and the reading of requests make of every operation alike.
fn describe(operation: &mut Operation, info: &EndpointInfo) {
    let has_body = operation.request_body.is_some();
    let has_input = has_body || operation.parameters.is_some();
    let guarded = info.policy != Policy::Public;
    if !guarded && !has_input {
        return;
    }
    if guarded {
        let mut ways = vec![SecurityRequirement::new(SCHEME, Vec::<String>::new())];
        if info.policy == Policy::Chat {
            // None at all, where anonymous access is on.
            ways.push(SecurityRequirement::default());
        }
        operation.security = Some(ways);
    }
    let mut add = |applies: bool, status: &str, schema: &str, description: &str| {
        if applies {
            let content = Content::new(Some(Ref::from_schema_name(schema)));
            let response = ResponseBuilder::new().description(description);
            let response = response.content("application/json", content).build();
            let responses = &mut operation.responses.responses;
            responses.entry(status.to_owned()).or_insert_with(|| response.into());
        }
    };
    let error = "ErrorBody";
    let changes = !matches!(info.method.as_str(), "GET");
    let may_refuse =
        changes || !matches!(info.policy, Policy::Public | Policy::Chat | Policy::Limited);
    let has_gate = info.gate == Gate::VectorDb;
    let unknown = match info.policy {
        Policy::Chat => "There is no valid credential, and anonymous access is off.",
        _ => "There is no credential, or it is not valid.",
    };
    add(guarded, "401", error, unknown);
    add(
        may_refuse,
        "403",
        error,
        "The role of the caller does not allow it, or a page of another origin asks.",
    );
    add(has_body, "408", error, "The body did not arrive in time.");
    add(has_body, "413", error, "The body is too large.");
    add(has_body, "415", error, "The body is compressed.");
    add(has_input, "422", "HTTPValidationError", "The request is malformed.");
    add(true, "500", error, "The server failed.");
    add(
        has_gate,
        "501",
        error,
        "The deployment has no vector database, or the request asks for a part of the interface \
         that this version does not have.",
    );
    add(true, "503", error, "Not possible at present; `Retry-After` tells when to ask again.");
    add(true, "504", error, "The request took too long.");
}

#[cfg(test)]
mod tests;
