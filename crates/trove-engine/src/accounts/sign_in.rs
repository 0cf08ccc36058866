//! Signing in and out, and passwords.

use chrono::TimeDelta;
use secrecy::{ExposeSecret, SecretString};
use trove_domain::access::{Caller, Proof};
use trove_domain::audit::AuditAction;
use trove_domain::email::EmailAddress;
use trove_domain::error::StoreError;
use trove_domain::id::{SessionId, UserId};
use trove_domain::session::{NewSession, Session, SessionHolder};
use trove_domain::user::{AccountKind, PasswordHash, User};

use super::passwords::generate;
use super::{AccountError, SignInError};
use crate::Engine;
use crate::authentication::{hash, new_session_token};

/// Longest token that is worth hashing, in bytes. Own ones have 43.
const TOKEN_BYTES_MAX: usize = 128;

/// A session just begun: the only time its secret is at hand.
#[derive(Debug)]
pub struct SignedIn {
    /// The session as it is kept.
    pub session: Session,
    /// What the browser sends.
    pub secret: SecretString,
}

impl Engine {
    /// Whose session `token` is; `None` when it is nobody's: unknown, ended, expired, or its user is
    /// kept out.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the sessions cannot be looked up.
    pub async fn authenticate_session(
        &self,
        token: &SecretString,
    ) -> Result<Option<Caller>, StoreError> {
        let token = token.expose_secret();
        if token.is_empty() || token.len() > TOKEN_BYTES_MAX {
            return Ok(None);
        }
        let backends = self.backends();
        let holder = backends.sessions.find(&hash(token), backends.clock.now()).await?;
        Ok(holder.map(SessionHolder::into_caller))
    }

    /// Begins a session for whoever knows the password of the user with this address. `source` is
    /// where the attempt comes from.
    ///
    /// Who is not there, is kept out or has no password is answered like a wrong password, after
    /// the same work.
    ///
    /// # Errors
    ///
    /// [`SignInError`]; there is no session then.
    pub async fn sign_in(
        &self,
        address: &str,
        password: &SecretString,
        source: &str,
    ) -> Result<SignedIn, SignInError> {
        let address = EmailAddress::parse(address)
            .map_or_else(|_| address.to_owned(), EmailAddress::into_string);
        self.shared.throttle.at_source(source)?;
        self.shared.throttle.at_address(&address)?;
        let users = &self.backends().users;
        let user = users.get_by_email(&address).await?;
        let id = user.as_ref().map_or(UserId(uuid::Uuid::nil()), |user| user.id);
        // Whatever else was typed may be a password.
        let subject = user.as_ref().map(|user| format!("user {} {}", user.id, user.email));
        let signed_in = self.try_sign_in(user, id, password).await;
        self.record_attempt(AuditAction::SignIn, subject, &signed_in).await;
        signed_in
    }

    async fn try_sign_in(
        &self,
        user: Option<User>,
        id: UserId,
        password: &SecretString,
    ) -> Result<SignedIn, SignInError> {
        let users = &self.backends().users;
        let kept = users.password(id).await?;
        let is_right = self.shared.passwords.verify(password, kept.clone()).await?;
        let user = user
            .filter(|user| is_right && user.active && user.kind == AccountKind::Person)
            .ok_or(SignInError::BadCredentials)?;
        if !user.role.signs_in() {
            return Err(SignInError::NoPasswordSignIn);
        }
        let (session, secret) = self.new_session(user.id, kept);
        let begun = self.backends().sessions.insert(session).await?;
        let session = begun.ok_or(SignInError::BadCredentials)?;
        Ok(SignedIn { session, secret })
    }

    /// Ends the session of a caller; `false` when the caller has none.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the session goes on then.
    pub async fn sign_out(&self, caller: &Caller) -> Result<bool, StoreError> {
        match caller.proof {
            Proof::Session(session) => self.backends().sessions.remove(session.id).await,
            Proof::ApiKey(_) | Proof::AccessToken { .. } | Proof::Trusted | Proof::Anonymous => {
                Ok(false)
            }
        }
    }

