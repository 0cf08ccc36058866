//! Groups of users.

use crate::id::{GroupId, UserId};

/// A group that documents can be shared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its key.
    pub id: GroupId,
    /// Its name, unique.
    pub name: String,
}

/// One user's place in one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Membership {
    /// The group.
    pub group: GroupId,
    /// The member.
    pub user: UserId,
    /// Whether the member curates the group.
    pub curator: bool,
}
