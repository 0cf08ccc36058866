//! `trove secrets rotate|discard`: while nothing else runs.

use serde_json::json;

use super::{print, print_json};
use crate::cli::SecretsCommand;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::failure::{Failure, SUCCESS};
use crate::wiring::{Deployment, KeyChange};

/// Runs the command.
///
/// # Errors
///
/// When the data directory is in use, there is no database, or a key is not there.
pub async fn run(config: &Config, command: SecretsCommand) -> Result<u8, Failure> {
    match command {
        SecretsCommand::Rotate { json } => {
            let _data_dir = DataDir::open(&config.data_dir, "trove secrets rotate")?;
            let change = Deployment::rotate_secrets(config).await?;
            report(&change, json, &rotated(&change))?;
        }
        SecretsCommand::Discard { json } => {
            let _data_dir = DataDir::open(&config.data_dir, "trove secrets discard")?;
            let change = Deployment::discard_secrets(config).await?;
            let text = format!(
                "{} were removed and have to be entered again; new ones are encrypted with the key \
                 {}\n",
                secrets(&change),
                change.new
            );
            report(&change, json, &text)?;
        }
    }
    Ok(SUCCESS)
}

fn secrets(change: &KeyChange) -> String {
    match change.secrets {
        1 => "1 secret".to_owned(),
        count => format!("{count} secrets"),
    }
}

fn rotated(change: &KeyChange) -> String {
    let KeyChange { old, new, leftover, .. } = change;
    let mut text = match old {
        Some(old) => {
            format!(
                "{}, encrypted with the key {old} before, have the key {new}\n",
                secrets(change)
            )
        }
        None => format!("the change to the key {new}, which was interrupted, is finished\n"),
    };
    if let Some(place) = leftover {
        text.push_str(&format!("The old key is not needed any more: take it out of {place}.\n"));
    }
    text
}

fn report(change: &KeyChange, json: bool, text: &str) -> anyhow::Result<()> {
    if !json {
        return print(text);
    }
    print_json(&json!({
        "old_key": change.old.as_ref().map(ToString::to_string),
        "key": change.new.to_string(),
        "secrets": change.secrets,
        "resumed": change.resumed,
    }))
}
