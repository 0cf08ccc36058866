//! What administrators and owners change, with a record of it in the audit log.

use std::collections::BTreeMap;

use secrecy::SecretString;
use trove_domain::access::Caller;
use trove_domain::api_key::ListedKey;
use trove_domain::audit::AuditAction;
use trove_domain::error::StoreError;
use trove_domain::id::{AgentId, ApiKeyId, DocumentSetId, LlmProviderId};
use trove_domain::llm_provider::ModelPurpose;
use trove_domain::port::{AgentSharing, NewDocumentSet};

use super::llm_providers::{LlmProviderError, ProviderUpsert, ProviderView};
use super::{
    AgentError, AgentRequest, AgentView, DocumentSetError, DocumentSetUpdate, FIRST_ADMIN_EMAIL,
    IssueKeyError, IssuedKey, ServiceKeyError, ServiceKeyRequest,
};
use crate::Engine;
use crate::audit::{Details, details, ids};

impl Engine {
    /// Makes the first administrator and a key for it, if there is no administrator yet; answers
    /// the key's secret then.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing is made then.
    pub async fn bootstrap_admin(&self) -> Result<Option<SecretString>, StoreError> {
        let (action, subject) =
            (AuditAction::FirstAdministrator, format!("user {FIRST_ADMIN_EMAIL}"));
        self.recorded(action, subject, Details::new(), self.bootstrap_admin_unrecorded()).await
    }

    /// Makes a key that acts as the user with address `email`.
    ///
    /// # Errors
    ///
    /// [`IssueKeyError`]; nothing is made then.
    pub async fn issue_key(
        &self,
        email: &str,
        name: Option<String>,
    ) -> Result<IssuedKey, IssueKeyError> {
        let subject = Some(format!("user {email}"));
        let wanted = details([("name", name.clone().unwrap_or_default())]);
        let issue = self.issue_key_unrecorded(email, name);
        let told = |issued: &IssuedKey| details([("key", issued.key.id.to_string())]);
        self.recorded_as(AuditAction::CreateKey, subject, wanted, issue, told).await
    }

    /// As [`Engine::delete_key`]; `false` when there is no such key. One that has ended already is
    /// there.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the key may still work then.
    pub async fn revoke_key(&self, id: ApiKeyId) -> Result<bool, StoreError> {
        match self.delete_key(id).await {
            Ok(()) => Ok(true),
            Err(ServiceKeyError::Store(error)) => Err(error),
            Err(_) => Ok(self.backends().api_keys.get(id).await?.is_some()),
        }
    }

    /// Makes a service account with a key; answers it with its secret.
    ///
    /// # Errors
    ///
    /// [`ServiceKeyError`]; nothing is made then.
    pub async fn create_service_key(
        &self,
        request: ServiceKeyRequest,
    ) -> Result<(ListedKey, SecretString), ServiceKeyError> {
        let wanted = service_key(&request);
        let create = self.create_service_key_unrecorded(request);
        let told =
            |(listed, _): &(ListedKey, SecretString)| details([("key", listed.key.id.to_string())]);
        self.recorded_as(AuditAction::CreateKey, None, wanted, create, told).await
    }

    /// Changes a service account, from the next request on, and the name of its key.
    ///
    /// # Errors
    ///
    /// [`ServiceKeyError`]; nothing changes then.
    pub async fn update_service_key(
        &self,
        id: ApiKeyId,
        request: ServiceKeyRequest,
    ) -> Result<ListedKey, ServiceKeyError> {
        let wanted = service_key(&request);
        let update = self.update_service_key_unrecorded(id, request);
        self.recorded(AuditAction::UpdateKey, format!("api_key {id}"), wanted, update).await
    }

    /// Gives a service account another token, which is answered; the one before ends.
    ///
    /// # Errors
    ///
    /// [`ServiceKeyError`]; the old one works then.
    pub async fn regenerate_key(
        &self,
        id: ApiKeyId,
    ) -> Result<(ListedKey, SecretString), ServiceKeyError> {
        let (action, subject) = (AuditAction::RegenerateKey, format!("api_key {id}"));
        self.recorded(action, subject, Details::new(), self.regenerate_key_unrecorded(id)).await
    }

