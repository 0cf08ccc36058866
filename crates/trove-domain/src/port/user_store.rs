use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::access::Role;
use crate::api_key::{NewApiKey, service_address};
use crate::error::StoreError;
use crate::id::{SessionId, UserId};
use crate::job::NewJob;
use crate::page::{NumberedPage, Page};
use crate::user::{AccountKind, ListedUser, PasswordHash, User};

/// A user to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUser {
    /// Its key.
    pub id: UserId,
    /// Address.
    pub email: String,
    /// What it is.
    pub kind: AccountKind,
    /// What it may do.
    pub role: Role,
    /// When it is made.
    pub created_at: DateTime<Utc>,
}

impl NewUser {
    /// A person.
    #[must_use]
    pub fn person(id: UserId, email: &str, role: Role, created_at: DateTime<Utc>) -> Self {
        Self { id, email: email.to_owned(), kind: AccountKind::Person, role, created_at }
    }

    /// The account of a program, whose key is called `name`.
    #[must_use]
    pub fn service(id: UserId, name: Option<&str>, role: Role, created_at: DateTime<Utc>) -> Self {
        let email = service_address(name, id);
        Self { id, email, kind: AccountKind::Service, role, created_at }
    }
}

/// How many active people there are and may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seats {
    /// Active people. Who is known by a permission sync only takes no seat.
    pub used: u64,
    /// How many there may be.
    pub total: u64,
}

/// What became of a change of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserChange {
    /// It is as asked for.
    Done,
    /// There is no such user.
    NoSuchUser,
    /// The user is not (any more) in the state that the change starts from.
    Stale,
    /// No active administrator would be left.
    LastAdmin,
    /// All seats are taken.
    NoSeat(Seats),
}

/// Somebody who registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignUp {
    /// The key of a new user.
    pub id: UserId,
    /// Address.
    pub email: String,
    /// Hash of the password.
    pub password: PasswordHash,
    /// When this is.
    pub created_at: DateTime<Utc>,
}

/// Who may register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistrationRule {
    /// Only who is invited, even where nobody is. Otherwise everybody may as long as nobody is
    /// invited.
    pub invited_only: bool,
    /// How many active people there may be.
    pub seats: Option<u64>,
}

/// What became of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The user.
    Done(Box<User>),
    /// The address is not invited.
    NotInvited,
    /// The address is a user's.
    Taken,
    /// All seats are taken.
    NoSeat(Seats),
}

/// What became of a change of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressChange {
    /// It is changed.
    Done,
    /// There is no such user.
    NoSuchUser,
    /// The address is not invited.
    NotInvited,
    /// The address is another user's.
    Taken,
}

/// Which users to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFilter {
    /// Addresses that hold this, in any letter case.
    pub text: Option<String>,
    /// One of these; none of them finds nobody.
    pub roles: BTreeSet<Role>,
    /// Only active, or only inactive ones.
    pub active: Option<bool>,
    /// Service accounts, too.
    pub services: bool,
}

/// How many people there are of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserCount {
    /// Their role.
    pub role: Role,
    /// Whether they are active.
    pub active: bool,
    /// How many.
    pub count: u64,
}

/// Users.
///
/// # Contract
///
/// * Addresses are unique without regard to letter case, and are kept as given.
/// * There is a person who is an active administrator, from the first one on: of changes at the same time that
///   together would leave none, one is refused.
/// * What users are (their number, roles and states) is checked and changed in one step.
#[async_trait]
pub trait UserStore: Send + Sync + 'static {
    /// Adds a user; `false` when the address (or the id) is taken, and nothing changes. The id of the
    /// anonymous user is taken.
    async fn insert(&self, user: NewUser) -> Result<bool, StoreError>;

    /// Adds an administrator with a first key, if and only if there is no administrator yet.
    ///
    /// One step: of two calls at the same time, in two processes even, exactly one answers `true`.
    async fn insert_first_admin(&self, user: NewUser, key: NewApiKey) -> Result<bool, StoreError>;

    /// Adds somebody who registers, as an administrator where there is none and as a normal user
    /// otherwise; takes the invitation back. Who was known through another system only keeps key
    /// and groups, and gets the password and the role.
    async fn sign_up(
        &self,
        sign_up: SignUp,
        rule: RegistrationRule,
    ) -> Result<Registered, StoreError>;

    /// The user; `None` when there is none.
    async fn get(&self, id: UserId) -> Result<Option<User>, StoreError>;

    /// The user with this address in any letter case; `None` when there is none.
    async fn get_by_email(&self, email: &str) -> Result<Option<User>, StoreError>;

    /// What is kept of a user's password; `None` when there is none.
    async fn password(&self, id: UserId) -> Result<Option<PasswordHash>, StoreError>;

    /// Whether anybody has a password.
    async fn any_password(&self) -> Result<bool, StoreError>;

    /// Sets a password, and ends all sessions of the user but one; `false` when there is no such
    /// user.
    async fn set_password(
        &self,
        id: UserId,
        password: PasswordHash,
        keep: Option<SessionId>,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Changes an address under the rule for registering; takes the invitation back. Documents that
    /// the user reads because of its address become dirty, and `job` is enqueued.
    async fn set_email(
        &self,
        id: UserId,
        email: &str,
        invited_only: bool,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<AddressChange, StoreError>;

    /// Changes a role that still is `from`. Who becomes a curator curates no group yet.
    async fn set_role(
        &self,
        id: UserId,
        from: Role,
        to: Role,
        now: DateTime<Utc>,
    ) -> Result<UserChange, StoreError>;

    /// Lets a user in. `seats` is how many active people there may be. Takes effect with the next
    /// lookup of any of its keys. No change for whoever is in.
    async fn activate(
        &self,
        id: UserId,
        seats: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<UserChange, StoreError>;

    /// Keeps a user out: ends its sessions, and from the next lookup on its keys are unknown. No
    /// change for whoever is out.
    async fn deactivate(&self, id: UserId, now: DateTime<Utc>) -> Result<UserChange, StoreError>;

    /// Removes a user who is kept out ([`UserChange::Stale`] otherwise), with everything that is
    /// the user's own: sessions, keys, profile, searches, memberships, its invitation. Sets, agents
    /// and credentials stay without an owner; documents that the user read because of a credential
    /// become dirty, and `job` is enqueued.
    async fn remove(
        &self,
        id: UserId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<UserChange, StoreError>;

    /// Users by rising address without regard to letter case, at most `limit` after the address
    /// `after`.
    async fn list(
        &self,
        filter: &UserFilter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page<ListedUser, String>, StoreError>;

    /// The same after the first `offset`, with how many there are in all.
    async fn list_numbered(
        &self,
        filter: &UserFilter,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<ListedUser>, StoreError>;

    /// Id and address alone of users, as [`UserStore::list`].
    async fn addresses(
        &self,
        filter: &UserFilter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page<(UserId, String), String>, StoreError>;

    /// How many people there are by role and state, in no order; nothing where there is nobody.
    async fn counts(&self) -> Result<Vec<UserCount>, StoreError>;
}
