//! What changes accounts, with a record of it in the audit log.

use secrecy::SecretString;
use trove_domain::access::{Caller, Role};
use trove_domain::access_token::AccessToken;
use trove_domain::audit::AuditAction;
use trove_domain::email::EmailAddress;
use trove_domain::error::StoreError;
use trove_domain::id::{AccessTokenId, UserId};
use trove_domain::user::User;

use super::{AccessTokenError, AccessTokenRequest, AccountError, SignInError};
use crate::Engine;
use crate::audit::{Details, details, ids};

impl Engine {
    /// Gives a user a role. `by` is who does it; `None` for the operator.
    ///
    /// # Errors
    ///
    /// [`AccountError`]; nothing changes then.
    pub async fn set_user_role(
        &self,
        by: Option<UserId>,
        email: &str,
        role: Role,
        overridden: bool,
    ) -> Result<(), AccountError> {
        let wanted = details([("role", role.to_string())]);
        let set = self.set_user_role_unrecorded(by, email, |_| role, overridden);
        self.recorded(AuditAction::SetRole, user(email), wanted, set).await
    }

    /// Makes a user an administrator, or one that is a normal user; whoever is none keeps its role.
    /// `by` is who does it; `None` for the operator.
    ///
    /// # Errors
    ///
    /// [`AccountError`]; nothing changes then.
    pub async fn set_admin_access(
        &self,
        by: Option<UserId>,
        email: &str,
        is_admin: bool,
    ) -> Result<(), AccountError> {
        let wanted = details([("admin", is_admin.to_string())]);
        let role = move |current| match (is_admin, current) {
            (true, _) => Role::Admin,
            (false, Role::Admin) => Role::Basic,
            (false, other) => other,
        };
        let set = self.set_user_role_unrecorded(by, email, role, false);
        self.recorded(AuditAction::SetRole, user(email), wanted, set).await
    }

    /// Keeps a user out, from the next request on. `by` is who does it; `None` for the operator.
    ///
    /// # Errors
    ///
    /// [`AccountError`]; nothing changes then.
    pub async fn deactivate_user(
        &self,
        by: Option<UserId>,
        email: &str,
    ) -> Result<(), AccountError> {
        let keep_out = self.deactivate_user_unrecorded(by, email);
        self.recorded(AuditAction::DeactivateUser, user(email), Details::new(), keep_out).await
    }

    /// Lets a user in.
    ///
    /// # Errors
    ///
    /// [`AccountError`]; nothing changes then.
    pub async fn activate_user(&self, email: &str) -> Result<(), AccountError> {
        let let_in = self.activate_user_unrecorded(email);
        self.recorded(AuditAction::ActivateUser, user(email), Details::new(), let_in).await
    }

    /// Removes a user who is kept out, with everything that is the user's own.
    ///
    /// # Errors
    ///
    /// [`AccountError`]; nothing changes then.
    pub async fn delete_user(&self, email: &str) -> Result<(), AccountError> {
        let delete = self.delete_user_unrecorded(email);
        self.recorded(AuditAction::DeleteUser, user(email), Details::new(), delete).await
    }

    /// Invites all of these addresses or nobody; answers how many are invited then.
    ///
    /// # Errors
    ///
    /// [`AccountError`]; nobody is invited then.
    pub async fn invite(&self, addresses: &[String]) -> Result<u64, AccountError> {
        let subject = format!("addresses {}", ids(addresses));
        let invite = self.invite_unrecorded(addresses);
        self.recorded(AuditAction::Invite, subject, Details::new(), invite).await
    }

    /// Takes an invitation back, if there is one; answers how many are left.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; it stays then.
    pub async fn withdraw_invitation(&self, address: &str) -> Result<u64, StoreError> {
        let subject = format!("address {address}");
        let withdraw = self.withdraw_invitation_unrecorded(address);
        self.recorded(AuditAction::WithdrawInvitation, subject, Details::new(), withdraw).await
    }

    /// Replaces the caller's password, and ends its other sessions.
    ///
    /// # Errors
    ///
    /// [`SignInError`]; the old password works then.
    pub async fn change_password(
        &self,
        caller: &Caller,
        old: &SecretString,
        new: &SecretString,
    ) -> Result<(), SignInError> {
        let change = self.change_password_unrecorded(caller, old, new);
        let subject = user(&caller.email);
        self.recorded(AuditAction::ChangePassword, subject, Details::new(), change).await
    }

    /// Changes the caller's own address, under the rule for registering, and password.
    ///
    /// # Errors
    ///
    /// [`SignInError`]. A password that is refused changes nothing.
    pub async fn update_own_account(
        &self,
        caller: &Caller,
        email: Option<EmailAddress>,
        password: Option<&SecretString>,
    ) -> Result<User, SignInError> {
        let address = email.as_ref().map(|email| email.as_str().to_owned());
        let mut wanted = details([("password_changed", password.is_some().to_string())]);
        wanted.extend(address.map(|address| ("address".to_owned(), address)));
        let change = self.update_own_account_unrecorded(caller, email, password);
        self.recorded(AuditAction::ChangeAccount, user(&caller.email), wanted, change).await
    }

    /// Gives a user a password that nobody has chosen, and ends all its sessions.
    ///
    /// # Errors
    ///
    /// [`AccountError`]; the old password works then.
    pub async fn reset_password(&self, email: &str) -> Result<(User, SecretString), AccountError> {
        let reset = self.reset_password_unrecorded(email);
        self.recorded(AuditAction::ResetPassword, user(email), Details::new(), reset).await
    }
}

impl Engine {
    /// Makes a personal access token of the caller; answers it with its secret.
    ///
    /// # Errors
    ///
    /// [`AccessTokenError`]; nothing is made then.
    pub async fn create_access_token(
        &self,
        caller: &Caller,
        request: AccessTokenRequest,
    ) -> Result<(AccessToken, SecretString), AccessTokenError> {
        let mut wanted = details([("name", request.name.clone())]);
        let scopes = request.scopes.map(|scopes| ids(scopes.iter()));
        wanted.extend(scopes.map(|scopes| ("scopes".to_owned(), scopes)));
        let create = self.create_access_token_unrecorded(caller, request);
        let told = |(token, _): &(AccessToken, SecretString)| {
            details([("access_token", token.id.to_string())])
        };
        let (action, subject) = (AuditAction::CreateAccessToken, Some(user(&caller.email)));
        self.recorded_as(action, subject, wanted, create, told).await
    }

    /// Ends a personal access token of the caller, from the next request on.
    ///
    /// # Errors
    ///
    /// [`AccessTokenError`]; the token works then, if there is one.
    pub async fn revoke_access_token(
        &self,
        caller: &Caller,
        id: AccessTokenId,
    ) -> Result<(), AccessTokenError> {
        let revoke = self.revoke_access_token_unrecorded(caller, id);
        let subject = format!("access_token {id}");
        self.recorded(AuditAction::RevokeAccessToken, subject, Details::new(), revoke).await
    }
}

fn user(email: &str) -> String {
    format!("user {email}")
}
