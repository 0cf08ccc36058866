//! Sites of the web.
//!
//! There is no browser: what a page shows only after its scripts have run is not read.

mod address;
mod config;
mod fetch;
mod lists;
mod page;
mod reading;
mod robots;
mod sitemap;
mod source;
mod state;

use std::time::Duration;

pub(crate) use source::Web;

/// Bounds of one crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrawlLimits {
    /// Most addresses that are asked for.
    pub pages: usize,
    /// Most links from the first page to one that is read.
    pub depth: u16,
    /// How long the first page may take to say whether the site can be read.
    pub check: Duration,
}

impl Default for CrawlLimits {
    /// 20,000 pages, 100 links away, 15 seconds.
    fn default() -> Self {
        Self { pages: 20_000, depth: 100, check: Duration::from_secs(15) }
    }
}
