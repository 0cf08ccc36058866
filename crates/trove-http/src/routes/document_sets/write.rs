//! `POST`, `PATCH` and `DELETE /manage/admin/document-set`

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::{CcPairId, DocumentSetId, GroupId, UserId};
use trove_domain::port::NewDocumentSet;
use trove_engine::Engine;
use trove_engine::administration::{DocumentSetError, DocumentSetUpdate};
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::routes::schema::{IDS_MAX, name_of_at_most, stored_text};
use crate::validation::{Field, Fields, Read, Record, boolean, integer_id, list_of_at_most, uuid};

/// Most characters of a name.
const NAME_CHARS_MAX: usize = 200;

/// Most characters of a description.
const DESCRIPTION_CHARS_MAX: usize = 10_000;

/// A document set to make.
#[derive(Debug, ToSchema)]
#[schema(as = DocumentSetCreationRequest, example = json!({"name": "Handbook",
    "description": "What everybody should know", "cc_pair_ids": [1], "is_public": true,
    "users": [], "groups": []}))]
pub(crate) struct CreateBody {
    /// Its name, unique.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// What it is for.
    #[schema(max_length = 10000)]
    description: String,
    /// Its connector-credential pairs, at least one.
    #[schema(value_type = Vec<i32>, max_items = 1000)]
    cc_pair_ids: BTreeSet<CcPairId>,
    /// Whether everybody sees it. What is in it is read by whoever may read it anyway.
    is_public: bool,
    /// Users that see a set that is not public.
    #[schema(value_type = Option<Vec<String>>, max_items = 1000)]
    users: BTreeSet<UserId>,
    /// Groups that see a set that is not public.
    #[schema(value_type = Option<Vec<i32>>, max_items = 1000)]
    groups: BTreeSet<GroupId>,
    /// There are no federated connectors: only an empty list is accepted.
    #[schema(value_type = Option<Vec<serde_json::Value>>)]
    federated_connectors: Federated,
}

/// A document set as it shall be.
#[derive(Debug, ToSchema)]
#[schema(as = DocumentSetUpdateRequest, example = json!({"id": 3, "name": "Handbook",
    "description": "What everybody should know", "cc_pair_ids": [1], "is_public": true,
    "users": [], "groups": []}))]
pub(crate) struct UpdateBody {
    /// Which set.
    id: i32,
    /// Its name; without one it stays.
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// What it is for.
    #[schema(max_length = 10000)]
    description: String,
    /// Its connector-credential pairs, at least one.
    #[schema(value_type = Vec<i32>, max_items = 1000)]
    cc_pair_ids: BTreeSet<CcPairId>,
    /// Whether everybody sees it. What is in it is read by whoever may read it anyway.
    is_public: bool,
    /// Users that see a set that is not public.
    #[schema(value_type = Vec<String>, max_items = 1000)]
    users: BTreeSet<UserId>,
    /// Groups that see a set that is not public.
    #[schema(value_type = Vec<i32>, max_items = 1000)]
    groups: BTreeSet<GroupId>,
    /// There are no federated connectors: only an empty list is accepted.
    #[schema(value_type = Option<Vec<serde_json::Value>>)]
    federated_connectors: Federated,
}
/// How many federated connectors were asked for.
#[derive(Debug)]
struct Federated(usize);

impl Federated {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let anything = list_of_at_most(IDS_MAX, |_: Field<'_>| Ok(()));
        fields.or("federated_connectors", Vec::new(), anything).map(|list| Self(list.len()))
    }

    fn refuse(&self) -> Result<(), DocumentSetError> {
        if self.0 == 0 { Ok(()) } else { Err(DocumentSetError::NoFederatedConnectors) }
    }
}

fn ids(field: Field<'_>) -> Read<Vec<i32>> {
    list_of_at_most(IDS_MAX, integer_id)(field)
}

fn user_ids(field: Field<'_>) -> Read<BTreeSet<UserId>> {
    Ok(list_of_at_most(IDS_MAX, uuid)(field)?.into_iter().map(UserId).collect())
}

fn group_ids(field: Field<'_>) -> Read<BTreeSet<GroupId>> {
    Ok(ids(field)?.into_iter().map(GroupId).collect())
}

fn pair_ids(field: Field<'_>) -> Read<BTreeSet<CcPairId>> {
    Ok(ids(field)?.into_iter().map(CcPairId).collect())
}

