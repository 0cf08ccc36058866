//! `PATCH /user/personalization`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::preferences::{MEMORIES_MAX, MemoryDraft, PersonalizationChange, ProfileChange};
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, ValidJson};
use crate::routes::schema::stored_text;
use crate::validation::{Field, Fields, Json, Read, Record, boolean, integer, list_of_at_most};

/// Most characters of a name and of a job title.
const NAME_CHARS_MAX: usize = 200;

/// Most characters of a memory.
const MEMORY_CHARS_MAX: usize = 10_000;

/// Most characters of what a user wants of every answer.
const WISHES_CHARS_MAX: usize = 500;

/// What answers take into account; what is absent or null stays.
#[derive(Debug, ToSchema)]
#[schema(as = PersonalizationUpdateRequest, example = json!({"name": "A. Reader"}))]
pub(crate) struct PersonalizationBody {
    /// What the user is called.
    name: Option<String>,
    /// Job title, not what the user may do.
    role: Option<String>,
    /// Whether memories are used.
    use_memories: Option<bool>,
    /// Whether a model may add memories.
    enable_memory_tool: Option<bool>,
    /// What is remembered, at most 10: all of it.
    memories: Option<Vec<MemoryBody>>,
    /// What the user wants of every answer, at most 500 characters.
    user_preferences: Option<String>,
}

/// Something to remember of a user; a plain text is one without a number.
#[derive(Debug, ToSchema)]
#[schema(as = MemoryUpdate)]
pub(crate) struct MemoryBody {
    /// The memory that it replaces.
    id: Option<i64>,
    /// What it says.
    content: String,
}

impl Record for MemoryBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let id = fields.nullable("id", integer);
        let content = fields.required("content", stored_text(0, MEMORY_CHARS_MAX));
        Ok(Self { id: id?, content: content? })
    }
}

fn memory(field: Field<'_>) -> Read<MemoryBody> {
    let (json, place) = field.split();
    let is_text = matches!(json, Json::Text(_));
    let field = place.same(json);
    if is_text {
        let content = stored_text(0, MEMORY_CHARS_MAX)(field)?;
        Ok(MemoryBody { id: None, content })
    } else {
        field.record()
    }
}

impl Record for PersonalizationBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.nullable("name", stored_text(0, NAME_CHARS_MAX));
        let role = fields.nullable("role", stored_text(0, NAME_CHARS_MAX));
        let use_memories = fields.nullable("use_memories", boolean);
        let enable_memory_tool = fields.nullable("enable_memory_tool", boolean);
        let memories = fields.nullable("memories", list_of_at_most(MEMORIES_MAX, memory));
        let wishes = fields.nullable("user_preferences", stored_text(0, WISHES_CHARS_MAX));
        Ok(Self {
            name: name?,
            role: role?,
            use_memories: use_memories?,
            enable_memory_tool: enable_memory_tool?,
            memories: memories?,
            user_preferences: wishes?,
        })
    }
}

impl From<PersonalizationBody> for PersonalizationChange {
    fn from(body: PersonalizationBody) -> Self {
        let draft = |memory: MemoryBody| MemoryDraft { id: memory.id, content: memory.content };
        Self {
            name: body.name,
            job_title: body.role,
            use_memories: body.use_memories,
            memory_tool: body.enable_memory_tool,
            memories: body.memories.map(|memories| memories.into_iter().map(draft).collect()),
            wishes: body.user_preferences,
        }
    }
}

/// Sets what answers take into account.
#[utoipa::path(
    patch, path = "/user/personalization", tag = "users",
    operation_id = "set_personalization", request_body = PersonalizationBody,
    responses((status = 200, description = "It is set.", body = ()))
)]
pub(crate) async fn set_personalization(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<PersonalizationBody>,
) -> Result<HttpResponse, ApiError> {
    super::change(&engine, &caller, ProfileChange::Personalization(body.into())).await
}
