//! Searching, ingestion, and the deployment itself.

use serde_json::json;
use trove_domain::access::Role;

use crate::inventory::rules::{Kind, Need};
use crate::inventory::table::Policy::{Basic, Curator, Limited, Public};
use crate::inventory::table::{Named, Row, Sent, body, row};
use crate::server::document;

const ITSELF: &str = "the deployment itself";
const SEARCHES: &str = "it searches";
const OWN: &str = "what the caller reads";

fn posted(named: &Named) -> Sent {
    let name = named.fresh();
    body(json!({"document": document(&name, &name, "apple"), "cc_pair_id": named.number()}))
}

pub(in crate::inventory) fn rows() -> Vec<Row> {
    vec![
        row("GET /health", Public).nothing(ITSELF),
        row("GET /health/ready", Public).nothing(ITSELF),
        row("GET /version", Public).nothing(ITSELF),
        row("GET /openapi.json", Limited).nothing(ITSELF),
        row("GET /docs", Public).nothing(ITSELF),
        row("GET /docs/{file}", Public)
            .nothing("files that are built in; there is none with this name")
            .done(404),
        row("POST /search", Basic)
            .nothing(OWN)
            .restricted(SEARCHES)
            .sends(|_| body(json!({"query": "apple"}))),
        row("POST /search/send-search-message", Basic)
            .nothing(OWN)
            .restricted(SEARCHES)
            .sends(|_| body(json!({"search_query": "apple"}))),
        row("GET /search/search-history", Basic).nothing(OWN).restricted(SEARCHES),
        row("POST /ingestion", Curator)
            .nothing("the pair that is everybody's, which administrators change")
            .sends(|named| {
                let name = named.fresh();
                body(json!({"document": document(&name, &name, "apple")}))
            })
            .but("nobody made it", |who, _| who.filter(|who| who.role != Role::Admin).map(|_| 403)),
        row("POST /ingestion", Curator).names(Kind::Pair, Need::Edit).sends(posted),
        row("GET /ingestion", Curator).nothing(OWN),
        row("DELETE /ingestion/{document_id}", Curator).names(Kind::Document, Need::Edit),
        row("GET /ingestion/connector-docs/{cc_pair_id}", Curator).names(Kind::Pair, Need::See),
    ]
}
