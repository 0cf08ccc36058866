//! Credentials with a file: a private key with its certificate.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use der::Decode;
use pkcs12::pfx::Pfx;
use trove_domain::access::Caller;
use trove_domain::credential::CredentialContent;
use trove_domain::id::CredentialId;

use super::{CredentialError, CredentialRequest, CredentialUpdate, CredentialView, NewContent};
use crate::Engine;

/// Largest file with a private key, in bytes. In Base64 it fits into a credential.
pub const PRIVATE_KEY_BYTES_MAX: usize = 64 * 1024;

/// Shorter files are nothing.
const PRIVATE_KEY_BYTES_MIN: usize = 10;

/// What a file with a private key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateKeyKind {
    /// A PKCS#12 file for SharePoint.
    SharepointPfx,
}

impl PrivateKeyKind {
    /// The value in the interface.
    pub const SHAREPOINT_PFX: &str = "sharepoint_pfx_file";
}

impl std::str::FromStr for PrivateKeyKind {
    type Err = CredentialError;

    fn from_str(value: &str) -> Result<Self, CredentialError> {
        match value {
            Self::SHAREPOINT_PFX => Ok(Self::SharepointPfx),
            _ => Err(CredentialError::PrivateKey(
                "type_definition_key: the only type of private key is sharepoint_pfx_file",
            )),
        }
    }
}

/// A file that somebody uploads to be a part of a credential.
#[derive(Clone)]
pub struct UploadedKey {
    /// What it is for.
    pub kind: PrivateKeyKind,
    /// The key of the credential's content that holds it.
    pub field: String,
    /// Its name.
    pub file_name: String,
    /// What is in it.
    pub bytes: Bytes,
}

impl std::fmt::Debug for UploadedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UploadedKey({:?}, {} bytes)", self.kind, self.bytes.len())
    }
}

impl UploadedKey {
    /// The content with the file in it.
    fn added_to(self, content: CredentialContent) -> Result<CredentialContent, CredentialError> {
        let PrivateKeyKind::SharepointPfx = self.kind;
        let is_pfx =
            self.file_name.len() >= 4 && self.file_name.to_ascii_lowercase().ends_with(".pfx");
        if !is_pfx {
            let refused = "Invalid file type. Only .pfx files are supported.";
            return Err(CredentialError::PrivateKey(refused));
        }
        if self.bytes.len() > PRIVATE_KEY_BYTES_MAX {
            return Err(CredentialError::TooLarge);
        }
        // The password is in another field, and is not checked.
        if self.bytes.len() < PRIVATE_KEY_BYTES_MIN || Pfx::from_der(&self.bytes).is_err() {
            let refused = "uploaded_file: the file is not a PKCS#12 archive";
            return Err(CredentialError::PrivateKey(refused));
        }
        Ok(content.with(self.field, STANDARD.encode(&self.bytes)))
    }
}

impl Engine {
    /// As [`Engine::create_credential`], with a file.
    ///
    /// # Errors
    ///
    /// [`CredentialError`]; nothing is made then.
    pub async fn create_credential_with_key(
        &self,
        caller: &Caller,
        request: CredentialRequest,
        key: UploadedKey,
    ) -> Result<CredentialView, CredentialError> {
        let content = key.added_to(request.content)?;
        self.create_credential(caller, CredentialRequest { content, ..request }).await
    }

    /// As [`Engine::update_credential`]: another name, and entries that override, a file among them.
    ///
    /// # Errors
    ///
    /// [`CredentialError`]; nothing changes then.
    pub async fn update_credential_with_key(
        &self,
        caller: &Caller,
        id: CredentialId,
        name: String,
        content: CredentialContent,
        key: UploadedKey,
    ) -> Result<CredentialView, CredentialError> {
        let content = NewContent::Merged(key.added_to(content)?);
        let (name, content) = (Some(Some(name)), Some(content));
        let update = CredentialUpdate { content, name, ..CredentialUpdate::default() };
        self.update_credential(caller, id, update).await
    }
}
