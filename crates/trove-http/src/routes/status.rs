//! The answer to what changes something and has nothing to show.

use serde::Serialize;
use utoipa::ToSchema;

/// Whether something was done.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StatusResponse, example = json!({"success": true, "message": "done", "data": 3}))]
pub(crate) struct StatusReply {
    /// Whether it was.
    pub(crate) success: bool,
    /// What was done, for people.
    pub(crate) message: Option<String>,
    /// What it was done to.
    pub(crate) data: Option<i32>,
}

impl StatusReply {
    pub(crate) fn done(message: impl Into<String>, id: i32) -> Self {
        Self { success: true, message: Some(message.into()), data: Some(id) }
    }
}