    /// Puts a new session in the place of the caller's; `None` when the caller has none (any more).
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the old one goes on then.
    pub async fn renew_session(&self, caller: &Caller) -> Result<Option<SignedIn>, StoreError> {
        let Proof::Session(old) = caller.proof else { return Ok(None) };
        let (session, secret) = self.new_session(caller.user, None);
        let session = self.backends().sessions.replace(old.id, session).await?;
        Ok(session.map(|session| SignedIn { session, secret }))
    }

    pub(super) async fn change_password_unrecorded(
        &self,
        caller: &Caller,
        old: &SecretString,
        new: &SecretString,
    ) -> Result<(), SignInError> {
        Self::check_signed_in(caller)?;
        // A session that was stolen is no licence to guess.
        self.shared.throttle.at_address(&caller.email)?;
        let kept = self.backends().users.password(caller.user).await?;
        if !self.shared.passwords.verify(old, kept).await? {
            return Err(SignInError::WrongPassword);
        }
        self.set_own_password(caller, new).await
    }

    pub(super) async fn update_own_account_unrecorded(
        &self,
        caller: &Caller,
        email: Option<EmailAddress>,
        password: Option<&SecretString>,
    ) -> Result<User, SignInError> {
        if email.is_some() || password.is_some() {
            Self::check_signed_in(caller)?;
        }
        if let Some(password) = password {
            self.check_password(password, &caller.email)?;
        }
        if let Some(email) = email {
            self.change_own_address(caller, email).await?;
        }
        if let Some(password) = password {
            self.set_own_password(caller, password).await?;
        }
        self.backends().users.get(caller.user).await?.ok_or(SignInError::Gone)
    }

    pub(super) async fn reset_password_unrecorded(
        &self,
        email: &str,
    ) -> Result<(User, SecretString), AccountError> {
        let backends = self.backends();
        let user = self.user_by_email(email).await?;
        if user.kind != AccountKind::Person {
            return Err(AccountError::NoPerson);
        }
        let password = generate(backends.ids.as_ref(), &self.config().accounts.password);
        let hash = self.shared.passwords.hash(&password, backends.ids.as_ref()).await?;
        let now = backends.clock.now();
        if !backends.users.set_password(user.id, hash, None, now).await? {
            return Err(AccountError::NoSuchUser(email.to_owned()));
        }
        // Whoever has got at the account may have made some.
        backends.access_tokens.revoke_all(user.id, now).await?;
        Ok((user, password))
    }

    pub(super) fn check_password(
        &self,
        password: &SecretString,
        email: &str,
    ) -> Result<(), SignInError> {
        let policy = &self.config().accounts.password;
        policy.check(password.expose_secret(), email).map_err(SignInError::Password)
    }

    /// A key or a token that has leaked must not take the account over, and the account of a program
    /// must not take the address of a person, with what is shared with it.
    fn check_signed_in(caller: &Caller) -> Result<(), SignInError> {
        match caller.proof {
            Proof::Session(_) | Proof::Trusted => Ok(()),
            Proof::ApiKey(_) | Proof::AccessToken { .. } | Proof::Anonymous => {
                Err(SignInError::NotWithToken)
            }
        }
    }

    async fn set_own_password(
        &self,
        caller: &Caller,
        password: &SecretString,
    ) -> Result<(), SignInError> {
        self.check_password(password, &caller.email)?;
        let backends = self.backends();
        let hash = self.shared.passwords.hash(password, backends.ids.as_ref()).await?;
        let (keep, now) = (session_of(caller), backends.clock.now());
        let is_set = backends.users.set_password(caller.user, hash, keep, now).await?;
        if is_set { Ok(()) } else { Err(SignInError::Gone) }
    }

    fn new_session(
        &self,
        user: UserId,
        password: Option<PasswordHash>,
    ) -> (NewSession, SecretString) {
        let backends = self.backends();
        let (secret, hash) = new_session_token(backends.ids.as_ref());
        let created_at = backends.clock.now();
        let lifetime = TimeDelta::from_std(self.config().accounts.session_lifetime);
        let expires_at = created_at + lifetime.unwrap_or(TimeDelta::days(7));
        (NewSession { hash, user, password, created_at, expires_at }, secret)
    }
}

fn session_of(caller: &Caller) -> Option<SessionId> {
    match caller.proof {
        Proof::Session(session) => Some(session.id),
        Proof::ApiKey(_) | Proof::AccessToken { .. } | Proof::Trusted | Proof::Anonymous => None,
    }
}
