//! What is printed in the end.

use std::fmt;
use std::time::Duration;

/// What a figure is compared with.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    AtMost(f64),
    AtLeast(f64),
    None,
}

/// Rows of figures.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<(String, f64, &'static str, Bar)>,
}

impl Table {
    /// Adds a figure, and says it at once for those who wait.
    pub(crate) fn add(&mut self, what: &str, value: f64, unit: &'static str, bar: Bar) {
        eprintln!("{what}: {value:.1} {unit}");
        self.rows.push((what.to_owned(), value, unit, bar));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | measured | bar | |\n|---|---|---|---|")?;
        for (what, value, unit, bar) in &self.rows {
            let (bar, verdict) = match bar {
                Bar::AtMost(most) => (format!("≤ {most} {unit}"), verdict(most / value)),
                Bar::AtLeast(least) => (format!("≥ {least} {unit}"), verdict(value / least)),
                Bar::None => (String::new(), String::new()),
            };
            writeln!(f, "| {what} | {value:.1} {unit} | {bar} | {verdict} |")?;
        }
        Ok(())
    }
}

/// How many times better than the bar.
fn verdict(margin: f64) -> String {
    if margin >= 1.0 { format!("{margin:.1} ×") } else { format!("missed: {margin:.2} ×") }
}

/// The value that half of the others are below.
pub(crate) fn median(times: &mut [Duration]) -> Duration {
    percentile(times, 50)
}

/// The value that `percent` percent of the others are below.
pub(crate) fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let last = times.len().saturating_sub(1);
    times.get(last * percent / 100).copied().unwrap_or_default()
}