    /// As [`Engine::delete_key`], but not for the last key of an administrator where no administrator
    /// has a password.
    ///
    /// # Errors
    ///
    /// As [`Engine::delete_key`], and [`ServiceKeyError::LastAdminKey`].
    pub async fn delete_spare_key(&self, id: ApiKeyId) -> Result<(), ServiceKeyError> {
        let (action, subject) = (AuditAction::RevokeKey, format!("api_key {id}"));
        self.recorded(action, subject, Details::new(), self.delete_spare_key_unrecorded(id)).await
    }

    /// Ends a key, from the next request on, and removes the service account that exists for it.
    ///
    /// # Errors
    ///
    /// [`ServiceKeyError`]; after [`ServiceKeyError::Store`] the key may have ended while the
    /// account is still there, and another call removes it.
    pub async fn delete_key(&self, id: ApiKeyId) -> Result<(), ServiceKeyError> {
        let (action, subject) = (AuditAction::RevokeKey, format!("api_key {id}"));
        self.recorded(action, subject, Details::new(), self.delete_key_unrecorded(id)).await
    }

    /// Makes a document set that belongs to `caller`, a curator or an administrator. The index
    /// follows in the background; searches find the set by its name once it has.
    ///
    /// # Errors
    ///
    /// [`DocumentSetError`]; nothing is made then.
    pub async fn create_document_set(
        &self,
        caller: &Caller,
        set: NewDocumentSet,
    ) -> Result<DocumentSetId, DocumentSetError> {
        let subject = Some(format!("document_set {:?}", set.name));
        let wanted = shared(set.public, &set.groups, &set.users);
        let make = self.create_document_set_unrecorded(caller, set);
        let told = |id: &DocumentSetId| details([("document_set", id.to_string())]);
        self.recorded_as(AuditAction::CreateDocumentSet, subject, wanted, make, told).await
    }

    /// Replaces what a document set is made of. When its pairs change the index follows in the
    /// background, and until then the set is not changed again.
    ///
    /// # Errors
    ///
    /// [`DocumentSetError`]; nothing changes then.
    pub async fn update_document_set(
        &self,
        caller: &Caller,
        id: DocumentSetId,
        update: DocumentSetUpdate,
    ) -> Result<(), DocumentSetError> {
        let subject = format!("document_set {id}");
        let wanted = shared(update.public, &update.groups, &update.users);
        let change = self.update_document_set_unrecorded(caller, id, update);
        self.recorded(AuditAction::UpdateDocumentSet, subject, wanted, change).await
    }

    /// Deletes a document set: it is empty at once, and gone when the index does not name it any
    /// more. Agents that search in it find nothing there.
    ///
    /// # Errors
    ///
    /// [`DocumentSetError`]; nothing changes then.
    pub async fn delete_document_set(
        &self,
        caller: &Caller,
        id: DocumentSetId,
    ) -> Result<(), DocumentSetError> {
        let subject = format!("document_set {id}");
        let delete = self.delete_document_set_unrecorded(caller, id);
        self.recorded(AuditAction::DeleteDocumentSet, subject, Details::new(), delete).await
    }

    /// Makes an agent that belongs to `caller`.
    ///
    /// # Errors
    ///
    /// [`AgentError`]; nothing is made then.
    pub async fn create_agent(
        &self,
        caller: &Caller,
        request: AgentRequest,
    ) -> Result<AgentView, AgentError> {
        let subject = Some(format!("agent {:?}", request.write.definition.name));
        let wanted = sharing_of(&request.write.sharing);
        let make = self.create_agent_unrecorded(caller, request);
        let told = |view: &AgentView| details([("agent", view.agent.id.to_string())]);
        self.recorded_as(AuditAction::CreateAgent, subject, wanted, make, told).await
    }

