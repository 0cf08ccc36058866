use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error; invisible when that is not a terminal, or not wanted.
pub(super) fn bar(name: &'static str, size_bytes: u64, wanted: bool) -> ProgressBar {
    let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template(
        "{msg} [{bar:30}] {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
    )
    .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(size_bytes), target).with_style(style).with_message(name)
}
