//! Who becomes what.

use trove_domain::access::Role;

/// What follows from the wish to give a user another role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleDecision {
    /// The user has the role.
    Keep,
    /// The user gets it.
    Change,
    /// The user does not get it.
    Refuse(RoleRefusal),
}

/// Why a user does not get a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoleRefusal {
    /// The present role comes from elsewhere.
    #[error("a user with the role {0} keeps it: it says how the user is known")]
    Bound(Role),
    /// The role is usually given in another way.
    #[error("the role {0} is not given directly; send explicit_override to do so all the same")]
    NeedsOverride(Role),
    /// Nobody changes the own role.
    #[error("you cannot change your own role; another administrator can")]
    OwnRole,
}

/// Decides about one user.
///
/// The order matters: a role that is there already is never refused.
#[must_use]
pub fn decide_role(current: Role, asked: Role, overridden: bool, is_self: bool) -> RoleDecision {
    if asked == current {
        return RoleDecision::Keep;
    }
    if is_bound(current) {
        return RoleDecision::Refuse(RoleRefusal::Bound(current));
    }
    if (asked == Role::Curator || is_bound(asked)) && !overridden {
        return RoleDecision::Refuse(RoleRefusal::NeedsOverride(asked));
    }
    if is_self {
        return RoleDecision::Refuse(RoleRefusal::OwnRole);
    }
    RoleDecision::Change
}

/// Whether a role says how a user is known.
fn is_bound(role: Role) -> bool {
    match role {
        Role::Limited | Role::SlackUser | Role::ExtPermUser => true,
        Role::Basic | Role::Curator | Role::GlobalCurator | Role::Admin => false,
    }
}

#[cfg(test)]
mod tests {
    use trove_domain::access::Role::{
        self, Admin, Basic, Curator, ExtPermUser, GlobalCurator, Limited, SlackUser,
    };

    use super::RoleDecision::{self, Change, Keep, Refuse};
    use super::RoleRefusal::{Bound, NeedsOverride, OwnRole};
    use super::decide_role;

    #[test]
    fn decisions_about_roles() {
        let check = |current, asked, overridden, is_self, want: RoleDecision| {
            let decided = decide_role(current, asked, overridden, is_self);
            assert_eq!(decided, want, "{current} to {asked}, {overridden}, {is_self}");
        };
        for role in Role::ALL {
            for (overridden, is_self) in [(false, false), (true, false), (false, true)] {
                check(role, role, overridden, is_self, Keep);
            }
        }
        for bound in [Limited, SlackUser, ExtPermUser] {
            check(bound, Basic, false, false, Refuse(Bound(bound)));
            check(bound, Basic, true, false, Refuse(Bound(bound)));
            check(Basic, bound, false, false, Refuse(NeedsOverride(bound)));
            check(Basic, bound, true, false, Change);
        }
        check(Basic, Curator, false, false, Refuse(NeedsOverride(Curator)));
        check(Basic, Curator, true, false, Change);
        check(Basic, Admin, false, false, Change);
        check(Admin, Basic, false, false, Change);
        check(Basic, GlobalCurator, false, false, Change);
        check(Curator, Basic, false, false, Change);
        check(Admin, Basic, false, true, Refuse(OwnRole));
        check(Admin, Basic, true, true, Refuse(OwnRole));
        check(Admin, Curator, true, true, Refuse(OwnRole));
        check(Admin, Curator, false, true, Refuse(NeedsOverride(Curator)));
    }
}
