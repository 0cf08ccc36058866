//! What a run did, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use trove_domain::id::CcPairId;

use super::walk::Found;

/// Outcomes for one target. Every file that was seen is in exactly one of them.
pub(super) struct Report {
    name: String,
    pair: CcPairId,
    started: Instant,
    /// What the user named.
    roots: Vec<PathBuf>,
    files: usize,
    pub(super) indexed: usize,
    pub(super) updated: usize,
    pub(super) unchanged: usize,
    pub(super) empty: usize,
    pub(super) removed: usize,
    failed: Vec<(PathBuf, String)>,
    skipped: Vec<(PathBuf, String)>,
    unreadable: Vec<(PathBuf, String)>,
}

impl Report {
    /// Nothing is done yet.
    pub(super) fn new(name: String, pair: CcPairId, roots: Vec<PathBuf>, found: &Found) -> Self {
        Self {
            name,
            pair,
            started: Instant::now(),
            roots,
            files: found.files.len(),
            indexed: 0,
            updated: 0,
            unchanged: 0,
            empty: 0,
            removed: 0,
            failed: Vec::new(),
            skipped: found.skipped.clone(),
            unreadable: found.unreadable.clone(),
        }
    }

    /// A file could not be indexed.
    pub(super) fn fail(&mut self, path: PathBuf, reason: String) {
        self.failed.push((path, reason));
    }

    /// A file is not of a type that is indexed. That is what folders are full of, but a failure for
    /// a file that was asked for by name.
    pub(super) fn skip(&mut self, path: PathBuf, reason: String) {
        let list = if self.roots.contains(&path) { &mut self.failed } else { &mut self.skipped };
        list.push((path, reason));
    }

    /// Whether everything that should be indexed is.
    pub(super) fn is_complete(&self) -> bool {
        self.failed.is_empty() && self.unreadable.is_empty()
    }

    /// A paragraph.
    pub(super) fn as_text(&self) -> String {
        let mut text = format!(
            "{} (pair {}): {} files in {:.1} s: {} indexed, {} updated, {} unchanged, {} empty, \
             {} failed, {} of other types; {} removed\n",
            self.name,
            self.pair,
            self.files,
            self.started.elapsed().as_secs_f64(),
            self.indexed,
            self.updated,
            self.unchanged,
            self.empty,
            self.failed.len(),
            self.unsupported(),
            self.removed,
        );
        for (path, reason) in self.failed.iter().chain(&self.unreadable) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  failed: {}: {reason}", path.display());
        }
        for (reason, paths) in by_reason(&self.skipped) {
            let _ = match paths.as_slice() {
                [path] => writeln!(text, "  skipped: {}: {reason}", path.display()),
                paths => writeln!(text, "  skipped: {} files: {reason}", paths.len()),
            };
        }
        text
    }

    /// The same, with the path of every file that was not indexed.
    pub(super) fn as_json(&self) -> Value {
        let list = |entries: &[(PathBuf, String)]| -> Vec<Value> {
            let entry = |(path, reason): &(PathBuf, String)| json!({ "path": path.display().to_string(), "reason": reason });
            entries.iter().map(entry).collect()
        };
        json!({
            "name": self.name,
            "cc_pair": self.pair.0,
            "files": self.files,
            "indexed": self.indexed,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "empty": self.empty,
            "removed": self.removed,
            "failed": list(&self.failed),
            "skipped": list(&self.skipped),
            "unreadable_folders": list(&self.unreadable),
            "complete": self.is_complete(),
        })
    }

    fn unsupported(&self) -> usize {
        self.files.saturating_sub(
            self.indexed + self.updated + self.unchanged + self.empty + self.failed.len(),
        )
    }
}

fn by_reason(entries: &[(PathBuf, String)]) -> BTreeMap<&str, Vec<&Path>> {
    let mut reasons: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for (path, reason) in entries {
        reasons.entry(reason).or_default().push(path);
    }
    reasons
}
