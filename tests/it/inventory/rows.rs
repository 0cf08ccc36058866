//! The routes, by what they are about.

pub(super) mod agents;
pub(super) mod connectors;
pub(super) mod content;
pub(super) mod credentials;
pub(super) mod document_sets;
pub(super) mod groups;
pub(super) mod keys;
pub(super) mod models;
pub(super) mod people;
pub(super) mod profile;
pub(super) mod token_limits;

use super::table::Row;

pub(super) fn all() -> Vec<Row> {
    let parts = [
        agents::rows(),
        agents::contents(),
        agents::flags(),
        connectors::rows(),
        connectors::pairs(),
        content::rows(),
        credentials::rows(),
        document_sets::rows(),
        groups::rows(),
        keys::rows(),
        models::rows(),
        people::rows(),
        profile::rows(),
        token_limits::rows(),
    ];
    parts.into_iter().flatten().collect()
}
