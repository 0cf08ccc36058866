//! Whether a connector can be read with a credential, before a schedule tries.

use trove_domain::cc_pair::AccessType;
use trove_domain::connector::Connector;
use trove_domain::credential::Credential;
use trove_domain::port::SourceError;
use trove_domain::source::DocumentSource;

use super::PairError;
use crate::Engine;

impl Engine {
    /// Fails unless there is something that reads such a connector.
    pub(super) fn check_connectable(
        &self,
        connector: &Connector,
        access_type: AccessType,
    ) -> Result<(), PairError> {
        let source = connector.details.source;
        if connector.built_in || source == DocumentSource::IngestionApi {
            return Err(PairError::NotScheduled);
        }
        let kinds = self.backends().sources.as_ref().map_or_else(Vec::new, |found| found.kinds());
        let Some((_, kind)) = kinds.iter().find(|(known, _)| *known == source) else {
            let offered = kinds.iter().filter(|(_, kind)| kind.offered);
            let known: Vec<&str> = offered.map(|(known, _)| known.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(PairError::NotImplemented { source_value: source, known });
        };
        if access_type == AccessType::Sync && !kind.tells_permissions {
            return Err(PairError::NotSynced(source));
        }
        Ok(())
    }

    /// Opens the source and asks whether it can be read.
    pub(super) async fn validate(
        &self,
        connector: &Connector,
        credential: &Credential,
    ) -> Result<(), PairError> {
        let source = connector.details.source;
        // A secret goes to its own source only.
        if credential.details.secret.is_some() && credential.details.source != source {
            let (credential, connector) = (credential.details.source.as_str(), source.as_str());
            return Err(PairError::OtherSource { credential, connector });
        }
        let settings = self.source_settings(connector, credential).await;
        let settings = settings.map_err(|error| PairError::Validation(told(&error)))?;
        let Some(sources) = self.backends().sources.clone() else { return Ok(()) };
        let check = async { sources.open(settings).await?.check().await };
        let limit = self.config().source_check_timeout;
        match tokio::time::timeout(limit, check).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(PairError::Validation(told(&error))),
            Err(_) => {
                let (source, limit) = (source.as_str(), limit.as_millis());
                Err(PairError::Validation(format!(
                    "{source} did not say within {limit} ms whether it can be read \
                     (indexing.source_check_timeout_ms); look whether it answers, and try again"
                )))
            }
        }
    }
}

/// What is told of an error: by its contract no secret is in it.
fn told(error: &SourceError) -> String {
    error.to_string()
}