    /// Replaces what an agent is made of.
    ///
    /// # Errors
    ///
    /// [`AgentError`]; nothing changes then.
    pub async fn update_agent(
        &self,
        caller: &Caller,
        id: AgentId,
        request: AgentRequest,
    ) -> Result<AgentView, AgentError> {
        let wanted = sharing_of(&request.write.sharing);
        let change = self.update_agent_unrecorded(caller, id, request);
        self.recorded(AuditAction::UpdateAgent, agent(id), wanted, change).await
    }

    /// Changes who sees an agent.
    ///
    /// # Errors
    ///
    /// [`AgentError`]; nothing changes then.
    pub async fn share_agent(
        &self,
        caller: &Caller,
        id: AgentId,
        sharing: AgentSharing,
    ) -> Result<(), AgentError> {
        let wanted = sharing_of(&sharing);
        let share = self.share_agent_unrecorded(caller, id, sharing);
        self.recorded(AuditAction::ShareAgent, agent(id), wanted, share).await
    }

    /// Takes an agent out of use, for its owner or an administrator.
    ///
    /// # Errors
    ///
    /// [`AgentError`]; nothing changes then.
    pub async fn delete_agent(&self, caller: &Caller, id: AgentId) -> Result<(), AgentError> {
        let delete = self.delete_agent_unrecorded(caller, id);
        self.recorded(AuditAction::DeleteAgent, agent(id), Details::new(), delete).await
    }

    /// Brings a deleted agent back; one that is not deleted stays as it is.
    ///
    /// # Errors
    ///
    /// [`AgentError`]; nothing changes then.
    pub async fn restore_agent(&self, caller: &Caller, id: AgentId) -> Result<(), AgentError> {
        let wanted = details([("deleted", "false".to_owned())]);
        let restore = self.restore_agent_unrecorded(caller, id);
        self.recorded(AuditAction::FlagAgent, agent(id), wanted, restore).await
    }

    /// Decides whether lists show an agent to those who see it only because it is public. The one
    /// that clients get who name none is always shown.
    ///
    /// # Errors
    ///
    /// [`AgentError`]; nothing changes then.
    pub async fn set_agent_listed(
        &self,
        caller: &Caller,
        id: AgentId,
        listed: bool,
    ) -> Result<(), AgentError> {
        let wanted = details([("listed", listed.to_string())]);
        let set = self.set_agent_listed_unrecorded(caller, id, listed);
        self.recorded(AuditAction::FlagAgent, agent(id), wanted, set).await
    }

    /// Decides whether user interfaces show an agent first. A featured agent becomes public.
    ///
    /// # Errors
    ///
    /// [`AgentError`]; nothing changes then.
    pub async fn set_agent_featured(
        &self,
        caller: &Caller,
        id: AgentId,
        featured: bool,
    ) -> Result<(), AgentError> {
        let wanted = details([("featured", featured.to_string())]);
        let set = self.set_agent_featured_unrecorded(caller, id, featured);
        self.recorded(AuditAction::FlagAgent, agent(id), wanted, set).await
    }

    /// Decides where agents stand in lists, for administrators; `None` for no place.
    ///
    /// # Errors
    ///
    /// [`AgentError::NoSuchAgents`] when one of them does not exist; nothing changes then.
    pub async fn set_display_priorities(
        &self,
        priorities: &BTreeMap<AgentId, Option<i32>>,
    ) -> Result<(), AgentError> {
        let subject = format!("agents {}", ids(priorities.keys()));
        let set = self.set_display_priorities_unrecorded(priorities);
        self.recorded(AuditAction::ArrangeAgents, subject, Details::new(), set).await
    }

    /// Makes a provider.
    ///
    /// # Errors
    ///
    /// [`LlmProviderError`]; nothing is made then.
    pub async fn create_llm_provider(
        &self,
        caller: &Caller,
        wanted: ProviderUpsert,
    ) -> Result<ProviderView, LlmProviderError> {
        let (subject, described) = described(&wanted);
        let make = self.create_llm_provider_unrecorded(caller, wanted);
        self.recorded_as(AuditAction::PutProvider, Some(subject), described, make, told).await
    }

