//! A credential as clients see it.

use serde::Serialize;
use serde_json::{Map, Value};
use trove_domain::credential::{Credential, CredentialDetails};
use trove_engine::administration::credentials::CredentialView;
use utoipa::ToSchema;

use crate::routes::schema::{SourceValue, zulu};

/// A credential. Its secrets are masked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CredentialSnapshot)]
pub(crate) struct CredentialReply {
    /// What it holds, masked. A mask that is sent back leaves the stored value as it is.
    #[schema(value_type = Object)]
    credential_json: Map<String, Value>,
    /// Whether every administrator may use it.
    admin_public: bool,
    /// The system it is for.
    #[schema(value_type = SourceValue)]
    source: &'static str,
    /// Its key.
    id: i32,
    /// Whose it is: the owner reads the private documents of its pairs.
    user_id: Option<String>,
    /// The owner's address.
    user_email: Option<String>,
    /// When it was made.
    time_created: String,
    /// When it was changed.
    time_updated: String,
    /// Its name.
    name: Option<String>,
    /// Whether every curator may use it.
    curator_public: bool,
    /// Groups whose curators may change it.
    groups: Vec<i32>,
}

impl From<CredentialView> for CredentialReply {
    fn from(view: CredentialView) -> Self {
        let CredentialView { credential, masked } = view;
        let Credential { id, details, owner, owner_email, created_at, updated_at, .. } = credential;
        let CredentialDetails { name, source, secret: _, admin_public, curator_public, groups } =
            details;
        Self {
            credential_json: masked,
            admin_public,
            source: source.as_str(),
            id: id.0,
            user_id: owner.map(|owner| owner.to_string()),
            user_email: owner_email,
            time_created: zulu(created_at),
            time_updated: zulu(updated_at),
            name,
            curator_public,
            groups: groups.iter().map(|group| group.0).collect(),
        }
    }
}

/// What was made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ObjectCreationIdResponse)]
pub(crate) struct CreatedReply {
    /// Its key.
    pub(crate) id: i32,
    /// The credential, where it is one.
    pub(crate) credential: Option<CredentialReply>,
}

impl From<CredentialView> for CreatedReply {
    fn from(view: CredentialView) -> Self {
        Self { id: view.credential.id.0, credential: Some(view.into()) }
    }
}
