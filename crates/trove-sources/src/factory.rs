//! Opening sources.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use trove_domain::port::{
    FileStore, Source, SourceClass, SourceError, SourceFactory, SourceKind, SourceSettings,
    TextExtractor,
};
use trove_domain::source::DocumentSource;

use crate::dialer::Dialer;
use crate::file::Files;
use crate::mock::Mock;
use crate::web::{CrawlLimits, Web};

/// Every kind of source that can be opened.
const KINDS: [(DocumentSource, SourceKind); 3] = [
    kind(DocumentSource::Web, SourceClass::Load),
    kind(DocumentSource::File, SourceClass::Load),
    (
        DocumentSource::MockConnector,
        SourceKind { class: SourceClass::Poll, tells_permissions: true, offered: false },
    ),
];

/// One that is offered, and whose system does not know who may read.
const fn kind(source: DocumentSource, class: SourceClass) -> (DocumentSource, SourceKind) {
    (source, SourceKind { class, tells_permissions: false, offered: true })
}

/// Opens the sources of this crate.
pub struct Sources {
    /// The way out.
    pub dialer: Dialer,
    /// Reads files.
    pub extractor: Arc<dyn TextExtractor>,
    /// Holds what was uploaded.
    pub files: Arc<dyn FileStore>,
    /// An existing directory, where files are put while they are read.
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
        let (extractor, files) = (Arc::clone(&self.extractor), Arc::clone(&self.files));
        let dialer = self.dialer.clone();
        match source {
            DocumentSource::Web => {
                Ok(Arc::new(Web::open(&config, dialer, extractor, files, self.crawl)?))
            }
            DocumentSource::File => {
                let temporary = self.temporary.clone();
                Ok(Arc::new(Files::open(&config, files, extractor, temporary)?))
            }
            DocumentSource::MockConnector => Ok(Arc::new(Mock::open(&config, dialer)?)),
            _ => {
                let known = KINDS.map(|(kind, _)| kind.as_str()).join(", ");
                Err(SourceError::Invalid(format!(
                    "sources of the kind {source} cannot be read; there are {known}"
                )))
            }
        }
    }
}
