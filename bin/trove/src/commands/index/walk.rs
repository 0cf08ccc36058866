//! Which files there are.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use tokio_util::sync::CancellationToken;

/// What to leave out.
pub(super) struct Options {
    /// Whether `.gitignore` and `.ignore` files are heeded.
    pub(super) ignore_files: bool,
    /// A directory to pass by: our own data.
    pub(super) leave_out: Option<PathBuf>,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Regular files, in order of their paths.
    pub(super) files: Vec<PathBuf>,
    /// Things that are no regular files, with the reason why they were passed by.
    pub(super) skipped: Vec<(PathBuf, String)>,
    /// Folders that could not be read, and why. What is below them is not known.
    pub(super) unreadable: Vec<(PathBuf, String)>,
    /// Whether there may be more, because of an interrupt.
    pub(super) interrupted: bool,
}

/// Looks for files below `roots`, which have to be canonical. Hidden files are left out, and
/// symbolic links are not followed. Ends early when `stop` is cancelled.
pub(super) fn walk(roots: &[PathBuf], options: &Options, stop: &CancellationToken) -> Found {
    let mut found = Found::default();
    for root in roots {
        walk_one(root, options, stop, &mut found);
    }
    found
}

fn walk_one(root: &Path, options: &Options, stop: &CancellationToken, found: &mut Found) {
    let leave_out = options.leave_out.clone();
    let walk = WalkBuilder::new(root)
        .follow_links(false)
        .hidden(true)
        .ignore(options.ignore_files)
        .git_ignore(options.ignore_files)
        .git_exclude(options.ignore_files)
        .parents(options.ignore_files)
        // The same files on every machine: neither personal settings nor a checkout matter.
        .git_global(false)
        .require_git(false)
        .sort_by_file_path(Path::cmp)
        .filter_entry(move |entry| leave_out.as_deref() != Some(entry.path()))
        .build();
    for entry in walk {
        if stop.is_cancelled() {
            found.interrupted = true;
            return;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                // Without a path nothing is known of the whole root.
                let path = path_of(&error).unwrap_or(root).to_owned();
                found.unreadable.push((path, reason(&error)));
                continue;
            }
        };
        let path = entry.path().to_owned();
        match entry.file_type() {
            Some(kind) if kind.is_dir() => {}
            Some(kind) if kind.is_file() => found.files.push(path),
            Some(kind) if kind.is_symlink() => {
                found.skipped.push((path, "symbolic links are not followed".to_owned()));
            }
            Some(_) | None => found.skipped.push((path, "it is not a regular file".to_owned())),
        }
    }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::Partial(errors) => errors.iter().find_map(path_of),
        _ => None,
    }
}

/// The error without the path, which is shown beside it.
fn reason(error: &ignore::Error) -> String {
    match error.io_error() {
        Some(error) => error.to_string(),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tokio_util::sync::CancellationToken;

    use super::{Options, walk};

    fn names(options: &Options) -> Vec<String> {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("sub/data")).unwrap();
        for file in ["b.md", "a.txt", ".hidden.md", "ignored.md", "sub/c.md", "sub/data/d.md"] {
            fs::write(root.join(file), "text").unwrap();
        }
        fs::write(root.join(".gitignore"), "ignored.md\n").unwrap();
        std::os::unix::fs::symlink(root.join("b.md"), root.join("link.md")).unwrap();
        let leave_out = options.leave_out.as_ref().map(|dir| root.join(dir));
        let options = Options { ignore_files: options.ignore_files, leave_out };
        let found = walk(std::slice::from_ref(&root), &options, &CancellationToken::new());
        assert_eq!(found.skipped.len(), 1);
        assert!(found.unreadable.is_empty());
        let relative = found.files.iter().map(|file| file.strip_prefix(&root).unwrap());
        relative.map(|file| file.display().to_string()).collect()
    }

    #[test]
    fn hidden_files_links_and_what_is_ignored_are_left_out() {
        let plain = Options { ignore_files: true, leave_out: None };
        assert_eq!(names(&plain), ["a.txt", "b.md", "sub/c.md", "sub/data/d.md"]);
        let own_data = Options { ignore_files: true, leave_out: Some("sub/data".into()) };
        assert_eq!(names(&own_data), ["a.txt", "b.md", "sub/c.md"]);
        let all = Options { ignore_files: false, leave_out: None };
        assert_eq!(names(&all), ["a.txt", "b.md", "ignored.md", "sub/c.md", "sub/data/d.md"]);
    }
}
