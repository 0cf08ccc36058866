//! Connectors: who makes and changes which.
//!
//! A connector has no owner: whoever may change all of its pairs may change it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use trove_domain::access::{Caller, Role};
use trove_domain::audit::AuditAction;
use trove_domain::cc_pair::AccessType;
use trove_domain::connector::{Connector, ConnectorDetails};
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::{ConnectorId, CredentialId, GroupId};
use trove_domain::page::Page;
use trove_domain::port::{ConnectorRefusal, ConnectorRemoval, NewConnector, Reach};
use trove_domain::source::DocumentSource;

use super::CuratorError;
use super::curators::Proposal;
use crate::Engine;
use crate::audit::{Details, details, ids};

/// What somebody wants a connector to be.
#[derive(Clone, Debug)]
pub struct ConnectorRequest {
    /// What is decided about it.
    pub details: ConnectorDetails,
    /// The earliest change that the first run is about; counts when it is made.
    pub indexing_start: Option<chrono::DateTime<chrono::Utc>>,
    /// Who is to read what its pairs hold: decides whether a curator may make it.
    pub access_type: AccessType,
    /// Groups that its pairs are to be shared with: as `access_type`.
    pub groups: BTreeSet<GroupId>,
}

/// Why a connector was not made, changed or deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectorError {
    /// There is none.
    #[error("Connector {0} does not exist")]
    NoSuchConnector(ConnectorId),
    /// The caller may not change all of its pairs.
    #[error("you may not change connector {0}: it has pairs that you may not change")]
    Forbidden(ConnectorId),
    /// A stored secret would be sent where the caller says.
    #[error(
        "connector {connector} is read with credential {credential}, which is not yours to use: \
         you may not change where it is sent"
    )]
    ForeignSecret {
        /// The connector.
        connector: ConnectorId,
        /// The credential.
        credential: CredentialId,
    },
    /// Another connector of the source has the name.
    #[error("Connector by this name already exists, duplicate naming not allowed.")]
    NameTaken,
    /// There are too many.
    #[error("there are {max} connectors already; delete some first", max = Connector::COUNT_MAX)]
    Full,
    /// The deployment does not allow the source.
    #[error("source: {source_value} is not enabled in this deployment (indexing.enabled_sources)", source_value = .0.as_str())]
    Disabled(DocumentSource),
    /// Nobody connects such a source.
    #[error("source: {source_value} is not read by connectors", source_value = .0.as_str())]
    NotConnectable(DocumentSource),
    /// Pairs have credentials for the source that there is.
    #[error("source: connector {0} has credentials for its present source; make a new connector")]
    SourceInUse(ConnectorId),
    /// A configuration names a folder of the server.
    #[error("connector_specific_config: `folder` is for `trove index` alone; upload files instead")]
    Folder,
    /// A configuration names a file that is not there for the caller.
    #[error("connector_specific_config: there is no uploaded file {0:?}")]
    NoSuchFile(String),
    /// A configuration is too large.
    #[error("connector_specific_config: it has at most {max} bytes", max = Connector::CONFIG_BYTES_MAX)]
    TooLarge,
    /// The system's own, or one of `trove index`.
    #[error("connector {0} is not scheduled: what brings its documents decides about it")]
    BuiltIn(ConnectorId),
    /// One of its pairs holds documents.
    #[error("Connector is not deletable: its documents are to be deleted first")]
    HasDocuments,
    /// A curator may not do this.
    #[error(transparent)]
    Curator(#[from] CuratorError),
    /// Others keep changing it.
    #[error("the connector was changed by others at the same time; look at it and try again")]
    Busy,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for ConnectorError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchConnector(_) => ErrorKind::NotFound,
            Self::Forbidden(_) | Self::ForeignSecret { .. } => ErrorKind::Forbidden,
            Self::NameTaken
            | Self::Full
            | Self::Disabled(_)
            | Self::NotConnectable(_)
            | Self::SourceInUse(_)
            | Self::Folder
            | Self::NoSuchFile(_)
            | Self::TooLarge
            | Self::BuiltIn(_)
            | Self::HasDocuments => ErrorKind::Invalid,
            Self::Busy => ErrorKind::Conflict,
            Self::Curator(error) => error.kind(),
            Self::Store(error) => error.kind(),
        }
    }
}

/// Keys that only steer forms of clients.
const FORM_KEYS: [&str; 9] = [
    "github_mode",
    "bitbucket_mode",
    "indexing_scope",
    "salesforce_config_type",
    "airtable_scope",
    "highspot_scope",
    "everything",
    "everything_description",
    "workspace_tab",
];

/// How often a change is made anew on top of somebody else's.
const ATTEMPTS: usize = 5;

impl Engine {
    /// The connector.
    ///
    /// # Errors
    ///
    /// [`ConnectorError`] when there is none.
    pub async fn connector(&self, id: ConnectorId) -> Result<Connector, ConnectorError> {
        self.backends().connectors.get(id).await?.ok_or(ConnectorError::NoSuchConnector(id))
    }

