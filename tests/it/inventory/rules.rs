//! Who sees what, and who changes it, as the contract says it. A second opinion: nothing here asks
//! the product.

use trove_domain::access::Role;
use trove_http::Policy;

use super::principals::{Team, Who};
use super::table::Row;

/// What can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Agent,
    DocumentSet,
    /// A connector-credential pair.
    Pair,
    /// A connector with a pair of the state.
    Connector,
    /// A pair that a schedule runs.
    ScheduledPair,
    /// A connector of files, for those who change it.
    FileConnector,
    /// One, for those who see its files: those who see its pair.
    ConnectorFiles,
    /// A credential for a source with secrets, for those who use it.
    UsableCredential,
    /// One, for those who change it.
    Credential,
    /// A posted document, for those who administer it.
    Document,
    /// A document, for those who read it.
    ReadDocument,
    /// A group, for those who control it.
    Group,
    /// A group, for those who share something with it.
    Audience,
    TokenLimit,
    /// A provider of language models, for administrators.
    Provider,
    /// One, for those who use it.
    UsableProvider,
    /// A user by key.
    User,
    /// A user by address.
    Address,
    /// One that is kept out.
    InactiveAddress,
    Invitation,
    Label,
    Tool,
    /// An API key with an account of its own; one that acts as the caller is the caller's own.
    ApiKey,
    /// A personal access token.
    AccessToken,
}

/// How an object stands to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Made by the caller; of a group: curated by the caller.
    Own,
    /// A group that the caller is a member of and does not curate.
    Joined,
    /// Somebody else's, shared with the caller.
    Shared,
    /// Somebody else's, shared with the team.
    Team,
    /// Somebody else's, shared with the team and with another group.
    Both,
    /// Somebody else's, and everybody's to see.
    Public,
    /// Somebody else's.
    Foreign,
    /// Was the caller's, and is no more.
    Deleted,
    /// Never was.
    Missing,
}

/// What a route does to what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    See,
    Edit,
    /// What only the owner and administrators do.
    Delete,
    /// It is not looked up: what is there and what is not are the same.
    Ignore,
}

/// What an object is to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    Hidden,
    Seen,
    Editable,
}

impl Kind {
    pub(super) fn states(self) -> &'static [State] {
        use State::{Both, Deleted, Foreign, Joined, Missing, Own, Public, Shared, Team};
        match self {
            Self::Agent | Self::DocumentSet => {
                &[Missing, Deleted, Own, Shared, Team, Both, Public, Foreign]
            }
            Self::Pair
            | Self::Document
            | Self::Connector
            | Self::ScheduledPair
            | Self::FileConnector
            | Self::ConnectorFiles
            | Self::UsableCredential
            | Self::Credential => &[Missing, Deleted, Own, Team, Both, Public, Foreign],
            Self::ReadDocument => &[Missing, Deleted, Team, Both, Public, Foreign],
            Self::UsableProvider => &[Missing, Deleted, Team, Public, Foreign],
            Self::Group | Self::Audience => &[Missing, Deleted, Own, Joined, Foreign],
            Self::TokenLimit | Self::Provider => &[Missing, Deleted, Foreign],
            Self::User
            | Self::Address
            | Self::InactiveAddress
            | Self::ApiKey
            | Self::AccessToken => &[Missing, Deleted, Own, Foreign],
            Self::Invitation | Self::Label | Self::Tool => &[Missing, Foreign],
        }
    }

    /// What an object of this kind and state is to somebody.
    pub(super) fn standing(self, who: &Who, state: State) -> Standing {
        if matches!(state, State::Missing | State::Deleted) {
            return Standing::Hidden;
        }
        let admin = who.role == Role::Admin;
        let shared: &[Team] = match state {
            State::Team => &[Team::Ours],
            State::Both => &[Team::Ours, Team::Others],
            _ => &[],
        };
        let is_member = shared.iter().any(|group| who.is_member(*group));
        let reads = state == State::Public || is_member;
        let standing = |seen: bool, editable: bool| match (seen, editable) {
            (_, true) => Standing::Editable,
            (true, false) => Standing::Seen,
            (false, false) => Standing::Hidden,
        };
        match self {
            Self::Agent
            | Self::DocumentSet
            | Self::Pair
            | Self::ScheduledPair
            | Self::Connector
            | Self::FileConnector
            | Self::ConnectorFiles
            | Self::Document => {
                let own = state == State::Own;
                // Shared with groups that the caller controls, and with no other.
                let controls =
                    !shared.is_empty() && shared.iter().all(|group| who.controls(*group));
                let seen = own || admin || reads || state == State::Shared;
                standing(seen, own || admin || controls)
            }
            // One that others may use is public to administrators and to curators.
            Self::UsableCredential | Self::Credential => {
                let own = state == State::Own;
                let curates = matches!(who.role, Role::Curator | Role::GlobalCurator);
                let controls = shared.iter().any(|group| who.controls(*group));
                let controls_all = controls && shared.iter().all(|group| who.controls(*group));
                let administers = admin && state != State::Foreign;
                let used = controls || (curates && state == State::Public);
                if self == Self::Credential {
                    standing(false, own || administers || controls_all)
                } else {
                    standing(own || administers || used, false)
                }
            }
            // Nobody reads more for being an administrator.
            Self::ReadDocument => standing(reads, reads),
            Self::UsableProvider => standing(reads || admin, reads || admin),
            Self::Group => {
                let controls = match who.role {
                    Role::Admin => true,
                    Role::GlobalCurator => matches!(state, State::Own | State::Joined),
                    Role::Curator => state == State::Own,
                    _ => false,
                };
                standing(controls, controls)
            }
            Self::Audience => {
                let member = admin || matches!(state, State::Own | State::Joined);
                standing(member, member)
            }
            // Administrators have no part in what users make for themselves.
            Self::AccessToken => standing(state == State::Own, state == State::Own),
            // There are no two opinions about whose these are: the policy says it all.
            Self::TokenLimit
            | Self::Provider
            | Self::User
            | Self::Address
            | Self::InactiveAddress
            | Self::Invitation
            | Self::Label
            | Self::Tool
            | Self::ApiKey => Standing::Editable,
        }
    }
}

