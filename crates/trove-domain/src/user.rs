//! Users.

use chrono::{DateTime, Utc};

use crate::access::Role;
use crate::group::Group;
use crate::id::UserId;

/// A user, human or service account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Its key.
    pub id: UserId,
    /// Address as given; unique without regard to letter case.
    pub email: String,
    /// What it is.
    pub kind: AccountKind,
    /// What it may do.
    pub role: Role,
    /// An inactive user cannot sign in and its keys do not work.
    pub active: bool,
    /// Whether it can sign in with a password.
    pub has_password: bool,
    /// What it is called, if it says.
    pub name: Option<String>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// What a user is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccountKind {
    /// A person.
    Person,
    /// A program, which exists for its API key and is left out of lists of people.
    Service,
}

/// Why a string is no kind of account.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a kind of account")]
pub struct UnknownAccountKind(pub String);

impl AccountKind {
    /// The value in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Service => "service",
        }
    }
}

impl std::str::FromStr for AccountKind {
    type Err = UnknownAccountKind;

    fn from_str(value: &str) -> Result<Self, UnknownAccountKind> {
        [Self::Person, Self::Service]
            .into_iter()
            .find(|kind| kind.as_str() == value)
            .ok_or_else(|| UnknownAccountKind(value.to_owned()))
    }
}

/// A user in a list, with the groups it is in by rising id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUser {
    /// The user.
    pub user: User,
    /// Its groups.
    pub groups: Vec<Group>,
}

/// What is kept of a password: a salted hash in the PHC string format, slow to compute.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Wraps what a hash function made.
    #[must_use]
    pub fn new(phc: impl Into<String>) -> Self {
        Self(phc.into())
    }

    /// The hash as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

/// SHA-256 of a token. Tokens carry 192 random bits or more, so neither salt nor stretching adds
/// anything; the stored form opens nothing.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenHash(..)")
    }
}
