//! The HTTP interface, from outside.

mod authorization;
mod hostile;
mod ingestion;
mod search;
mod system;
mod validation;
