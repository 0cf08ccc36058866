//! One way to log a failure that work goes on after.

use std::error::Error;

/// Logs `message` with the failure behind it, causes included.
pub(crate) fn warn(error: &(dyn Error + 'static), message: &'static str) {
    tracing::warn!(error, "{message}");
}

/// Logs `message` with the failure behind it, causes included, where an operator has to act.
pub(crate) fn error(error: &(dyn Error + 'static), message: &'static str) {
    tracing::error!(error, "{message}");
}
