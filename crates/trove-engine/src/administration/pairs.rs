//! Pairs that a schedule runs: who makes and changes which.

mod error;
mod validation;

use std::collections::BTreeSet;

use serde_json::Value;
use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::cc_pair::{AccessType, CcPair, CcPairStatus, SeenPair};
use trove_domain::connector::Connector;
use trove_domain::credential::{Credential, CredentialDetails};
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, ConnectorId, CredentialId, GroupId};
use trove_domain::indexing::task::TaskKind;
use trove_domain::page::Page;
use trove_domain::permission_sync::PermissionSync;
use trove_domain::port::{ConnectorRefusal, NewCredential, NewScheduledPair, PairRefusal, Reach};
use trove_domain::source::DocumentSource;

use super::credentials::{CredentialError, CredentialView};
use super::curators::Proposal;
use super::{ConnectorError, ConnectorRequest};
use crate::Engine;
use crate::audit::{details, ids};

pub use error::PairError;

/// What somebody wants a pair to be.
#[derive(Clone, Debug)]
pub struct PairRequest {
    /// Its name; the connector's when absent.
    pub name: Option<String>,
    /// Who may read its documents.
    pub access_type: AccessType,
    /// Groups that a private pair is shared with.
    pub groups: BTreeSet<GroupId>,
    /// What the source needs to know to tell who reads what: a JSON object.
    pub auto_sync_options: Option<Value>,
}

/// A pair with what it is made of, as a caller sees it.
#[derive(Clone, Debug)]
pub struct PairView {
    /// The pair.
    pub seen: SeenPair,
    /// Its connector.
    pub connector: Connector,
    /// Its credential, masked.
    pub credential: CredentialView,
    /// Whether a worker is deleting it.
    pub is_in_deletion: bool,
    /// The latest fetching of its permissions, where its source tells them.
    pub permissions: Option<PermissionSync>,
}

impl Engine {
    /// Gives a connector a credential: the pair waits for its first run.
    ///
    /// Configuration and credential are tried first, so that what cannot work is told at once.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing is made then.
    pub async fn create_pair(
        &self,
        caller: &Caller,
        connector: ConnectorId,
        credential: CredentialId,
        request: PairRequest,
    ) -> Result<CcPair, PairError> {
        let subject = Some(format!("connector {connector}"));
        let wanted = details([
            ("credential", credential.to_string()),
            ("access_type", request.access_type.as_str().to_owned()),
            ("groups", ids(&request.groups)),
        ]);
        let make = self.create_pair_unrecorded(caller, connector, credential, request);
        let told = |pair: &CcPair| details([("cc_pair", pair.id.to_string())]);
        self.recorded_as(AuditAction::CreatePair, subject, wanted, make, told).await
    }

    /// Takes a credential from a connector, and removes the documents that no other pair holds.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing changes then.
    pub async fn dissolve_pair(
        &self,
        caller: &Caller,
        connector: ConnectorId,
        credential: CredentialId,
    ) -> Result<(), PairError> {
        let dissolve = async {
            let backends = self.backends();
            let usable = backends.credentials.find(caller, credential, Reach::Visible).await?;
            let known = match backends.connectors.get(connector).await? {
                Some(found) => self.knows_connector(caller, &found).await?,
                None => false,
            };
            // Whichever of them is missing, or is not for the caller to know.
            if usable.is_none() || !known {
                return Err(PairError::Gone { connector, credential });
            }
            let store = &backends.cc_pairs;
            let pair = store.get_by_parts(connector, credential).await?;
            let pair = pair.ok_or(PairError::NotAssociated { connector, credential })?;
            match self.require_editable_pair(caller, pair.id).await {
                Err(PairError::NoSuchPair(_)) => {
                    return Err(PairError::NotAssociated { connector, credential });
                }
                other => other?,
            }
            let (now, job) = (self.backends().clock.now(), self.sync_job());
            let done = store.dissociate(connector, credential, now, job).await?;
            self.shared.jobs_enqueued.notify_one();
            done.map(drop).map_err(|refusal| PairError::of(refusal, pair.id))
        };
        let subject = format!("connector {connector}");
        let wanted = details([("credential", credential.to_string())]);
        self.recorded(AuditAction::RemovePair, subject, wanted, dissolve).await
    }

    /// A pair that `caller` may see, with its parts.
    ///
    /// # Errors
    ///
    /// [`PairError`]; one that the caller may not see is like none.
    pub async fn pair(&self, caller: &Caller, id: CcPairId) -> Result<PairView, PairError> {
        let seen = self.backends().cc_pairs.find_seen(caller, id).await?;
        let seen = seen.ok_or(PairError::NoSuchPair(id))?;
        self.pair_view(seen).await?.ok_or(PairError::NoSuchPair(id))
    }

