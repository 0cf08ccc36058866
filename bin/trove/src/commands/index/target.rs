//! What is to be indexed, checked before anything is opened or removed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use trove_extract::InProcessExtractor;

use super::read::is_supported;
use crate::cli::IndexArgs;
use crate::commands::printable;

/// Paths that share a pair.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) roots: Vec<PathBuf>,
}

/// The targets of a call; the error names every path that cannot be indexed, and why.
pub(super) fn targets(args: &IndexArgs, data_dir: &Path) -> Result<Vec<Target>, String> {
    // Not there before the first run.
    let data_dir = data_dir.canonicalize().ok();
    let mut roots = BTreeSet::new();
    let mut problems = Vec::new();
    for path in &args.paths {
        match root(path, data_dir.as_deref()) {
            Ok(root) => {
                roots.insert(root);
            }
            Err(reason) => {
                let path = printable(&path.display().to_string()).into_owned();
                problems.push(format!("{path} cannot be indexed: {reason}"));
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n  "));
    }
    let one = |root: PathBuf| Target { name: root.display().to_string(), roots: vec![root] };
    Ok(match &args.name {
        Some(name) => vec![Target { name: name.clone(), roots: roots.into_iter().collect() }],
        None => roots.into_iter().map(one).collect(),
    })
}

/// The canonical path, if it is a folder or a file that can become a document.
fn root(path: &Path, data_dir: Option<&Path>) -> Result<PathBuf, String> {
    let root = path.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "{error}; if it was indexed before, `trove index --remove {}` takes it out of the index",
            path.display()
        ),
        _ => error.to_string(),
    })?;
    if data_dir.is_some_and(|dir| root.starts_with(dir)) {
        return Err("it is Trove's own data directory, or in it".to_owned());
    }
    let kind = fs::metadata(&root).map_err(|error| error.to_string())?.file_type();
    if kind.is_dir() {
        return Ok(root);
    }
    if kind.is_file() {
        // Only its name is asked, so no limit matters.
        return is_supported(&root, &InProcessExtractor::default()).map(|()| root);
    }
    let what = match kind {
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_block_device() || kind.is_char_device() => "a device",
        _ => "something else",
    };
    Err(format!("it is {what}, neither a file nor a folder"))
}
