//! What changes user groups: `/manage/admin/user-group` and below.

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::access::Role;
use trove_domain::id::{CcPairId, GroupId, UserId};
use trove_domain::port::GroupContents;
use trove_engine::Engine;
use trove_engine::administration::GroupView;
use utoipa::ToSchema;

use super::record::GroupReply;
use crate::error::{ApiError, ErrorBody};
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::routes::schema::{IDS_MAX, name_of_at_most};
use crate::validation::{Field, Fields, Read, Record, boolean, integer_id, list_of_at_most, uuid};

/// Most characters of a name.
const NAME_CHARS_MAX: usize = 200;

/// Most users in one list: as many as a large group has.
const USERS_MAX: usize = 50_000;

fn user_ids(field: Field<'_>) -> Read<BTreeSet<UserId>> {
    Ok(list_of_at_most(USERS_MAX, uuid)(field)?.into_iter().map(UserId).collect())
}

fn pair_ids(field: Field<'_>) -> Read<BTreeSet<CcPairId>> {
    Ok(list_of_at_most(IDS_MAX, integer_id)(field)?.into_iter().map(CcPairId).collect())
}

fn group_id(parts: &Parts<'_>) -> Read<GroupId> {
    parts.path(|path| path.required("user_group_id", integer_id)).map(GroupId)
}

/// The answer of a change.
fn shown(caller: &Caller, view: GroupView) -> HttpResponse {
    HttpResponse::Ok().json(GroupReply::of(view, caller.0.role == Role::Admin))
}

/// A user group to make.
#[derive(Debug, ToSchema)]
#[schema(as = UserGroupCreate, example = json!({"name": "Engineering",
    "user_ids": ["0190a1b2-c3d4-7000-8000-00000000000a"], "cc_pair_ids": [2]}))]
pub(crate) struct CreateBody {
    /// Its name, unique.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Its members.
    #[schema(value_type = Vec<String>, max_items = 50000)]
    user_ids: BTreeSet<UserId>,
    /// Connector-credential pairs whose private documents its members read.
    #[schema(value_type = Vec<i32>, max_items = 1000)]
    cc_pair_ids: BTreeSet<CcPairId>,
}

impl Record for CreateBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.required("name", name_of_at_most(NAME_CHARS_MAX));
        let user_ids = fields.required("user_ids", user_ids);
        let cc_pair_ids = fields.required("cc_pair_ids", pair_ids);
        Ok(Self { name: name?, user_ids: user_ids?, cc_pair_ids: cc_pair_ids? })
    }
}

/// Makes a user group.
///
/// Its members read the private documents of its pairs as soon as the index knows of it;
/// `is_up_to_date` says when.
#[utoipa::path(
    post, path = "/manage/admin/user-group", tag = "user groups",
    operation_id = "create_user_group", request_body = CreateBody,
    responses(
        (status = 200, description = "The group.", body = GroupReply),
        (status = 400, description = "The name is taken, or a user or a pair does not exist.",
            body = ErrorBody),
    )
)]
pub(crate) async fn create_user_group(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<CreateBody>,
) -> Result<HttpResponse, ApiError> {
    let contents = GroupContents { members: body.user_ids, cc_pairs: body.cc_pair_ids };
    let view = engine.create_group(&caller.0, &body.name, contents).await?;
    Ok(shown(&caller, view))
}

/// A user group as it shall be.
#[derive(Debug, ToSchema)]
#[schema(as = UserGroupUpdate, example = json!({
    "user_ids": ["0190a1b2-c3d4-7000-8000-00000000000a"], "cc_pair_ids": [2]}))]
pub(crate) struct UpdateBody {
    /// Its members, all of them.
    #[schema(value_type = Vec<String>, max_items = 50000)]
    user_ids: BTreeSet<UserId>,
    /// Its connector-credential pairs, all of them.
    #[schema(value_type = Vec<i32>, max_items = 1000)]
    cc_pair_ids: BTreeSet<CcPairId>,
}

impl Record for UpdateBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let user_ids = fields.required("user_ids", user_ids);
        let cc_pair_ids = fields.required("cc_pair_ids", pair_ids);
        Ok(Self { user_ids: user_ids?, cc_pair_ids: cc_pair_ids? })
    }
}

