//! `trove connector status`: how runs go on.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::interval;
use trove_domain::id::ConnectorId;
use trove_engine::Engine;
use trove_engine::administration::{PairStatusView, StatusFilter};

use super::super::{print, print_json, table};
use super::{instant, no_such_connector, operator, status};

/// How often it is shown again.
const PAUSE: Duration = Duration::from_secs(2);

/// Shows it once, or until the process is ended.
pub(super) async fn show(
    engine: &Engine,
    connector: Option<ConnectorId>,
    watch: bool,
    json: bool,
) -> anyhow::Result<()> {
    if let Some(id) = connector {
        engine.connector(id).await.map_err(|_| no_such_connector(id))?;
    }
    let mut ticks = interval(PAUSE);
    loop {
        ticks.tick().await;
        let pairs = pairs(engine, connector).await?;
        match (json, watch) {
            (false, _) => print(&lines(&pairs))?,
            (true, false) => print_json(&as_json(&pairs))?,
            (true, true) => print(&format!("{}\n", as_json(&pairs)))?,
        }
        if !watch {
            return Ok(());
        }
        if !json {
            print("\n")?;
        }
    }
}

async fn pairs(
    engine: &Engine,
    connector: Option<ConnectorId>,
) -> anyhow::Result<Vec<PairStatusView>> {
    let filter = StatusFilter { unpaged: true, ..StatusFilter::default() };
    let sources = engine.pair_statuses(&operator(), &filter).await?;
    let rows = sources.into_iter().flat_map(|source| source.items);
    let mut rows: Vec<PairStatusView> =
        rows.filter(|row| connector.is_none_or(|id| row.seen.pair.connector == id)).collect();
    rows.sort_by_key(|row| (row.seen.pair.connector, row.seen.pair.id));
    Ok(rows)
}

fn lines(pairs: &[PairStatusView]) -> String {
    let none = || "-".to_owned();
    let row = |view: &PairStatusView| {
        let (pair, last) = (&view.seen.pair, view.last.as_ref());
        let pace = last.and_then(|last| last.pace.documents_per_minute);
        let left = last.and_then(|last| last.pace.seconds_left);
        [
            pair.connector.to_string(),
            pair.id.to_string(),
            pair.name.clone(),
            status(&view.seen).to_owned(),
            view.seen.documents.to_string(),
            last.map_or_else(none, |last| last.status.as_str().to_owned()),
            last.map_or_else(none, |last| last.documents.to_string()),
            pace.map_or_else(none, |pace| format!("{pace:.0}")),
            left.map_or_else(none, |left| format!("{left:.0} s")),
            last.and_then(|last| last.error.clone()).unwrap_or_default(),
        ]
    };
    let rows: Vec<[String; 10]> = pairs.iter().map(row).collect();
    let head =
        ["ID", "PAIR", "NAME", "STATUS", "DOCUMENTS", "RUN", "READ", "PER MINUTE", "LEFT", "ERROR"];
    table(head, &rows)
}

fn as_json(pairs: &[PairStatusView]) -> Value {
    let pair = |view: &PairStatusView| {
        let (pair, last) = (&view.seen.pair, view.last.as_ref());
        let pace = last.map(|last| last.pace).unwrap_or_default();
        json!({
            "connector_id": pair.connector.0,
            "cc_pair_id": pair.id.0,
            "name": pair.name,
            "source": pair.source.as_str(),
            "scheduled": view.seen.scheduled,
            "status": pair.status.as_str(),
            "in_repeated_error_state": view.seen.in_repeated_error_state,
            "documents": view.seen.documents,
            "last_success": view.seen.last_successful_index_at.map(instant),
            "run": last.map(|last| json!({
                "status": last.status.as_str(),
                "documents": last.documents,
                "documents_per_minute": pace.documents_per_minute,
                "seconds_left": pace.seconds_left,
                "error": last.error,
            })),
        })
    };
    Value::Array(pairs.iter().map(pair).collect())
}
