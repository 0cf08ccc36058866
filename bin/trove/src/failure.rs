//! How a command ends.

use std::fmt;

use crate::config::ConfigError;

/// Success.
pub const SUCCESS: u8 = 0;
/// Something failed; standard error says what.
pub const FAILURE: u8 = 1;
/// Wrong flags or a wrong configuration; clap uses the same code.
pub const USAGE: u8 = 2;
/// `trove index` went through, and some files were not indexed.
pub const INCOMPLETE: u8 = 3;
/// `trove audit verify` found that the log is not what was written.
pub const BROKEN_AUDIT_LOG: u8 = 4;
/// Interrupted by a signal before the end.
pub const INTERRUPTED: u8 = 130;

/// Why a command failed, with the exit code that says so.
#[derive(Debug)]
pub struct Failure {
    /// Exit code of the process.
    pub code: u8,
    /// What to tell the user, causes included.
    pub error: anyhow::Error,
}

impl Failure {
    /// A failure that the user can mend by using the command differently.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { code: USAGE, error: anyhow::anyhow!("{message}") }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self { code: FAILURE, error }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self { code: USAGE, error: error.into() }
    }
}

impl fmt::Display for Failure {
    /// One sentence, with its causes; never a backtrace.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut previous = String::new();
        for (depth, cause) in self.error.chain().enumerate() {
            let text = cause.to_string();
            // Some libraries repeat their cause in their own message.
            if depth > 0 && previous.contains(&text) {
                continue;
            }
            if depth > 0 {
                f.write_str(": ")?;
            }
            f.write_str(&text)?;
            previous = text;
        }
        Ok(())
    }
}
