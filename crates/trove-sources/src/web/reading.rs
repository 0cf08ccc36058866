//! From what a host answered to a document, and to more addresses.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;
use trove_domain::document::{Document, Section};
use trove_domain::id::DocumentId;
use trove_domain::port::{ExtractError, FailedPart, Skipped, SourceError, TextExtractor};
use trove_domain::source::DocumentSource;
use url::Url;

use super::address::{canonical, last_part, rewritten};
use super::config::Pages;
use super::fetch::{Fetched, FetchedPage, Kind};
use super::page::{decoded, scan};
use super::source::{Progress, Web, failed};
use super::state::{Crawl, Visit};
use crate::dialer::shown;

/// The page that was asked for.
#[derive(Clone, Copy)]
pub(super) struct Read<'r> {
    pub(super) place: usize,
    pub(super) address: &'r str,
    pub(super) known: Option<&'r Visit>,
    pub(super) listing: bool,
}

/// What is in a page.
struct Content {
    title: Option<String>,
    sections: Vec<Section>,
    links: Vec<Url>,
}

/// Why there is no content.
enum Unread {
    /// It is of no kind that is read.
    Left(String),
    Failed(String),
    /// Nothing is there to read it with; it is not to blame.
    Unavailable(ExtractError),
}

impl From<ExtractError> for Unread {
    fn from(error: ExtractError) -> Self {
        match error {
            ExtractError::UnsupportedFormat { .. } | ExtractError::Binary => {
                Self::Left(error.to_string())
            }
            error @ ExtractError::Unavailable { .. } => Self::Unavailable(error),
            error => Self::Failed(format!("{error}; {}", error.remedy())),
        }
    }
}

/// Takes an answer into the crawl and the step.
pub(super) async fn read_page(
    web: &Web,
    crawl: &mut Crawl,
    progress: &mut Progress,
    page: Read<'_>,
    fetched: Fetched,
) -> Result<(), SourceError> {
    let shown_address =
        page.address.parse().map_or_else(|_| page.address.to_owned(), |url| shown(&url));
    let left = |reason: String| Skipped { id: shown_address.clone(), reason };
    match fetched {
        Fetched::Page(fetched) => {
            if !web.belongs(crawl, page, &fetched.url) {
                return Ok(());
            }
            if page.listing {
                crawl.worked += 1;
                progress.ids.extend(web.id(&fetched.url));
                if fetched.kind == Kind::Html && web.follows() {
                    let content = web.content(fetched, true).await;
                    let links = content.map(|content| content.links).unwrap_or_default();
                    web.follow(crawl, page.place, links);
                }
                return Ok(());
            }
            web.read(crawl, progress, page, fetched, &shown_address).await?;
        }
        Fetched::Unchanged(url) => {
            let Some(visit) = page.known else { return Ok(()) };
            if !web.belongs(crawl, page, &url) {
                return Ok(());
            }
            let links = crawl.known_links(visit);
            let links = links.iter().filter_map(|link| link.parse().ok()).collect();
            let links = web.follow(crawl, page.place, links);
            if crawl.is_new_content(visit.hash) {
                crawl.worked += 1;
                progress.step.unchanged.extend(web.id(&url));
                crawl.keep(page.place, Visit { links, ..visit.clone() });
            }
        }
        Fetched::Gone(status) => {
            crawl.failure.get_or_insert_with(|| format!("{shown_address}: status {status}"));
            progress.step.skipped.push(left(format!("it is not there: status {status}")));
        }
        Fetched::Left(reason) => {
            crawl.failure.get_or_insert_with(|| format!("{shown_address}: {reason}"));
            progress.step.skipped.push(left(reason));
        }
        Fetched::Unreachable(message) if page.listing => {
            // What it leads to would seem to be gone.
            let message = format!("{shown_address} cannot be read: {message}");
            return Err(SourceError::Unavailable { message, retry_after: None, source: None });
        }
        Fetched::Failed(message) | Fetched::Unreachable(message) => {
            web.fails(crawl, progress, page, message);
        }
        Fetched::Busy(_) => {}
    }
    Ok(())
}

impl Web {
    fn follows(&self) -> bool {
        self.scope.is_some()
    }

    /// The id of the document at an address.
    fn id(&self, url: &Url) -> Option<DocumentId> {
        DocumentId::new(rewritten(url.as_str(), &self.config.rewrites)).ok()
    }

    /// Whether a page that was found at `url` is new and belongs to the site.
    fn belongs(&self, crawl: &mut Crawl, page: Read<'_>, url: &Url) -> bool {
        let is_start = page.place == 0 && matches!(self.config.pages, Pages::Recursive(_));
        let inside = self.scope.as_ref().is_none_or(|scope| scope.holds(url));
        // The first page may redirect to where the site is now; the others stay inside.
        (inside || is_start) && crawl.lands(page.place, url)
    }

