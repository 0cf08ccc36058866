//! `trove check-config`

use super::print;
use crate::config::{Loaded, show};
use crate::failure::{Failure, SUCCESS};

/// Prints the effective values. A configuration that cannot be used never gets here.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn run(loaded: &Loaded) -> Result<u8, Failure> {
    print(&show(loaded))?;
    Ok(SUCCESS)
}
