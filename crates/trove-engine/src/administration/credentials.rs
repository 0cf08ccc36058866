//! Credentials: who makes, uses and changes which.
//!
//! Secrets go one way: in. What is read back has masks in place of values, and a mask that is sent
//! back leaves the stored value as it is.

mod content;
mod error;
mod force;
mod private_key;

use std::collections::BTreeSet;

use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::credential::{Credential, CredentialContent, CredentialDetails};
use trove_domain::id::{CredentialId, GroupId};
use trove_domain::page::Page;
use trove_domain::port::{CredentialRefusal, CredentialRemoval, NewCredential, Reach};
use trove_domain::source::DocumentSource;

use super::curators::Proposal;
use crate::Engine;
use crate::audit::{Details, details, ids};

pub use content::CredentialView;
pub use error::CredentialError;
pub use private_key::{PRIVATE_KEY_BYTES_MAX, PrivateKeyKind, UploadedKey};

/// A credential to make.
#[derive(Clone, Debug)]
pub struct CredentialRequest {
    /// What it holds.
    pub content: CredentialContent,
    /// Its name.
    pub name: Option<String>,
    /// The system it is for.
    pub source: DocumentSource,
    /// Whether every administrator may use it.
    pub admin_public: bool,
    /// Whether every curator may use it.
    pub curator_public: bool,
    /// Groups whose curators may change it.
    pub groups: BTreeSet<GroupId>,
}

/// What is to be changed of a credential; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct CredentialUpdate {
    /// What it holds.
    pub content: Option<NewContent>,
    /// Its name.
    pub name: Option<Option<String>>,
    /// Whether every administrator may use it.
    pub admin_public: Option<bool>,
    /// Whether every curator may use it.
    pub curator_public: Option<bool>,
    /// Groups whose curators may change it.
    pub groups: Option<BTreeSet<GroupId>>,
}

/// How the content of a credential changes.
#[derive(Clone, Debug)]
pub enum NewContent {
    /// Entries override, the others stay.
    Merged(CredentialContent),
    /// There are these entries and no others.
    Replaced(CredentialContent),
}

/// How often a change is made anew on top of somebody else's.
const ATTEMPTS: usize = 5;

impl Engine {
    /// The credential, when `caller` may use it.
    ///
    /// # Errors
    ///
    /// [`CredentialError`]; one that is not the caller's to use is like none.
    pub async fn credential(
        &self,
        caller: &Caller,
        id: CredentialId,
    ) -> Result<CredentialView, CredentialError> {
        self.credential_view(self.reachable_credential(caller, id, Reach::Visible).await?)
    }

    /// A page of the credentials within the reach of `caller`, by rising id; those of one source,
    /// where one is named.
    ///
    /// # Errors
    ///
    /// [`CredentialError`] when they cannot be read.
    pub async fn list_credentials(
        &self,
        caller: &Caller,
        reach: Reach,
        source: Option<DocumentSource>,
        after: Option<CredentialId>,
        limit: u32,
    ) -> Result<Page<CredentialView, CredentialId>, CredentialError> {
        let found = self.backends().credentials.list(caller, reach, source, after, limit).await?;
        let full = found.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
        let next = found.last().filter(|_| full).map(|last| last.id);
        let items: Result<_, _> =
            found.into_iter().map(|credential| self.credential_view(credential)).collect();
        Ok(Page { items: items?, next })
    }

    /// Makes a credential that belongs to `caller`, a curator or an administrator.
    ///
    /// # Errors
    ///
    /// [`CredentialError`]; nothing is made then.
    pub async fn create_credential(
        &self,
        caller: &Caller,
        request: CredentialRequest,
    ) -> Result<CredentialView, CredentialError> {
        let wanted = details([
            ("source", request.source.as_str().to_owned()),
            ("admin_public", request.admin_public.to_string()),
            ("curator_public", request.curator_public.to_string()),
            ("groups", ids(&request.groups)),
        ]);
        let make = self.create_credential_unrecorded(caller, request);
        let told =
            |view: &CredentialView| details([("credential", view.credential.id.to_string())]);
        self.recorded_as(AuditAction::CreateCredential, None, wanted, make, told).await
    }

    /// Changes a credential. It becomes the caller's, who then reads the private documents of its
    /// pairs in place of the owner before, unless there are pairs that the caller may not change.
    ///
    /// # Errors
    ///
    /// [`CredentialError`]; nothing changes then.
    pub async fn update_credential(
        &self,
        caller: &Caller,
        id: CredentialId,
        update: CredentialUpdate,
    ) -> Result<CredentialView, CredentialError> {
        let mut wanted = details([("content_changed", update.content.is_some().to_string())]);
        let flag = |name: &str, flag: Option<bool>| flag.map(|f| (name.to_owned(), f.to_string()));
        wanted.extend(flag("admin_public", update.admin_public));
        wanted.extend(flag("curator_public", update.curator_public));
        wanted.extend(update.groups.as_ref().map(|groups| ("groups".to_owned(), ids(groups))));
        let change = self.update_credential_unrecorded(caller, id, update);
        let told = |view: &CredentialView| {
            details([("owner", view.credential.owner.map_or_else(String::new, |o| o.to_string()))])
        };
        let subject = Some(format!("credential {id}"));
        self.recorded_as(AuditAction::UpdateCredential, subject, wanted, change, told).await
    }

