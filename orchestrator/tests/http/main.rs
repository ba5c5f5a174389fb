//! The service as its clients see it: a real server on a port of its own, plain sockets on the other side.

mod client;
mod connections;
mod document;
mod fixtures;
mod frames;
mod jobs;
mod scenes;
mod server;
