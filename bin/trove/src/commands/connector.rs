//! `trove connector list|show|run|pause|resume|delete|status`: on the database itself, also while the
//! service runs.

mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::anyhow;
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};
use trove_domain::access::{Caller, Proof, Role};
use trove_domain::cc_pair::SeenPair;
use trove_domain::connector::Connector;
use trove_domain::id::{ConnectorId, UserId};
use trove_engine::Engine;
use uuid::Uuid;

use super::{print, print_json, table};
use crate::cli::ConnectorCommand;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::failure::{Failure, SUCCESS};
use crate::wiring::Deployment;

/// Items that are read at a time.
const PAGE: u32 = 500;

type Pairs = BTreeMap<ConnectorId, Vec<SeenPair>>;

/// Runs the command.
///
/// # Errors
///
/// When there is no database or no such connector.
pub async fn run(config: &Config, command: ConnectorCommand) -> Result<u8, Failure> {
    let deployment = Deployment::open_database(config).await?;
    let done = obey(&deployment.engine, command, &config.data_dir).await;
    deployment.close().await?;
    done?;
    Ok(SUCCESS)
}

async fn obey(engine: &Engine, command: ConnectorCommand, data_dir: &Path) -> anyhow::Result<()> {
    let pairs = pairs(engine).await?;
    match command {
        ConnectorCommand::List { json } => list(engine, &pairs, json).await,
        ConnectorCommand::Show { id, json } => show(engine, &pairs, ConnectorId(id), json).await,
        ConnectorCommand::Run { id, from_beginning } => {
            let asked = engine
                .run_connector(&operator(), ConnectorId(id), &BTreeSet::new(), from_beginning)
                .await?;
            let when = when(data_dir, "the service begins it within a second", "it begins");
            print(&format!("{asked} asked for a run; {when}\n"))
        }
        ConnectorCommand::Pause { id } => pause(engine, &pairs, ConnectorId(id), true).await,
        ConnectorCommand::Resume { id } => pause(engine, &pairs, ConnectorId(id), false).await,
        ConnectorCommand::Delete { id } => delete(engine, &pairs, ConnectorId(id), data_dir).await,
        ConnectorCommand::Status { id, watch, json } => {
            status::show(engine, id.map(ConnectorId), watch, json).await
        }
    }
}

/// What the service does, or that none is there to do it: none on this data directory, that is; on
/// another machine one may use the same database.
fn when(data_dir: &Path, does: &str, happens: &str) -> String {
    if DataDir::is_in_use(data_dir) {
        does.to_owned()
    } else {
        format!("no service uses {} now: {happens} when one does", data_dir.display())
    }
}

/// Whoever uses the command line of the machine sees what an administrator sees.
fn operator() -> Caller {
    let (user, email) = (UserId(Uuid::nil()), String::new());
    Caller { user, email, role: Role::Admin, proof: Proof::Trusted }
}

async fn pairs(engine: &Engine) -> anyhow::Result<Pairs> {
    let (operator, mut after, mut pairs) = (operator(), None, Pairs::new());
    loop {
        let page = engine.list_pairs(&operator, after, PAGE).await?;
        for seen in page.items {
            pairs.entry(seen.pair.connector).or_default().push(seen);
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(pairs),
        }
    }
}

/// Pauses every pair of a connector, or lets it go on.
async fn pause(
    engine: &Engine,
    pairs: &Pairs,
    id: ConnectorId,
    paused: bool,
) -> anyhow::Result<()> {
    engine.connector(id).await.map_err(|_| no_such_connector(id))?;
    let own = pairs.get(&id).into_iter().flatten();
    let scheduled: Vec<&SeenPair> = own.filter(|seen| seen.scheduled).collect();
    anyhow::ensure!(!scheduled.is_empty(), "no schedule runs connector {id}");
    for seen in &scheduled {
        engine.pause_pair(&operator(), seen.pair.id, paused).await?;
    }
    let done = if paused { "paused" } else { "active" };
    print(&format!("{} {done}\n", scheduled.len()))
}

/// Has the service delete every pair of a connector; one without pairs goes at once.
async fn delete(
    engine: &Engine,
    pairs: &Pairs,
    id: ConnectorId,
    data_dir: &Path,
) -> anyhow::Result<()> {
    engine.connector(id).await.map_err(|_| no_such_connector(id))?;
    let Some(own) = pairs.get(&id) else {
        engine.delete_connector(&operator(), id).await?;
        return print("deleted\n");
    };
    for seen in own {
        engine.delete_pair(&operator(), id, seen.pair.credential).await?;
    }
    let when = when(
        data_dir,
        "the service deletes them with their documents",
        "they go with their documents",
    );
    print(&format!(
        "{} marked for deletion; {when}, and `trove connector status {id}` shows them until they \
         are gone\n",
        own.len()
    ))
}

