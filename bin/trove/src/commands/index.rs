//! `trove index PATH...`: files and folders of this machine, as documents.
//!
//! Each PATH is a credential pair of its own, named by its canonical path, with source `file` and
//! public access; `--name` puts all of them into one. The id of a document is the `file:` URL of
//! its canonical path. Documents below a PATH whose files are gone are removed, except below
//! folders that could not be read, and below a PATH of which nothing is left.

mod ingest;
mod progress;
mod read;
mod remove;
mod report;
mod roots;
mod target;
mod walk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use trove_domain::cc_pair::{AccessType, CcPair};
use trove_domain::port::NewCcPair;
use trove_domain::source::DocumentSource;
use trove_engine::Engine;

use super::{print, print_json, printable};
use crate::cli::IndexArgs;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::failure::{FAILURE, Failure, INCOMPLETE, INTERRUPTED, SUCCESS};
use crate::lifecycle::Lifecycle;
use crate::wiring::Deployment;
use report::Report;
use target::Target;

/// Indexes the paths, or lists or removes what was indexed.
///
/// # Errors
///
/// When a path cannot be indexed, the data directory is in use, or the index or database fails.
/// What was indexed until then stays.
pub async fn run(config: &Config, args: IndexArgs) -> Result<u8, Failure> {
    if args.list {
        return roots::list(config, args.json).await;
    }
    if config.retrieval.disable_vector_db {
        return Err(Failure::usage(
            "search and ingestion are turned off (retrieval.disable_vector_db)",
        ));
    }
    if args.remove {
        return roots::remove(config, &args).await;
    }
    let targets = target::targets(&args, &config.data_dir).map_err(Failure::usage)?;
    let lifecycle = Lifecycle::start()?;
    let data_dir = DataDir::open(&config.data_dir, "trove index")?;
    let deployment = Deployment::open(config).await?;
    deployment.model.announce();

    let run = Run { engine: deployment.engine.clone(), config, args: &args, lifecycle: &lifecycle };
    let outcome = run.all(targets, data_dir.path()).await;
    deployment.close().await?;
    let outcome = outcome?;
    if args.json {
        print_json(&outcome.as_json())?;
    } else {
        print(&outcome.as_text())?;
    }
    outcome.code()
}

/// What became of all targets of one call.
struct Outcome {
    reports: Vec<Report>,
    /// Names of the targets that an interrupted run did not begin with.
    not_begun: Vec<String>,
}

impl Outcome {
    fn is_interrupted(&self) -> bool {
        !self.not_begun.is_empty() || self.reports.iter().any(|report| report.interrupted)
    }

    fn code(&self) -> Result<u8, Failure> {
        if self.is_interrupted() {
            return Ok(INTERRUPTED);
        }
        let held: Vec<&Report> = self.reports.iter().filter(|report| report.held > 0).collect();
        if !held.is_empty() {
            let held = held.iter().map(|report| format!("{} ({})", report.name(), report.held));
            return Err(Failure {
                code: FAILURE,
                error: anyhow!(
                    "there is nothing left to index in {}, and the documents that were indexed \
                     from there (their number in brackets) were kept: is a disk not mounted? \
                     --allow-empty removes them",
                    held.collect::<Vec<_>>().join(", ")
                ),
            });
        }
        let complete = self.reports.iter().all(Report::is_complete);
        Ok(if complete { SUCCESS } else { INCOMPLETE })
    }

    fn as_text(&self) -> String {
        let mut text: String = self.reports.iter().map(Report::as_text).collect();
        for name in &self.not_begun {
            text.push_str(&format!("{}: not reached, because of the interrupt\n", printable(name)));
        }
        text
    }

    fn as_json(&self) -> Value {
        let complete = self.not_begun.is_empty() && self.reports.iter().all(Report::is_complete);
        json!({
            "targets": self.reports.iter().map(Report::as_json).collect::<Vec<_>>(),
            "targets_not_reached": self.not_begun,
            "interrupted": self.is_interrupted(),
            "complete": complete,
        })
    }
}

/// What all targets of one call share.
struct Run<'a> {
    engine: Engine,
    config: &'a Config,
    args: &'a IndexArgs,
    lifecycle: &'a Lifecycle,
}

impl Run<'_> {
    async fn all(&self, targets: Vec<Target>, data_dir: &Path) -> anyhow::Result<Outcome> {
        // What an interrupted run left undone comes first, or it would look like success.
        self.engine.sync_documents().await.context("earlier work could not be finished")?;
        let mut outcome = Outcome { reports: Vec::new(), not_begun: Vec::new() };
        for target in targets {
            if self.lifecycle.stop().is_cancelled() {
                outcome.not_begun.push(target.name);
            } else {
                outcome.reports.push(self.one(target, data_dir).await?);
            }
        }
        Ok(outcome)
    }

    async fn one(&self, target: Target, data_dir: &Path) -> anyhow::Result<Report> {
        let pair = self.pair(&target).await?;
        let options = walk::Options {
            ignore_files: !self.args.no_ignore,
            leave_out: data_dir.canonicalize().ok(),
        };
        let (roots, stop) = (target.roots.clone(), self.lifecycle.stop().clone());
        let found = tokio::task::spawn_blocking(move || walk::walk(&roots, &options, &stop))
            .await
            .context("looking for files failed")?;

        let mut report = Report::new(target.name, pair.id, target.roots.clone(), &found);
        let blind: Vec<PathBuf> = found.unreadable.iter().map(|(dir, _)| dir.clone()).collect();
        let stop = self.lifecycle.stop();
        let limits = &self.config.ingestion;
        let kept = ingest::ingest(&self.engine, pair.id, found, limits, stop, &mut report).await?;
        report.interrupted |= report.not_reached() > 0;
        // An interrupted run has not seen everything, so it cannot know what is gone.
        if !report.interrupted {
            let mut empty = remove::without_documents(&target.roots, &kept);
            if self.args.allow_empty {
                empty.clear();
            }
            let scope =
                remove::Scope { roots: &target.roots, blind: &blind, empty: &empty, kept: &kept };
            let vanished = remove::vanished(&self.engine, pair.id, &scope, stop).await?;
            report.removed = vanished.removed;
            report.held = vanished.held;
            report.interrupted = vanished.interrupted;
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
