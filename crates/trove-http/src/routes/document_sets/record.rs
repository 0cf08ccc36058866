//! A document set as clients see it.

use std::collections::BTreeMap;

use serde::Serialize;
use trove_domain::cc_pair::CcPair;
use trove_domain::document_set::DocumentSetState;
use trove_engine::administration::DocumentSetView;
use utoipa::ToSchema;

use crate::routes::schema::SourceValue;

/// A named set of connector-credential pairs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DocumentSetSummary, example = json!({"id": 3, "name": "Handbook", "description": "",
    "cc_pair_summaries": [{"id": 1, "name": "DefaultCCPair", "source": "ingestion_api",
        "access_type": "public"}],
    "is_up_to_date": true, "is_public": true, "users": [], "groups": [],
    "federated_connector_summaries": [], "permissions": {"edit": false}}))]
pub(crate) struct DocumentSetReply {
    /// Its key.
    id: i32,
    /// Its name, unique; searches name sets by it.
    name: String,
    /// What it is for.
    description: Option<String>,
    /// Those of its pairs that the caller may see.
    cc_pair_summaries: Vec<CcPairReply>,
    /// Whether every document in the index says whether it belongs to the set. Until then it can be
    /// neither changed nor deleted, and searches do not find a set that is new, and find one that
    /// was changed with the documents that it had before.
    is_up_to_date: bool,
    /// Whether everybody sees the set.
    is_public: bool,
    /// Users that see it; for those only who may change it.
    users: Vec<String>,
    /// Groups that see it; for those only who may change it.
    groups: Vec<i32>,
    /// Always empty: there are no federated connectors.
    #[schema(value_type = Vec<serde_json::Value>)]
    federated_connector_summaries: [(); 0],
    /// What the caller may do with it.
    permissions: BTreeMap<&'static str, bool>,
}

/// A connector-credential pair, in short.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CCPairSummary)]
pub(crate) struct CcPairReply {
    /// Its key.
    id: i32,
    /// Its name.
    name: Option<String>,
    /// The system it reads.
    #[schema(value_type = SourceValue)]
    source: &'static str,
    /// `public`, `private` or `sync`.
    #[schema(value_type = String)]
    access_type: &'static str,
}

impl From<CcPair> for CcPairReply {
    fn from(pair: CcPair) -> Self {
        Self {
            id: pair.id.0,
            name: Some(pair.name),
            source: pair.source.as_str(),
            access_type: pair.access_type.as_str(),
        }
    }
}

impl From<DocumentSetView> for DocumentSetReply {
    fn from(view: DocumentSetView) -> Self {
        let DocumentSetView { set, pairs, editable } = view;
        Self {
            id: set.id.0,
            name: set.name,
            description: Some(set.description),
            cc_pair_summaries: pairs.into_iter().map(CcPairReply::from).collect(),
            is_up_to_date: set.state == DocumentSetState::UpToDate,
            is_public: set.public,
            users: set.users.iter().filter(|_| editable).map(ToString::to_string).collect(),
            groups: set.groups.iter().filter(|_| editable).map(|group| group.0).collect(),
            federated_connector_summaries: [],
            permissions: [("edit", editable)].into(),
        }
    }
}
