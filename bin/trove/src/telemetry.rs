//! The log.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::config::{LogFormat, LogSection};

/// Sends the log to standard error, for the rest of the process.
///
/// # Errors
///
/// [`TryInitError`] when there is a subscriber already.
pub fn start(log: &LogSection) -> Result<(), TryInitError> {
    // The configuration was checked; a filter that cannot be read falls back to the default.
    let filter = EnvFilter::try_new(&log.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| StandardError)
        // It would report them on standard error, which is what failed, and panic.
        .log_internal_errors(false)
        .with_target(true);
    match log.format {
        LogFormat::Human => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            builder.with_ansi(colours).finish().try_init()
        }
        LogFormat::Json => builder
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false)
            .finish()
            .try_init(),
    }
}

/// Standard error, as far as it takes what is written: a collector that went away or a full disk
/// must not end the service.
struct StandardError;

impl Write for StandardError {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = io::stderr().flush();
        Ok(())
    }
}
