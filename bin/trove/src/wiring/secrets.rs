//! The key for secrets in the database: where it comes from, and how it is replaced.
//!
//! The database names the key that its secrets are sealed with, and the key itself is in the
//! configuration or in a file of the data directory. A file or setting with several keys has the
//! newest last. Replacing a key goes in three steps, each whole or not at all, so that a process
//! which ends between them leaves what the next one understands:
//!
//! 1. the new key is added to the file, last; the database still names the old one;
//! 2. the database's secrets are sealed anew and it names the new key, in one transaction;
//! 3. the old key is taken out of the file.

use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use trove_domain::port::{IdGenerator, SecretCipher};
use trove_domain::secret::{SealedSecret, SecretKeyId, SecretPlace};
use trove_engine::SystemIds;
use trove_secrets::{KeyFile, KeyRing, SecretKey, XChaChaCipher};
use trove_store::Store;

use crate::config::Config;

/// Name of the file in the data directory.
const FILE: &str = "secrets.key";

/// Where keys come from.
enum Origin {
    /// A file of ours in the data directory.
    Ours(KeyFile),
    /// A setting or a file of the operator's, which we do not write.
    Given(KeyRing, String),
}

impl Origin {
    fn of(config: &Config) -> anyhow::Result<Self> {
        if let Some(key) = &config.secrets.key {
            // The configuration was checked.
            let ring = key.ring().ok_or_else(|| anyhow!("`secrets.key` holds no usable key"))?;
            return Ok(Self::Given(ring, "`secrets.key` (TROVE_SECRETS_KEY)".to_owned()));
        }
        if let Some(path) = &config.secrets.key_file {
            let ring = KeyFile::at(path).read()?;
            let ring = ring.ok_or_else(|| {
                anyhow!("there is no key file {} (secrets.key_file)", path.display())
            })?;
            return Ok(Self::Given(ring, format!("{} (secrets.key_file)", path.display())));
        }
        Ok(Self::Ours(KeyFile::at(config.data_dir.join(FILE))))
    }

    fn ring(&self) -> anyhow::Result<Option<KeyRing>> {
        match self {
            Self::Ours(file) => Ok(file.read()?),
            Self::Given(ring, _) => Ok(Some(ring.clone())),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Ours(file) => file.path().display().to_string(),
            Self::Given(_, name) => name.clone(),
        }
    }
}

const CONTEXT: &str = "the database cannot be asked for the key of its secrets";

/// Reads the key as `trove serve` would, and makes none.
///
/// # Errors
///
/// A sentence that says what is wrong with the file or setting.
pub async fn check_secrets_key(config: &Config) -> anyhow::Result<()> {
    let config = config.clone();
    let checked = tokio::task::spawn_blocking(move || Origin::of(&config)?.ring().map(drop)).await;
    checked.context("reading the key for secrets failed")?
}

/// The cipher for the secrets of `store`; makes a key when neither directory nor database has one.
///
/// # Errors
///
/// A sentence that says which key is missing, and what to do. Nothing is overwritten.
pub(super) async fn open(config: &Config, store: &Store) -> anyhow::Result<Arc<dyn SecretCipher>> {
    let origin = Origin::of(config)?;
    let state = store.secret_key().await.context(CONTEXT)?;
    let sealed_with = state.key.as_ref().filter(|_| state.secrets > 0);
    let ring = match (origin.ring()?, sealed_with) {
        (Some(ring), _) => ring,
        (None, Some(key)) => return Err(missing(key, &origin)),
        (None, None) => generate(&origin)?,
    };
    let known = state.key.filter(|key| ring.get(key).is_some());
    let current = match known {
        Some(key) => key,
        None => store.claim_secret_key(ring.newest().id()).await.context(CONTEXT)?,
    };
    let cipher = XChaChaCipher::new(&ring, &current, Arc::new(SystemIds));
    Ok(Arc::new(cipher.ok_or_else(|| missing(&current, &origin))?))
}

fn missing(key: &SecretKeyId, origin: &Origin) -> anyhow::Error {
    anyhow!(
        "the secrets in the database are sealed with the key {key}, which is not in {}: restore \
         the key from a backup; if it is lost, `trove secrets discard` removes the secrets, so \
         that they can be entered again",
        origin.name()
    )
}

/// Makes the first key of the data directory. Of two processes that do so at the same time one is
/// first, and both use its key.
fn generate(origin: &Origin) -> anyhow::Result<KeyRing> {
    let Origin::Ours(file) = origin else { bail!("{} holds no key", origin.name()) };
    let ring = KeyRing::new(vec![SecretKey::generate(&SystemIds)?])?;
    if file.write_new(&ring)? {
        tracing::info!(
            path = %file.path().display(),
            "a key for secrets was made; it belongs to every backup of the database"
        );
        return Ok(ring);
    }
    file.read()?.ok_or_else(|| anyhow!("the key file {} has vanished", file.path().display()))
}

