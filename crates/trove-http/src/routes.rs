//! Every route, with who may call it.

mod connector_docs;
mod docs;
mod health;
mod ingest;
mod ingested;
mod me;
mod ready;
mod remove_ingested;
mod schema;
mod search;
mod search_doc;
mod search_filters;
mod search_history;
mod send_search_message;
mod version;

use std::collections::BTreeMap;

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::web::{self, ServiceConfig};

use crate::HttpConfig;
use crate::endpoint::{Endpoint, EndpointInfo, Gate, Policy};
use crate::fallback;

pub(crate) use docs::JSON_PATH as DOCUMENT_PATH;
pub(crate) use schema::Document;

/// The table of routes.
#[rustfmt::skip]
fn endpoints() -> Vec<Endpoint> {
    use Gate::{Open, VectorDb};
    use Policy::{Basic, Curator, Limited, Public};
    let (get, post, delete) = (|| Method::GET, || Method::POST, || Method::DELETE);
    vec![
        Endpoint::new(get(), "/health", Public, Open, health::health).at_root(),
        Endpoint::new(get(), "/health/ready", Public, Open, ready::ready).at_root(),
        Endpoint::new(get(), "/version", Public, Open, version::version).at_root(),
        Endpoint::new(get(), "/me", Limited, Open, me::me),

        Endpoint::new(post(), "/search", Basic, VectorDb, search::search).searching(),
        Endpoint::new(post(), "/search/send-search-message", Basic, VectorDb, send_search_message::send_search_message)
            .searching(),
        Endpoint::new(get(), "/search/search-history", Basic, Open, search_history::search_history),

        Endpoint::new(post(), "/ingestion", Curator, VectorDb, ingest::ingest)
            .also_at("/onyx-api/ingestion").slow(),
        Endpoint::new(get(), "/ingestion", Curator, Open, ingested::list_ingested)
            .also_at("/onyx-api/ingestion"),
        Endpoint::new(delete(), "/ingestion/{document_id}", Curator, VectorDb, remove_ingested::remove_ingested)
            .also_at("/onyx-api/ingestion/{document_id}").slow(),
        Endpoint::new(get(), "/ingestion/connector-docs/{cc_pair_id}", Curator, Open, connector_docs::list_connector_docs)
            .also_at("/onyx-api/connector-docs/{cc_pair_id}"),

        Endpoint::new(get(), DOCUMENT_PATH, Limited, Open, docs::document),
        Endpoint::new(get(), docs::PAGE_PATH, Public, Open, docs::page).undocumented(),
        Endpoint::new(get(), docs::FILE_PATH, Public, Open, docs::file).undocumented(),
    ]
}

/// Every route as data, companion paths among them.
#[must_use]
pub fn inventory() -> Vec<EndpointInfo> {
    endpoints().iter().flat_map(Endpoint::infos).collect()
}

/// The routes that a deployment has.
fn served(config: &HttpConfig) -> impl Iterator<Item = Endpoint> + use<> {
    let docs = config.docs;
    endpoints().into_iter().filter(move |endpoint| docs || !docs::is_docs(endpoint.info.path))
}

/// The full paths at which `info` answers.
fn full_paths(info: &EndpointInfo, config: &HttpConfig) -> Vec<String> {
    let mut paths = vec![format!("{}{}", config.prefix, info.path)];
    if info.at_root && !config.prefix.is_empty() {
        paths.push(info.path.to_owned());
    }
    paths
}

/// The full path patterns of all routes.
pub(crate) fn paths(config: &HttpConfig) -> Vec<String> {
    let infos: Vec<EndpointInfo> =
        served(config).flat_map(|e| e.infos().collect::<Vec<_>>()).collect();
    infos.iter().flat_map(|info| full_paths(info, config)).collect()
}

/// Adds all routes, one resource for each path, so that a wrong method is known as such.
pub(crate) fn register(services: &mut ServiceConfig, config: &HttpConfig) {
    let mut by_path: BTreeMap<String, Vec<(Method, actix_web::Route)>> = BTreeMap::new();
    for endpoint in served(config) {
        for info in endpoint.infos() {
            for path in full_paths(&info, config) {
                let route = endpoint.route(info.clone());
                let routes = by_path.entry(path).or_default();
                routes.push((info.method.clone(), route));
                // Load balancers ask for as little as they can; the body stays behind.
                if info.at_root {
                    let info = EndpointInfo { method: Method::HEAD, ..info.clone() };
                    routes.push((Method::HEAD, endpoint.route(info)));
                }
            }
        }
    }
    for (path, routes) in by_path {
        let methods: Vec<&str> = routes.iter().map(|(method, _)| method.as_str()).collect();
        let allow = methods.join(", ");
        let mut resource = web::resource(path);
        for (_, route) in routes {
            resource = resource.route(route);
        }
        services.service(resource.default_service(web::to(move |request: HttpRequest| {
            let allow = allow.clone();
            async move { fallback::method_not_allowed(&request, allow) }
        })));
    }
}