    /// Takes links of the page at `place` into the crawl, and tells their places.
    fn follow(&self, crawl: &mut Crawl, place: usize, links: Vec<Url>) -> Vec<usize> {
        let Some(scope) = &self.scope else { return Vec::new() };
        let depth = crawl.depth(place).saturating_add(1);
        let inside = links
            .into_iter()
            .map(canonical)
            .filter(|link| self.dialer.policy().admit_url(link).is_ok() && scope.holds(link));
        let mut places: Vec<usize> =
            inside.filter_map(|link| crawl.admit(&link, depth, &self.limits)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    fn fails(&self, crawl: &mut Crawl, progress: &mut Progress, page: Read<'_>, message: String) {
        let address = rewritten(page.address, &self.config.rewrites);
        let named = page.address.parse().map_or_else(|_| String::new(), |url| shown(&url));
        crawl.failure.get_or_insert_with(|| format!("{named}: {message}"));
        if let Ok(id) = DocumentId::new(address.clone()) {
            progress.ids.push(id.clone());
            let part = FailedPart::Document { id, link: Some(address) };
            progress.step.failures.push(failed(part, message));
        }
    }

    async fn read(
        &self,
        crawl: &mut Crawl,
        progress: &mut Progress,
        page: Read<'_>,
        fetched: FetchedPage,
        named: &str,
    ) -> Result<(), SourceError> {
        let (url, kind) = (fetched.url.clone(), fetched.kind.clone());
        let (etag, modified) = (fetched.etag.clone(), fetched.modified.clone());
        let content = match self.content(fetched, false).await {
            Ok(content) => content,
            Err(Unread::Left(reason)) => {
                progress.step.skipped.push(Skipped { id: named.to_owned(), reason });
                return Ok(());
            }
            Err(Unread::Unavailable(error)) => {
                let (message, source) = (error.to_string(), Some(error.into()));
                return Err(SourceError::Unavailable { message, retry_after: None, source });
            }
            Err(Unread::Failed(message)) => {
                self.fails(crawl, progress, page, message);
                return Ok(());
            }
        };
        let links = self.follow(crawl, page.place, content.links);
        let address = rewritten(url.as_str(), &self.config.rewrites);
        let title = match kind {
            Kind::File(_) => last_part(&url),
            Kind::Html | Kind::Other => content.title.unwrap_or_else(|| address.clone()),
        };
        if content.sections.iter().all(|section| section.text.trim().is_empty()) {
            let (name, reason) = (named.to_owned(), "there is no text on it".to_owned());
            progress.step.skipped.push(Skipped { id: name, reason });
            return Ok(());
        }
        let texts = content.sections.iter().map(|section| section.text.as_str());
        let hash = hash(std::iter::once(title.as_str()).chain(texts));
        let Ok(id) = DocumentId::new(address.clone()) else { return Ok(()) };
        crawl.worked += 1;
        if !crawl.is_new_content(hash) {
            let reason = "another page has the same title and text".to_owned();
            progress.step.skipped.push(Skipped { id: named.to_owned(), reason });
            return Ok(());
        }
        let sections = match kind {
            Kind::Html | Kind::Other => {
                let texts: Vec<String> =
                    content.sections.into_iter().map(|section| section.text).collect();
                vec![Section { text: texts.join("\n\n"), link: Some(address.clone()) }]
            }
            Kind::File(_) => content
                .sections
                .into_iter()
                .map(|section| Section { link: Some(linked(&address, section.link)), ..section })
                .collect(),
        };
        progress.step.documents.push(Document::new(id, DocumentSource::Web, title, sections));
        if let Some(visit) = Visit::validated(&etag, &modified, hash) {
            crawl.keep(page.place, Visit { links, ..visit });
        }
        Ok(())
    }

    /// Reads a page or a file, beside the runtime.
    async fn content(&self, fetched: FetchedPage, listing: bool) -> Result<Content, Unread> {
        let extractor = Arc::clone(&self.extractor);
        let mintlify = self.config.mintlify_cleanup;
        let read = spawn_blocking(move || content(&*extractor, &fetched, mintlify, listing)).await;
        match read {
            Ok(read) => read.map_err(Unread::from),
            Err(_) => Err(Unread::Failed("its reader gave up".to_owned())),
        }
    }
}

fn content(
    extractor: &dyn TextExtractor,
    fetched: &FetchedPage,
    mintlify: bool,
    listing: bool,
) -> Result<Content, ExtractError> {
    if let Kind::File(name) = &fetched.kind {
        let text = extractor.extract(name, &fetched.body)?;
        return Ok(Content { title: text.title, sections: text.sections, links: Vec::new() });
    }
    let body = decoded(&fetched.body, &fetched.content_type);
    let page = scan(&body, mintlify);
    let links = page.links(&fetched.url).collect();
    if listing {
        return Ok(Content { title: None, sections: Vec::new(), links });
    }
    let mut text = extractor.extract("page.html", &page.content)?;
    // A page that is nothing but what others have around their content.
    if text.sections.is_empty() {
        text = extractor.extract("page.html", &body)?;
    }
    Ok(Content { title: text.title, sections: text.sections, links })
}

/// The link of a part of a file.
fn linked(address: &str, link: Option<String>) -> String {
    match link {
        None => address.to_owned(),
        Some(part) if part.starts_with('#') => format!("{address}{part}"),
        Some(link) => link,
    }
}

/// Tells contents apart.
fn hash<'t>(texts: impl Iterator<Item = &'t str>) -> u64 {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.as_bytes());
        hasher.update([0]);
    }
    let digest = hasher.finalize();
    digest.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}
