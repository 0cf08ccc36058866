//! `GET /tool`, `GET /tool/{tool_id}`

use actix_web::HttpResponse;
use serde::Serialize;
use trove_domain::id::ToolId;
use trove_domain::tool::Tool;
use trove_engine::administration::AgentError;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::validation::{Read, integer_id};

/// Something that an agent can use.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ToolSnapshot, example = json!({"id": 1, "name": "internal_search",
    "display_name": "Internal Search", "in_code_tool_id": "SearchTool"}))]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct ToolReply {
    /// Its key, the same in every deployment.
    id: i32,
    /// Name that a language model calls it by.
    name: &'static str,
    /// What it is good for.
    description: &'static str,
    /// Name to display.
    display_name: &'static str,
    /// Description of a custom tool: always null, as there are none.
    #[schema(value_type = Option<serde_json::Value>)]
    definition: Option<()>,
    /// Which built-in tool it is.
    in_code_tool_id: Option<&'static str>,
    /// Headers of a custom tool: always null.
    #[schema(value_type = Option<Vec<serde_json::Value>>)]
    custom_headers: Option<()>,
    /// Not used.
    passthrough_auth: bool,
    /// Not used.
    mcp_server_id: Option<i32>,
    /// Not used.
    oauth_config_id: Option<i32>,
    /// Not used.
    user_id: Option<String>,
    /// Not used.
    oauth_config_name: Option<String>,
    /// Whether it works.
    enabled: bool,
    /// Whether a conversation may turn it on and off.
    chat_selectable: bool,
    /// Whether an agent may have it.
    agent_creation_selectable: bool,
    /// Whether new agents have it unless they say otherwise.
    default_enabled: bool,
}

impl From<Tool> for ToolReply {
    fn from(tool: Tool) -> Self {
        Self {
            id: tool.id.0,
            name: tool.name,
            description: tool.description,
            display_name: tool.display_name,
            definition: None,
            in_code_tool_id: Some(tool.code_id),
            custom_headers: None,
            passthrough_auth: false,
            mcp_server_id: None,
            oauth_config_id: None,
            user_id: None,
            oauth_config_name: None,
            enabled: true,
            chat_selectable: true,
            agent_creation_selectable: true,
            default_enabled: true,
        }
    }
}

/// Which tool.
pub(crate) struct ToolPath {
    tool_id: i32,
}

impl Input for ToolPath {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let tool_id = parts.path(|path| path.required("tool_id", integer_id));
        Ok(Self { tool_id: tool_id? })
    }
}

/// The tools that agents can have.
#[utoipa::path(
    get, path = "/tool", tag = "agents", operation_id = "list_tools",
    responses((status = 200, description = "The tools, by rising id.", body = Vec<ToolReply>))
)]
pub(crate) async fn list_tools(_caller: Caller) -> Result<HttpResponse, ApiError> {
    let tools: Vec<ToolReply> = Tool::ALL.into_iter().map(ToolReply::from).collect();
    Ok(HttpResponse::Ok().json(tools))
}

/// A tool.
#[utoipa::path(
    get, path = "/tool/{tool_id}", tag = "agents", operation_id = "get_tool",
    params(("tool_id" = i32, Path, description = "The tool.", example = 1)),
    responses(
        (status = 200, description = "The tool.", body = ToolReply),
        (status = 404, description = "There is no such tool.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn get_tool(
    _caller: Caller,
    Valid(input): Valid<ToolPath>,
) -> Result<HttpResponse, ApiError> {
    let id = ToolId(input.tool_id);
    let tool = Tool::find(id).ok_or(AgentError::NoSuchTool(id))?;
    Ok(HttpResponse::Ok().json(ToolReply::from(tool)))
}
