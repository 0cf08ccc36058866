//! Hashes of passwords: slow on purpose, beside the runtime, and few at a time.

use std::sync::{Arc, OnceLock};

use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;
use trove_domain::password::PasswordPolicy;
use trove_domain::port::IdGenerator;
use trove_domain::user::PasswordHash;

use super::HashingConfig;

/// How many may wait for each one that is computed. They wait for a few seconds then.
const WAITING_PER_HASHER: usize = 32;

/// Longest password that is worth hashing, in bytes.
const PASSWORD_BYTES_MAX: usize = 1024;

/// No password is hashed now, because too many are waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many passwords are being checked; try again")]
pub struct HashingBusy;

/// Computes hashes.
pub(crate) struct Passwords {
    argon2: Argon2<'static>,
    running: Arc<Semaphore>,
    places: Arc<Semaphore>,
    /// What nobody's password is compared with, so that nobody takes as long as somebody.
    nobody: OnceLock<Option<PasswordHash>>,
}

impl Passwords {
    pub(crate) fn new(config: &HashingConfig) -> Self {
        // What cannot be used costs more than the least, not less.
        let params = Params::new(config.memory_kib, config.iterations, 1, None).unwrap_or_default();
        let concurrent = config.concurrent.max(1);
        Self {
            argon2: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            running: Arc::new(Semaphore::new(concurrent)),
            places: Arc::new(Semaphore::new(concurrent * (1 + WAITING_PER_HASHER))),
            nobody: OnceLock::new(),
        }
    }

    /// The hash of a new password.
    pub(crate) async fn hash(
        &self,
        password: &SecretString,
        ids: &dyn IdGenerator,
    ) -> Result<PasswordHash, HashingBusy> {
        let mut salt = [0_u8; 16];
        ids.fill_secret(&mut salt);
        let (argon2, password) = (self.argon2.clone(), password.clone());
        let hash = self.run(move || hash(&argon2, password.expose_secret(), &salt)).await?;
        hash.ok_or(HashingBusy)
    }

    /// Whether `password` is the one that is kept; never, and after the same work, when none is.
    pub(crate) async fn verify(
        &self,
        password: &SecretString,
        kept: Option<PasswordHash>,
    ) -> Result<bool, HashingBusy> {
        let is_somebody = kept.is_some();
        let kept = match kept {
            Some(kept) => kept,
            None => self.nobody().await?,
        };
        let (argon2, password) = (self.argon2.clone(), password.clone());
        let matches = self.run(move || verify(&argon2, password.expose_secret(), &kept)).await?;
        Ok(is_somebody && matches)
    }

    async fn nobody(&self) -> Result<PasswordHash, HashingBusy> {
        if self.nobody.get().is_none() {
            let argon2 = self.argon2.clone();
            let made = self.run(move || hash(&argon2, "nobody", &[0; 16])).await?;
            // Whoever was first keeps its own, which is the same.
            let _ = self.nobody.set(made);
        }
        self.nobody.get().cloned().flatten().ok_or(HashingBusy)
    }

    /// Runs `work` beside the runtime. When nobody waits for it any more it still counts until it
    /// ends.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, HashingBusy> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| HashingBusy)?;
        let running = Arc::clone(&self.running).acquire_owned().await.map_err(|_| HashingBusy)?;
        let work = move || {
            let done = work();
            drop((running, place));
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| HashingBusy)
    }
}

fn hash(argon2: &Argon2<'_>, password: &str, salt: &[u8]) -> Option<PasswordHash> {
    let hash: Phc = argon2.hash_password_with_salt(password.as_bytes(), salt).ok()?;
    Some(PasswordHash::new(hash.to_string()))
}

fn verify(argon2: &Argon2<'_>, password: &str, kept: &PasswordHash) -> bool {
    let is_too_long = password.len() > PASSWORD_BYTES_MAX;
    let password = if is_too_long { "" } else { password };
    let Ok(kept) = Phc::new(kept.as_str()) else { return false };
    argon2.verify_password(password.as_bytes(), &kept).is_ok() && !is_too_long
}

