//! Lists of addresses, and lists of such lists.

use trove_domain::port::{FailedPart, SourceError};
use url::Url;

use super::address::canonical;
use super::config::Pages;
use super::sitemap::{self, SITEMAP_BYTES_MAX};
use super::source::{Progress, Web, failed};
use super::state::Crawl;
use crate::dialer::{Request, shown};

/// Lists that one step asks for.
const LISTS_AT_ONCE: usize = 4;
/// Most lists of one site.
const LISTS_MAX: usize = 1_000;
/// Where sites have their list when they do not say where.
const USUAL: [&str; 5] = [
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap.xml.gz",
    "/sitemap/sitemap.xml",
    "/wp-sitemap.xml",
];

impl Web {
    /// Reads some of the lists that are still to be read.
    pub(super) async fn expand(
        &self,
        crawl: &mut Crawl,
        listing: bool,
        progress: &mut Progress,
    ) -> Result<(), SourceError> {
        let lists: Vec<String> =
            crawl.sitemaps.iter().skip(crawl.sitemaps_at).take(LISTS_AT_ONCE).cloned().collect();
        for list in lists {
            let is_first = crawl.sitemaps_at == 0;
            crawl.sitemaps_at += 1;
            let read = self.read_list(&list).await;
            match read {
                Ok(found) if found.is_one => self.take(crawl, found),
                Ok(_) if is_first => self.search(crawl).await?,
                Ok(_) if crawl.is_searching => {}
                Ok(_) => self.list_fails(crawl, listing, progress, &list, "it is no list")?,
                Err(error) if is_first || listing => return Err(error),
                Err(_) if crawl.is_searching => {}
                Err(error) => {
                    self.list_fails(crawl, listing, progress, &list, &error.to_string())?;
                }
            }
        }
        if crawl.sitemaps_at >= crawl.sitemaps.len() && crawl.is_empty() {
            let Pages::Sitemap(base) = &self.config.pages else { return Ok(()) };
            let message = format!("no valid pages: no sitemap of {} names any", shown(base));
            return Err(SourceError::Failed { message, source: None });
        }
        Ok(())
    }

    async fn read_list(&self, address: &str) -> Result<sitemap::Sitemap, SourceError> {
        let failed = |message: String| SourceError::Failed { message, source: None };
        let url = self.dialer.policy().admit(address).map_err(|error| failed(error.to_string()))?;
        let named = shown(&url);
        let request = Request { bytes_max: SITEMAP_BYTES_MAX, ..Request::get(url) };
        let answer = self.dialer.fetch(&request, &|head| head.status == 200).await;
        let unavailable = |message: String, retry_after| SourceError::Unavailable {
            message,
            retry_after,
            source: None,
        };
        let answer = answer.map_err(|error| {
            let message = format!("{named}: {error}");
            if error.is_passing() { unavailable(message, None) } else { failed(message) }
        })?;
        match answer.head.status {
            200 => {
                let max = self.limits.pages;
                let read = move || sitemap::read(&answer.body, max);
                let read = tokio::task::spawn_blocking(read).await;
                read.map_err(|_| failed(format!("{named} cannot be read")))
            }
            status @ (429 | 500..) => Err(unavailable(
                format!("{named} answers with status {status}"),
                answer.head.retry_after,
            )),
            _ => Ok(sitemap::Sitemap::default()),
        }
    }

    fn take(&self, crawl: &mut Crawl, found: sitemap::Sitemap) {
        for page in &found.pages {
            if let Ok(url) = self.dialer.policy().admit(page) {
                crawl.admit(&canonical(url), 0, &self.limits);
            }
        }
        for list in found.sitemaps {
            if crawl.sitemaps.len() >= LISTS_MAX {
                crawl.is_full = true;
                break;
            }
            if !crawl.sitemaps.contains(&list) {
                crawl.sitemaps.push(list);
            }
        }
    }

    /// The address is no list: those that the site names, else those that sites have.
    async fn search(&self, crawl: &mut Crawl) -> Result<(), SourceError> {
        let Pages::Sitemap(base) = &self.config.pages else { return Ok(()) };
        crawl.is_searching = true;
        let robots = self.robots(base).await.map_err(|message| SourceError::Unavailable {
            message,
            retry_after: None,
            source: None,
        })?;
        let usual = USUAL.iter().filter_map(|path| base.join(path).ok()).map(Url::into);
        let lists: Vec<String> =
            if robots.sitemaps.is_empty() { usual.collect() } else { robots.sitemaps.clone() };
        for list in lists {
            if !crawl.sitemaps.contains(&list) {
                crawl.sitemaps.push(list);
            }
        }
        Ok(())
    }

    fn list_fails(
        &self,
        crawl: &mut Crawl,
        listing: bool,
        progress: &mut Progress,
        list: &str,
        message: &str,
    ) -> Result<(), SourceError> {
        let named = list.parse().map_or_else(|_| String::new(), |url| shown(&url));
        let message = format!("{named}: {message}");
        if listing {
            return Err(SourceError::Failed { message, source: None });
        }
        crawl.failure.get_or_insert_with(|| message.clone());
        let part = FailedPart::Entity { id: list.to_owned(), window: None };
        progress.step.failures.push(failed(part, message));
        Ok(())
    }
}
