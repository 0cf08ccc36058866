//! The HTTP interface, from outside.

mod authorization;
mod ingestion;
mod search;
mod system;
mod validation;
