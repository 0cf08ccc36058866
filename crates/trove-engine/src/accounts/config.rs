use std::time::Duration;

use trove_domain::password::PasswordPolicy;

/// What an operator decides about people.
#[derive(Clone, Debug)]
pub struct AccountConfig {
    /// Who may register.
    pub registration: RegistrationPolicy,
    /// Domains of the addresses that may register, in lower case; every domain when there are none.
    pub allowed_domains: Vec<String>,
    /// How many active people there may be.
    pub seats: Option<u64>,
    /// How long a session lasts.
    pub session_lifetime: Duration,
    /// What is asked of new passwords.
    pub password: PasswordPolicy,
    /// How passwords are hashed.
    pub hashing: HashingConfig,
    /// Guesses of one address's password in ten minutes; 0 for any number.
    pub attempts_per_address: u32,
    /// Guesses and registrations from one network address in ten minutes; 0 for any number.
    pub attempts_per_source: u32,
}

/// Who may register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationPolicy {
    /// Everybody as long as nobody is invited, and then who is invited.
    Open,
    /// Who is invited.
    Invited,
    /// Nobody.
    Closed,
}

/// What a password hash costs (Argon2id with one lane).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashingConfig {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub iterations: u32,
    /// How many are computed at a time.
    pub concurrent: usize,
}

impl Default for AccountConfig {
    fn default() -> Self {
        Self {
            registration: RegistrationPolicy::Open,
            allowed_domains: Vec::new(),
            seats: None,
            session_lifetime: Duration::from_hours(7 * 24),
            password: PasswordPolicy::default(),
            // What OWASP recommends for Argon2id.
            hashing: HashingConfig { memory_kib: 19 * 1024, iterations: 2, concurrent: 2 },
            attempts_per_address: 20,
            attempts_per_source: 300,
        }
    }
}