    /// A page of the connectors but those of posted documents, by rising id; those of a credential,
    /// where one is named.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn list_connectors(
        &self,
        credential: Option<CredentialId>,
        after: Option<ConnectorId>,
        limit: u32,
    ) -> Result<Page<Connector, ConnectorId>, StoreError> {
        let found = self.backends().connectors.list(credential, after, limit).await?;
        let full = found.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
        let next = found.last().filter(|_| full).map(|last| last.id);
        let posted = |of: &Connector| of.details.source == DocumentSource::IngestionApi;
        Ok(Page { items: found.into_iter().filter(|of| !posted(of)).collect(), next })
    }

    /// Makes a connector without pairs, which reads nothing.
    ///
    /// # Errors
    ///
    /// [`ConnectorError`]; nothing is made then.
    pub async fn create_connector(
        &self,
        caller: &Caller,
        request: ConnectorRequest,
    ) -> Result<Connector, ConnectorError> {
        let subject = Some(format!("connector {:?}", request.details.name));
        let wanted = described(&request);
        let make = self.create_connector_unrecorded(caller, request);
        let told = |made: &Connector| details([("connector", made.id.to_string())]);
        self.recorded_as(AuditAction::CreateConnector, subject, wanted, make, told).await
    }

    /// Replaces what was decided about a connector. The next run goes by it.
    ///
    /// # Errors
    ///
    /// [`ConnectorError`]; nothing changes then.
    pub async fn update_connector(
        &self,
        caller: &Caller,
        id: ConnectorId,
        request: ConnectorRequest,
    ) -> Result<Connector, ConnectorError> {
        let (subject, wanted) = (format!("connector {id}"), described(&request));
        let change = self.update_connector_unrecorded(caller, id, request);
        self.recorded(AuditAction::UpdateConnector, subject, wanted, change).await
    }

    /// Removes a connector with its pairs, unless one of them holds documents; `false` when there
    /// is none.
    ///
    /// # Errors
    ///
    /// [`ConnectorError`]; nothing changes then.
    pub async fn delete_connector(
        &self,
        caller: &Caller,
        id: ConnectorId,
    ) -> Result<bool, ConnectorError> {
        let remove = async {
            let Some(present) = self.backends().connectors.get(id).await? else {
                return Ok(false);
            };
            match self.require_editable_connector(caller, &present).await {
                // It was not deleted, and whoever is told so would believe it.
                Err(ConnectorError::NoSuchConnector(id)) => {
                    return Err(ConnectorError::Forbidden(id));
                }
                other => other?,
            }
            match self.backends().connectors.remove(id).await? {
                ConnectorRemoval::Removed => Ok(true),
                ConnectorRemoval::Missing => Ok(false),
                ConnectorRemoval::HasDocuments => Err(ConnectorError::HasDocuments),
                ConnectorRemoval::BuiltIn => Err(ConnectorError::BuiltIn(id)),
            }
        };
        let subject = format!("connector {id}");
        self.recorded(AuditAction::DeleteConnector, subject, Details::new(), remove).await
    }

    pub(super) async fn create_connector_unrecorded(
        &self,
        caller: &Caller,
        request: ConnectorRequest,
    ) -> Result<Connector, ConnectorError> {
        let ConnectorRequest { details, indexing_start, .. } =
            self.checked_connector(caller, request, None).await?;
        let created_at = self.backends().clock.now();
        let new = NewConnector { details, indexing_start, created_at };
        let made = self.backends().connectors.insert(new).await?;
        made.map_err(|refusal| refused(refusal, ConnectorId(0)))
    }

    async fn update_connector_unrecorded(
        &self,
        caller: &Caller,
        id: ConnectorId,
        request: ConnectorRequest,
    ) -> Result<Connector, ConnectorError> {
        for _ in 0..ATTEMPTS {
            let present = self.connector(id).await?;
            self.require_editable_connector(caller, &present).await?;
            let known = Some(&present.details);
            let checked = self.checked_connector(caller, request.clone(), known).await?;
            let mut details = checked.details;
            details.prune_freq_s = details.prune_freq_s.or(Some(Connector::PRUNE_FREQ_S));
            if details.source != present.details.source && !present.credentials.is_empty() {
                return Err(ConnectorError::SourceInUse(id));
            }
            if details.config != present.details.config {
                self.require_own_secrets(caller, &present).await?;
            }
            let now = self.backends().clock.now();
            let store = &self.backends().connectors;
            match store.replace(id, &present.details, details, now).await? {
                Ok(connector) => return Ok(connector),
                // Somebody else's change came between; this one is checked against it.
                Err(ConnectorRefusal::Superseded) => {}
                Err(refusal) => return Err(refused(refusal, id)),
            }
        }
        Err(ConnectorError::Busy)
    }

    /// What is asked for, when the deployment allows it and `caller` may have it.
    async fn checked_connector(
        &self,
        caller: &Caller,
        mut request: ConnectorRequest,
        present: Option<&ConnectorDetails>,
    ) -> Result<ConnectorRequest, ConnectorError> {
        let source = request.details.source;
        if is_system(source) {
            return Err(ConnectorError::NotConnectable(source));
        }
        let enabled = self.config().enabled_sources.as_ref();
        if enabled.is_some_and(|enabled| !enabled.contains(&source)) {
            return Err(ConnectorError::Disabled(source));
        }
        let proposal = Proposal {
            synced: request.access_type == AccessType::Sync,
            public: request.access_type == AccessType::Public,
            // Whoever may change all of its pairs owns it.
            own: true,
            groups: &request.groups,
        };
        self.check_proposal(caller, proposal).await?;
        let config = &mut request.details.config;
        config.retain(|key, _| !FORM_KEYS.contains(&key.as_str()));
        if source == DocumentSource::File && config.contains_key(Connector::FOLDER_KEY) {
            return Err(ConnectorError::Folder);
        }
        if bytes_of(config) > Connector::CONFIG_BYTES_MAX {
            return Err(ConnectorError::TooLarge);
        }
        self.check_named_files(caller, &request.details, present).await?;
        Ok(request)
    }

    /// Fails unless `caller` may change all pairs of the connector. One that the caller has nothing
    /// to do with is like none ([`Engine::knows_connector`]).
    pub(crate) async fn require_editable_connector(
        &self,
        caller: &Caller,
        connector: &Connector,
    ) -> Result<(), ConnectorError> {
        if !self.knows_connector(caller, connector).await? {
            return Err(ConnectorError::NoSuchConnector(connector.id));
        }
        if connector.built_in {
            return Err(ConnectorError::BuiltIn(connector.id));
        }
        let store = &self.backends().cc_pairs;
        let all = store.count_of_connector(connector.id, None).await?;
        let own = store.count_of_connector(connector.id, Some(caller)).await?;
        if own < all { Err(ConnectorError::Forbidden(connector.id)) } else { Ok(()) }
    }

    /// Whether `caller` has to do with a connector: sees one of its pairs, or may give it its first
    /// one.
    pub(crate) async fn knows_connector(
        &self,
        caller: &Caller,
        connector: &Connector,
    ) -> Result<bool, StoreError> {
        if connector.built_in || connector.credentials.is_empty() {
            return Ok(matches!(caller.role, Role::Curator | Role::GlobalCurator | Role::Admin));
        }
        let store = &self.backends().cc_pairs;
        for credential in &connector.credentials {
            let Some(pair) = store.get_by_parts(connector.id, *credential).await? else { continue };
            if store.find_seen(caller, pair.id).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Fails unless `caller` may use all credentials of the connector that hold something: whoever
    /// decides where a connector reads decides where they are sent.
    async fn require_own_secrets(
        &self,
        caller: &Caller,
        connector: &Connector,
    ) -> Result<(), ConnectorError> {
        let store = &self.backends().credentials;
        for id in &connector.credentials {
            let credential = store.get(*id).await?;
            let is_empty = credential.is_none_or(|found| found.details.secret.is_none());
            if !is_empty && store.find(caller, *id, Reach::Visible).await?.is_none() {
                let (connector, credential) = (connector.id, *id);
                return Err(ConnectorError::ForeignSecret { connector, credential });
            }
        }
        Ok(())
    }
}

/// Whether documents of the source come in other ways.
fn is_system(source: DocumentSource) -> bool {
    matches!(
        source,
        DocumentSource::IngestionApi | DocumentSource::NotApplicable | DocumentSource::UserFile
    )
}

fn bytes_of(config: &Map<String, Value>) -> usize {
    serde_json::to_string(config).map_or(usize::MAX, |json| json.len())
}

fn refused(refusal: ConnectorRefusal, id: ConnectorId) -> ConnectorError {
    match refusal {
        ConnectorRefusal::NameTaken => ConnectorError::NameTaken,
        ConnectorRefusal::Full => ConnectorError::Full,
        ConnectorRefusal::Missing => ConnectorError::NoSuchConnector(id),
        ConnectorRefusal::BuiltIn => ConnectorError::BuiltIn(id),
        ConnectorRefusal::Superseded => ConnectorError::Busy,
    }
}

/// Names of a configuration and not its values, which may be anything.
fn described(request: &ConnectorRequest) -> Details {
    details([
        ("name", request.details.name.clone()),
        ("source_of", request.details.source.as_str().to_owned()),
        ("config_keys", ids(request.details.config.keys())),
        ("access_type", request.access_type.as_str().to_owned()),
        ("groups", ids(&request.groups)),
    ])
}