fn no_such_connector(id: ConnectorId) -> anyhow::Error {
    anyhow!("there is no connector {id}; `trove connector list` shows all of them")
}

async fn list(engine: &Engine, pairs: &Pairs, json: bool) -> anyhow::Result<()> {
    let mut connectors = Vec::new();
    let mut after = None;
    loop {
        let page = engine.list_connectors(None, after, PAGE).await?;
        connectors.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    if json {
        let all = connectors.iter().map(|connector| as_json(connector, pairs));
        return print_json(&Value::Array(all.collect()));
    }
    let rows: Vec<[String; 7]> =
        connectors.iter().flat_map(|connector| as_rows(connector, pairs)).collect();
    print(&table(["ID", "NAME", "SOURCE", "PAIR", "STATUS", "DOCUMENTS", "LAST SUCCESS"], &rows))
}

async fn show(engine: &Engine, pairs: &Pairs, id: ConnectorId, json: bool) -> anyhow::Result<()> {
    let connector = engine.connector(id).await.map_err(|_| no_such_connector(id))?;
    if json {
        return print_json(&as_json(&connector, pairs));
    }
    let seconds = |s: Option<i32>| s.map_or_else(|| "never".to_owned(), |s| format!("{s} s"));
    let details = &connector.details;
    let config = Value::Object(details.config.clone()).to_string();
    let mut rows = vec![
        ["name".to_owned(), details.name.clone()],
        ["source".to_owned(), details.source.as_str().to_owned()],
        ["configuration".to_owned(), config],
        ["refreshed".to_owned(), seconds(details.refresh_freq_s)],
        ["pruned".to_owned(), seconds(details.prune_freq_s)],
        ["made".to_owned(), instant(connector.created_at)],
        ["changed".to_owned(), instant(connector.updated_at)],
    ];
    for seen in pairs.get(&id).into_iter().flatten() {
        let pair = &seen.pair;
        let text = format!(
            "{}: {}, {}, {} documents, credential {}",
            pair.name,
            status(seen),
            pair.access_type.as_str(),
            seen.documents,
            pair.credential
        );
        rows.push([format!("pair {}", pair.id), text]);
    }
    print(&table(["CONNECTOR", &id.to_string()], &rows))
}

fn status(seen: &SeenPair) -> &'static str {
    // Its status says nothing: a program or a command brings its documents.
    if seen.scheduled { seen.pair.status.as_str() } else { "not scheduled" }
}

fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

fn as_rows(connector: &Connector, pairs: &Pairs) -> Vec<[String; 7]> {
    let row = |pair: String, status: &str, documents: String, last: String| {
        let details = &connector.details;
        let (name, source) = (details.name.clone(), details.source.as_str().to_owned());
        [connector.id.to_string(), name, source, pair, status.to_owned(), documents, last]
    };
    let none = || "-".to_owned();
    match pairs.get(&connector.id) {
        None => vec![row(none(), "no credential", none(), none())],
        Some(pairs) => pairs
            .iter()
            .map(|seen| {
                let last = seen.last_successful_index_at.map_or_else(none, instant);
                row(seen.pair.id.to_string(), status(seen), seen.documents.to_string(), last)
            })
            .collect(),
    }
}

fn as_json(connector: &Connector, pairs: &Pairs) -> Value {
    let details = &connector.details;
    let own = pairs.get(&connector.id).into_iter().flatten();
    let own: Vec<Value> = own
        .map(|seen| {
            json!({
                "id": seen.pair.id.0,
                "name": seen.pair.name,
                "credential_id": seen.pair.credential.0,
                "access_type": seen.pair.access_type.as_str(),
                "scheduled": seen.scheduled,
                "status": seen.pair.status.as_str(),
                "in_repeated_error_state": seen.in_repeated_error_state,
                "documents": seen.documents,
                "last_success": seen.last_successful_index_at.map(instant),
                "last_pruned": seen.last_pruned_at.map(instant),
            })
        })
        .collect();
    json!({
        "id": connector.id.0,
        "name": details.name,
        "source": details.source.as_str(),
        "config": details.config,
        "refresh_freq": details.refresh_freq_s,
        "prune_freq": details.prune_freq_s,
        "created_at": instant(connector.created_at),
        "updated_at": instant(connector.updated_at),
        "pairs": own,
    })
}
