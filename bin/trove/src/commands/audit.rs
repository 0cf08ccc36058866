//! `trove audit verify|list`: on the files alone, also while the service runs.

use std::path::Path;

use anyhow::{Context, ensure};
use chrono::SecondsFormat;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use trove_audit::{Broken, Hash, Verified};
use trove_domain::audit::{Actor, ActorToken, NumberedEntry};

use super::{print, print_json, printable, table};
use crate::cli::AuditCommand;
use crate::config::Config;
use crate::failure::{BROKEN_AUDIT_LOG, Failure, SUCCESS};

/// Entries that are read at a time.
const PAGE: u32 = 1000;

/// Runs the command.
///
/// # Errors
///
/// When there is no audit log, or it cannot be read.
pub async fn run(config: &Config, command: AuditCommand) -> Result<u8, Failure> {
    let folder = config.audit_dir();
    let exists = folder.is_dir();
    let missing = || format!("there is no audit log {}", folder.display());
    let there = || -> anyhow::Result<()> {
        ensure!(exists, missing());
        Ok(())
    };
    there()?;
    match command {
        AuditCommand::Verify { contains, json } => {
            let read = {
                let folder = folder.clone();
                spawn_blocking(move || trove_audit::verify(&folder, contains))
            };
            let verified = read.await.context("the audit log was not read to its end")?;
            let verified = verified.context("the audit log cannot be verified")?;
            Ok(report(&folder, verified, json)?)
        }
        AuditCommand::List { after, limit, json } => {
            list(&folder, after, limit, json).await?;
            Ok(SUCCESS)
        }
    }
}

fn report(folder: &Path, verified: Result<Verified, Broken>, json: bool) -> anyhow::Result<u8> {
    match verified {
        Ok(Verified { lines, head, torn }) => {
            let head: Option<String> = head.as_ref().map(Hash::to_string);
            if json {
                let head = head.as_deref();
                let result = json!({ "sound": true, "lines": lines, "head": head, "torn": torn });
                print_json(&result)?;
            } else {
                let mut text = format!("{lines} entries, each as it was written\n");
                if let Some(head) = head {
                    text.push_str(&format!("the last one has the hash {head}\n"));
                }
                if torn > 0 {
                    text.push_str(&format!(
                        "{torn} bytes after it are half a line, as a crash or a writer at work \
                         leaves it\n"
                    ));
                }
                print(&text)?;
            }
            Ok(SUCCESS)
        }
        Err(Broken { path, line, number, what }) => {
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            if json {
                let broken = json!({ "file": name, "line": line, "number": number, "what": what });
                print_json(&json!({ "sound": false, "broken": broken }))?;
            } else {
                let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
                print(&format!(
                    "the audit log is not what was written: {}{line}, where entry {number} should \
                     be: {what}\n",
                    path.display()
                ))?;
            }
            Ok(BROKEN_AUDIT_LOG)
        }
    }
}

async fn list(folder: &Path, after: u64, limit: u64, json: bool) -> anyhow::Result<()> {
    let (mut entries, mut after) = (Vec::new(), after);
    loop {
        let left = limit.saturating_sub(u64::try_from(entries.len())?);
        let page = u32::try_from(left).unwrap_or(u32::MAX).min(PAGE);
        let folder = folder.to_owned();
        let read = spawn_blocking(move || trove_audit::read(&folder, after, page));
        let read = read.await.context("the audit log was not read to its end")?;
        let read = read.context("the audit log cannot be read")?;
        let Some(last) = read.last() else { break };
        after = last.number;
        entries.extend(read);
    }
    if json {
        return print_json(&Value::Array(entries.iter().map(as_json).collect()));
    }
    let rows: Vec<[String; 6]> = entries.iter().map(as_row).collect();
    print(&table(["NUMBER", "TIME", "WHO", "WHAT", "WHOM", "OUTCOME"], &rows))
}

fn who(actor: &Actor) -> String {
    match actor {
        Actor::User { email, .. } => email.clone(),
        Actor::Operator => "(operator)".to_owned(),
        Actor::System => "(system)".to_owned(),
        Actor::Nobody => "(nobody)".to_owned(),
    }
}

fn as_row(NumberedEntry { number, entry }: &NumberedEntry) -> [String; 6] {
    let mut outcome = entry.outcome.as_str().to_owned();
    if let Some(begun) = entry.begun {
        outcome.push_str(&format!(" ({begun})"));
    }
    [
        number.to_string(),
        entry.at.to_rfc3339_opts(SecondsFormat::Secs, true),
        who(&entry.actor),
        entry.action.as_str().to_owned(),
        printable(entry.subject.as_deref().unwrap_or_default()).into_owned(),
        outcome,
    ]
}

fn as_json(NumberedEntry { number, entry }: &NumberedEntry) -> Value {
    let (kind, id, email, token) = match &entry.actor {
        Actor::User { id, email, token } => {
            ("user", Some(id.to_string()), Some(email.as_str()), *token)
        }
        Actor::Operator => ("operator", None, None, None),
        Actor::System => ("system", None, None, None),
        Actor::Nobody => ("nobody", None, None, None),
    };
    let (key, token) = match token {
        None => (None, None),
        Some(ActorToken::ApiKey(key)) => (Some(key.0), None),
        Some(ActorToken::AccessToken(token)) => (None, Some(token.0)),
    };
    json!({
        "number": number,
        "at": entry.at.to_rfc3339_opts(SecondsFormat::Micros, true),
        "actor": { "kind": kind, "id": id, "email": email, "api_key": key, "access_token": token },
        "action": entry.action.as_str(),
        "subject": entry.subject,
        "outcome": entry.outcome.as_str(),
        "begun": entry.begun,
        "details": entry.details,
        "request_id": entry.request_id,
    })
}
