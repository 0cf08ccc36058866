//! `trove key create|list|regenerate|revoke`: on the database itself, also while the service runs.

use anyhow::{Context, anyhow};
use chrono::{DateTime, SecondsFormat, Utc};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use trove_domain::api_key::{ApiKey, ListedKey};
use trove_domain::id::ApiKeyId;
use trove_engine::Engine;
use trove_engine::administration::ServiceKeyRequest;

use super::{print, print_json, printable, table, write_out};
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
        KeyCommand::Create { user, role: None, name, json } => {
            let issued = engine.issue_key(&user, name).await?;
            hand_out(engine, &issued.key, &user, &issued.secret, json).await
        }
        KeyCommand::Create { role: Some(role), name, json, .. } => {
            let request = ServiceKeyRequest { name, role, groups: None };
            let (made, secret) = engine.create_service_key(request).await?;
            hand_out(engine, &made.key, &made.holder.user.email, &secret, json).await
        }
        KeyCommand::Regenerate { id, json } => {
            let (key, secret) = engine.regenerate_key(ApiKeyId(id)).await?;
            hand_out(engine, &key.key, &key.holder.user.email, &secret, json).await
        }
        KeyCommand::List { json } => list(engine, json).await,
        KeyCommand::Revoke { id, force, json } => revoke(engine, ApiKeyId(id), force, json).await,
    }
}

async fn hand_out(
    engine: &Engine,
    key: &ApiKey,
    user: &str,
    secret: &SecretString,
    json: bool,
) -> anyhow::Result<()> {
    let secret = secret.expose_secret();
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
        let Some(last) = page.last() else { break };
        after = Some(last.key.id);
        keys.extend(page);
    }
    if json {
        return print_json(&Value::Array(keys.iter().map(as_json).collect()));
    }
    let rows: Vec<[String; 7]> = keys.iter().map(as_row).collect();
    print(&table(["ID", "KEY", "USER", "ROLE", "STATE", "LAST USED", "NAME"], &rows))
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

fn as_json(ListedKey { key, holder }: &ListedKey) -> Value {
    let instant = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Micros, true);
    let user = &holder.user;
    json!({
        "id": key.id.0,
        "name": key.name,
        "user": user.email,
        "user_active": user.active,
        "kind": user.kind.as_str(),
        "role": user.role.as_str(),
        "display": key.display,
        "created_at": instant(key.created_at),
        "last_used_at": key.last_used_at.map(instant),
        "revoked_at": key.revoked_at.map(instant),
    })
}

fn as_row(ListedKey { key, holder }: &ListedKey) -> [String; 7] {
    let user = &holder.user;
    let state = match key.revoked_at {
        Some(at) => format!("revoked {}", at.format("%Y-%m-%d")),
        None if !user.active => "user inactive".to_owned(),
        None => "works".to_owned(),
    };
    let used = key.last_used_at.map(|at| at.format("%Y-%m-%d %H:%M").to_string());
    [
        key.id.to_string(),
        key.display.clone(),
        printable(&user.email).into_owned(),
        user.role.to_string(),
        state,
        used.unwrap_or_default(),
        key.name.clone().unwrap_or_default(),
    ]
}
