//! `isoframe serve`: frames over HTTP.

use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failure};
use super::session::BackendFlags;
use super::{Global, log};
use crate::config::{ConfigErrors, Settings, Sources};
use crate::http::{ServeError, Server};

/// Serve frames over HTTP
///
/// Settings come from the defaults, then --config, then variables such as ISOFRAME_SERVER_ADDRESS, then flags.
/// config/default.toml lists them all. SIGINT and SIGTERM finish what runs, then stop.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "HOST:PORT")]
    address: Option<String>,
    /// Port to listen on, on the loopback address; 0 takes a free one
    #[arg(long, value_name = "N", conflicts_with = "address")]
    port: Option<u16>,
    /// Folder for scenes, frames and jobs [default: the platform's place for a program's data]
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<String>,
    /// Settings file, in TOML
    #[arg(long, value_name = "FILE", env = "ISOFRAME_CONFIG")]
    config: Option<PathBuf>,
    /// Any setting, by its name in config/default.toml
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    backend: BackendFlags,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').ok_or("a setting is NAME=VALUE, such as server.connections=100")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl Serve {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let settings = Settings::load(&self.sources(global))?;
        log::start_service(&settings.log)?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::fault)?;
        runtime.block_on(async {
            // Before it says that it listens: whoever reads that may stop it at once.
            let stop = stop_signal().map_err(Failure::fault)?;
            let server = Server::bind(settings).await?;
            if !global.quiet {
                eprintln!("isoframe: listening on http://{}, docs at /docs; Ctrl-C stops", server.address());
            }
            server.run(stop).await;
            Ok(Exit::Done)
        })
    }

    fn sources(&self, global: &Global) -> Sources {
        let flags = [
            ("server.address", self.address.clone().or(self.port.map(|port| format!("127.0.0.1:{port}")))),
            ("server.data_dir", self.data_dir.clone()),
            ("log.level", global.log.clone()),
        ];
        let flags = flags.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let backend = self.backend.settings_given().into_iter();
        let overrides = flags.chain(backend).chain(self.set.iter().cloned()).collect();
        Sources { file: self.config.clone(), overrides, ..Sources::from_process() }
    }
}

/// Ends with SIGINT or SIGTERM, of which none is missed from here on. *Errors*: the system has no room for them.
#[cfg(unix)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ends with Ctrl-C.
#[cfg(not(unix))]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Failure {
        Failure::bad_input(errors).hint("config/default.toml lists every setting")
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Failure {
        match error {
            ServeError::Frames(error) => error.into(),
            ServeError::Store(error) => Failure::not_here(format!("data directory: {error}")),
            ServeError::Listen { .. } => {
                Failure::not_here(error).hint("--address HOST:PORT; port 0 takes a free one")
            }
        }
    }
}
