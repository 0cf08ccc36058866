//! What a password must be like.

/// What a deployment asks of new passwords. Old ones keep working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub struct PasswordPolicy {
    /// Fewest characters.
    pub min_chars: usize,
    /// Most characters.
    pub max_chars: usize,
    /// Asks for an upper-case letter.
    pub uppercase: bool,
    /// Asks for a lower-case letter.
    pub lowercase: bool,
    /// Asks for a digit.
    pub digit: bool,
    /// Asks for a character that is neither letter nor digit.
    pub special: bool,
}

impl Default for PasswordPolicy {
    fn default() -> Self {
        Self {
            min_chars: 8,
            max_chars: 64,
            uppercase: false,
            lowercase: false,
            digit: false,
            special: false,
        }
    }
}

/// Why a password is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    /// It is too short.
    #[error("a password has at least {min} characters")]
    TooShort {
        /// How many it should have.
        min: usize,
    },
    /// It is too long.
    #[error("a password has at most {max} characters")]
    TooLong {
        /// How many it may have.
        max: usize,
    },
    /// It has no upper-case letter.
    #[error("a password has at least one upper-case letter")]
    NoUppercase,
    /// It has no lower-case letter.
    #[error("a password has at least one lower-case letter")]
    NoLowercase,
    /// It has no digit.
    #[error("a password has at least one digit")]
    NoDigit,
    /// It has letters and digits only.
    #[error("a password has at least one character that is neither a letter nor a digit")]
    NoSpecial,
    /// It is the user's address.
    #[error("a password is not the address it belongs to")]
    IsAddress,
}

impl PasswordPolicy {
    /// Checks a new password of the user with address `email`.
    ///
    /// # Errors
    ///
    /// [`WeakPassword`] names the first broken rule.
    pub fn check(&self, password: &str, email: &str) -> Result<(), WeakPassword> {
        let chars = password.chars().count();
        if chars < self.min_chars {
            return Err(WeakPassword::TooShort { min: self.min_chars });
        }
        if chars > self.max_chars {
            return Err(WeakPassword::TooLong { max: self.max_chars });
        }
        let lacks = |asked: bool, has: fn(char) -> bool| asked && !password.chars().any(has);
        if lacks(self.uppercase, char::is_uppercase) {
            return Err(WeakPassword::NoUppercase);
        }
        if lacks(self.lowercase, char::is_lowercase) {
            return Err(WeakPassword::NoLowercase);
        }
        if lacks(self.digit, char::is_numeric) {
            return Err(WeakPassword::NoDigit);
        }
        if lacks(self.special, |c| !c.is_alphanumeric()) {
            return Err(WeakPassword::NoSpecial);
        }
        if password.to_lowercase() == email.to_lowercase() {
            return Err(WeakPassword::IsAddress);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{PasswordPolicy, WeakPassword};

    #[test]
    fn passwords_and_what_is_asked_of_them() {
        let plain = PasswordPolicy::default();
        let strict = PasswordPolicy {
            uppercase: true,
            lowercase: true,
            digit: true,
            special: true,
            ..plain
        };
        let check = |policy: PasswordPolicy, password: &str, want: Result<(), WeakPassword>| {
            assert_eq!(policy.check(password, "reader@example.com"), want, "{password}");
        };
        check(plain, "1234567", Err(WeakPassword::TooShort { min: 8 }));
        check(plain, "12345678", Ok(()));
        // Characters count, not bytes.
        check(plain, "äöüäöüä", Err(WeakPassword::TooShort { min: 8 }));
        check(plain, &"ä".repeat(64), Ok(()));
        check(plain, &"a".repeat(65), Err(WeakPassword::TooLong { max: 64 }));
        check(plain, "Reader@Example.com", Err(WeakPassword::IsAddress));
        check(strict, "abcdefg1!", Err(WeakPassword::NoUppercase));
        check(strict, "ABCDEFG1!", Err(WeakPassword::NoLowercase));
        check(strict, "Abcdefgh!", Err(WeakPassword::NoDigit));
        check(strict, "Abcdefgh1", Err(WeakPassword::NoSpecial));
        check(strict, "Abcdefg 1", Ok(()));
    }
}
