//! Progress on stderr, where a terminal looks on.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Global;

/// A bar over `count` steps; invisible under `--quiet`, under `--json`, or without a terminal.
pub(crate) fn bar(global: &Global, count: u64, what: &'static str) -> ProgressBar {
    if global.quiet || global.json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(count), ProgressDrawTarget::stderr());
    let template = "{msg} {wide_bar} {pos}/{len} {elapsed} (eta {eta})";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
