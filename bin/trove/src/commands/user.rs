//! `trove user …`: on the database itself, also while the service runs.

use anyhow::{Context, anyhow};
use chrono::SecondsFormat;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::port::UserFilter;
use trove_domain::user::{AccountKind, ListedUser};
use trove_engine::Engine;

use super::{print, print_json, printable, table, write_out};
use crate::cli::UserCommand;
use crate::config::Config;
use crate::failure::{Failure, SUCCESS};
use crate::wiring::Deployment;

/// Users that are read at a time.
const PAGE: u32 = 1000;

/// Runs the command.
///
/// # Errors
///
/// When there is no database or no such user, or a rule forbids the change.
pub async fn run(config: &Config, command: UserCommand) -> Result<u8, Failure> {
    let deployment = Deployment::open_database(config).await?;
    let done = obey(&deployment.engine, command).await;
    deployment.close().await?;
    done?;
    Ok(SUCCESS)
}

async fn obey(engine: &Engine, command: UserCommand) -> anyhow::Result<()> {
    match command {
        UserCommand::Invite { emails, json } => invite(engine, &emails, json).await,
        UserCommand::Uninvite { email, json } => {
            tell_invited(engine.withdraw_invitation(&email).await?, json)
        }
        UserCommand::List { text, role: _, invited: true, json } => {
            list_invited(engine, text.as_deref(), json).await
        }
        UserCommand::List { text, role, invited: false, json } => {
            list(engine, text, role, json).await
        }
        UserCommand::SetRole { email, role, force, json } => {
            engine.set_user_role(None, &email, role, force).await.map_err(overridable)?;
            let text = format!("{} has the role {role}\n", printable(&email));
            tell(&text, &json!({ "email": email, "role": role.as_str() }), json)
        }
        UserCommand::Activate { email, json } => {
            engine.activate_user(&email).await?;
            let text = format!("{} is let in\n", printable(&email));
            tell(&text, &json!({ "email": email, "active": true }), json)
        }
        UserCommand::Deactivate { email, json } => {
            engine.deactivate_user(None, &email).await?;
            let text = format!("{} is kept out\n", printable(&email));
            tell(&text, &json!({ "email": email, "active": false }), json)
        }
        UserCommand::ResetPassword { email, json } => reset_password(engine, &email, json).await,
        UserCommand::Delete { email, json } => {
            engine.delete_user(&email).await?;
            let text = format!("{} is deleted\n", printable(&email));
            tell(&text, &json!({ "email": email, "deleted": true }), json)
        }
    }
}

/// The rule's own words name the field of a request; here it is a flag.
fn overridable(error: trove_engine::accounts::AccountError) -> anyhow::Error {
    use trove_engine::accounts::{AccountError, RoleRefusal};
    match error {
        AccountError::Role(RoleRefusal::NeedsOverride(role)) => {
            anyhow!("the role {role} is usually given in another way; use --force to do so here")
        }
        error => error.into(),
    }
}

fn tell(text: &str, shown: &Value, json: bool) -> anyhow::Result<()> {
    if json { print_json(shown) } else { print(text) }
}

async fn invite(engine: &Engine, emails: &[String], json: bool) -> anyhow::Result<()> {
    tell_invited(engine.invite(emails).await?, json)
}

fn tell_invited(invited: u64, json: bool) -> anyhow::Result<()> {
    let text = match invited {
        1 => "1 address is invited now\n".to_owned(),
        count => format!("{count} addresses are invited now\n"),
    };
    tell(&text, &json!({ "invited": invited }), json)
}

async fn list_invited(engine: &Engine, text: Option<&str>, json: bool) -> anyhow::Result<()> {
    let invited = engine.open_invitations(text).await?;
    if json {
        return print_json(&json!(invited));
    }
    let lines = invited.iter().map(|email| format!("{}\n", printable(email)));
    print(&lines.collect::<String>())
}

async fn list(
    engine: &Engine,
    text: Option<String>,
    roles: Vec<Role>,
    json: bool,
) -> anyhow::Result<()> {
    let roles = if roles.is_empty() { Role::ALL.into() } else { roles.into_iter().collect() };
    let filter = UserFilter { text, roles, active: None, services: true };
    let (mut users, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = engine.backends().users.list(&filter, after.as_deref(), PAGE).await?;
        users.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    if json {
        return print_json(&Value::Array(users.iter().map(as_json).collect()));
    }
    let rows: Vec<[String; 5]> = users.iter().map(as_row).collect();
    print(&table(["EMAIL", "ROLE", "STATE", "PASSWORD", "GROUPS"], &rows))
}

async fn reset_password(engine: &Engine, email: &str, json: bool) -> anyhow::Result<()> {
    let (user, password) = engine.reset_password(email).await?;
    let password = password.expose_secret();
    let text = if json {
        format!("{:#}\n", json!({ "email": user.email, "password": password }))
    } else {
        // The password alone, so that a script can capture it.
        format!("{password}\n")
    };
    write_out(&text).context("the new password could not be printed; run the command again")
}

fn as_json(listed: &ListedUser) -> Value {
    let ListedUser { user, groups } = listed;
    json!({
        "id": user.id.to_string(),
        "email": user.email,
        "kind": user.kind.as_str(),
        "role": user.role.as_str(),
        "active": user.active,
        "has_password": user.has_password,
        "name": user.name,
        "groups": groups.iter().map(|group| &group.name).collect::<Vec<_>>(),
        "created_at": user.created_at.to_rfc3339_opts(SecondsFormat::Micros, true),
    })
}

fn as_row(listed: &ListedUser) -> [String; 5] {
    let ListedUser { user, groups } = listed;
    let state = match (user.kind, user.active) {
        (AccountKind::Person, true) => "active",
        (AccountKind::Service, true) => "active program",
        (_, false) => "kept out",
    };
    let password = if user.has_password { "yes" } else { "no" };
    let groups: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    [
        user.email.clone(),
        user.role.to_string(),
        state.to_owned(),
        password.to_owned(),
        groups.join(", "),
    ]
}
