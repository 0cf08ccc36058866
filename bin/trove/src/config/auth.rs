use std::time::Duration;

use serde::{Deserialize, Serialize};
use trove_domain::email::EmailAddress;
use trove_domain::password::PasswordPolicy;
use trove_engine::accounts::{AccountConfig, HashingConfig, RegistrationPolicy};

use super::load::millis;
use super::rule::Rule;

/// `[auth]`: who may register, and how people sign in.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct AuthSection {
    /// Who may register. Default `open`: everybody as long as nobody is invited, and then who is
    /// invited, as clients expect.
    pub registration: Registration,
    /// Domains of the addresses that may register. Default none: every domain.
    pub allowed_domains: Vec<String>,
    /// Most active people. Default 0: any number.
    pub seats: u64,
    /// How long people stay signed in, in milliseconds. Default 7 days.
    #[serde(rename = "session_lifetime_ms", with = "millis")]
    pub session_lifetime: Duration,
    /// Fewest characters of a new password. Default 8.
    pub password_min_length: usize,
    /// Most characters of a new password. Default 64.
    pub password_max_length: usize,
    /// Whether a new password needs an upper-case letter. Default false: length is worth more.
    pub password_require_uppercase: bool,
    /// Whether a new password needs a lower-case letter. Default false.
    pub password_require_lowercase: bool,
    /// Whether a new password needs a digit. Default false.
    pub password_require_digit: bool,
    /// Whether a new password needs a character that is neither a letter nor a digit. Default
    /// false.
    pub password_require_special_char: bool,
    /// Memory that hashing a password takes, in KiB. Default 19 MiB, with two passes what OWASP
    /// recommends for Argon2id.
    pub hash_memory_kib: u32,
    /// Passes over that memory. Default 2.
    pub hash_iterations: u32,
    /// Passwords that are hashed at a time. Default 2: searches need the other cores.
    pub hash_concurrent: usize,
    /// Guesses of the password of one address in ten minutes. Default 20; 0 for any number.
    pub attempts_per_address: u32,
    /// Guesses and registrations from one network address in ten minutes. Default 300, because an
    /// office shares one; 0 for any number.
    pub attempts_per_source: u32,
}

/// Who may register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    /// Everybody as long as nobody is invited, and then who is invited.
    Open,
    /// Who is invited.
    Invited,
    /// Nobody.
    Closed,
}

impl Default for AuthSection {
    fn default() -> Self {
        let AccountConfig {
            registration: _,
            allowed_domains,
            seats,
            session_lifetime,
            password,
            hashing,
            attempts_per_address,
            attempts_per_source,
        } = AccountConfig::default();
        Self {
            registration: Registration::Open,
            allowed_domains,
            seats: seats.unwrap_or(0),
            session_lifetime,
            password_min_length: password.min_chars,
            password_max_length: password.max_chars,
            password_require_uppercase: password.uppercase,
            password_require_lowercase: password.lowercase,
            password_require_digit: password.digit,
            password_require_special_char: password.special,
            hash_memory_kib: hashing.memory_kib,
            hash_iterations: hashing.iterations,
            hash_concurrent: hashing.concurrent,
            attempts_per_address,
            attempts_per_source,
        }
    }
}

impl AuthSection {
    /// The same, as the engine takes it.
    #[must_use]
    pub fn accounts(&self) -> AccountConfig {
        AccountConfig {
            registration: match self.registration {
                Registration::Open => RegistrationPolicy::Open,
                Registration::Invited => RegistrationPolicy::Invited,
                Registration::Closed => RegistrationPolicy::Closed,
            },
            allowed_domains: self.allowed_domains.iter().map(|name| name.to_lowercase()).collect(),
            seats: Some(self.seats).filter(|seats| *seats > 0),
            session_lifetime: self.session_lifetime,
            password: PasswordPolicy {
                min_chars: self.password_min_length,
                max_chars: self.password_max_length,
                uppercase: self.password_require_uppercase,
                lowercase: self.password_require_lowercase,
                digit: self.password_require_digit,
                special: self.password_require_special_char,
            },
            hashing: HashingConfig {
                memory_kib: self.hash_memory_kib,
                iterations: self.hash_iterations,
                concurrent: self.hash_concurrent,
            },
            attempts_per_address: self.attempts_per_address,
            attempts_per_source: self.attempts_per_source,
        }
    }

