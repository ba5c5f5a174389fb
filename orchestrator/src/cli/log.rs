//! Logs go to stderr, so that stdout stays with results.

use tracing_subscriber::EnvFilter;

use super::Global;
use super::exit::Failure;
use crate::config::{Log, LogFormat};

/// Starts the log of a command that ends: quiet unless asked.
pub(crate) fn start_command(global: &Global) -> Result<(), Failure> {
    let level = match (&global.log, global.quiet) {
        (Some(level), _) => level.as_str(),
        (None, true) => "error",
        (None, false) => "warn",
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter(level)?).with_writer(std::io::stderr);
    // Fails only where a log runs already, which then has the lines.
    let _ = log.without_time().try_init();
    Ok(())
}

/// Starts the log of the service, as its settings say.
pub(crate) fn start_service(settings: &Log) -> Result<(), Failure> {
    let log =
        tracing_subscriber::fmt().with_env_filter(filter(&settings.level)?).with_writer(std::io::stderr);
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
