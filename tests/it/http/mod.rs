//! The HTTP interface, from outside.

mod agents;
mod audit_log;
mod authorization;
mod document_sets;
mod hostile;
mod ingestion;
mod language_models;
mod llm_providers;
mod passwords;
mod people;
mod profile;
mod register;
mod revocation;
mod search;
mod search_as_agent;
mod search_faults;
mod search_history;
mod search_with_model;
mod send_search;
mod sign_in;
mod system;
mod token_limits;
mod user_groups;
mod user_lists;
mod users;
mod validation;
