//! Opening sources.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use trove_domain::port::{
    Clock, FileStore, Source, SourceClass, SourceError, SourceFactory, SourceKind, SourceSettings,
    TextExtractor,
};
use trove_domain::source::DocumentSource;

use crate::dialer::Dialer;
use crate::web::{CrawlLimits, Web};

/// Every kind of source that can be opened.
const KINDS: [(DocumentSource, SourceKind); 1] = [(
    DocumentSource::Web,
    SourceKind { class: SourceClass::Load, tells_permissions: false, offered: true },
)];

/// Opens the sources of this crate.
pub struct Sources {
    /// The way out.
    pub dialer: Dialer,
    /// Reads files.
    pub extractor: Arc<dyn TextExtractor>,
    /// Holds what was uploaded.
    pub files: Arc<dyn FileStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where files are put while they are read.
    pub temporary: PathBuf,
    /// Bounds of one crawl.
    pub crawl: CrawlLimits,
}

#[async_trait]
impl SourceFactory for Sources {
    fn kinds(&self) -> Vec<(DocumentSource, SourceKind)> {
        KINDS.to_vec()
    }

    async fn open(&self, settings: SourceSettings) -> Result<Arc<dyn Source>, SourceError> {
        let SourceSettings { source, config, credential: _ } = settings;
        let extractor = Arc::clone(&self.extractor);
        let files = Arc::clone(&self.files);
        match source {
            DocumentSource::Web => {
                let dialer = self.dialer.clone();
                Ok(Arc::new(Web::open(&config, dialer, extractor, files, self.crawl)?))
            }
            _ => {
                let known: Vec<&str> = KINDS.iter().map(|(kind, _)| kind.as_str()).collect();
                let known = known.join(", ");
                Err(SourceError::Invalid(format!(
                    "sources of the kind {source} cannot be read; there are {known}"
                )))
            }
        }
    }
}
