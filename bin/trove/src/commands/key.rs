//! `trove key create|list|revoke`: on the database itself, also while the service runs.

use anyhow::{Context, anyhow};
use chrono::SecondsFormat;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use trove_domain::id::ApiKeyId;
use trove_domain::user::{ApiKey, User};
use trove_engine::Engine;

use super::{print, print_json, table, write_out};
use crate::cli::KeyCommand;
use crate::config::Config;
use crate::failure::{Failure, SUCCESS};
use crate::wiring::Deployment;

/// Keys that are read at a time.
const PAGE: u32 = 500;

/// Runs the command.
///
/// # Errors
///
/// When there is no database, no such user or no such key.
pub async fn run(config: &Config, command: KeyCommand) -> Result<u8, Failure> {
    let deployment = Deployment::open_database(config).await?;
    let done = obey(&deployment.engine, command).await;
    deployment.close().await?;
    done?;
    Ok(SUCCESS)
}

async fn obey(engine: &Engine, command: KeyCommand) -> anyhow::Result<()> {
    match command {
        KeyCommand::Create { user, name, json } => create(engine, &user, name, json).await,
        KeyCommand::List { json } => list(engine, json).await,
        KeyCommand::Revoke { id, force, json } => revoke(engine, ApiKeyId(id), force, json).await,
    }
}

async fn create(
    engine: &Engine,
    user: &str,
    name: Option<String>,
    json: bool,
) -> anyhow::Result<()> {
    let issued = engine.issue_key(user, name).await?;
    let (key, secret) = (&issued.key, issued.secret.expose_secret());
    let text = if json {
        let shown = json!({
            "id": key.id.0,
            "name": key.name,
            "user": user,
            "display": key.display,
            "key": secret,
        });
        format!("{shown:#}\n")
    } else {
        // The key alone, so that a script can capture it.
        format!("{secret}\n")
    };
    let Err(error) = write_out(&text) else { return Ok(()) };
    // A key that works and that nobody has seen must not stay.
    engine.revoke_key(key.id).await.with_context(|| {
        format!("key {} could not be printed; end it with `trove key revoke {0}`", key.id)
    })?;
    let context = format!("the key could not be printed, so it was revoked again (key {})", key.id);
    Err(error).context(context)
}

async fn list(engine: &Engine, json: bool) -> anyhow::Result<()> {
    let mut keys = Vec::new();
    let mut after = None;
    loop {
        let page = engine.list_keys(after, PAGE).await?;
        let Some((last, _)) = page.last() else { break };
        after = Some(last.id);
        keys.extend(page);
    }
    if json {
        return print_json(&Value::Array(
            keys.iter().map(|(key, user)| as_json(key, user)).collect(),
        ));
    }
    let rows: Vec<[String; 5]> = keys.iter().map(|(key, user)| as_row(key, user)).collect();
    print(&table(["ID", "KEY", "USER", "STATE", "NAME"], &rows))
}

async fn revoke(engine: &Engine, id: ApiKeyId, force: bool, json: bool) -> anyhow::Result<()> {
    if !force && engine.is_last_admin_key(id).await? {
        return Err(anyhow!(
            "key {id} is the last one of an administrator: without it nobody can administer this \
             service until `trove key create` makes another one; make that first, or use --force"
        ));
    }
    if !engine.revoke_key(id).await? {
        return Err(anyhow!("there is no key {id}; `trove key list` shows all keys"));
    }
    if json {
        return print_json(&json!({ "id": id.0, "revoked": true }));
    }
    print(&format!("key {id} is revoked\n"))
}

fn as_json(key: &ApiKey, user: &User) -> Value {
    json!({
        "id": key.id.0,
        "name": key.name,
        "user": user.email,
        "display": key.display,
        "created_at": key.created_at.to_rfc3339_opts(SecondsFormat::Micros, true),
        "revoked_at": key.revoked_at.map(|at| at.to_rfc3339_opts(SecondsFormat::Micros, true)),
    })
}

fn as_row(key: &ApiKey, user: &User) -> [String; 5] {
    let state = match key.revoked_at {
        Some(at) => format!("revoked {}", at.format("%Y-%m-%d")),
        None if !user.active => "user inactive".to_owned(),
        None => "works".to_owned(),
    };
    let name = key.name.clone().unwrap_or_default();
    [key.id.to_string(), key.display.clone(), user.email.clone(), state, name]
}
