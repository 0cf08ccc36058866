//! People: who there is, who may register and sign in, and what administrators change of them.

mod access_tokens;
mod config;
mod error;
mod lists;
mod passwords;
mod profile;
mod recorded;
mod register;
mod role;
mod sign_in;
mod throttle;
mod users;

pub use access_tokens::{
    ACCESS_TOKEN_DAYS_MAX, AccessTokenError, AccessTokenRequest, token_scopes,
};
pub use config::{AccountConfig, HashingConfig, RegistrationPolicy};
pub use error::{AccountError, SignInError};
pub use lists::{AcceptedFilter, AllUsers, USERS_PAGE};
pub use passwords::HashingBusy;
pub use role::{RoleDecision, RoleRefusal, decide_role};
pub use sign_in::SignedIn;

pub(crate) use passwords::Passwords;
pub(crate) use throttle::Throttle;