impl Record for CreateBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.required("name", name_of_at_most(NAME_CHARS_MAX));
        let description = fields.required("description", stored_text(0, DESCRIPTION_CHARS_MAX));
        let cc_pair_ids = fields.required("cc_pair_ids", pair_ids);
        let is_public = fields.required("is_public", boolean);
        let users = fields.or("users", BTreeSet::new(), user_ids);
        let groups = fields.or("groups", BTreeSet::new(), group_ids);
        let federated_connectors = Federated::read(fields);
        Ok(Self {
            name: name?,
            description: description?,
            cc_pair_ids: cc_pair_ids?,
            is_public: is_public?,
            users: users?,
            groups: groups?,
            federated_connectors: federated_connectors?,
        })
    }
}

impl Record for UpdateBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let id = fields.required("id", integer_id);
        let name = fields.nullable("name", name_of_at_most(NAME_CHARS_MAX));
        let description = fields.required("description", stored_text(0, DESCRIPTION_CHARS_MAX));
        let cc_pair_ids = fields.required("cc_pair_ids", pair_ids);
        let is_public = fields.required("is_public", boolean);
        // Required, so that no share is lost by leaving it out.
        let users = fields.required("users", user_ids);
        let groups = fields.required("groups", group_ids);
        let federated_connectors = Federated::read(fields);
        Ok(Self {
            id: id?,
            name: name?,
            description: description?,
            cc_pair_ids: cc_pair_ids?,
            is_public: is_public?,
            users: users?,
            groups: groups?,
            federated_connectors: federated_connectors?,
        })
    }
}

/// Makes a document set.
///
/// Searches find it by its name as soon as the index knows of it; `is_up_to_date` says when.
#[utoipa::path(
    post, path = "/manage/admin/document-set", tag = "document sets",
    operation_id = "create_document_set", request_body = CreateBody,
    responses(
        (status = 200, description = "Its id.", body = i32, example = json!(3)),
        (status = 400, description = "The name is taken, there is no pair in it, a pair, user or \
            group does not exist, a private pair does not belong to all of the groups, or the \
            caller curates none of them.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn create_document_set(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<CreateBody>,
) -> Result<HttpResponse, ApiError> {
    body.federated_connectors.refuse()?;
    let set = NewDocumentSet {
        name: body.name,
        description: body.description,
        public: body.is_public,
        groups: body.groups,
        users: body.users,
        cc_pairs: body.cc_pair_ids,
    };
    let id = engine.create_document_set(&caller.0, set).await?;
    Ok(HttpResponse::Ok().json(id.0))
}

/// Replaces what a document set is made of.
#[utoipa::path(
    patch, path = "/manage/admin/document-set", tag = "document sets",
    operation_id = "update_document_set", request_body = UpdateBody,
    responses(
        (status = 200, description = "It is changed. The body is `null`.", body = Option<()>),
        (status = 400, description = "As when it is made; or it is not up to date.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such set.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn update_document_set(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<UpdateBody>,
) -> Result<HttpResponse, ApiError> {
    body.federated_connectors.refuse()?;
    let update = DocumentSetUpdate {
        name: body.name,
        description: body.description,
        public: body.is_public,
        groups: body.groups,
        users: body.users,
        cc_pairs: body.cc_pair_ids,
    };
    engine.update_document_set(&caller.0, DocumentSetId(body.id), update).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Which set.
pub(crate) struct SetPath {
    document_set_id: DocumentSetId,
}

impl Input for SetPath {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("document_set_id", integer_id));
        Ok(Self { document_set_id: DocumentSetId(id?) })
    }
}

/// Deletes a document set.
///
/// It is empty at once, and listed until the index does not name it any more. Its documents stay.
#[utoipa::path(
    delete, path = "/manage/admin/document-set/{document_set_id}", tag = "document sets",
    operation_id = "delete_document_set",
    params(("document_set_id" = i32, Path, description = "The set.", example = 3)),
    responses(
        (status = 200, description = "It is being deleted. The body is `null`.", body = Option<()>),
        (status = 400, description = "It is not up to date.", body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such set.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn delete_document_set(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<SetPath>,
) -> Result<HttpResponse, ApiError> {
    engine.delete_document_set(&caller.0, input.document_set_id).await?;
    Ok(HttpResponse::Ok().json(()))
}
