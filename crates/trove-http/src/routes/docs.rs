//! The interface's document, and pages that show it.
//!
//! The document is for signed-in callers. A browser cannot send a key when it opens a page, so the
//! page is public, says nothing about the deployment, and asks for the key before it fetches the
//! document. The key stays in the page's memory.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use actix_web::web::Data;
use utoipa_swagger_ui::Config;

use crate::Settings;
use crate::error::{ApiError, Refusal};
use crate::extract::{Caller, Input, Parts, Valid};
use crate::validation::{Read, text};

pub(crate) const JSON_PATH: &str = "/openapi.json";
pub(super) const PAGE_PATH: &str = "/docs";
pub(super) const FILE_PATH: &str = "/docs/{file}";

/// Everything from this server, styles of the interface among them, and nothing else.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; \
    style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// What the vendored interface consists of; the rest of it is not served.
const VENDORED: [&str; 3] = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];

/// Whether a path is one of this file.
pub(super) fn is_docs(path: &str) -> bool {
    [JSON_PATH, PAGE_PATH, FILE_PATH].contains(&path)
}

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "system", operation_id = "openapi",
    responses((status = 200, description = "The document.", body = serde_json::Value))
)]
pub(crate) async fn document(
    _caller: Caller,
    settings: Data<Settings>,
) -> Result<HttpResponse, ApiError> {
    let document = settings.document.clone();
    Ok(HttpResponse::Ok().content_type("application/json").body(document))
}

/// The page.
pub(crate) async fn page() -> Result<HttpResponse, ApiError> {
    Ok(asset("text/html; charset=utf-8", include_str!("docs/page.html").as_bytes().to_vec()))
}

/// Which file.
pub(crate) struct DocsFile(String);

impl Input for DocsFile {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.path(|path| path.required("file", text)).map(Self)
    }
}

/// A file of the page.
pub(crate) async fn file(Valid(DocsFile(name)): Valid<DocsFile>) -> Result<HttpResponse, ApiError> {
    if name == "page.js" {
        let script = include_str!("docs/page.js").as_bytes().to_vec();
        return Ok(asset("text/javascript; charset=utf-8", script));
    }
    let missing = || ApiError::Refused(Refusal::NoSuchPath);
    if !VENDORED.contains(&name.as_str()) {
        return Err(missing());
    }
    let file = utoipa_swagger_ui::serve(&name, Arc::new(Config::default()));
    let file = file.ok().flatten().ok_or_else(missing)?;
    Ok(asset(&file.content_type, file.bytes.into_owned()))
}

fn asset(content_type: &str, body: Vec<u8>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(content_type)
        .insert_header((CONTENT_SECURITY_POLICY, PAGE_POLICY))
        .insert_header((CACHE_CONTROL, "public, max-age=3600"))
        .body(body)
}
