use std::collections::BTreeSet;

use serde_json::Value;

use crate::endpoint::Policy;
use crate::routes;

fn document() -> Value {
    serde_json::to_value(super::openapi()).unwrap()
}

/// Every operation as `METHOD path`, with its description.
fn operations(document: &Value) -> Vec<(String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let item = item.as_object().unwrap().clone();
        let path = path.clone();
        item.into_iter().map(move |(method, operation)| {
            (format!("{} {path}", method.to_uppercase()), operation)
        })
    };
    paths.iter().flat_map(of_path).collect()
}

#[test]
fn the_document_and_the_table_of_routes_list_the_same() {
    let documented: BTreeSet<String> =
        operations(&document()).into_iter().map(|(operation, _)| operation).collect();
    let routed: BTreeSet<String> = routes::inventory()
        .into_iter()
        .filter(|info| info.documented)
        .map(|info| format!("{} {}", info.method, info.path))
        .collect();
    assert_eq!(documented, routed);
}

#[test]
fn the_committed_document_is_current() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let committed = std::fs::read_to_string(committed).unwrap();
    let current = format!("{}\n", super::openapi().to_pretty_json().unwrap());
    assert!(
        committed == current,
        "run: cargo run -p trove-http --example openapi > docs/openapi.json"
    );
}

#[test]
fn every_guarded_operation_says_so() {
    let document = document();
    let operations = operations(&document);
    for info in routes::inventory().into_iter().filter(|info| info.documented) {
        let name = format!("{} {}", info.method, info.path);
        let (_, operation) = operations.iter().find(|(found, _)| *found == name).unwrap();
        let guarded = info.policy != Policy::Public;
        assert_eq!(operation["responses"]["401"].is_object(), guarded, "{name}");
        assert_eq!(operation["security"][0]["BearerAuth"].is_array(), guarded, "{name}");
        assert!(operation["summary"].is_string(), "{name}");
        let has_input =
            operation.get("requestBody").is_some() || operation.get("parameters").is_some();
        assert_eq!(operation["responses"]["422"].is_object(), has_input, "{name}");
    }
}

#[test]
fn operation_ids_are_unique_and_references_resolve() {
    let document = document();
    let operations = operations(&document);
    let ids: BTreeSet<&str> = operations
        .iter()
        .map(|(_, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), operations.len());

    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    assert_eq!(document["info"]["version"], "Development");
}
