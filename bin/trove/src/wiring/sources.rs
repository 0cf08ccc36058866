//! What is read from elsewhere: the way out, uploaded files, and where files are put meanwhile.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use tokio::task::spawn_blocking;
use trove_domain::port::{FileStore, SourceFactory};
use trove_engine::{SystemClock, SystemIds};
use trove_files::ObjectFileStore;
use trove_sources::dialer::{
    Backoff, Dialer, DialerParts, Limits, NetworkPolicy, RealPacer, SystemNames,
};
use trove_sources::{CrawlLimits, Sources};

use super::extractor;
use crate::config::Config;

const FILES: &str = "files";
const TEMPORARY: &str = "tmp";

/// Files, and what opens sources.
pub(super) struct Opened {
    pub(super) files: Arc<dyn FileStore>,
    pub(super) sources: Arc<dyn SourceFactory>,
}

/// Opens both. The data directory must be ours.
pub(super) async fn open(config: &Config) -> anyhow::Result<Opened> {
    let files_dir = config.data_dir.join(FILES);
    let temporary = config.data_dir.join(TEMPORARY);
    let emptied = temporary.clone();
    let files = spawn_blocking(move || {
        empty(&emptied).with_context(|| format!("{} cannot be emptied", emptied.display()))?;
        ObjectFileStore::local(&files_dir)
            .with_context(|| format!("the files in {} cannot be used", files_dir.display()))
    });
    let files: Arc<dyn FileStore> = Arc::new(files.await.context("opening files failed")??);
    let section = &config.indexing;
    let dialer = Dialer::new(DialerParts {
        policy: NetworkPolicy { allow: section.allowed_networks.clone() },
        limits: Limits::default(),
        backoff: Backoff::default(),
        names: Arc::new(SystemNames),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        pacer: Arc::new(RealPacer),
    });
    let sources = Sources {
        dialer: dialer.context("sources cannot be read")?,
        extractor: extractor(&config.ingestion),
        files: Arc::clone(&files),
        temporary,
        crawl: CrawlLimits {
            pages: section.web_pages_max,
            // The page that does not answer is named before the time for the whole check is over.
            check: super::source_check_timeout(config) * 3 / 4,
            ..CrawlLimits::default()
        },
    };
    Ok(Opened { files, sources: Arc::new(sources) })
}

/// An empty directory: what a process that was killed has left there is worth nothing.
fn empty(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}
