//! Who may register, and who may move to another address, which is the same.

use secrecy::SecretString;
use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::email::{EmailAddress, email_key};
use trove_domain::error::StoreError;
use trove_domain::id::UserId;
use trove_domain::port::{AddressChange, Registered, RegistrationRule, SignUp};
use trove_domain::user::User;

use super::{RegistrationPolicy, SignInError};
use crate::Engine;
use crate::audit::{Details, details};

impl Engine {
    /// Makes an account: an administrator's where there is none, else a normal one. `source` is
    /// where the attempt comes from.
    ///
    /// # Errors
    ///
    /// [`SignInError`]; nothing is made then.
    pub async fn register(
        &self,
        address: EmailAddress,
        password: &SecretString,
        source: &str,
    ) -> Result<User, SignInError> {
        self.shared.throttle.at_source(source)?;
        self.check_registration(&address)?;
        self.check_password(password, address.as_str())?;
        let backends = self.backends();
        let hash = self.shared.passwords.hash(password, backends.ids.as_ref()).await?;
        let sign_up = SignUp {
            id: UserId(backends.ids.uuid()),
            email: address.into_string(),
            password: hash,
            created_at: backends.clock.now(),
        };
        // Read as late as can be: hashing takes a while.
        let rule = RegistrationRule {
            invited_only: self.is_for_the_invited().await?,
            seats: self.config().accounts.seats,
        };
        let subject = Some(format!("user {}", sign_up.email));
        let add = async {
            match backends.users.sign_up(sign_up, rule).await? {
                Registered::Done(user) => Ok(*user),
                Registered::NotInvited => Err(SignInError::NotInvited),
                Registered::Taken => Err(SignInError::Taken),
                Registered::NoSeat(seats) => Err(SignInError::NoSeat(seats)),
            }
        };
        let told = |user: &User| details([("role", user.role.to_string())]);
        self.recorded_as(AuditAction::Register, subject, Details::new(), add, told).await
    }

    /// Whether anybody can sign in with a password.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the users cannot be read.
    pub async fn has_registered_users(&self) -> Result<bool, StoreError> {
        self.backends().users.any_password().await
    }

    pub(super) async fn change_own_address(
        &self,
        caller: &Caller,
        address: EmailAddress,
    ) -> Result<(), SignInError> {
        // Documents are shared with addresses: nobody takes one that could not be registered.
        if email_key(address.as_str()) != email_key(&caller.email) {
            self.check_registration(&address)?;
        }
        let backends = self.backends();
        let only = self.is_for_the_invited().await?;
        let (now, job) = (backends.clock.now(), self.sync_job());
        let changed =
            backends.users.set_email(caller.user, address.as_str(), only, now, job).await?;
        match changed {
            AddressChange::Done => {
                self.shared.jobs_enqueued.notify_one();
                Ok(())
            }
            AddressChange::NoSuchUser => Err(SignInError::Gone),
            AddressChange::NotInvited => Err(SignInError::NotInvited),
            AddressChange::Taken => Err(SignInError::Taken),
        }
    }

    fn check_registration(&self, address: &EmailAddress) -> Result<(), SignInError> {
        let config = &self.config().accounts;
        if config.registration == RegistrationPolicy::Closed {
            return Err(SignInError::RegistrationClosed);
        }
        let domains = &config.allowed_domains;
        let is_allowed = domains.is_empty()
            || domains.iter().any(|domain| domain.to_lowercase() == address.domain());
        if is_allowed { Ok(()) } else { Err(SignInError::Domain) }
    }

    /// Operators and administrators each may say so.
    async fn is_for_the_invited(&self) -> Result<bool, StoreError> {
        let is_configured = self.config().accounts.registration != RegistrationPolicy::Open;
        Ok(is_configured || self.workspace_settings().await?.invited_only)
    }
}
