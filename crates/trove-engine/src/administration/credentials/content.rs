//! How the content of a credential gets into the database and out of it.

use serde_json::{Map, Value};
use trove_domain::credential::{Credential, CredentialContent};
use trove_domain::port::SecretCipher;
use trove_domain::secret::SealedSecret;
use uuid::Uuid;

use secrecy::ExposeSecret;

use super::CredentialError;
use crate::Engine;

/// A credential as somebody sees it who may use it.
#[derive(Clone, Debug)]
pub struct CredentialView {
    /// The credential, its secret sealed.
    pub credential: Credential,
    /// What it holds, masked.
    pub masked: Map<String, Value>,
}

impl Engine {
    fn credential_cipher(&self) -> Result<&dyn SecretCipher, CredentialError> {
        self.backends().secrets.as_deref().ok_or(CredentialError::NoCipher)
    }

    /// What a credential holds.
    pub(crate) fn open_content(
        &self,
        credential: &Credential,
    ) -> Result<CredentialContent, CredentialError> {
        let Some(sealed) = &credential.details.secret else {
            return Ok(CredentialContent::default());
        };
        let json = self.credential_cipher()?.open(sealed, Credential::place(credential.uuid))?;
        CredentialContent::from_json(&json).ok_or(CredentialError::Damaged(credential.id))
    }

    /// Seals what a credential holds for the row `uuid`; nothing where there is nothing in it.
    pub(super) fn seal_content(
        &self,
        content: &CredentialContent,
        uuid: Uuid,
    ) -> Result<Option<SealedSecret>, CredentialError> {
        if content.is_empty() {
            return Ok(None);
        }
        let json = content.to_json();
        if json.expose_secret().len() > Credential::CONTENT_BYTES_MAX {
            return Err(CredentialError::TooLarge);
        }
        Ok(Some(self.credential_cipher()?.seal(&json, Credential::place(uuid))?))
    }

    pub(in crate::administration) fn credential_view(
        &self,
        credential: Credential,
    ) -> Result<CredentialView, CredentialError> {
        let masked = self.open_content(&credential)?.masked();
        Ok(CredentialView { credential, masked })
    }
}
