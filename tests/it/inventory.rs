//! Every route, for every kind of caller and every state of what it names.
//!
//! `rows` says of each route what it names and what is sent, `rules` who sees and changes such an
//! object, `principals` who calls. Everything that is expected follows from these; `check` compares
//! it with what the server answers, and what is in the database before and after.
//!
//! A new route takes a row, or [`every_route_has_a_row`] fails.

mod check;
mod database;
mod objects;
mod principals;
mod rows;
mod rules;
mod table;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use trove_http::{Policy, inventory};

use self::check::run;

#[test]
fn every_route_has_a_row() {
    let mut declared: BTreeMap<&str, Vec<Policy>> = BTreeMap::new();
    for row in rows::all() {
        declared.entry(row.route).or_default().push(row.policy);
    }
    let mut wrong = String::new();
    for info in inventory() {
        if info.companion_of.is_some() {
            continue;
        }
        let route = format!("{} {}", info.method, info.path);
        match declared.remove(route.as_str()) {
            None => writeln!(
                wrong,
                "{route} has no row: add one to tests/it/inventory/rows, with what it names \
                 (`.names(..)`) or that it names nothing (`.nothing()`)"
            ),
            Some(policies) if policies.iter().any(|policy| *policy != info.policy) => {
                writeln!(wrong, "{route} is for {:?}, its rows say {policies:?}", info.policy)
            }
            Some(_) => Ok(()),
        }
        .unwrap();
    }
    for route in declared.keys() {
        writeln!(wrong, "{route} has a row and does not exist").unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Nobody forgets: what names no object says so, and why.
#[test]
fn every_row_says_what_is_named() {
    let rows = rows::all();
    let silent = rows.iter().filter(|row| row.about.is_some() == row.reason.is_some());
    let silent: Vec<&str> = silent.map(|row| row.route).collect();
    assert!(silent.is_empty(), "these rows say neither or both of .names and .nothing: {silent:?}");
}

macro_rules! groups {
    ($($name:ident = $module:ident::$rows:ident),+ $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                run(rows::$module::$rows()).await;
            }
        )+
    };
}

groups! {
    agents = agents::rows,
    agents_contents = agents::contents,
    agents_flags = agents::flags,
    connectors = connectors::rows,
    pairs = connectors::pairs,
    content = content::rows,
    credentials = credentials::rows,
    document_sets = document_sets::rows,
    groups = groups::rows,
    keys = keys::rows,
    models = models::rows,
    people = people::rows,
    profile = profile::rows,
    token_limits = token_limits::rows,
}
