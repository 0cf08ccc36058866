//! The source: steps of a crawl.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Map, Value};
use tokio::time::timeout;
use trove_domain::port::{
    Checkpoint, FailedPart, FileStore, ListingStep, ReadWindow, Skipped, Source, SourceError,
    SourceFailure, SourceStep, TextExtractor,
};
use url::Url;

use super::CrawlLimits;
use super::address::{Scope, canonical};
use super::config::{Pages, WebConfig};
use super::fetch::{Fetched, fetch};
use super::reading::{Read, read_page};
use super::robots::{ROBOTS_BYTES_MAX, Robots};
use super::state::{Crawl, Visit};
use crate::dialer::{Dialer, Request, shown};

/// Most pages of one step.
const PAGES_MAX: usize = 16;
/// Pages that are asked for at the same time.
const AT_ONCE: usize = 2;
/// After this time a step asks for no more pages.
const STEP_TIME: Duration = Duration::from_mins(2);
/// Hosts whose wishes are kept at the same time.
const HOSTS_MAX: usize = 64;
/// So many pages of a site in a row that nobody answers: the site is asked whether it is there.
const UNREACHABLE_MAX: usize = 3;
/// Largest list of addresses that is uploaded.
const UPLOAD_BYTES_MAX: u64 = 8 << 20;

/// One site, or one list of pages.
pub(crate) struct Web {
    pub(super) config: WebConfig,
    pub(super) scope: Option<Scope>,
    pub(super) dialer: Dialer,
    pub(super) extractor: Arc<dyn TextExtractor>,
    pub(super) files: Arc<dyn FileStore>,
    pub(super) limits: CrawlLimits,
    /// What hosts wish, as far as they were asked.
    pub(super) robots: Mutex<HashMap<String, Arc<Robots>>>,
}

/// A step, before it is told what it is for.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) step: SourceStep,
    pub(super) ids: Vec<trove_domain::id::DocumentId>,
}

impl Web {
    pub(crate) fn open(
        config: &Map<String, Value>,
        dialer: Dialer,
        extractor: Arc<dyn TextExtractor>,
        files: Arc<dyn FileStore>,
        limits: CrawlLimits,
    ) -> Result<Self, SourceError> {
        let config = WebConfig::read(config, dialer.policy())?;
        let scope = match &config.pages {
            Pages::Recursive(base) => Some(Scope::of(base)),
            Pages::Single(_) | Pages::Sitemap(_) | Pages::Upload(_) => None,
        };
        let robots = Mutex::default();
        Ok(Self { config, scope, dialer, extractor, files, limits, robots })
    }

    /// The crawl at a checkpoint, or at its beginning.
    async fn crawl(&self, from: Option<&Checkpoint>, purpose: &str) -> Result<Crawl, SourceError> {
        let fingerprint = &self.config.fingerprint;
        if let Some(crawl) = from.and_then(|from| Crawl::resume(from, fingerprint, purpose)) {
            return Ok(crawl);
        }
        let mut crawl = Crawl::after(from, fingerprint);
        match &self.config.pages {
            Pages::Recursive(url) | Pages::Single(url) => {
                crawl.admit(url, 0, &self.limits);
            }
            Pages::Sitemap(url) => crawl.sitemaps.push(url.as_str().to_owned()),
            Pages::Upload(key) => {
                let list = self.files.get(key, UPLOAD_BYTES_MAX).await;
                let list = list.map_err(|error| SourceError::Unavailable {
                    message: "the stored list of addresses cannot be read".to_owned(),
                    retry_after: None,
                    source: Some(error.into()),
                })?;
                let Some(list) = list else {
                    let message = "`base_url`: there is no stored file with this id";
                    return Err(SourceError::Invalid(message.to_owned()));
                };
                let list = String::from_utf8_lossy(&list);
                let list = list.trim_start_matches('\u{feff}');
                for line in list.lines().map(str::trim).filter(|line| !line.is_empty()) {
                    let line = if line.contains("://") {
                        line.to_owned()
                    } else {
                        format!("https://{line}")
                    };
                    if let Ok(url) = Url::parse(&line) {
                        crawl.admit(&canonical(url), 0, &self.limits);
                    }
                }
            }
        }
        Ok(crawl)
    }

