//! What administrators change of users.

use trove_domain::access::Role;
use trove_domain::email::EmailAddress;
use trove_domain::error::StoreError;
use trove_domain::id::UserId;
use trove_domain::port::{Invited, UserChange};
use trove_domain::user::User;

use super::{AccountError, RoleDecision, decide_role};
use crate::Engine;

/// How often a change is tried that others come before.
const TRIES: u32 = 5;

impl Engine {
    /// `wanted` says what role is to take the place of one.
    pub(super) async fn set_user_role_unrecorded(
        &self,
        by: Option<UserId>,
        email: &str,
        wanted: impl Fn(Role) -> Role,
        overridden: bool,
    ) -> Result<(), AccountError> {
        let backends = self.backends();
        for _ in 0..TRIES {
            let user = self.user_by_email(email).await?;
            let role = wanted(user.role);
            match decide_role(user.role, role, overridden, by == Some(user.id)) {
                RoleDecision::Keep => return Ok(()),
                RoleDecision::Refuse(why) => return Err(AccountError::Role(why)),
                RoleDecision::Change => {}
            }
            let now = backends.clock.now();
            match backends.users.set_role(user.id, user.role, role, now).await? {
                UserChange::Stale => {}
                changed => return done(changed, email),
            }
        }
        Err(AccountError::Contended)
    }

    pub(super) async fn deactivate_user_unrecorded(
        &self,
        by: Option<UserId>,
        email: &str,
    ) -> Result<(), AccountError> {
        let user = self.user_by_email(email).await?;
        if by == Some(user.id) {
            return Err(AccountError::OwnAccount);
        }
        let now = self.backends().clock.now();
        done(self.backends().users.deactivate(user.id, now).await?, email)
    }

    pub(super) async fn activate_user_unrecorded(&self, email: &str) -> Result<(), AccountError> {
        let user = self.user_by_email(email).await?;
        let (seats, now) = (self.config().accounts.seats, self.backends().clock.now());
        done(self.backends().users.activate(user.id, seats, now).await?, email)
    }

    pub(super) async fn delete_user_unrecorded(&self, email: &str) -> Result<(), AccountError> {
        let user = self.user_by_email(email).await?;
        let now = self.backends().clock.now();
        let removed = self.backends().users.remove(user.id, now, self.sync_job()).await?;
        self.shared.jobs_enqueued.notify_one();
        match removed {
            UserChange::Stale => Err(AccountError::StillActive),
            removed => done(removed, email),
        }
    }

    pub(super) async fn invite_unrecorded(
        &self,
        addresses: &[String],
    ) -> Result<u64, AccountError> {
        let parse = |address: &String| {
            EmailAddress::parse(address).map_err(|why| AccountError::Address {
                // Enough to recognise it by, whatever it is.
                address: shown(address),
                why,
            })
        };
        let addresses: Vec<EmailAddress> = addresses.iter().map(parse).collect::<Result<_, _>>()?;
        let (seats, now) = (self.config().accounts.seats, self.backends().clock.now());
        match self.backends().invitations.invite(&addresses, seats, now).await? {
            Invited::All(count) => Ok(count),
            Invited::NoSeat(seats) => Err(AccountError::NoSeat(seats)),
            Invited::TooMany => Err(AccountError::TooManyInvitations),
        }
    }

    pub(super) async fn withdraw_invitation_unrecorded(
        &self,
        address: &str,
    ) -> Result<u64, StoreError> {
        self.backends().invitations.withdraw(address).await
    }

    pub(super) async fn user_by_email(&self, email: &str) -> Result<User, AccountError> {
        let user = self.backends().users.get_by_email(email).await?;
        user.ok_or_else(|| no_such_user(email))
    }
}

fn done(change: UserChange, email: &str) -> Result<(), AccountError> {
    match change {
        UserChange::Done => Ok(()),
        UserChange::NoSuchUser => Err(no_such_user(email)),
        UserChange::Stale => Err(AccountError::Contended),
        UserChange::LastAdmin => Err(AccountError::LastAdmin),
        UserChange::NoSeat(seats) => Err(AccountError::NoSeat(seats)),
    }
}

fn no_such_user(email: &str) -> AccountError {
    AccountError::NoSuchUser(shown(email))
}

/// What somebody sent as an address, which may be anything, as far as an address goes.
fn shown(address: &str) -> String {
    address.chars().take(EmailAddress::MAX_BYTES).collect()
}
