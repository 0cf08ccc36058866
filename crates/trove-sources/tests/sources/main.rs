//! Sources against stub servers, and the one way out against everything that tries to misuse it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod contract;
mod dialer;
mod factory;
mod file;
mod mock;
mod support;
mod vulnerabilities;
mod web;
