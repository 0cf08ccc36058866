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
    let filter = filter(&log.filter);
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

/// What is logged. The configuration was checked; what cannot be read falls back to the default.
///
/// A connection that is not HTTP is an error to the protocol's code, and anybody can make one. It
/// is of no interest to an operator who does not ask for it by name.
fn filter(directives: &str) -> EnvFilter {
    let directives = if directives.contains("actix_http") {
        directives.to_owned()
    } else {
        format!("{directives},actix_http::h1=off")
    };
    EnvFilter::try_new(directives).unwrap_or_else(|_| EnvFilter::new("info"))
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

#[cfg(test)]
mod tests {
    use super::filter;

    #[test]
    fn connections_that_are_not_http_are_logged_on_request_only() {
        let says = |directives: &str| filter(directives).to_string();
        assert_eq!(says("info"), "actix_http::h1=off,info");
        assert_eq!(says("warn,trove_http=debug"), "actix_http::h1=off,trove_http=debug,warn");
        for asked in ["actix_http=error", "info,actix_http::h1=warn"] {
            assert!(!says(asked).contains("off"), "{asked}");
        }
    }
}
