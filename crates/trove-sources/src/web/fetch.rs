//! One page, from the request to what it is.

use std::time::Duration;

use reqwest::header::{HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use url::Url;

use super::address::{canonical, last_part};
use super::robots::Robots;
use super::state::Visit;
use crate::dialer::{DialError, Dialer, Head, Request};

/// Largest page.
const PAGE_BYTES_MAX: usize = 20 << 20;
/// Largest file that a page links to.
const FILE_BYTES_MAX: usize = 64 << 20;

/// What a page is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    /// A file under this name.
    File(String),
    /// Nothing to read.
    Other,
}

/// What came of a request.
#[derive(Debug)]
pub(super) enum Fetched {
    /// It is here.
    Page(FetchedPage),
    /// It has not changed since it was read the last time.
    Unchanged(Url),
    /// The host says that it is not there (any more).
    Gone(u16),
    /// It is left out, for this reason.
    Left(String),
    /// It did not work, for this reason.
    Failed(String),
    /// Nobody answers, or nothing of use at present, for this reason.
    Unreachable(String),
    /// The host wants to be left alone.
    Busy(Option<Duration>),
}

/// A page that was read.
#[derive(Debug)]
pub(super) struct FetchedPage {
    pub(super) url: Url,
    pub(super) kind: Kind,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    pub(super) etag: String,
    pub(super) modified: String,
}

/// Asks for a page; `listing` reads only what leads on.
pub(super) async fn fetch(
    dialer: &Dialer,
    extensions: &[&str],
    address: &str,
    robots: &Robots,
    known: Option<&Visit>,
    listing: bool,
) -> Fetched {
    let url = match dialer.policy().admit(address) {
        Ok(url) => url,
        Err(error) => return Fetched::Failed(error.to_string()),
    };
    if !robots.allows(address) {
        return Fetched::Left("robots.txt of the host asks to leave it out".to_owned());
    }
    let mut request = Request { interval: robots.interval, ..Request::get(url) };
    request.bytes_max = FILE_BYTES_MAX;
    for (name, value) in [
        (IF_NONE_MATCH, known.and_then(|visit| visit.etag.as_deref())),
        (IF_MODIFIED_SINCE, known.and_then(|visit| visit.modified.as_deref())),
    ] {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            request.headers.insert(name, value);
        }
    }
    let wanted = |head: &Head| match kind_of(head, extensions) {
        Kind::Html => head.status == 200,
        Kind::File(_) => head.status == 200 && !listing,
        Kind::Other => false,
    };
    let answer = match dialer.fetch(&request, &wanted).await {
        Ok(answer) => answer,
        Err(error @ DialError::Unreachable { .. }) => {
            return Fetched::Unreachable(error.to_string());
        }
        Err(error) => return Fetched::Failed(error.to_string()),
    };
    let (head, body) = (answer.head, answer.body);
    let url = canonical(head.url.clone());
    match head.status {
        200 => {}
        304 if known.is_some() => return Fetched::Unchanged(url),
        404 | 410 => return Fetched::Gone(head.status),
        429 => return Fetched::Busy(head.retry_after),
        503 if head.retry_after.is_some() => return Fetched::Busy(head.retry_after),
        status @ 500.. => {
            return Fetched::Unreachable(format!("the host answers with status {status}"));
        }
        status => return Fetched::Failed(format!("the host answers with status {status}")),
    }
    let kind = kind_of(&head, extensions);
    match &kind {
        Kind::Other => {
            let content_type = head.text("content-type");
            let shown: String = content_type.chars().take(60).collect();
            return Fetched::Left(format!("files of type `{shown}` are not read"));
        }
        Kind::Html if body.len() > PAGE_BYTES_MAX => {
            return Fetched::Failed("the page is longer than allowed".to_owned());
        }
        Kind::Html | Kind::File(_) => {}
    }
    let text = |name| head.text(name).to_owned();
    Fetched::Page(FetchedPage {
        kind,
        content_type: text("content-type"),
        etag: text("etag"),
        modified: text("last-modified"),
        url,
        body,
    })
}

/// What an answer is, by its type and, where that says nothing, by the address.
fn kind_of(head: &Head, extensions: &[&str]) -> Kind {
    let content_type = head.text("content-type").split(';').next().unwrap_or_default();
    let content_type = content_type.trim().to_ascii_lowercase();
    let name = last_part(&head.url);
    let named = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let by_type = match content_type.as_str() {
        "text/html" | "application/xhtml+xml" => return Kind::Html,
        "application/pdf" | "application/x-pdf" => "pdf",
        "application/rtf" | "text/rtf" => "rtf",
        "application/epub+zip" => "epub",
        "application/msword" => "doc",
        "application/vnd.ms-excel" => "xls",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation" => "pptx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "application/vnd.oasis.opendocument.text" => "odt",
        "application/vnd.oasis.opendocument.presentation" => "odp",
        "application/vnd.oasis.opendocument.spreadsheet" => "ods",
        "text/markdown" | "text/x-markdown" => "md",
        "text/csv" => "csv",
        "text/plain"
        | ""
        | "application/octet-stream"
        | "binary/octet-stream"
        | "application/force-download"
        | "application/x-download" => match named.as_deref() {
            Some("html" | "htm" | "xhtml") => return Kind::Html,
            Some(named) if extensions.contains(&named) && named != "zip" => named,
            _ if content_type == "text/plain" => "txt",
            _ if content_type.is_empty() => return Kind::Html,
            _ => return Kind::Other,
        },
        _ => return Kind::Other,
    };
    if !extensions.contains(&by_type) {
        return Kind::Other;
    }
    let is_named = named.as_deref() == Some(by_type);
    Kind::File(if is_named { name } else { format!("{name}.{by_type}") })
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::{Kind, kind_of};
    use crate::dialer::Head;

    #[test]
    fn the_type_decides_and_then_the_name() {
        let kind = |path: &str, content_type: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("content-type", content_type.parse().unwrap());
            let url = format!("https://e.com/{path}").parse().unwrap();
            kind_of(&Head { url, status: 200, headers, retry_after: None }, &["pdf", "txt", "py"])
        };
        let file = |name: &str| Kind::File(name.to_owned());
        assert_eq!(kind("a.pdf", "text/html; charset=utf-8"), Kind::Html);
        assert_eq!(kind("a", "application/pdf"), file("a.pdf"));
        assert_eq!(kind("a%20b.PDF?x", "application/pdf"), file("a b.PDF"));
        assert_eq!(kind("a.py", "text/plain"), file("a.py"));
        assert_eq!(kind("a", "text/plain"), file("a.txt"));
        assert_eq!(kind("a.pdf", "application/octet-stream"), file("a.pdf"));
        for other in ["image/png", "application/octet-stream", "application/json", "text/csv"] {
            assert_eq!(kind("a.bin", other), Kind::Other, "{other}");
        }
    }
}