/// A group and what it becomes.
pub(crate) struct Update {
    group: GroupId,
    body: UpdateBody,
}

impl Input for Update {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let (group, body) = (group_id(&parts), parts.body());
        Ok(Self { group: group?, body: body? })
    }
}

/// Replaces members and pairs of a user group.
///
/// Who is not named any more is out with the next request; a member that stays curates the group or
/// not, as before. Curators name only pairs that are in the group already, or that they may change.
#[utoipa::path(
    patch, path = "/manage/admin/user-group/{user_group_id}", tag = "user groups",
    operation_id = "update_user_group", request_body = UpdateBody,
    params(("user_group_id" = i32, Path, description = "The group.", example = 7)),
    responses(
        (status = 200, description = "The group.", body = GroupReply),
        (status = 400, description = "A user or a pair does not exist, or the group is syncing.",
            body = ErrorBody),
        (status = 404, description = "There is no such group that the caller controls.",
            body = ErrorBody),
    )
)]
pub(crate) async fn update_user_group(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<Update>,
) -> Result<HttpResponse, ApiError> {
    let UpdateBody { user_ids, cc_pair_ids } = input.body;
    let contents = GroupContents { members: user_ids, cc_pairs: cc_pair_ids };
    let view = engine.replace_group(&caller.0, input.group, contents).await?;
    Ok(shown(&caller, view))
}

/// Users that come into a group.
#[derive(Debug, ToSchema)]
#[schema(as = AddUsersToUserGroupRequest,
    example = json!({"user_ids": ["0190a1b2-c3d4-7000-8000-00000000000a"]}))]
pub(crate) struct AddBody {
    /// The users.
    #[schema(value_type = Vec<String>, max_items = 50000)]
    user_ids: BTreeSet<UserId>,
}

impl Record for AddBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { user_ids: fields.required("user_ids", user_ids)? })
    }
}

/// A group and who comes.
pub(crate) struct Add {
    group: GroupId,
    body: AddBody,
}

impl Input for Add {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let (group, body) = (group_id(&parts), parts.body());
        Ok(Self { group: group?, body: body? })
    }
}

/// Adds members to a user group.
#[utoipa::path(
    post, path = "/manage/admin/user-group/{user_group_id}/add-users", tag = "user groups",
    operation_id = "add_users_to_user_group", request_body = AddBody,
    params(("user_group_id" = i32, Path, description = "The group.", example = 7)),
    responses(
        (status = 200, description = "The group.", body = GroupReply),
        (status = 400, description = "A user does not exist, or the group is syncing.",
            body = ErrorBody),
        (status = 404, description = "There is no such group that the caller controls.",
            body = ErrorBody),
    )
)]
pub(crate) async fn add_users_to_user_group(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<Add>,
) -> Result<HttpResponse, ApiError> {
    let view = engine.add_group_members(&caller.0, input.group, &input.body.user_ids).await?;
    Ok(shown(&caller, view))
}

/// Whether a member curates a group.
#[derive(Debug, ToSchema)]
#[schema(as = SetCuratorRequest, example = json!({
    "user_id": "0190a1b2-c3d4-7000-8000-00000000000a", "is_curator": true}))]
pub(crate) struct CuratorBody {
    /// The member.
    #[schema(value_type = String)]
    user_id: UserId,
    /// Whether it curates the group from now on.
    is_curator: bool,
}

impl Record for CuratorBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let user_id = fields.required("user_id", uuid);
        let is_curator = fields.required("is_curator", boolean);
        Ok(Self { user_id: UserId(user_id?), is_curator: is_curator? })
    }
}

/// The same in the words of later clients.
#[derive(Debug, ToSchema)]
#[schema(as = SetManagerRequest, example = json!({
    "user_id": "0190a1b2-c3d4-7000-8000-00000000000a", "is_manager": true}))]
pub(crate) struct ManagerBody {
    /// The member.
    #[schema(value_type = String)]
    user_id: UserId,
    /// Whether it curates the group from now on.
    is_manager: bool,
}

impl Record for ManagerBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let user_id = fields.required("user_id", uuid);
        let is_manager = fields.required("is_manager", boolean);
        Ok(Self { user_id: UserId(user_id?), is_manager: is_manager? })
    }
}

/// A group and who curates it.
pub(crate) struct Curating<B> {
    group: GroupId,
    body: B,
}

