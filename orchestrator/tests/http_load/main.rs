//! The service under load. A process of its own, for these tests look at its memory; one test at a time.

#[path = "../http/client.rs"]
#[allow(dead_code)]
mod client;
#[path = "../http/fixtures.rs"]
#[allow(dead_code)]
mod fixtures;
mod load;
#[path = "../http/server.rs"]
#[allow(dead_code)]
mod server;
