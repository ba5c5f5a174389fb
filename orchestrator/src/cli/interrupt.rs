//! Ctrl-C: the render stops between tiles and temporary files go; a second one ends the process at once.

use std::sync::OnceLock;

use isoframe_raster::backend::Cancel;

use super::exit::Exit;

/// The process's cancel token; the first call starts to listen.
pub(crate) fn cancel() -> Cancel {
    static CANCEL: OnceLock<Cancel> = OnceLock::new();
    CANCEL
        .get_or_init(|| {
            let cancel = Cancel::default();
            let listener = cancel.clone();
            let spawned =
                std::thread::Builder::new().name("interrupt".into()).spawn(move || listen(&listener));
            if let Err(error) = spawned {
                tracing::warn!(%error, "Ctrl-C ends the process without cleaning up");
            }
            cancel
        })
        .clone()
}

fn listen(cancel: &Cancel) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        cancel.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(Exit::Interrupted.code().into());
        }
    });
}
