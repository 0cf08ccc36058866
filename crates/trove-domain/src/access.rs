//! Who asks, and what they may read.

use std::collections::BTreeSet;
use std::fmt;

use crate::access_token::TokenScopes;
use crate::email::email_key;
use crate::id::{AccessTokenId, ApiKeyId, CcPairId, GroupId, UserId};
use crate::session::Session;

/// What a user may do in the deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Only the routes a chat widget needs.
    Limited,
    /// A normal user.
    Basic,
    /// Administers what belongs to the groups it curates.
    Curator,
    /// Administers what belongs to the groups it is a member of.
    GlobalCurator,
    /// Administers everything. Reads no more than its own access allows.
    Admin,
    /// Known through a chat bot only.
    SlackUser,
    /// Known through a permission sync only.
    ExtPermUser,
}

/// Why a string is no role.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a role")]
pub struct UnknownRole(pub String);

impl Role {
    /// Every role.
    pub const ALL: [Self; 7] = [
        Self::Limited,
        Self::Basic,
        Self::Curator,
        Self::GlobalCurator,
        Self::Admin,
        Self::SlackUser,
        Self::ExtPermUser,
    ];

    /// Whether somebody with this role signs in with a password. The others are known through
    /// another system only.
    #[must_use]
    pub const fn signs_in(self) -> bool {
        match self {
            Self::Limited | Self::Basic | Self::Curator | Self::GlobalCurator | Self::Admin => true,
            Self::SlackUser | Self::ExtPermUser => false,
        }
    }

    /// The value used in the interface and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Limited => "limited",
            Self::Basic => "basic",
            Self::Curator => "curator",
            Self::GlobalCurator => "global_curator",
            Self::Admin => "admin",
            Self::SlackUser => "slack_user",
            Self::ExtPermUser => "ext_perm_user",
        }
    }
}

impl std::str::FromStr for Role {
    type Err = UnknownRole;

    fn from_str(value: &str) -> Result<Self, UnknownRole> {
        Self::ALL
            .into_iter()
            .find(|role| role.as_str() == value)
            .ok_or_else(|| UnknownRole(value.to_owned()))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The user that stands for everybody who is not signed in, where anonymous access is on.
///
/// It is in no database: it is in no list and no group, and nothing can be given to it.
pub const ANONYMOUS_USER: UserId = UserId(uuid::Uuid::from_u128(2));

/// What stands for the address of [`ANONYMOUS_USER`]. Nobody can register or be invited with it: its
/// domain is none.
pub const ANONYMOUS_EMAIL: &str = "anonymous@localhost";

/// An authenticated, active user, or the anonymous one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The user, human or service account.
    pub user: UserId,
    /// The user's address as stored.
    pub email: String,
    /// The user's role.
    pub role: Role,
    /// What the caller proved with who it is.
    pub proof: Proof,
}

impl Caller {
    /// Whoever is not signed in, where anonymous access is on.
    #[must_use]
    pub fn anonymous() -> Self {
        Self {
            user: ANONYMOUS_USER,
            email: ANONYMOUS_EMAIL.to_owned(),
            role: Role::Limited,
            proof: Proof::Anonymous,
        }
    }

    /// Whether this is the anonymous user.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.user == ANONYMOUS_USER
    }
}

/// What a caller proves with who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A session that began by signing in. A browser sends it of its own accord.
    Session(Session),
    /// An API key.
    ApiKey(ApiKeyId),
    /// A personal access token.
    AccessToken {
        /// Which one.
        id: AccessTokenId,
        /// What it is restricted to; everything that its owner may do when `None`.
        scopes: Option<TokenScopes>,
    },
    /// Nothing: the program around the engine vouches for the caller.
    Trusted,
    /// Nothing: it is the anonymous user.
    Anonymous,
}

/// One entry of an access list: a document is readable by whoever shares one with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AclTag(String);

impl AclTag {
    /// Access for the user with this address; letter case does not matter.
    #[must_use]
    pub fn user_email(email: &str) -> Self {
        Self(format!("user_email:{}", email_key(email)))
    }

    /// Access for the members of a group.
    ///
    /// By id: renaming a group neither grants nor revokes anything.
    #[must_use]
    pub fn group(group: GroupId) -> Self {
        Self(format!("group:{group}"))
    }