/// Whether a policy admits somebody.
fn admits(policy: Policy, who: Option<&Who>) -> Result<(), u16> {
    use Role::{Admin, Curator, GlobalCurator, Limited};
    let Some(who) = who else {
        return if policy == Policy::Public { Ok(()) } else { Err(401) };
    };
    let admitted = match policy {
        Policy::Public | Policy::Chat | Policy::Limited => true,
        Policy::Basic => who.role != Limited,
        Policy::Curator => matches!(who.role, Curator | GlobalCurator | Admin),
        Policy::Admin => who.role == Admin,
    };
    if admitted { Ok(()) } else { Err(403) }
}

/// What is to come of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) status: u16,
    /// Whether it does what it is for.
    pub(super) done: bool,
    /// Whether it must be the same answer as for an object that never was.
    pub(super) like_missing: bool,
}

pub(super) fn expected(row: &Row, who: Option<&Who>, state: State) -> Expected {
    let refused = |status| Expected { status, done: false, like_missing: false };
    if let Err(status) = admits(row.policy, who) {
        // Before anything is looked up, so that all answers are the same.
        return Expected { like_missing: true, ..refused(status) };
    }
    // Who asks is nobody's business where everybody gets in.
    let guarded = row.policy != Policy::Public;
    if guarded && who.is_some_and(|who| who.is_restricted && row.restricted.is_none()) {
        return Expected { like_missing: true, ..refused(403) };
    }
    for (_, exception) in &row.exceptions {
        if let Some(status) = exception(who, state) {
            let done = status < 300;
            return Expected { status, done, like_missing: !done && status == row.hidden };
        }
    }
    let done = Expected { status: row.done, done: true, like_missing: false };
    let Some((kind, need)) = row.about else { return done };
    let allowed = match need {
        Need::Ignore => return Expected { done: !row.reads, like_missing: true, ..done },
        Need::See => Standing::Seen,
        Need::Edit | Need::Delete => Standing::Editable,
    };
    let Some(who) = who else { return done };
    let standing = kind.standing(who, state);
    let deletes = need != Need::Delete || state == State::Own || who.role == Role::Admin;
    if standing == Standing::Hidden {
        Expected { like_missing: true, ..refused(row.hidden) }
    } else if standing >= allowed && deletes {
        done
    } else {
        refused(row.refused)
    }
}