    /// What the host of an address wishes.
    pub(super) async fn robots(&self, url: &Url) -> Result<Arc<Robots>, String> {
        let origin = url.origin().ascii_serialization();
        if let Some(known) = self.kept_robots().get(&origin) {
            return Ok(Arc::clone(known));
        }
        let mut address = url.clone();
        address.set_path("/robots.txt");
        address.set_query(None);
        address.set_fragment(None);
        let request = Request { bytes_max: ROBOTS_BYTES_MAX, ..Request::get(address) };
        let answer = match self.dialer.fetch(&request, &|head| head.status == 200).await {
            Ok(answer) => Some(answer),
            Err(error) if error.is_passing() => return Err(error.to_string()),
            // No wishes that anybody could know.
            Err(_) => None,
        };
        let robots = match answer {
            Some(answer) if answer.head.status == 200 => Robots::read(&answer.body),
            Some(answer) if answer.head.status >= 500 => {
                let status = answer.head.status;
                return Err(format!("robots.txt of {origin} cannot be read: status {status}"));
            }
            Some(_) | None => Robots::default(),
        };
        let robots = Arc::new(robots);
        let mut kept = self.kept_robots();
        if kept.len() >= HOSTS_MAX {
            kept.clear();
        }
        kept.insert(origin, Arc::clone(&robots));
        Ok(robots)
    }

