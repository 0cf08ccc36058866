use std::time::Duration;

use trove_domain::email::InvalidEmailAddress;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::password::WeakPassword;
use trove_domain::port::{INVITATIONS_MAX, Seats};

use super::{HashingBusy, RoleRefusal};

/// Why users were not changed or invited.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// No user has this address.
    #[error("there is no user with the address {0}")]
    NoSuchUser(String),
    /// The user does not get the role.
    #[error("{0}")]
    Role(RoleRefusal),
    /// Nobody keeps the own account out.
    #[error("you cannot deactivate your own account; another administrator can")]
    OwnAccount,
    /// No active administrator would be left.
    #[error("this is the last active administrator; make another one first")]
    LastAdmin,
    /// Programs have no passwords.
    #[error("this is the account of a program, which has an API key and no password")]
    NoPerson,
    /// Only who is kept out is deleted.
    #[error("the user is active; deactivate the account first")]
    StillActive,
    /// All seats are taken.
    #[error("{} of {} seats are taken; the operator's setting auth.seats says how many there are", .0.used, .0.total)]
    NoSeat(Seats),
    /// What is to be invited is no address.
    #[error("`{address}` is not a valid address ({why}); nobody was invited")]
    Address {
        /// The first one that is wrong.
        address: String,
        /// Why.
        why: InvalidEmailAddress,
    },
    /// There would be too many invitations.
    #[error("there may be at most {INVITATIONS_MAX} invitations; nobody was invited")]
    TooManyInvitations,
    /// The user was changed by others all the time.
    #[error("the user is being changed by others; try again")]
    Contended,
    /// No more passwords can be hashed at present.
    #[error(transparent)]
    Busy(#[from] HashingBusy),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for AccountError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchUser(_) => ErrorKind::NotFound,
            Self::Role(_)
            | Self::OwnAccount
            | Self::LastAdmin
            | Self::NoPerson
            | Self::StillActive
            | Self::Address { .. }
            | Self::TooManyInvitations => ErrorKind::Invalid,
            Self::NoSeat(_) => ErrorKind::SeatLimit,
            Self::Contended => ErrorKind::Conflict,
            Self::Busy(_) => ErrorKind::Unavailable,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> Option<&'static str> {
        match self {
            Self::NoSuchUser(_) => Some("USER_NOT_FOUND"),
            _ => None,
        }
    }
}

/// Why nobody signed in, registered or got another password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// No such user, wrong password, or a user that is kept out: the three are not told apart.
    #[error("address or password is wrong")]
    BadCredentials,
    /// The account is known through another system only.
    #[error("this account cannot sign in with a password")]
    NoPasswordSignIn,
    /// What identifies the account is not changed with this.
    #[error(
        "address and password are changed by whoever signs in with them, not with a key or token"
    )]
    NotWithToken,
    /// The password that is to be replaced is another one.
    #[error("the old password is wrong")]
    WrongPassword,
    /// Too many guesses.
    #[error("too many attempts; try again later")]
    TooManyAttempts {
        /// When one more is accepted.
        retry_after: Duration,
    },
    /// Nobody registers here.
    #[error("registration is closed; ask an administrator for an account")]
    RegistrationClosed,
    /// The address is not invited.
    #[error("this address is not invited; ask an administrator for an invitation")]
    NotInvited,
    /// The address is of a domain that may not register.
    #[error("addresses of this domain are not accepted")]
    Domain,
    /// The address is a user's.
    #[error("there is a user with this address already")]
    Taken,
    /// The password is not accepted.
    #[error("{0}")]
    Password(WeakPassword),
    /// All seats are taken.
    #[error("{} of {} seats are taken; ask an administrator", .0.used, .0.total)]
    NoSeat(Seats),
    /// The user has been removed meanwhile.
    #[error("there is no such user any more")]
    Gone,
    /// No more passwords can be hashed at present.
    #[error(transparent)]
    Busy(#[from] HashingBusy),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for SignInError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::BadCredentials
            | Self::WrongPassword
            | Self::Domain
            | Self::Taken
            | Self::Password(_) => ErrorKind::Invalid,
            Self::NoPasswordSignIn
            | Self::NotWithToken
            | Self::RegistrationClosed
            | Self::NotInvited => ErrorKind::Forbidden,
            Self::TooManyAttempts { .. } => ErrorKind::RateLimited,
            Self::NoSeat(_) => ErrorKind::SeatLimit,
            Self::Gone => ErrorKind::Unauthenticated,
            Self::Busy(_) => ErrorKind::Unavailable,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> Option<&'static str> {
        match self {
            Self::RegistrationClosed => Some("REGISTRATION_DISABLED"),
            Self::NotInvited => Some("UNAUTHORIZED"),
            _ => None,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TooManyAttempts { retry_after } => Some(*retry_after),
            _ => None,
        }
    }
}
