//! Opens what a pair reads.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use trove_domain::connector::Connector;
use trove_domain::credential::Credential;
use trove_domain::error::{Classify, ErrorKind};
use trove_domain::id::CcPairId;
use trove_domain::port::{Source, SourceError, SourceSettings};

use crate::Engine;
use crate::administration::credentials::CredentialError;

impl Engine {
    /// The source of a pair, with its configuration and its credential as they are now.
    pub(super) fn open_pair(
        &self,
        pair: CcPairId,
    ) -> BoxFuture<'_, Result<Arc<dyn Source>, SourceError>> {
        // In a box: whoever waits for it holds several futures that hold it.
        self.open_source_of(pair).boxed()
    }

    async fn open_source_of(&self, pair: CcPairId) -> Result<Arc<dyn Source>, SourceError> {
        let backends = self.backends();
        let Some(factory) = backends.sources.clone() else {
            return Err(unavailable("no sources are read here", None));
        };
        let read = async {
            let Some(pair) = backends.cc_pairs.get(pair).await? else { return Ok(None) };
            let connector = backends.connectors.get(pair.connector).await?;
            let credential = backends.credentials.get(pair.credential).await?;
            Ok(connector.zip(credential))
        };
        let read: Result<_, trove_domain::error::StoreError> = read.await;
        match read {
            Ok(Some((connector, credential))) => {
                factory.open(self.source_settings(&connector, &credential).await?).await
            }
            Ok(None) => {
                let message = format!("pair {pair} is not there any more");
                Err(SourceError::Failed { message, source: None })
            }
            Err(error) => Err(unavailable("the pair could not be read", Some(error.into()))),
        }
    }

    /// What a source is opened with.
    pub(crate) async fn source_settings(
        &self,
        connector: &Connector,
        credential: &Credential,
    ) -> Result<SourceSettings, SourceError> {
        let content = self.open_content(credential).map_err(told)?;
        let config = self.with_file_names(&connector.details).await.map_err(|error| {
            unavailable("the names of the files could not be read", Some(error.into()))
        })?;
        Ok(SourceSettings {
            source: connector.details.source,
            config,
            credential: content.to_json(),
        })
    }
}

/// Why the secret of a credential could not be read: it may be that only the key is missing.
fn told(error: CredentialError) -> SourceError {
    match error.kind() {
        ErrorKind::Unavailable | ErrorKind::StorageFull => {
            unavailable("the credential could not be read", Some(error.into()))
        }
        _ => SourceError::Invalid(format!("the credential cannot be used: {error}")),
    }
}

fn unavailable(message: &str, source: Option<trove_domain::error::Source>) -> SourceError {
    SourceError::Unavailable { message: message.to_owned(), retry_after: None, source }
}
