//! The HTTP interface, from outside.

mod agents;
mod authorization;
mod document_sets;
mod hostile;
mod ingestion;
mod language_models;
mod llm_providers;
mod profile;
mod revocation;
mod search;
mod search_as_agent;
mod search_faults;
mod search_history;
mod search_with_model;
mod send_search;
mod sign_in;
mod system;
mod users;
mod validation;
