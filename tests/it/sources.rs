//! Sources that work unless they are told otherwise.

use std::sync::Arc;

use async_trait::async_trait;
use secrecy::ExposeSecret;
use trove_domain::port::{
    Checkpoint, ListingStep, ReadWindow, Source, SourceClass, SourceError, SourceFactory,
    SourceKind, SourceSettings, SourceStep,
};
use trove_domain::source::DocumentSource;

/// Opens a few kinds. A configuration with `foo` is refused, one with `down` belongs to a source
/// that does not answer, one with `slow` to one that takes forever; a credential with `wrong` is not
/// taken.
pub(crate) struct FakeSources;

struct FakeSource {
    settings: SourceSettings,
}

#[async_trait]
impl SourceFactory for FakeSources {
    fn kinds(&self) -> Vec<(DocumentSource, SourceKind)> {
        let kind = |tells_permissions, offered| SourceKind {
            class: SourceClass::Load,
            tells_permissions,
            offered,
        };
        vec![
            (DocumentSource::Web, kind(false, true)),
            (DocumentSource::File, kind(false, true)),
            (DocumentSource::GoogleDrive, kind(true, true)),
            (DocumentSource::MockConnector, kind(true, false)),
        ]
    }

    async fn open(&self, settings: SourceSettings) -> Result<Arc<dyn Source>, SourceError> {
        if settings.config.contains_key("foo") {
            return Err(SourceError::Invalid("foo is not a key".to_owned()));
        }
        Ok(Arc::new(FakeSource { settings }))
    }
}

#[async_trait]
impl Source for FakeSource {
    async fn check(&self) -> Result<(), SourceError> {
        if self.settings.config.contains_key("slow") {
            std::future::pending::<()>().await;
        }
        if self.settings.config.contains_key("down") {
            let message = "example.com does not answer".to_owned();
            return Err(SourceError::Unavailable { message, retry_after: None, source: None });
        }
        if self.settings.credential.expose_secret().contains("wrong") {
            return Err(SourceError::Invalid("the token is refused".to_owned()));
        }
        Ok(())
    }

    async fn read(
        &self,
        _window: ReadWindow,
        _from: Option<&Checkpoint>,
    ) -> Result<SourceStep, SourceError> {
        Ok(SourceStep::default())
    }

    async fn list(&self, _from: Option<&Checkpoint>) -> Result<ListingStep, SourceError> {
        Ok(ListingStep::default())
    }
}