    /// Removes any credential that no pair is read with, for administrators.
    ///
    /// # Errors
    ///
    /// [`CredentialError`]; nothing changes then.
    pub async fn delete_any_credential(&self, id: CredentialId) -> Result<(), CredentialError> {
        let remove = self.remove_credential(id);
        let subject = format!("credential {id}");
        self.recorded(AuditAction::DeleteCredential, subject, Details::new(), remove).await
    }

    /// Removes a credential that `caller` may change and that no pair is read with.
    ///
    /// # Errors
    ///
    /// [`CredentialError`]; nothing changes then.
    pub async fn delete_credential(
        &self,
        caller: &Caller,
        id: CredentialId,
    ) -> Result<(), CredentialError> {
        let remove = async {
            self.deletable_credential(caller, id).await?;
            self.remove_credential(id).await
        };
        let subject = format!("credential {id}");
        self.recorded(AuditAction::DeleteCredential, subject, Details::new(), remove).await
    }

    async fn create_credential_unrecorded(
        &self,
        caller: &Caller,
        request: CredentialRequest,
    ) -> Result<CredentialView, CredentialError> {
        let CredentialRequest { content, name, source, admin_public, curator_public, groups } =
            request;
        self.check_sharing(caller, source, true, curator_public, &groups).await?;
        let content = content.unmasked(&CredentialContent::default())?;
        let (uuid, created_at) = (self.backends().ids.uuid(), self.backends().clock.now());
        let secret = self.seal_content(&content, uuid)?;
        let details =
            CredentialDetails { name, source, secret, admin_public, curator_public, groups };
        let new = NewCredential { uuid, details, owner: Some(caller.user), created_at };
        let made = self.backends().credentials.insert(new).await?;
        self.credential_view(made.map_err(CredentialError::of)?)
    }

    async fn update_credential_unrecorded(
        &self,
        caller: &Caller,
        id: CredentialId,
        update: CredentialUpdate,
    ) -> Result<CredentialView, CredentialError> {
        for _ in 0..ATTEMPTS {
            let present = self.reachable_credential(caller, id, Reach::Editable).await?;
            let details = self.updated(caller, &present, update.clone()).await?;
            let (now, job) = (self.backends().clock.now(), self.sync_job());
            let store = &self.backends().credentials;
            match store.replace(caller, id, present.revision, details, now, job).await? {
                Ok(credential) => {
                    self.shared.jobs_enqueued.notify_one();
                    return self.credential_view(credential);
                }
                // Somebody else's change came between; this one is made on top of it.
                Err(CredentialRefusal::Superseded) => {}
                Err(refusal) => return Err(CredentialError::of(refusal)),
            }
        }
        Err(CredentialError::Busy)
    }

    /// What a credential becomes.
    async fn updated(
        &self,
        caller: &Caller,
        present: &Credential,
        update: CredentialUpdate,
    ) -> Result<CredentialDetails, CredentialError> {
        let CredentialUpdate { content, name, admin_public, curator_public, groups } = update;
        let mut details = present.details.clone();
        let shares = curator_public.is_some() || groups.is_some();
        details.name = name.unwrap_or(details.name);
        details.admin_public = admin_public.unwrap_or(details.admin_public);
        details.curator_public = curator_public.unwrap_or(details.curator_public);
        details.groups = groups.unwrap_or(details.groups);
        if shares {
            let own = present.owner == Some(caller.user);
            let (public, groups) = (details.curator_public, &details.groups);
            self.check_sharing(caller, details.source, own, public, groups).await?;
        }
        if let Some(content) = content {
            let stored = self.open_content(present)?;
            let content = match content {
                NewContent::Replaced(content) => content.unmasked(&stored)?,
                NewContent::Merged(content) => {
                    let content = content.unmasked(&stored)?;
                    stored.merged(content)
                }
            };
            details.secret = self.seal_content(&content, present.uuid)?;
        }
        Ok(details)
    }

    /// Whether `caller` may share a credential in this way.
    async fn check_sharing(
        &self,
        caller: &Caller,
        source: DocumentSource,
        own: bool,
        public: bool,
        groups: &BTreeSet<GroupId>,
    ) -> Result<(), CredentialError> {
        if Credential::SOURCES_WITHOUT_SECRET.contains(&source) {
            return Ok(());
        }
        let proposal = Proposal { synced: false, public, own, groups };
        Ok(self.check_proposal(caller, proposal).await?)
    }

    pub(super) async fn reachable_credential(
        &self,
        caller: &Caller,
        id: CredentialId,
        reach: Reach,
    ) -> Result<Credential, CredentialError> {
        let found = self.backends().credentials.find(caller, id, reach).await?;
        found.ok_or(CredentialError::NotYours(id))
    }

    async fn deletable_credential(
        &self,
        caller: &Caller,
        id: CredentialId,
    ) -> Result<(), CredentialError> {
        match self.reachable_credential(caller, id, Reach::Editable).await {
            Err(CredentialError::NotYours(id)) => Err(CredentialError::NothingToDelete(id)),
            other => other.map(drop),
        }
    }

    async fn remove_credential(&self, id: CredentialId) -> Result<(), CredentialError> {
        match self.backends().credentials.remove(id).await? {
            CredentialRemoval::Removed => Ok(()),
            CredentialRemoval::Missing => Err(CredentialError::NothingToDelete(id)),
            CredentialRemoval::InUse { pairs, documents } => {
                Err(CredentialError::InUse { pairs, documents })
            }
        }
    }
}
