//! A group of users as clients see it.
//!
//! Every generation of clients finds the names that it knows: who curates a group is in
//! `curator_ids` and in `manager_ids`.

use std::collections::BTreeMap;

use serde::Serialize;
use trove_domain::cc_pair::CcPair;
use trove_domain::group::{Group, GroupState};
use trove_engine::administration::GroupView;
use utoipa::ToSchema;

use crate::routes::agents::record::PersonaReply;
use crate::routes::document_sets::record::DocumentSetReply;
use crate::routes::schema::SourceValue;
use crate::routes::users::me::UserInfo;

/// A group of users, with everything that belongs to it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UserGroup, example = json!({"id": 7, "name": "Engineering", "users": [],
    "curator_ids": [], "manager_ids": [], "cc_pairs": [], "document_sets": [], "personas": [],
    "is_up_to_date": true, "is_up_for_deletion": false, "is_default": false,
    "incognito_enabled": false, "permissions": {"edit": true, "delete": true}}))]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct GroupReply {
    /// Its key.
    id: i32,
    /// Its name, unique.
    name: String,
    /// Its members, by rising address. What they set for themselves is not shown.
    users: Vec<UserInfo>,
    /// Members that curate it.
    curator_ids: Vec<String>,
    /// As `curator_ids`.
    manager_ids: Vec<String>,
    /// Those of its connector-credential pairs that the caller may see.
    cc_pairs: Vec<PairReply>,
    /// Those of its document sets that the caller may see.
    document_sets: Vec<DocumentSetReply>,
    /// Those of its agents that the caller may see.
    personas: Vec<PersonaReply>,
    /// Whether the index knows which documents its members read. Until then it cannot be changed.
    is_up_to_date: bool,
    /// Whether it goes as soon as the index does not name it any more.
    is_up_for_deletion: bool,
    /// Always false: nobody is in a group without being put there.
    is_default: bool,
    /// Not used.
    incognito_enabled: bool,
    /// What the caller may do with it.
    permissions: BTreeMap<&'static str, bool>,
}

/// A connector-credential pair of a group.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConnectorCredentialPairDescriptor)]
pub(crate) struct PairReply {
    /// Its key.
    id: i32,
    /// Its name.
    name: Option<String>,
    /// Its connector.
    connector: ConnectorReply,
    /// Its credential.
    credential: CredentialReply,
    /// `public`, `private` or `sync`.
    #[schema(value_type = String)]
    access_type: &'static str,
}

/// A connector, in short.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConnectorOfGroup)]
pub(crate) struct ConnectorReply {
    /// Its key.
    id: i32,
    /// The system it reads.
    #[schema(value_type = SourceValue)]
    source: &'static str,
}

/// A credential, without what is in it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CredentialOfGroup)]
pub(crate) struct CredentialReply {
    /// Its key.
    id: i32,
}

impl From<CcPair> for PairReply {
    fn from(pair: CcPair) -> Self {
        Self {
            id: pair.id.0,
            name: Some(pair.name),
            connector: ConnectorReply { id: pair.connector.0, source: pair.source.as_str() },
            credential: CredentialReply { id: pair.credential.0 },
            access_type: pair.access_type.as_str(),
        }
    }
}

impl GroupReply {
    /// A group as the caller sees it; `deletes` when the caller may delete it.
    pub(crate) fn of(view: GroupView, deletes: bool) -> Self {
        let GroupView { record, pairs, document_sets, agents } = view;
        let curators = record.members.iter().filter(|member| member.curator);
        let curator_ids: Vec<String> = curators.map(|member| member.user.id.to_string()).collect();
        let ready = record.state == GroupState::UpToDate;
        Self {
            id: record.group.id.0,
            name: record.group.name,
            users: record.members.into_iter().map(|m| UserInfo::of_member(m.user)).collect(),
            manager_ids: curator_ids.clone(),
            curator_ids,
            cc_pairs: pairs.into_iter().map(PairReply::from).collect(),
            document_sets: document_sets.into_iter().map(DocumentSetReply::from).collect(),
            personas: agents.into_iter().map(PersonaReply::from).collect(),
            is_up_to_date: ready,
            is_up_for_deletion: record.state == GroupState::Deleting,
            is_default: false,
            incognito_enabled: false,
            permissions: [("edit", ready), ("delete", ready && deletes)].into(),
        }
    }
}

/// A group of users, by name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MinimalUserGroupSnapshot, example = json!({"id": 7, "name": "Engineering",
    "is_default": false}))]
pub(crate) struct GroupNameReply {
    /// Its key.
    id: i32,
    /// Its name.
    name: String,
    /// Always false.
    is_default: bool,
}

impl From<Group> for GroupNameReply {
    fn from(group: Group) -> Self {
        Self { id: group.id.0, name: group.name, is_default: false }
    }
}
