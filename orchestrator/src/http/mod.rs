//! The service: routes over a store and a renderer.
//!
//! A request passes: connection (limits, `connection`) → request layer (id, span, metrics, panics,
//! `request`) → its handler → store and renderer on blocking threads. Errors become answers in `problem`.

mod answers;
mod app;
mod ask;
mod assets;
mod body;
mod conditional;
mod connection;
mod environments;
mod frames;
mod health;
mod ids;
mod jobs;
mod metrics;
mod openapi;
mod problem;
mod render;
mod request;
mod scene_info;
mod scenes;
mod sequences;
mod upload;
mod worker;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, Method};
use axum::middleware;
use tokio::net::TcpListener;
use tower_http::cors::{AllowOrigin, Any, CorsLayer};

use self::app::App;
use crate::config::{Settings, ms};
use crate::frames::FramesError;
use crate::store::StoreError;

/// Why the service could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The data directory.
    #[error("data directory: {0}")]
    Store(#[from] StoreError),
    /// The renderer.
    #[error(transparent)]
    Frames(#[from] FramesError),
    /// The address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
}

/// A service that listens and does not answer yet.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Opens data directory, backend and address. *Errors*: any of them is not to be had.
    pub async fn bind(settings: Settings) -> Result<Server, ServeError> {
        connection::raise_handle_limit(settings.server.connections);
        let app = App::open(settings)?;
        let wanted = app.settings.server.address;
        let listen = |source| ServeError::Listen { address: wanted, source };
        let listener = TcpListener::bind(wanted).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Server { app: Arc::new(app), listener, address })
    }

    /// The address it listens on; the port is the real one where 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `shutdown`, then finishes what runs, for as long as the settings allow.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let Server { app, listener, address } = self;
        tracing::info!(%address, data_dir = %app.settings.data_dir().display(), "listening");
        let stopping = app.stopping.clone();
        let shutdown = async move {
            shutdown.await;
            stopping.cancel();
        };
        let warm = app.clone();
        tokio::task::spawn_blocking(move || environments::warm_up(&warm));
        let workers: Vec<_> =
            (0..app.settings.jobs.concurrent).map(|_| tokio::spawn(worker::work(app.clone()))).collect();
        connection::accept(listener, router(app.clone()), &app.settings.server, shutdown).await;
        // A job ends its frame and then waits for the next start; one that cannot is begun again then.
        let ended = futures_util::future::join_all(workers);
        if tokio::time::timeout(ms(app.settings.server.shutdown_ms), ended).await.is_err() {
            tracing::warn!("shutting down: a job's frame still ran and was dropped");
        }
        tracing::info!("stopped");
    }
}

/// Serves until `shutdown`. *Errors*: as [`Server::bind`].
pub async fn serve(settings: Settings, shutdown: impl Future<Output = ()>) -> Result<(), ServeError> {
    Server::bind(settings).await?.run(shutdown).await;
    Ok(())
}

/// The OpenAPI document of the service, as JSON.
pub fn openapi_json() -> String {
    openapi::json(&openapi::routes().into_openapi())
}

fn router(app: Arc<App>) -> Router {
    let (routes, document) = openapi::routes().split_for_parts();
    let routes = routes
        .merge(openapi::pages(&document))
        .fallback(request::no_route)
        .method_not_allowed_fallback(request::no_method)
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(app.clone(), request::layer));
    let routes = match cross_origin(&app.settings.server.cors_origins) {
        Some(cors) => routes.layer(cors),
        None => routes,
    };
    routes.with_state(app)
}

/// Lets pages of these origins read answers (CORS); none where there are no such origins.
fn cross_origin(origins: &[String]) -> Option<CorsLayer> {
    let allowed = match origins {
        [] => return None,
        [any] if any == "*" => AllowOrigin::any(),
        // Settings were checked: each is a header value.
        some => AllowOrigin::list(some.iter().filter_map(|origin| origin.parse().ok())),
    };
    let methods = [Method::GET, Method::HEAD, Method::POST, Method::DELETE];
    // The names are listed because `*` would not cover a page that sends credentials.
    let exposed = EXPOSED_HEADERS.map(HeaderName::from_static);
    Some(
        CorsLayer::new()
            .allow_origin(allowed)
            .allow_methods(methods)
            .allow_headers(Any)
            .expose_headers(exposed),
    )
}

/// Headers of answers that scripts of other origins may read.
const EXPOSED_HEADERS: [&str; 17] = [
    "accept-ranges",
    "cache-status",
    "content-length",
    "etag",
    "isoframe-backend",
    "isoframe-engine",
    "isoframe-fallback",
    "isoframe-frame-id",
    "isoframe-model",
    "isoframe-path",
    "isoframe-pixels",
    "isoframe-plan-id",
    "location",
    "preference-applied",
    "repr-digest",
    "retry-after",
    "x-request-id",
];
