//! What the source of a pair has said, once it is not asked any more.

/// Forgets who is in the groups of a pair's source, and the fetching itself: whoever works on it has
/// lost it. Comes before the documents, as where a step is recorded.
macro_rules! forget_members {
    ($conn:expr, $pair:expr) => {{
        use crate::schema::{external_group_member, permission_sync};
        diesel::delete(permission_sync::table.find($pair)).execute($conn).await?;
        diesel::delete(external_group_member::table)
            .filter(external_group_member::cc_pair_id.eq($pair))
            .execute($conn)
            .await?;
    }};
}
pub(crate) use forget_members;

/// Forgets who may read the documents of a pair by what its source has said. The documents are
/// locked.
macro_rules! forget_access {
    ($conn:expr, $pair:expr) => {{
        use crate::schema::{document_cc_pair, external_access};
        // The key begins with the document.
        let of_pair = document_cc_pair::table
            .filter(document_cc_pair::cc_pair_id.eq($pair))
            .select(document_cc_pair::document_id);
        diesel::delete(external_access::table)
            .filter(external_access::cc_pair_id.eq($pair))
            .filter(external_access::document_id.eq_any(of_pair))
            .execute($conn)
            .await?;
    }};
}
pub(crate) use forget_access;
