//! Which secrets a provider is used with, and how they get into the database and out of it.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use trove_domain::llm_provider::{LlmProvider, LlmProviderDetails};
use trove_domain::port::SecretCipher;
use uuid::Uuid;

use super::check::not_masked;
use super::{Connection, LlmProviderError};
use crate::Engine;

/// What stands for a secret in an answer. Sent back, it leaves the stored secret as it is.
pub const MASK: &str = "********";

/// Whether a value is a mask, this one or one of another system: no secret has a run of stars.
pub(super) fn is_masked(value: &str) -> bool {
    value.contains("****")
}

/// The secrets of a provider in the clear.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProviderSecrets {
    pub(crate) api_key: Option<SecretString>,
    pub(crate) custom_config: Option<BTreeMap<String, SecretString>>,
}

impl Engine {
    fn cipher(&self) -> Result<&dyn SecretCipher, LlmProviderError> {
        self.backends().secrets.as_deref().ok_or(LlmProviderError::NoCipher)
    }

    /// The secrets of a stored provider.
    pub(crate) fn open_secrets(
        &self,
        provider: &LlmProvider,
    ) -> Result<ProviderSecrets, LlmProviderError> {
        let place = LlmProvider::place(provider.uuid, LlmProvider::API_KEY);
        let api_key = match &provider.details.api_key {
            Some(sealed) => Some(self.cipher()?.open(sealed, place)?),
            None => None,
        };
        Ok(ProviderSecrets { api_key, custom_config: self.open_custom_config(provider)? })
    }

    /// The custom settings of a stored provider.
    pub(super) fn open_custom_config(
        &self,
        provider: &LlmProvider,
    ) -> Result<Option<BTreeMap<String, SecretString>>, LlmProviderError> {
        let Some(sealed) = &provider.details.custom_config else { return Ok(None) };
        let place = LlmProvider::place(provider.uuid, LlmProvider::CUSTOM_CONFIG);
        let json = self.cipher()?.open(sealed, place)?;
        let damaged = || LlmProviderError::Damaged(provider.id);
        let json: Value = serde_json::from_str(json.expose_secret()).map_err(|_| damaged())?;
        let Value::Object(entries) = json else { return Err(damaged()) };
        let entries = entries.into_iter().map(|(name, value)| match value {
            Value::String(value) => Ok((name, SecretString::from(value))),
            _ => Err(damaged()),
        });
        entries.collect::<Result<_, _>>().map(Some)
    }

    /// Seals the secrets for the row `uuid`.
    pub(super) fn seal(
        &self,
        details: &mut LlmProviderDetails,
        secrets: &ProviderSecrets,
        uuid: Uuid,
    ) -> Result<(), LlmProviderError> {
        if let Some(key) = &secrets.api_key {
            let place = LlmProvider::place(uuid, LlmProvider::API_KEY);
            details.api_key = Some(self.cipher()?.seal(key, place)?);
        }
        if let Some(config) = &secrets.custom_config {
            let place = LlmProvider::place(uuid, LlmProvider::CUSTOM_CONFIG);
            let entries =
                config.iter().map(|(name, value)| (name.clone(), value.expose_secret().into()));
            let json = Value::Object(entries.collect()).to_string();
            details.custom_config = Some(self.cipher()?.seal(&json.into(), place)?);
        }
        Ok(())
    }

    /// The secrets that a provider is used with after a change: those that were sent, or the stored
    /// ones, as far as they go where they were meant to.
    ///
    /// # Errors
    ///
    /// [`LlmProviderError::SecretsNeeded`] when a stored secret would go elsewhere.
    pub(super) fn secrets_to_use(
        &self,
        kind: &str,
        sent: &Connection,
        present: Option<&LlmProvider>,
    ) -> Result<ProviderSecrets, LlmProviderError> {
        let Some(present) = present else { return fresh(sent) };
        let stored = self.open_secrets(present)?;
        let keeps_key = !sent.api_key_changed
            || sent.api_key.as_ref().is_some_and(|key| is_masked(key.expose_secret()));
        let (custom_config, keeps_settings) = settings(sent, &stored)?;
        let settings_change = !same(stored.custom_config.as_ref(), custom_config.as_ref());
        // The kind decides on the address where there is none.
        let moves = present.details.kind != kind
            || address_differs(present.details.api_base.as_ref(), sent.api_base.as_ref());
        let api_key = if keeps_key {
            if stored.api_key.is_some() && (moves || settings_change) {
                return Err(LlmProviderError::SecretsNeeded { field: "api_key" });
            }
            stored.api_key
        } else {
            sent.api_key.clone()
        };
        if moves && keeps_settings {
            return Err(LlmProviderError::SecretsNeeded { field: "custom_config" });
        }
        if api_key.is_none() && keeps_key && is_sent_masked(sent) {
            not_masked("api_key", MASK)?;
        }
        Ok(ProviderSecrets { api_key, custom_config })
    }
}

fn is_sent_masked(sent: &Connection) -> bool {
    sent.api_key_changed && sent.api_key.as_ref().is_some_and(|key| is_masked(key.expose_secret()))
}

/// Whether two addresses differ, apart from how they end.
fn address_differs(stored: Option<&String>, sent: Option<&String>) -> bool {
    let plain = |address: Option<&String>| address.map(|a| a.trim_end_matches('/').to_owned());
    plain(stored) != plain(sent)
}

/// The secrets of a provider that is new.
fn fresh(sent: &Connection) -> Result<ProviderSecrets, LlmProviderError> {
    if let Some(key) = &sent.api_key {
        not_masked("api_key", key.expose_secret())?;
    }
    for value in sent.custom_config.iter().flat_map(BTreeMap::values) {
        not_masked("custom_config", value.expose_secret())?;
    }
    Ok(ProviderSecrets { api_key: sent.api_key.clone(), custom_config: sent.custom_config.clone() })
}

/// The custom settings after a change, and whether a stored value is among them.
fn settings(
    sent: &Connection,
    stored: &ProviderSecrets,
) -> Result<(Option<BTreeMap<String, SecretString>>, bool), LlmProviderError> {
    let before = stored.custom_config.as_ref();
    if !sent.custom_config_changed {
        let keeps = before.is_some_and(|config| !config.is_empty());
        return Ok((before.cloned(), keeps));
    }
    let mut keeps = false;
    let mut merged = BTreeMap::new();
    for (name, value) in sent.custom_config.iter().flatten() {
        let value = if is_masked(value.expose_secret()) {
            let kept = before.and_then(|config| config.get(name));
            keeps |= kept.is_some();
            match kept {
                Some(kept) => kept.clone(),
                None => {
                    not_masked("custom_config", MASK)?;
                    continue;
                }
            }
        } else {
            value.clone()
        };
        merged.insert(name.clone(), value);
    }
    Ok((sent.custom_config.as_ref().map(|_| merged), keeps))
}

/// Whether two sets of settings say the same; none at all is the same as no settings.
fn same(
    one: Option<&BTreeMap<String, SecretString>>,
    other: Option<&BTreeMap<String, SecretString>>,
) -> bool {
    let empty = BTreeMap::new();
    let (one, other) = (one.unwrap_or(&empty), other.unwrap_or(&empty));
    one.len() == other.len()
        && one.iter().zip(other).all(|((name, value), (other_name, other_value))| {
            name == other_name && value.expose_secret() == other_value.expose_secret()
        })
}