/// A password that nobody can guess and that the policy accepts, whatever it asks for.
pub(crate) fn generate(ids: &dyn IdGenerator, policy: &PasswordPolicy) -> SecretString {
    /// One of each kind that a policy may ask for.
    const KINDS: &str = "aA1-";
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let length = 24.max(policy.min_chars).min(policy.max_chars);
    let mut random = vec![0_u8; length.saturating_sub(KINDS.len())];
    ids.fill_secret(&mut random);
    let mut password: String =
        random.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 63)])).collect();
    password.push_str(KINDS);
    password.into()
}

#[cfg(test)]
mod tests {
    use secrecy::{ExposeSecret, SecretString};
    use trove_domain::password::PasswordPolicy;
    use trove_domain::user::PasswordHash;
    use trove_testkit::fakes::SequentialIds;

    use super::{HashingBusy, Passwords, generate};
    use crate::accounts::HashingConfig;

    fn cheap() -> Passwords {
        Passwords::new(&HashingConfig { memory_kib: 8, iterations: 1, concurrent: 1 })
    }

    #[tokio::test]
    async fn a_password_matches_its_hash_alone() {
        let (passwords, ids) = (cheap(), SequentialIds::default());
        let right = SecretString::from("correct horse");
        let hash = passwords.hash(&right, &ids).await.unwrap();
        assert!(hash.as_str().starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{}", hash.as_str());
        assert!(!hash.as_str().contains("horse") && !format!("{hash:?}").contains('$'));
        let other = passwords.hash(&right, &ids).await.unwrap();
        assert_ne!(hash, other, "salted");
        let check = |password: &str, kept: Option<PasswordHash>| {
            let password = SecretString::from(password);
            let passwords = &passwords;
            async move { passwords.verify(&password, kept).await.unwrap() }
        };
        assert!(check("correct horse", Some(hash.clone())).await);
        assert!(!check("Correct horse", Some(hash.clone())).await);
        assert!(!check("", Some(hash.clone())).await);
        assert!(!check("correct horse", None).await);
        assert!(!check("nobody", None).await);
        assert!(!check("x", Some(PasswordHash::new("not a hash"))).await);
        let empty = passwords.hash(&SecretString::from(""), &ids).await.unwrap();
        assert!(!check(&"a".repeat(2000), Some(empty)).await);
    }

    /// Hashes of earlier settings keep working.
    #[tokio::test]
    async fn a_hash_says_what_it_cost() {
        let ids = SequentialIds::default();
        let password = SecretString::from("correct horse");
        let hash = cheap().hash(&password, &ids).await.unwrap();
        let dear = Passwords::new(&HashingConfig { memory_kib: 64, iterations: 2, concurrent: 1 });
        assert!(dear.verify(&password, Some(hash)).await.unwrap());
    }

    #[tokio::test]
    async fn who_comes_when_too_many_wait_is_told_so() {
        let passwords = cheap();
        let hold = passwords.running.acquire().await.unwrap();
        let places = passwords.places.available_permits();
        let password = SecretString::from("x");
        let mut waiting = Vec::new();
        for _ in 0..places {
            let mut check = Box::pin(passwords.verify(&password, Some(PasswordHash::new("x"))));
            assert!(futures::poll!(&mut check).is_pending());
            waiting.push(check);
        }
        let refused = passwords.verify(&password, Some(PasswordHash::new("x"))).await;
        assert_eq!(refused, Err(HashingBusy));
        // Who gives up makes room.
        waiting.clear();
        drop(hold);
        assert_eq!(passwords.verify(&password, Some(PasswordHash::new("x"))).await, Ok(false));
    }

    #[test]
    fn generated_passwords_are_accepted() {
        let ids = SequentialIds::default();
        let strict = PasswordPolicy {
            uppercase: true,
            lowercase: true,
            digit: true,
            special: true,
            ..PasswordPolicy::default()
        };
        for (min_chars, max_chars) in [(8, 64), (40, 64), (8, 16), (64, 64)] {
            let policy = PasswordPolicy { min_chars, max_chars, ..strict };
            let (one, other) = (generate(&ids, &policy), generate(&ids, &policy));
            policy.check(one.expose_secret(), "a@b.c").unwrap();
            assert_ne!(one.expose_secret(), other.expose_secret());
        }
    }
}