    fn kept_robots(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Robots>>> {
        self.robots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fetch(&self, address: &str, known: Option<&Visit>, listing: bool) -> Fetched {
        let url = match self.dialer.policy().admit(address) {
            Ok(url) => url,
            Err(error) => return Fetched::Failed(error.to_string()),
        };
        let robots = match self.robots(&url).await {
            Ok(robots) => robots,
            Err(message) => return Fetched::Unreachable(message),
        };
        let extensions = self.extractor.extensions();
        fetch(&self.dialer, extensions, address, &robots, known, listing).await
    }

    /// Goes on with a crawl.
    async fn step(&self, crawl: &mut Crawl, listing: bool) -> Result<Progress, SourceError> {
        let mut progress = Progress::default();
        if crawl.sitemaps_at < crawl.sitemaps.len() {
            self.expand(crawl, listing, &mut progress).await?;
            return Ok(progress);
        }
        let batch: Vec<(usize, String, Option<Visit>)> = crawl
            .next(self.batch_size())
            .into_iter()
            .map(|(place, address)| {
                let known = crawl.known(&address).filter(|_| !listing).cloned();
                (place, address, known)
            })
            .collect();
        let requests = batch.into_iter().map(|(place, address, known)| async move {
            let fetched = self.fetch(&address, known.as_ref(), listing).await;
            (place, address, known, fetched)
        });
        let mut fetched = stream::iter(requests).buffered(AT_ONCE);
        let start = self.dialer.pacer().now();
        let (mut done, mut unreachable) = (0, 0);
        while let Some((place, address, known, fetched)) = fetched.next().await {
            match &fetched {
                // What was read so far is kept; the next step meets the same answer first.
                Fetched::Busy(_) if done > 0 => break,
                Fetched::Busy(retry_after) => {
                    return Err(SourceError::Unavailable {
                        message: "the host wants to be left alone for a while".to_owned(),
                        retry_after: *retry_after,
                        source: None,
                    });
                }
                Fetched::Unreachable(_) => unreachable += 1,
                _ => unreachable = 0,
            }
            if unreachable >= UNREACHABLE_MAX {
                self.still_there().await?;
                unreachable = 0;
            }
            let page = Read { place, address: &address, known: known.as_ref(), listing };
            read_page(self, crawl, &mut progress, page, fetched).await?;
            done += 1;
            crawl.at = place + 1;
            if self.dialer.pacer().now() - start > STEP_TIME {
                break;
            }
        }
        Ok(progress)
    }

    /// Pages of one step: fewer where the host wants long pauses.
    fn batch_size(&self) -> usize {
        let longest = self.kept_robots().values().map(|robots| robots.interval).max();
        let interval = longest.unwrap_or_default();
        if interval.is_zero() {
            return PAGES_MAX;
        }
        let fits = (STEP_TIME / 2).as_secs_f32() / interval.as_secs_f32();
        (1..=PAGES_MAX)
            .rev()
            .find(|count| f32::from(u8::try_from(*count).unwrap_or(1)) <= fits)
            .unwrap_or(1)
    }

    /// Tells a site that is down from pages that do not answer.
    async fn still_there(&self) -> Result<(), SourceError> {
        let Pages::Recursive(base) = &self.config.pages else { return Ok(()) };
        match self.dialer.fetch(&Request::get(base.clone()), &|_| false).await {
            Err(error) if error.is_passing() => Err(SourceError::Unavailable {
                message: format!("{} does not answer any more: {error}", shown(base)),
                retry_after: None,
                source: None,
            }),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The end of a crawl.
    fn finished(crawl: &Crawl) -> Result<(), SourceError> {
        if crawl.worked > 0 {
            return Ok(());
        }
        let why = match &crawl.failure {
            Some(failure) => failure.as_str(),
            None if crawl.is_empty() => "there is no address of one",
            None => "none has text",
        };
        Err(SourceError::Failed { message: format!("no valid pages: {why}"), source: None })
    }

    fn name(&self) -> String {
        match &self.config.pages {
            Pages::Recursive(url) | Pages::Single(url) | Pages::Sitemap(url) => shown(url),
            Pages::Upload(key) => key.as_str().to_owned(),
        }
    }

    fn too_long() -> SourceError {
        let message = "the crawl has become too large to go on".to_owned();
        SourceError::Failed { message, source: None }
    }
}

#[async_trait]
impl Source for Web {
    async fn check(&self) -> Result<(), SourceError> {
        let url = match &self.config.pages {
            Pages::Recursive(url) | Pages::Single(url) | Pages::Sitemap(url) => url,
            Pages::Upload(_) => return self.crawl(None, "read").await.map(drop),
        };
        let request = Request::get(url.clone());
        let answer = timeout(self.limits.check, self.dialer.fetch(&request, &|_| false)).await;
        let Ok(answer) = answer else {
            let (url, limit) = (shown(url), self.limits.check.as_millis());
            let message = format!("{url} did not answer within {limit} ms");
            return Err(SourceError::Unavailable { message, retry_after: None, source: None });
        };
        let message = match answer {
            Ok(answer) if answer.head.status < 400 => return Ok(()),
            Ok(answer) if matches!(answer.head.status, 429 | 500..) => {
                return Err(SourceError::Unavailable {
                    message: format!("{} answers with status {}", shown(url), answer.head.status),
                    retry_after: answer.head.retry_after,
                    source: None,
                });
            }
            Ok(answer) => format!("answers with status {}", answer.head.status),
            Err(error) if error.is_passing() => {
                let message = format!("{}: {error}", shown(url));
                let source = Some(error.into());
                return Err(SourceError::Unavailable { message, retry_after: None, source });
            }
            Err(error) => error.to_string(),
        };
        Err(SourceError::Invalid(format!("`base_url`: {}: {message}", shown(url))))
    }

    async fn read(
        &self,
        _window: ReadWindow,
        from: Option<&Checkpoint>,
    ) -> Result<SourceStep, SourceError> {
        let mut crawl = self.crawl(from, "read").await?;
        let mut step = self.step(&mut crawl, false).await?.step;
        let fingerprint = &self.config.fingerprint;
        if !crawl.is_done() {
            step.next = Some(crawl.checkpoint(fingerprint, "read").ok_or_else(Self::too_long)?);
            return Ok(step);
        }
        Self::finished(&crawl)?;
        if crawl.is_full {
            let pages = self.limits.pages;
            let reason = format!("it has more addresses than are followed (at most {pages})");
            step.skipped.push(Skipped { id: self.name(), reason });
        }
        step.carry = crawl.carry(fingerprint);
        Ok(step)
    }

    async fn list(&self, from: Option<&Checkpoint>) -> Result<ListingStep, SourceError> {
        let mut crawl = self.crawl(from, "list").await?;
        let ids = self.step(&mut crawl, true).await?.ids;
        if !crawl.is_done() {
            let next = crawl.checkpoint(&self.config.fingerprint, "list");
            return Ok(ListingStep { ids, next: Some(next.ok_or_else(Self::too_long)?) });
        }
        Self::finished(&crawl)?;
        Ok(ListingStep { ids, next: None })
    }
}

/// A page or a list of them that could not be read.
pub(super) fn failed(part: FailedPart, message: String) -> SourceFailure {
    SourceFailure { part, message }
}
