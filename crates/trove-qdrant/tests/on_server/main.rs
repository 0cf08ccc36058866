//! The index on a real server, which `TROVE_TEST_QDRANT_URL` names: one binary, that links once.
#![expect(clippy::unwrap_used, reason = "a panic is how a test says that it failed")]

mod contract;
mod opening;
mod processes;
mod server;
