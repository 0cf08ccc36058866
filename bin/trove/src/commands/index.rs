//! `trove index PATH...`: files and folders of this machine, as documents.
//!
//! Each PATH is a credential pair of its own, named by its canonical path, with source `file` and
//! public access; `--name` puts all of them into one. The id of a document is the `file:` URL of
//! its canonical path. Documents below a PATH whose files are gone are removed, except below
//! folders that could not be read.

mod ingest;
mod progress;
mod read;
mod remove;
mod report;
mod walk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::json;
use trove_domain::cc_pair::{AccessType, CcPair};
use trove_domain::port::NewCcPair;
use trove_domain::source::DocumentSource;
use trove_engine::Engine;

use super::{print, print_json};
use crate::cli::IndexArgs;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::failure::{Failure, INCOMPLETE, INTERRUPTED, SUCCESS};
use crate::lifecycle::Lifecycle;
use crate::wiring::Deployment;
use report::Report;

/// Paths that share a pair.
struct Target {
    name: String,
    roots: Vec<PathBuf>,
}

/// Indexes the paths.
///
/// # Errors
///
/// When a path is not there, the data directory is in use, or the index or database fails. What
/// was indexed until then stays.
pub async fn run(config: &Config, args: IndexArgs) -> Result<u8, Failure> {
    let targets = targets(&args).map_err(|problem| Failure::usage(format!("{problem:#}")))?;
    if config.retrieval.disable_vector_db {
        return Err(Failure::usage(
            "search and ingestion are turned off (retrieval.disable_vector_db)",
        ));
    }
    let lifecycle = Lifecycle::start()?;
    let data_dir = DataDir::open(&config.data_dir, "trove index")?;
    let deployment = Deployment::open(config).await?;
    deployment.model.announce();

    let run = Run { engine: deployment.engine.clone(), config, args: &args, lifecycle: &lifecycle };
    let reports = run.all(targets, data_dir.path()).await;
    deployment.close().await?;
    let reports = reports?;
    if args.json {
        print_json(&json!({ "targets": reports.iter().map(Report::as_json).collect::<Vec<_>>() }))?;
    } else {
        let texts: Vec<String> = reports.iter().map(Report::as_text).collect();
        print(&texts.concat())?;
    }
    if lifecycle.stop().is_cancelled() {
        return Ok(INTERRUPTED);
    }
    let complete = reports.iter().all(Report::is_complete);
    Ok(if complete { SUCCESS } else { INCOMPLETE })
}

/// What is to be indexed, checked before anything is opened or removed.
fn targets(args: &IndexArgs) -> anyhow::Result<Vec<Target>> {
    let mut roots = BTreeSet::new();
    for path in &args.paths {
        let root =
            path.canonicalize().with_context(|| format!("{} cannot be indexed", path.display()))?;
        roots.insert(root);
    }
    let one = |root: PathBuf| Target { name: root.display().to_string(), roots: vec![root] };
    Ok(match &args.name {
        Some(name) => vec![Target { name: name.clone(), roots: roots.into_iter().collect() }],
        None => roots.into_iter().map(one).collect(),
    })
}

/// What all targets of one call share.
struct Run<'a> {
    engine: Engine,
    config: &'a Config,
    args: &'a IndexArgs,
    lifecycle: &'a Lifecycle,
}

impl Run<'_> {
    async fn all(&self, targets: Vec<Target>, data_dir: &Path) -> anyhow::Result<Vec<Report>> {
        // What an interrupted run left undone comes first, or it would look like success.
        self.engine.sync_documents().await.context("earlier work could not be finished")?;
        let mut reports = Vec::new();
        for target in targets {
            if self.lifecycle.stop().is_cancelled() {
                break;
            }
            reports.push(self.one(target, data_dir).await?);
        }
        Ok(reports)
    }

    async fn one(&self, target: Target, data_dir: &Path) -> anyhow::Result<Report> {
        let pair = self.pair(&target).await?;
        let options = walk::Options {
            ignore_files: !self.args.no_ignore,
            leave_out: data_dir.canonicalize().ok(),
        };
        let roots = target.roots.clone();
        let found = tokio::task::spawn_blocking(move || walk::walk(&roots, &options))
            .await
            .context("looking for files failed")?;

        let mut report = Report::new(target.name, pair.id, target.roots.clone(), &found);
        let blind: Vec<PathBuf> = found.unreadable.iter().map(|(dir, _)| dir.clone()).collect();
        let kept = ingest::ingest(
            &self.engine,
            pair.id,
            found,
            &self.config.ingestion,
            self.lifecycle.stop(),
            &mut report,
        )
        .await?;
        // An interrupted run has not seen everything, so it cannot know what is gone.
        if !self.lifecycle.stop().is_cancelled() {
            let scope = remove::Scope { roots: &target.roots, blind: &blind, kept: &kept };
            report.removed = remove::vanished(&self.engine, pair.id, &scope).await?;
        }
        Ok(report)
    }

    async fn pair(&self, target: &Target) -> anyhow::Result<CcPair> {
        let backends = self.engine.backends();
        let paths: Vec<String> =
            target.roots.iter().map(|root| root.display().to_string()).collect();
        let pair = NewCcPair {
            name: target.name.clone(),
            source: DocumentSource::File,
            config: json!({ "paths": paths }),
            access_type: AccessType::Public,
            groups: BTreeSet::new(),
            creator: None,
            created_at: backends.clock.now(),
        };
        backends
            .cc_pairs
            .get_or_insert(pair)
            .await
            .with_context(|| format!("the credential pair {} cannot be made", target.name))
    }
}
