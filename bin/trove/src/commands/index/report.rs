//! What a run did, for people and for programs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use trove_domain::id::CcPairId;

use super::walk::Found;
use crate::commands::printable;

/// Outcomes for one target. Every file that was seen is in exactly one of them, or was not reached.
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
    /// Of a type that is not indexed.
    unsupported: usize,
    pub(super) removed: usize,
    /// Documents that were kept because nothing is left of their root.
    pub(super) held: usize,
    /// Whether a signal ended the work before its end.
    pub(super) interrupted: bool,
    failed: Vec<(PathBuf, String)>,
    /// What could not be read of files that were.
    warnings: Vec<(PathBuf, String)>,
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
            unsupported: 0,
            removed: 0,
            held: 0,
            interrupted: found.interrupted,
            failed: Vec::new(),
            warnings: Vec::new(),
            skipped: found.skipped.clone(),
            unreadable: found.unreadable.clone(),
        }
    }

    /// A file could not be indexed.
    pub(super) fn fail(&mut self, path: PathBuf, reason: String) {
        self.failed.push((path, reason));
    }

    /// A part of a file could not be read.
    pub(super) fn warn(&mut self, path: PathBuf, warning: String) {
        self.warnings.push((path, warning));
    }

    /// A file is not of a type that is indexed. That is what folders are full of, but a failure for
    /// a file that was asked for by name.
    pub(super) fn skip(&mut self, path: PathBuf, reason: String) {
        if self.roots.contains(&path) {
            self.failed.push((path, reason));
        } else {
            self.unsupported += 1;
            self.skipped.push((path, reason));
        }
    }

    /// What was indexed, for messages.
    pub(super) fn name(&self) -> Cow<'_, str> {
        printable(&self.name)
    }

    /// Files that were found but not worked on, because of an interrupt.
    pub(super) fn not_reached(&self) -> usize {
        let done = [self.indexed, self.updated, self.unchanged, self.empty, self.unsupported];
        self.files.saturating_sub(done.iter().sum::<usize>() + self.failed.len())
    }

    /// Whether everything that should be indexed is.
    pub(super) fn is_complete(&self) -> bool {
        self.failed.is_empty() && self.unreadable.is_empty() && self.held == 0 && !self.interrupted
    }

    /// A paragraph.
    pub(super) fn as_text(&self) -> String {
        let mut text = format!(
            "{} (pair {}): {} files in {:.1} s: {} indexed, {} updated, {} unchanged, {} empty, \
             {} failed, {} of other types{}; {} removed\n",
            self.name(),
            self.pair,
            self.files,
            self.started.elapsed().as_secs_f64(),
            self.indexed,
            self.updated,
            self.unchanged,
            self.empty,
            self.failed.len(),
            self.unsupported,
            if self.interrupted {
                format!(", {} not reached", self.not_reached())
            } else {
                String::new()
            },
            self.removed,
        );
        if self.interrupted {
            text.push_str("  interrupted: the next run goes on with what is left\n");
        }
        if self.held > 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  kept: {} documents, none of whose files is left", self.held);
        }
        for (path, reason) in self.failed.iter().chain(&self.unreadable) {
            let _ = writeln!(text, "  failed: {}: {reason}", shown(path));
        }
        for (path, warning) in &self.warnings {
            let _ = writeln!(text, "  in part: {}: {}", shown(path), printable(warning));
        }
        for (reason, paths) in by_reason(&self.skipped) {
            let reason = printable(reason);
            let _ = match paths.as_slice() {
                [path] => writeln!(text, "  skipped: {}: {reason}", shown(path)),
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
            "not_reached": self.not_reached(),
            "removed": self.removed,
            "kept_though_gone": self.held,
            "failed": list(&self.failed),
            "warnings": list(&self.warnings),
            "skipped": list(&self.skipped),
            "unreadable_folders": list(&self.unreadable),
            "interrupted": self.interrupted,
            "complete": self.is_complete(),
        })
    }
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

fn by_reason(entries: &[(PathBuf, String)]) -> BTreeMap<&str, Vec<&Path>> {
    let mut reasons: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for (path, reason) in entries {
        reasons.entry(reason).or_default().push(path);
    }
    reasons
}

#[cfg(test)]
mod tests {
    use trove_domain::id::CcPairId;

    use super::{Found, Report};

    /// Every file is counted once, and what was not reached is not of another type.
    #[test]
    fn an_interrupted_report_says_what_was_not_reached() {
        let files = ["a.txt", "b.png", "c.txt", "d.txt", "e.txt", "f\u{1b}.txt"];
        let files = files.map(|file| std::path::Path::new("/docs").join(file)).to_vec();
        let found = Found { files: files.clone(), ..Found::default() };
        let mut report = Report::new("/docs".to_owned(), CcPairId(2), vec!["/docs".into()], &found);
        report.indexed = 1;
        report.skip(files[1].clone(), "files of type .png are not indexed".to_owned());
        report.fail(files[5].clone(), "no text".to_owned());
        assert_eq!(report.not_reached(), 3);
        report.interrupted = true;

        let text = report.as_text();
        assert!(text.contains("1 of other types, 3 not reached; 0 removed"), "{text}");
        assert!(text.contains("interrupted"), "{text}");
        assert!(text.contains("/docs/f\\u{1b}.txt"), "{text}");
        let json = report.as_json();
        assert_eq!(json["not_reached"], 3);
        assert_eq!(
            (json["interrupted"].as_bool(), json["complete"].as_bool()),
            (Some(true), Some(false))
        );

        report.interrupted = false;
        assert!(!report.as_text().contains("not reached"));
    }
}
