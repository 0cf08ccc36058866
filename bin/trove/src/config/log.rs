use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

use super::rule::Rule;

/// `[log]`: the log, which goes to standard error.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct LogSection {
    /// `human` for eyes, `json` for collectors, one object a line. Default `human`.
    pub format: LogFormat,
    /// What is logged: a level (`error`, `warn`, `info`, `debug`, `trace`), or directives such as
    /// `info,trove_engine=debug`. Default `info`, without a line for each request.
    pub filter: String,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One readable line for each event.
    Human,
    /// One JSON object for each event.
    Json,
}

impl Default for LogSection {
    fn default() -> Self {
        Self { format: LogFormat::Human, filter: "info".to_owned() }
    }
}

pub(super) const RULES: &[Rule] = &[
    Rule { key: "log.format", accepted: "human or json", holds: |_| true },
    Rule {
        key: "log.filter",
        accepted: "error, warn, info, debug, trace, or directives such as info,trove_engine=debug",
        holds: |config| is_filter(&config.log.filter),
    },
];

/// Whether every part is a directive. A lone word that is no level would silence everything else
/// without a word, so it is refused.
fn is_filter(filter: &str) -> bool {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let named = |part: &str| {
        part.contains(['=', '[']) || LEVELS.contains(&part.trim().to_ascii_lowercase().as_str())
    };
    filter.split(',').all(named) && filter.parse::<EnvFilter>().is_ok()
}
