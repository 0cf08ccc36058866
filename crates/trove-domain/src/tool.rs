//! What agents can use.

use crate::id::ToolId;

/// Something that an agent can use in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its key, the same in every deployment.
    pub id: ToolId,
    /// Name that a language model calls it by.
    pub name: &'static str,
    /// Name to display.
    pub display_name: &'static str,
    /// What it is good for.
    pub description: &'static str,
    /// What clients know it as.
    pub code_id: &'static str,
}

impl Tool {
    /// Search in the documents that the caller may read.
    pub const SEARCH: ToolId = ToolId(1);

    /// Every tool there is, by rising id.
    pub const ALL: [Self; 1] = [Self {
        id: Self::SEARCH,
        name: "internal_search",
        display_name: "Internal Search",
        description: "Finds passages in the documents that the person who asks may read.",
        code_id: "SearchTool",
    }];

    /// The tool with this key; `None` when there is none.
    #[must_use]
    pub fn find(id: ToolId) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::Tool;
    use crate::id::ToolId;

    #[test]
    fn a_tool_is_found_by_its_id() {
        assert_eq!(Tool::find(ToolId(1)).map(|tool| tool.code_id), Some("SearchTool"));
        assert_eq!(Tool::find(ToolId(2)), None);
        assert!(Tool::ALL.is_sorted_by_key(|tool| tool.id));
    }
}