    /// Access for the members of a group of an external system, as the source of a pair tells it;
    /// letter case does not matter.
    ///
    /// By pair: whoever makes another pair says nothing of who reads the documents of this one.
    #[must_use]
    pub fn external_group(pair: CcPairId, source_and_id: &str) -> Self {
        Self(format!("external_group:{pair}:{}", source_and_id.to_lowercase()))
    }

    /// Reads a tag back from an index or a database.
    #[must_use]
    pub fn from_stored(tag: impl Into<String>) -> Self {
        Self(tag.into())
    }

    /// The tag as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AclTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who may read a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentAccess {
    /// Readable by everybody, signed in or not.
    pub public: bool,
    /// Readable by callers who share one of these.
    pub tags: BTreeSet<AclTag>,
}

impl DocumentAccess {
    /// Readable by everybody.
    #[must_use]
    pub fn public() -> Self {
        Self { public: true, tags: BTreeSet::new() }
    }

    /// Readable by callers who share one of `tags`; by nobody when there are none.
    pub fn restricted_to(tags: impl IntoIterator<Item = AclTag>) -> Self {
        Self { public: false, tags: tags.into_iter().collect() }
    }

    /// Whether a caller with `scope` may read the document.
    #[must_use]
    pub fn is_readable_in(&self, scope: &AccessScope) -> bool {
        match &scope.0 {
            Reach::Everything(_) => true,
            Reach::PublicAnd(tags) => self.public || !self.tags.is_disjoint(tags),
        }
    }
}

/// What a caller may read. Part of every index query, by type.
///
/// There is no `Default` and no empty value that means "everything": the unrestricted scope has
/// its own constructor, which asks for a reason and is easy to search for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AccessScope(Reach);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Reach {
    PublicAnd(BTreeSet<AclTag>),
    Everything(&'static str),
}

/// The restriction an index has to apply for a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeFilter<'a> {
    /// Only documents that are public or carry one of these tags.
    PublicOr(&'a BTreeSet<AclTag>),
    /// No restriction. Only maintenance code has such a scope.
    None,
}

impl AccessScope {
    /// Public documents only: the scope of an anonymous caller.
    #[must_use]
    pub fn public_only() -> Self {
        Self(Reach::PublicAnd(BTreeSet::new()))
    }

    /// Public documents and those that carry one of `tags`.
    pub fn public_and(tags: impl IntoIterator<Item = AclTag>) -> Self {
        Self(Reach::PublicAnd(tags.into_iter().collect()))
    }

    /// Every document, for work that no user's request starts (evaluation, verification).
    ///
    /// `reason` is for whoever reviews the call.
    #[must_use]
    pub fn everything(reason: &'static str) -> Self {
        Self(Reach::Everything(reason))
    }

    /// What an index must apply before it ranks.
    #[must_use]
    pub fn filter(&self) -> ScopeFilter<'_> {
        match &self.0 {
            Reach::PublicAnd(tags) => ScopeFilter::PublicOr(tags),
            Reach::Everything(_) => ScopeFilter::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ANONYMOUS_EMAIL, AccessScope, AclTag, Caller, DocumentAccess, Role};
    use crate::email::EmailAddress;
    use crate::id::GroupId;

    #[test]
    fn nobody_can_take_the_place_of_the_anonymous_user() {
        assert!(EmailAddress::parse(ANONYMOUS_EMAIL).is_err());
        let anonymous = Caller::anonymous();
        assert!(anonymous.is_anonymous());
        assert_eq!(anonymous.role, Role::Limited);
        assert_eq!(anonymous.user.to_string(), "00000000-0000-0000-0000-000000000002");
    }

    #[test]
    fn a_document_without_tags_is_readable_by_nobody() {
        let nobody = DocumentAccess::restricted_to([]);
        assert!(!nobody.is_readable_in(&AccessScope::public_only()));
        assert!(!nobody.is_readable_in(&AccessScope::public_and([AclTag::group(GroupId(1))])));
    }

    #[test]
    fn a_shared_tag_opens_a_document() {
        let document = DocumentAccess::restricted_to([AclTag::user_email("A@example.com")]);
        let scope = AccessScope::public_and([AclTag::user_email("a@Example.com")]);
        assert!(document.is_readable_in(&scope));
        assert!(!document.is_readable_in(&AccessScope::public_only()));
    }
}
