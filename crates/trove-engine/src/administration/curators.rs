//! What curators may make and change, in one place.

use std::collections::BTreeSet;

use trove_domain::access::{Caller, Role};
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::GroupId;

use crate::Engine;

/// What somebody wants to make, or to make of something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal<'a> {
    /// Whether the source says who reads it.
    pub(super) synced: bool,
    /// Whether it is open to everybody it could be open to.
    pub(super) public: bool,
    /// Whether it is new, or the caller's own.
    pub(super) own: bool,
    /// Groups that it is shared with.
    pub(super) groups: &'a BTreeSet<GroupId>,
}

/// Why somebody may not do what a curator may.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CuratorError {
    /// Only curators and administrators make something public.
    #[error("User does not have permission to create public objects")]
    NotPublic,
    /// A curator has to say whose it is.
    #[error("Curators must specify 1+ groups")]
    NoGroups,
    /// A curator may not act for a group.
    #[error("Curators cannot control groups they don't curate (group {0})")]
    ForeignGroup(GroupId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for CuratorError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotPublic | Self::NoGroups | Self::ForeignGroup(_) => ErrorKind::Invalid,
            Self::Store(error) => error.kind(),
        }
    }
}

/// Whether a caller may, who controls the groups in `controlled`.
fn check(
    role: Role,
    proposal: Proposal<'_>,
    controlled: &BTreeSet<GroupId>,
) -> Result<(), CuratorError> {
    let curates = matches!(role, Role::Curator | Role::GlobalCurator);
    if proposal.synced && proposal.groups.is_empty() {
        return Ok(());
    }
    if role == Role::Admin || (proposal.public && curates && proposal.own) {
        return Ok(());
    }
    if proposal.public && !curates {
        return Err(CuratorError::NotPublic);
    }
    if proposal.groups.is_empty() {
        return Err(CuratorError::NoGroups);
    }
    match proposal.groups.difference(controlled).next() {
        Some(group) => Err(CuratorError::ForeignGroup(*group)),
        None => Ok(()),
    }
}

impl Engine {
    /// Whether `caller` may do what is proposed.
    pub(super) async fn check_proposal(
        &self,
        caller: &Caller,
        proposal: Proposal<'_>,
    ) -> Result<(), CuratorError> {
        let controlled = match caller.role {
            Role::Curator | Role::GlobalCurator if !proposal.groups.is_empty() => {
                self.controlled_groups(caller).await?
            }
            _ => BTreeSet::new(),
        };
        check(caller.role, proposal, &controlled)
    }

    /// The groups that `caller` acts for: those it curates, or as a global curator those it is in.
    pub(super) async fn controlled_groups(
        &self,
        caller: &Caller,
    ) -> Result<BTreeSet<GroupId>, StoreError> {
        let memberships = self.backends().groups.memberships(caller.user).await?;
        let controlled = memberships
            .into_iter()
            .filter(|membership| match caller.role {
                Role::Curator => membership.curator,
                Role::GlobalCurator => true,
                _ => false,
            })
            .map(|membership| membership.group);
        Ok(controlled.collect())
    }
}

#[cfg(test)]
mod tests {
    use trove_domain::access::Role::{Admin, Basic, Curator, GlobalCurator, Limited};
    use trove_domain::id::GroupId;

    use super::{CuratorError, Proposal, check};

    /// Rows of the rule, top to bottom; the caller controls group 1.
    #[test]
    fn the_first_row_that_fits_decides() {
        const OK: &str = "";
        const PUBLIC: &str = "User does not have permission to create public objects";
        const NONE: &str = "Curators must specify 1+ groups";
        const FOREIGN: &str = "Curators cannot control groups they don't curate (group 2)";
        let rows: [(_, bool, bool, bool, &[i32], &str); 20] = [
            // role, synced, public, own, groups
            (Basic, true, false, true, &[], OK),
            (Curator, true, false, true, &[], OK),
            (Curator, true, false, true, &[2], FOREIGN),
            (Admin, false, false, false, &[], OK),
            (Admin, false, true, false, &[2], OK),
            (Curator, false, true, true, &[], OK),
            (Curator, false, true, true, &[2], OK),
            (GlobalCurator, false, true, true, &[2], OK),
            (Curator, false, true, false, &[], NONE),
            (Curator, false, true, false, &[2], FOREIGN),
            (Curator, false, true, false, &[1], OK),
            (Basic, false, true, true, &[], PUBLIC),
            (Limited, false, true, true, &[1], PUBLIC),
            (Basic, false, false, true, &[], NONE),
            (Basic, false, false, true, &[2], FOREIGN),
            (Curator, false, false, true, &[], NONE),
            (Curator, false, false, true, &[2], FOREIGN),
            (Curator, false, false, true, &[1, 2], FOREIGN),
            (Curator, false, false, true, &[1], OK),
            (GlobalCurator, false, false, true, &[1], OK),
        ];
        for (role, synced, public, own, groups, expected) in rows {
            let groups = groups.iter().copied().map(GroupId).collect();
            let proposal = Proposal { synced, public, own, groups: &groups };
            let result = check(role, proposal, &[GroupId(1)].into());
            let told = result.err().map_or(String::new(), |error: CuratorError| error.to_string());
            assert_eq!(told, expected, "{role} {proposal:?}");
        }
    }
}
