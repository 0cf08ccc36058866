//! What a caller sees and may change, as conditions of queries.

use trove_domain::access::{Caller, Role};

use crate::sql::Id;

/// A caller, as queries need it.
#[derive(Clone, Copy)]
pub(crate) struct Power {
    pub(crate) me: Id,
    /// Sees and changes everything.
    pub(crate) administers: bool,
    /// Changes what belongs to the groups that it controls.
    pub(crate) curates: bool,
    /// Controls every group that it is a member of.
    pub(crate) controls_all: bool,
}

impl Power {
    pub(crate) fn of(caller: &Caller) -> Self {
        let controls_all = caller.role == Role::GlobalCurator;
        Self {
            me: Id(caller.user.0),
            administers: caller.role == Role::Admin,
            curates: controls_all || caller.role == Role::Curator,
            controls_all,
        }
    }
}

/// The groups that a caller is in.
macro_rules! own_groups {
    ($power:expr) => {
        crate::schema::user_group_member::table
            .filter(crate::schema::user_group_member::user_id.eq($power.me))
            .select(crate::schema::user_group_member::group_id)
    };
}
pub(crate) use own_groups;

/// Whether a caller sees a row of `$of`.
macro_rules! visible {
    ($power:expr, $of:ident, $key:ident, $users:ident, $groups:ident) => {{
        use crate::schema::{$groups, $of, $users};
        use diesel::sql_types::Bool;
        let of_user = $users::table.filter($users::user_id.eq($power.me)).select($users::$key);
        let groups = crate::rights::own_groups!($power);
        let of_groups =
            $groups::table.filter($groups::group_id.eq_any(groups)).select($groups::$key);
        $power
            .administers
            .into_sql::<Bool>()
            .or($of::public)
            .or($of::owner_id.eq($power.me))
            .or($of::id.eq_any(of_user))
            .or($of::id.eq_any(of_groups))
    }};
}
pub(crate) use visible;

/// Whether a caller may change a row of `$of`.
macro_rules! editable {
    ($power:expr, $of:ident, $key:ident, $groups:ident) => {{
        use crate::schema::{user_group_member, $groups, $of};
        use diesel::sql_types::Bool;
        let controls = user_group_member::curator.or($power.controls_all.into_sql::<Bool>());
        let controlled = crate::rights::own_groups!($power).filter(controls);
        let shared = $groups::table.select($groups::$key);
        let beyond =
            $groups::table.filter($groups::group_id.ne_all(controlled)).select($groups::$key);
        let in_own_groups = $of::id.eq_any(shared).and($of::id.ne_all(beyond));
        $power
            .administers
            .into_sql::<Bool>()
            .or($of::owner_id.eq($power.me))
            .or($power.curates.into_sql::<Bool>().and(in_own_groups))
    }};
}
pub(crate) use editable;