impl<B: Record + 'static> Input for Curating<B> {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let (group, body) = (group_id(&parts), parts.body());
        Ok(Self { group: group?, body: body? })
    }
}

/// Has a member curate a user group, or no longer.
///
/// A normal user becomes a curator with its first group, and is a normal user again without the
/// last one. Nobody else curates: administrators and global curators need not.
#[utoipa::path(
    post, path = "/manage/admin/user-group/{user_group_id}/set-curator", tag = "user groups",
    operation_id = "set_curator", request_body = CuratorBody,
    params(("user_group_id" = i32, Path, description = "The group.", example = 7)),
    responses(
        (status = 200, description = "It is done. The body is `null`.", body = Option<()>),
        (status = 404, description = "There is no such group that the caller controls, no such \
            member, or none that could curate.", body = ErrorBody),
    )
)]
pub(crate) async fn set_curator(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<Curating<CuratorBody>>,
) -> Result<HttpResponse, ApiError> {
    let CuratorBody { user_id, is_curator } = input.body;
    engine.set_group_curator(&caller.0, input.group, user_id, is_curator).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// The same in the words of later clients.
#[utoipa::path(
    put, path = "/manage/admin/user-group/{user_group_id}/manager", tag = "user groups",
    operation_id = "set_manager", request_body = ManagerBody,
    params(("user_group_id" = i32, Path, description = "The group.", example = 7)),
    responses(
        (status = 200, description = "It is done. The body is `null`.", body = Option<()>),
        (status = 404, description = "There is no such group that the caller controls, no such \
            member, or none that could curate.", body = ErrorBody),
    )
)]
pub(crate) async fn set_manager(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<Curating<ManagerBody>>,
) -> Result<HttpResponse, ApiError> {
    let ManagerBody { user_id, is_manager } = input.body;
    engine.set_group_curator(&caller.0, input.group, user_id, is_manager).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// A new name of a group.
#[derive(Debug, ToSchema)]
#[schema(as = UserGroupRename, example = json!({"id": 7, "name": "Research"}))]
pub(crate) struct RenameBody {
    /// Which group.
    id: i32,
    /// Its name, unique.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
}

impl Record for RenameBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let id = fields.required("id", integer_id);
        let name = fields.required("name", name_of_at_most(NAME_CHARS_MAX));
        Ok(Self { id: id?, name: name? })
    }
}

/// Gives a user group another name. What its members read stays.
#[utoipa::path(
    patch, path = "/manage/admin/user-group/rename", tag = "user groups",
    operation_id = "rename_user_group", request_body = RenameBody,
    responses(
        (status = 200, description = "The group.", body = GroupReply),
        (status = 400, description = "The name is taken, or the group is syncing.",
            body = ErrorBody),
        (status = 404, description = "There is no such group that the caller controls.",
            body = ErrorBody),
    )
)]
pub(crate) async fn rename_user_group(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<RenameBody>,
) -> Result<HttpResponse, ApiError> {
    let view = engine.rename_group(&caller.0, GroupId(body.id), &body.name).await?;
    Ok(shown(&caller, view))
}

/// Which group.
pub(crate) struct GroupPath(GroupId);

impl Input for GroupPath {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        group_id(&parts).map(Self)
    }
}

/// Deletes a user group.
///
/// It has neither members nor pairs from now on, and is listed until the index does not name it any
/// more.
#[utoipa::path(
    delete, path = "/manage/admin/user-group/{user_group_id}", tag = "user groups",
    operation_id = "delete_user_group",
    params(("user_group_id" = i32, Path, description = "The group.", example = 7)),
    responses(
        (status = 200, description = "It is being deleted. The body is `null`.", body = Option<()>),
        (status = 400, description = "The group is syncing.", body = ErrorBody),
        (status = 404, description = "There is no such group.", body = ErrorBody),
        (status = 409, description = "A provider of language models is bound to the group, and \
            could be open to more people without it.", body = ErrorBody),
    )
)]
pub(crate) async fn delete_user_group(
    // Who calls has been asked.
    _caller: Caller,
    engine: Data<Engine>,
    Valid(GroupPath(group)): Valid<GroupPath>,
) -> Result<HttpResponse, ApiError> {
    engine.delete_group(group).await?;
    Ok(HttpResponse::Ok().json(()))
}
