//! Contract suites for the ports of Trove, and the fakes and builders that tests share.
//!
//! A suite is a module of async functions, each of which states one obligation of a port; its macro
//! turns the list into one test per obligation for an adapter. See `CONTRIBUTING.md`.

pub mod fakes;
