//! Logs go to stderr, so that stdout stays with results.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::Global;
use super::exit::Failure;
use super::passes::{PassClock, WhileRunning};
use crate::config::{Log, LogFormat};

/// Starts the log of a command that ends: quiet unless asked.
pub(crate) fn start_command(global: &Global) -> Result<(), Failure> {
    let level = match (&global.log, global.quiet) {
        (Some(level), _) => level.as_str(),
        (None, true) => "error",
        (None, false) => "warn",
    };
    let ansi = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_ansi(ansi).with_writer(std::io::stderr).without_time();
    let registry = tracing_subscriber::registry()
        .with(lines.with_filter(filter(level)?))
        .with(PassClock.with_filter(WhileRunning));
    // Fails only where a log runs already, which then has the lines.
    let _ = registry.try_init();
    Ok(())
}

/// Starts the log of the service, as its settings say.
pub(crate) fn start_service(settings: &Log) -> Result<(), Failure> {
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter(&settings.level)?)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let _ = match settings.format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    Ok(())
}

fn filter(level: &str) -> Result<EnvFilter, Failure> {
    EnvFilter::try_new(level).map_err(|error| {
        Failure::bad_input(format!("--log {level}: {error}"))
            .hint("error, warn, info, debug, trace, or target=level")
    })
}