    /// A page of the pairs but the default one that `caller` may see, by rising id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn list_pairs(
        &self,
        caller: &Caller,
        after: Option<CcPairId>,
        limit: u32,
    ) -> Result<Page<SeenPair, CcPairId>, StoreError> {
        let items = self.backends().cc_pairs.list_seen(caller, after, limit).await?;
        let full = items.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
        let next = items.last().filter(|_| full).map(|last| last.pair.id);
        Ok(Page { items, next })
    }

    /// The same with what they are made of; of the credentials of a connector those only whose
    /// pairs `caller` sees.
    ///
    /// # Errors
    ///
    /// [`PairError`] when they cannot be read.
    pub async fn list_pair_views(
        &self,
        caller: &Caller,
        after: Option<CcPairId>,
        limit: u32,
    ) -> Result<Page<PairView, CcPairId>, PairError> {
        let page = self.list_pairs(caller, after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for seen in page.items {
            if let Some(mut view) = self.pair_view(seen).await? {
                let mut visible = BTreeSet::new();
                for credential in &view.connector.credentials {
                    let store = &self.backends().cc_pairs;
                    let pair = store.get_by_parts(view.connector.id, *credential).await?;
                    let Some(pair) = pair else { continue };
                    if store.find_seen(caller, pair.id).await?.is_some() {
                        visible.insert(*credential);
                    }
                }
                view.connector.credentials = visible;
                items.push(view);
            }
        }
        Ok(Page { items, next: page.next })
    }

    /// As [`Engine::list_pairs`], without those of posted documents.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn list_connected_pairs(
        &self,
        caller: &Caller,
        after: Option<CcPairId>,
        limit: u32,
    ) -> Result<Page<SeenPair, CcPairId>, StoreError> {
        let mut page = self.list_pairs(caller, after, limit).await?;
        page.items.retain(|seen| seen.pair.source != DocumentSource::IngestionApi);
        Ok(page)
    }

    /// Makes a connector that needs no secret, an empty credential, and their pair.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing is made then.
    pub async fn create_connected(
        &self,
        caller: &Caller,
        request: ConnectorRequest,
    ) -> Result<CcPair, PairError> {
        let subject = Some(format!("connector {:?}", request.details.name));
        let wanted = details([
            ("access_type", request.access_type.as_str().to_owned()),
            ("groups", ids(&request.groups)),
        ]);
        let make = self.create_connected_unrecorded(caller, request);
        let told = |pair: &CcPair| details([("cc_pair", pair.id.to_string())]);
        self.recorded_as(AuditAction::CreatePair, subject, wanted, make, told).await
    }

    async fn create_connected_unrecorded(
        &self,
        caller: &Caller,
        request: ConnectorRequest,
    ) -> Result<CcPair, PairError> {
        let (access_type, groups) = (request.access_type, request.groups.clone());
        let connector = self.create_connector_unrecorded(caller, request).await?;
        let backends = self.backends();
        let empty = CredentialDetails {
            name: Some(connector.details.name.clone()),
            source: connector.details.source,
            secret: None,
            admin_public: true,
            curator_public: false,
            groups: BTreeSet::new(),
        };
        let (uuid, created_at) = (backends.ids.uuid(), backends.clock.now());
        let new = NewCredential { uuid, details: empty, owner: Some(caller.user), created_at };
        let credential = match backends.credentials.insert(new).await {
            Ok(Ok(credential)) => Ok(credential.id),
            Ok(Err(refusal)) => Err(CredentialError::of(refusal)),
            Err(error) => Err(error.into()),
        };
        let made = match &credential {
            Ok(credential) => {
                let (name, auto_sync_options) = (None, None);
                let request = PairRequest { name, access_type, groups, auto_sync_options };
                self.create_pair_unrecorded(caller, connector.id, *credential, request).await
            }
            Err(_) => Err(PairError::NothingToSwap(connector.id)),
        };
        if made.is_err() {
            // What is left of it would be in the way of the next attempt.
            backends.connectors.remove(connector.id).await?;
            if let Ok(credential) = &credential {
                backends.credentials.remove(*credential).await?;
            }
        }
        credential?;
        made
    }

    /// Changes how often the connector of a pair is read (`refresh_frequency`) or looks for what is
    /// gone (`pruning_frequency`), in seconds.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing changes then.
    pub async fn set_pair_frequency(
        &self,
        caller: &Caller,
        id: CcPairId,
        property: &str,
        value: &str,
    ) -> Result<(), PairError> {
        let set = async {
            self.require_editable_pair(caller, id).await?;
            let view = self.pair(caller, id).await?;
            self.require_editable_connector(caller, &view.connector).await?;
            let seconds: Option<i32> = value.trim().parse().ok();
            let mut details = view.connector.details.clone();
            match (property, seconds) {
                ("refresh_frequency", Some(60..)) => details.refresh_freq_s = seconds,
                ("pruning_frequency", Some(300..)) => details.prune_freq_s = seconds,
                _ => return Err(PairError::Property),
            }
            let (store, now) = (&self.backends().connectors, self.backends().clock.now());
            let connector = view.connector.id;
            match store.replace(connector, &view.connector.details, details, now).await? {
                Ok(_) => Ok(()),
                Err(ConnectorRefusal::Superseded) => Err(ConnectorError::Busy.into()),
                Err(_) => Err(ConnectorError::NoSuchConnector(connector).into()),
            }
        };
        let wanted = details([(property, value.to_owned())]);
        self.recorded(AuditAction::ChangePair, format!("cc_pair {id}"), wanted, set).await
    }

    /// The sources that connectors read.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn connected_sources(&self) -> Result<BTreeSet<DocumentSource>, StoreError> {
        let (mut sources, mut after) = (BTreeSet::new(), None);
        loop {
            let page = self.list_connectors(None, after, PAGE).await?;
            sources.extend(page.items.into_iter().map(|connector| connector.details.source));
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(sources),
            }
        }
    }

    /// Gives a pair another name.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing changes then.
    pub async fn rename_pair(
        &self,
        caller: &Caller,
        id: CcPairId,
        name: &str,
    ) -> Result<(), PairError> {
        let rename = async {
            self.require_editable_pair(caller, id).await?;
            let renamed = self.backends().cc_pairs.rename(id, name).await?;
            renamed.map_err(|refusal| PairError::of(refusal, id))
        };
        let wanted = details([("name", name.to_owned())]);
        self.recorded(AuditAction::ChangePair, format!("cc_pair {id}"), wanted, rename).await
    }

    /// Pauses a pair, whose run ends then, or lets it go on.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing changes then.
    pub async fn pause_pair(
        &self,
        caller: &Caller,
        id: CcPairId,
        paused: bool,
    ) -> Result<(), PairError> {
        let pause = async {
            self.require_editable_pair(caller, id).await?;
            let now = self.backends().clock.now();
            let set = self.backends().cc_pairs.set_paused(id, paused, now).await?;
            self.shared.runs_wanted.notify_one();
            set.map_err(|refusal| PairError::of(refusal, id))
        };
        let wanted = details([("paused", paused.to_string())]);
        self.recorded(AuditAction::ChangePair, format!("cc_pair {id}"), wanted, pause).await
    }

    /// Gives the one pair of a connector another credential for the same source.
    ///
    /// Its documents stay; the private ones are read by the new credential's owner in place of the
    /// old one's, as soon as the index knows.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing changes then.
    pub async fn swap_credential(
        &self,
        caller: &Caller,
        connector: ConnectorId,
        credential: CredentialId,
        access_type: Option<AccessType>,
    ) -> Result<CcPairId, PairError> {
        let swap = self.swap_credential_unrecorded(caller, connector, credential, access_type);
        let subject = Some(format!("connector {connector}"));
        let wanted = details([("credential", credential.to_string())]);
        let told = |pair: &CcPairId| details([("cc_pair", pair.to_string())]);
        self.recorded_as(AuditAction::SwapCredential, subject, wanted, swap, told).await
    }

    async fn create_pair_unrecorded(
        &self,
        caller: &Caller,
        connector: ConnectorId,
        credential: CredentialId,
        request: PairRequest,
    ) -> Result<CcPair, PairError> {
        let PairRequest { name, access_type, groups, auto_sync_options } = request;
        let bytes = auto_sync_options.as_ref().map_or(0, |options| options.to_string().len());
        if bytes > CcPair::OPTIONS_BYTES_MAX {
            return Err(PairError::OptionsTooLarge);
        }
        let proposal = Proposal {
            synced: access_type == AccessType::Sync,
            public: access_type == AccessType::Public,
            own: true,
            groups: &groups,
        };
        self.check_proposal(caller, proposal).await?;
        let found = self.connector(connector).await?;
        // Whoever adds a pair decides who else reads what the others have.
        self.require_editable_connector(caller, &found).await?;
        self.check_connectable(&found, access_type)?;
        if self.is_being_deleted(&found).await? {
            return Err(PairError::ConnectorDeleting(connector));
        }
        if found.credentials.is_empty() {
            self.check_named_files(caller, &found.details, None).await?;
        }
        let secret = self.usable_credential(caller, credential).await?;
        self.validate(&found, &secret).await?;
        let store = &self.backends().cc_pairs;
        if store.get_by_parts(connector, credential).await?.is_some() {
            return Err(PairError::Exists { connector, credential });
        }
        let created_at = self.backends().clock.now();
        let name = name.unwrap_or(found.details.name);
        let creator = Some(caller.user);
        let new = NewScheduledPair {
            name,
            connector,
            credential,
            access_type,
            groups,
            auto_sync_options,
            creator,
            created_at,
        };
        let made = store.associate(new).await?;
        self.shared.runs_wanted.notify_one();
        made.map_err(|refusal| match refusal {
            PairRefusal::Exists => PairError::Exists { connector, credential },
            PairRefusal::Deleting => PairError::ConnectorDeleting(connector),
            other => PairError::of(other, CcPairId(0)),
        })
    }

    async fn swap_credential_unrecorded(
        &self,
        caller: &Caller,
        connector: ConnectorId,
        credential: CredentialId,
        access_type: Option<AccessType>,
    ) -> Result<CcPairId, PairError> {
        let secret = self.reachable_credential(caller, credential, Reach::Editable).await;
        let secret = secret.map_err(|error| match error {
            CredentialError::NotYours(id) => CredentialError::NothingToDelete(id),
            other => other,
        })?;
        let found = self.connector(connector).await?;
        self.require_editable_connector(caller, &found).await?;
        if found.credentials.len() != 1 {
            return Err(PairError::NothingToSwap(connector));
        }
        self.check_connectable(&found, access_type.unwrap_or(AccessType::Private))?;
        self.validate(&found, &secret).await?;
        let (now, job) = (self.backends().clock.now(), self.sync_job());
        let store = &self.backends().cc_pairs;
        let swapped = store.swap_credential(connector, credential, now, job).await?;
        self.shared.jobs_enqueued.notify_one();
        self.shared.runs_wanted.notify_one();
        swapped.map_err(|refusal| match refusal {
            PairRefusal::NotScheduled => PairError::NotScheduled,
            _ => PairError::NothingToSwap(connector),
        })
    }

    async fn usable_credential(
        &self,
        caller: &Caller,
        id: CredentialId,
    ) -> Result<Credential, PairError> {
        Ok(self.reachable_credential(caller, id, Reach::Visible).await?)
    }

    /// Whether a connector goes with the pairs that it has: all of them are being deleted.
    pub(crate) async fn is_being_deleted(&self, connector: &Connector) -> Result<bool, StoreError> {
        let mut going = false;
        for credential in &connector.credentials {
            let pair = self.backends().cc_pairs.get_by_parts(connector.id, *credential).await?;
            match pair.map(|pair| pair.status) {
                None => {}
                Some(CcPairStatus::Deleting) => going = true,
                Some(_) => return Ok(false),
            }
        }
        Ok(going)
    }

    /// Fails unless `caller` may change the pair.
    pub(crate) async fn require_editable_pair(
        &self,
        caller: &Caller,
        id: CcPairId,
    ) -> Result<(), PairError> {
        match self.backends().cc_pairs.find_seen(caller, id).await? {
            None => Err(PairError::NoSuchPair(id)),
            Some(seen) if !seen.editable => Err(PairError::Forbidden(id)),
            Some(_) => Ok(()),
        }
    }

    async fn pair_view(&self, seen: SeenPair) -> Result<Option<PairView>, PairError> {
        let connector = self.backends().connectors.get(seen.pair.connector).await?;
        let credential = self.backends().credentials.get(seen.pair.credential).await?;
        let (Some(connector), Some(credential)) = (connector, credential) else {
            return Ok(None);
        };
        let credential = self.credential_view(credential)?;
        let is_in_deletion = seen.pair.status == CcPairStatus::Deleting && {
            let tasks = self.backends().tasks.find(&[seen.pair.id]).await?;
            let now = self.backends().clock.now();
            tasks.iter().any(|task| task.kind == TaskKind::Deletion && task.is_held(now))
        };
        let permissions =
            self.backends().permissions.latest_permission_syncs(&[seen.pair.id]).await?;
        let permissions = permissions.into_iter().next().flatten();
        Ok(Some(PairView { seen, connector, credential, is_in_deletion, permissions }))
    }
}

/// Connectors that are read at a time.
const PAGE: u32 = 500;
