//! One way to log a failure that work goes on after.

use std::error::Error;

/// Logs `message` with the failure behind it, causes included.
pub(crate) fn warn(error: &(dyn Error + 'static), message: &'static str) {
    tracing::warn!(error, "{message}");
}