/// What a change of the key came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyChange {
    /// The key before; `None` when there was none.
    pub old: Option<SecretKeyId>,
    /// The key in use.
    pub new: SecretKeyId,
    /// How many secrets were sealed anew, or removed.
    pub secrets: usize,
    /// Whether an earlier run had begun it.
    pub resumed: bool,
    /// Where an old key is that the operator may take out now.
    pub leftover: Option<String>,
}

/// Gives the secrets of `store` a new key. The data directory must be ours.
///
/// # Errors
///
/// A sentence that says what failed; the next run goes on from there.
pub(super) async fn rotate(config: &Config, store: &Store) -> anyhow::Result<KeyChange> {
    let origin = Origin::of(config)?;
    let state = store.secret_key().await.context(CONTEXT)?;
    let Some(ring) = origin.ring()? else {
        match state.key.filter(|_| state.secrets > 0) {
            Some(key) => return Err(missing(&key, &origin)),
            None => bail!("there is no key for secrets yet; the first `trove serve` makes it"),
        }
    };
    let old = match state.key.filter(|key| ring.get(key).is_some() || state.secrets > 0) {
        Some(key) => key,
        // Nothing is sealed, so that any key of ours will do.
        None => store.claim_secret_key(ring.keys()[0].id()).await.context(CONTEXT)?,
    };
    ensure!(ring.get(&old).is_some(), missing(&old, &origin));
    let interrupted = ring.keys().len() > 1;
    match &origin {
        // The database names the newest key: what is left of an earlier run is the last step.
        Origin::Ours(file) if interrupted && ring.newest().id() == &old => {
            keep_newest(file, &ring)?;
            let new = old.clone();
            Ok(KeyChange { old: None, new, secrets: 0, resumed: true, leftover: None })
        }
        Origin::Ours(file) => {
            let ring = if interrupted {
                ring
            } else {
                let keys = ring.keys().iter().cloned().chain([SecretKey::generate(&SystemIds)?]);
                let ring = KeyRing::new(keys.collect())?;
                file.write(&ring)?;
                ring
            };
            let secrets = reseal(store, &ring).await?;
            keep_newest(file, &ring)?;
            let new = ring.newest().id().clone();
            Ok(KeyChange { old: Some(old), new, secrets, resumed: interrupted, leftover: None })
        }
        Origin::Given(ring, name) => {
            ensure!(
                ring.newest().id() != &old,
                "there is no new key: put one behind the present one in {name}, with a comma or a \
                 line break between (`head -c 32 /dev/urandom | base64` makes one), and run this \
                 again"
            );
            let secrets = reseal(store, ring).await?;
            let new = ring.newest().id().clone();
            let leftover = Some(name.clone());
            Ok(KeyChange { old: Some(old), new, secrets, resumed: false, leftover })
        }
    }
}

/// Seals everything with the newest key, and has the database name it.
async fn reseal(store: &Store, ring: &KeyRing) -> anyhow::Result<usize> {
    let newest = ring.newest().id();
    let ids: Arc<dyn IdGenerator> = Arc::new(SystemIds);
    let cipher = XChaChaCipher::new(ring, newest, ids).context("the new key is not there")?;
    let reseal =
        |old: &SealedSecret, place: SecretPlace| cipher.seal(&cipher.open(old, place)?, place);
    let resealed = store.reseal_secrets(newest, &reseal);
    resealed.await.context("the secrets keep their old key")
}

fn keep_newest(file: &KeyFile, ring: &KeyRing) -> anyhow::Result<()> {
    file.write(&KeyRing::new(vec![ring.newest().clone()])?)?;
    Ok(())
}

/// Removes every secret of `store`, whose key is lost, and begins with a key that is there. The
/// data directory must be ours.
///
/// # Errors
///
/// A sentence that says why not; nothing is removed then, above all when the key is not lost.
pub(super) async fn discard(config: &Config, store: &Store) -> anyhow::Result<KeyChange> {
    let origin = Origin::of(config)?;
    let state = store.secret_key().await.context(CONTEXT)?;
    let ring = match origin.ring()? {
        Some(ring) => ring,
        None => generate(&origin)?,
    };
    if let Some(key) = &state.key {
        ensure!(
            state.secrets == 0 || ring.get(key).is_none(),
            "the key {key} of the secrets is in {}, so that nothing is lost; to replace it, run \
             `trove secrets rotate`",
            origin.name()
        );
    }
    let new = ring.newest().id().clone();
    let secrets = store.discard_secrets(&new).await.context("the secrets were not removed")?;
    Ok(KeyChange { old: state.key, new, secrets, resumed: false, leftover: None })
}
