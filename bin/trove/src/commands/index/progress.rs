//! How far it is: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::commands::printable;

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows progress on standard error.
pub(super) struct Progress {
    bar: ProgressBar,
    terminal: bool,
    started: Instant,
    line_due: Instant,
}

impl Progress {
    /// Begins at none of `files`.
    pub(super) fn start(files: usize) -> Self {
        let terminal = io::stderr().is_terminal();
        let target =
            if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let length = u64::try_from(files).ok();
        let bar = ProgressBar::with_draw_target(length, target);
        let template = "{wide_bar} {pos}/{len} files, {per_sec}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let now = Instant::now();
        Self { bar, terminal, started: now, line_due: now + LINE_EVERY }
    }

    /// So many files more are done.
    pub(super) fn advance(&mut self, files: usize) {
        self.bar.inc(u64::try_from(files).unwrap_or(0));
        let now = Instant::now();
        if !self.terminal && now >= self.line_due {
            self.line_due = now + LINE_EVERY;
            self.write(&self.line(now));
        }
    }

    /// A file failed: said at once, and again in the summary.
    pub(super) fn failed(&self, path: &Path, reason: &str) {
        if self.terminal {
            self.bar
                .println(format!("failed: {}: {reason}", printable(&path.display().to_string())));
        }
    }

    /// Nothing more comes.
    pub(super) fn finish(self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, now: Instant) -> String {
        let done = self.bar.position();
        let total = self.bar.length().unwrap_or(done);
        let seconds = now.duration_since(self.started).as_secs().max(1);
        let rate = done / seconds;
        let left = match rate {
            0 => "unknown time".to_owned(),
            rate => format!("{} s", total.saturating_sub(done) / rate),
        };
        format!("{done}/{total} files, {rate}/s, {left} left\n")
    }

    fn write(&self, line: &str) {
        // Progress is a courtesy: without a standard error there is nobody to show it to.
        let _ = io::stderr().write_all(line.as_bytes());
    }
}