    /// Changes a provider, which its id tells, or else its name.
    ///
    /// # Errors
    ///
    /// [`LlmProviderError`]; nothing changes then.
    pub async fn update_llm_provider(
        &self,
        caller: &Caller,
        wanted: ProviderUpsert,
    ) -> Result<ProviderView, LlmProviderError> {
        let (subject, described) = described(&wanted);
        let change = self.update_llm_provider_unrecorded(caller, wanted);
        self.recorded_as(AuditAction::PutProvider, Some(subject), described, change, told).await
    }

    /// Removes a provider; a default one, whatever for, only when `force` says so.
    ///
    /// # Errors
    ///
    /// [`LlmProviderError`]; nothing changes then.
    pub async fn remove_llm_provider(
        &self,
        id: LlmProviderId,
        force: bool,
    ) -> Result<(), LlmProviderError> {
        let wanted = details([("force", force.to_string())]);
        let remove = self.remove_llm_provider_unrecorded(id, force);
        self.recorded(AuditAction::RemoveProvider, format!("llm_provider {id}"), wanted, remove)
            .await
    }

    /// Makes a provider the default of the deployment for a purpose, with `model`, or with the one
    /// that it has for the purpose.
    ///
    /// # Errors
    ///
    /// [`LlmProviderError`]; nothing changes then.
    pub async fn set_default_llm_provider(
        &self,
        purpose: ModelPurpose,
        id: LlmProviderId,
        model: Option<&str>,
    ) -> Result<(), LlmProviderError> {
        let wanted = details([
            ("purpose", format!("{purpose:?}")),
            ("model", model.unwrap_or_default().to_owned()),
        ]);
        let set = self.set_default_llm_provider_unrecorded(purpose, id, model);
        self.recorded(AuditAction::SetDefaultModel, format!("llm_provider {id}"), wanted, set).await
    }
}

fn agent(id: AgentId) -> String {
    format!("agent {id}")
}

/// Who else sees something.
fn shared<G: std::fmt::Display, U: std::fmt::Display>(
    public: bool,
    groups: impl IntoIterator<Item = G>,
    users: impl IntoIterator<Item = U>,
) -> Details {
    details([("public", public.to_string()), ("groups", ids(groups)), ("users", ids(users))])
}

fn sharing_of(sharing: &AgentSharing) -> Details {
    let mut wanted = Details::new();
    if let Some(public) = sharing.public {
        wanted.insert("public".to_owned(), public.to_string());
    }
    if let Some(groups) = &sharing.groups {
        wanted.insert("groups".to_owned(), ids(groups));
    }
    if let Some(users) = &sharing.users {
        wanted.insert("users".to_owned(), ids(users));
    }
    wanted
}

/// Which provider, and whether its secrets change: not what they are. Addresses may hold secrets,
/// too.
fn described(wanted: &ProviderUpsert) -> (String, Details) {
    let subject = match (wanted.id, &wanted.name) {
        (Some(id), _) => format!("llm_provider {id}"),
        (None, Some(name)) => format!("llm_provider {name:?}"),
        (None, None) => format!("llm_provider of kind {:?}", wanted.kind),
    };
    let connection = &wanted.connection;
    let details = details([
        ("public", wanted.public.to_string()),
        ("groups", ids(&wanted.groups)),
        ("agents", ids(&wanted.agents)),
        ("api_key_changed", connection.api_key_changed.to_string()),
        ("custom_config_changed", connection.custom_config_changed.to_string()),
    ]);
    (subject, details)
}

fn told(view: &ProviderView) -> Details {
    details([("llm_provider", view.provider.id.to_string())])
}

fn service_key(request: &ServiceKeyRequest) -> Details {
    let mut wanted = details([
        ("name", request.name.clone().unwrap_or_default()),
        ("role", request.role.to_string()),
    ]);
    let groups = request.groups.as_ref();
    wanted.extend(groups.map(|groups| ("groups".to_owned(), ids(groups))));
    wanted
}
