//! What is tested from outside: the program, its HTTP interface, and rules about the source.
#![expect(clippy::unwrap_used, reason = "a panic is how a test says that it failed")]

mod access;
mod audit_command;
mod child;
mod cli;
mod config;
mod connector_command;
mod durability;
mod embedding;
mod eval;
mod extract_command;
mod http;
mod identity;
mod index_command;
mod indexing;
mod inventory;
mod key_command;
mod lifecycle;
mod models;
mod qdrant;
mod secrets_command;
mod server;
mod site;
mod sources;
mod stack;
mod tidy;
mod uploads;
mod user_command;