    /// Whether whoever reaches the service gets an account.
    #[must_use]
    pub fn is_open_to_everybody(&self) -> bool {
        self.registration == Registration::Open && self.allowed_domains.is_empty()
    }
}

const SECOND: Duration = Duration::from_secs(1);
const YEAR: Duration = Duration::from_hours(365 * 24);
const SWITCH: &str = "true or false";

fn is_domain(name: &str) -> bool {
    // In the form that addresses have after they were read.
    EmailAddress::parse(&format!("a@{name}"))
        .is_ok_and(|address| address.domain() == name.to_lowercase())
}

pub(super) const RULES: &[Rule] = &[
    Rule { key: "auth.registration", accepted: "open, invited or closed", holds: |_| true },
    Rule {
        key: "auth.allowed_domains",
        accepted: "a list of domains such as example.com, in Unicode",
        holds: |config| config.auth.allowed_domains.iter().all(|name| is_domain(name)),
    },
    Rule {
        key: "auth.seats",
        accepted: "a whole number from 0 (any number of people) to 1000000000",
        holds: |config| config.auth.seats <= 1_000_000_000,
    },
    Rule {
        key: "auth.session_lifetime_ms",
        accepted: "a whole number of milliseconds from 1000 to 31536000000",
        holds: |config| (SECOND..=YEAR).contains(&config.auth.session_lifetime),
    },
    Rule {
        key: "auth.password_min_length",
        accepted: "a whole number from 1 to 64, at most password_max_length",
        holds: |config| {
            let AuthSection { password_min_length: min, password_max_length: max, .. } =
                config.auth;
            (1..=64).contains(&min) && min <= max
        },
    },
    Rule {
        key: "auth.password_max_length",
        accepted: "a whole number from 16 to 1000",
        holds: |config| (16..=1000).contains(&config.auth.password_max_length),
    },
    Rule { key: "auth.password_require_uppercase", accepted: SWITCH, holds: |_| true },
    Rule { key: "auth.password_require_lowercase", accepted: SWITCH, holds: |_| true },
    Rule { key: "auth.password_require_digit", accepted: SWITCH, holds: |_| true },
    Rule { key: "auth.password_require_special_char", accepted: SWITCH, holds: |_| true },
    Rule {
        key: "auth.hash_memory_kib",
        accepted: "a whole number from 8 to 1048576",
        holds: |config| (8..=1_048_576).contains(&config.auth.hash_memory_kib),
    },
    Rule {
        key: "auth.hash_iterations",
        accepted: "a whole number from 1 to 100",
        holds: |config| (1..=100).contains(&config.auth.hash_iterations),
    },
    Rule {
        key: "auth.hash_concurrent",
        accepted: "a whole number from 1 to 256",
        holds: |config| (1..=256).contains(&config.auth.hash_concurrent),
    },
    Rule {
        key: "auth.attempts_per_address",
        accepted: "a whole number from 0 (any number) to 1000000",
        holds: |config| config.auth.attempts_per_address <= 1_000_000,
    },
    Rule {
        key: "auth.attempts_per_source",
        accepted: "a whole number from 0 (any number) to 1000000",
        holds: |config| config.auth.attempts_per_source <= 1_000_000,
    },
];

#[cfg(test)]
mod tests {
    use trove_engine::accounts::AccountConfig;

    use super::{AuthSection, is_domain};

    #[test]
    fn the_defaults_are_those_of_the_engine() {
        let (section, engine) = (AuthSection::default().accounts(), AccountConfig::default());
        assert_eq!(format!("{section:?}"), format!("{engine:?}"));
    }

    #[test]
    fn domains_are_whole_and_in_unicode() {
        for good in ["example.com", "Example.COM", "b\u{fc}cher.example", "a.b.c"] {
            assert!(is_domain(good), "{good}");
        }
        for bad in
            ["", "example", "@example.com", "*.example.com", "xn--bcher-kva.example", "a b.c"]
        {
            assert!(!is_domain(bad), "{bad}");
        }
    }
}
