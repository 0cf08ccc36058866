//! Which files, and what is known about them.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use trove_domain::port::{FileKey, SourceError};

use crate::config::{batch_size, only, refused, texts};

/// Most files of one source.
const FILES_MAX: usize = 100_000;

/// One file.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) key: FileKey,
    /// The name that people know, perhaps with folders.
    pub(super) name: String,
}

/// Where metadata about the files is.
#[derive(Clone, Debug)]
pub(super) enum ZipMetadata {
    None,
    /// Here.
    Given(Value),
    /// In a stored file.
    Stored(FileKey),
}

/// Configuration of a source of files.
#[derive(Clone, Debug)]
pub(super) struct FileConfig {
    pub(super) files: Vec<Listed>,
    pub(super) zip_metadata: ZipMetadata,
    /// Tells whether a checkpoint belongs to this configuration.
    pub(super) fingerprint: String,
}

impl FileConfig {
    pub(super) fn read(config: &Map<String, Value>) -> Result<Self, SourceError> {
        only(config, &["file_locations", "file_names", "zip_metadata_file_id", "zip_metadata"])?;
        batch_size(config)?;
        if config.get("file_locations").is_none_or(Value::is_null) {
            return refused("`file_locations` is missing");
        }
        let locations = texts(config, "file_locations")?;
        if locations.is_empty() {
            return refused("`file_locations` names no file");
        }
        if locations.len() > FILES_MAX {
            return refused(format!("`file_locations` names more than {FILES_MAX} files"));
        }
        let mut names = texts(config, "file_names")?.into_iter();
        let mut hasher = Sha256::new();
        let mut files = Vec::with_capacity(locations.len());
        for location in locations {
            let Ok(key) = FileKey::new(location) else {
                return refused("`file_locations` holds what is no id of a stored file");
            };
            hasher.update(key.as_str());
            hasher.update([0]);
            let name = names.next().unwrap_or_else(|| key.as_str().to_owned());
            files.push(Listed { key, name });
        }
        let digest = hasher.finalize();
        let first = digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        let zip_metadata = zip_metadata(config)?;
        Ok(Self { files, zip_metadata, fingerprint: format!("{first:016x}") })
    }
}

fn zip_metadata(config: &Map<String, Value>) -> Result<ZipMetadata, SourceError> {
    match config.get("zip_metadata_file_id") {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) => match FileKey::new(id) {
            Ok(key) => return Ok(ZipMetadata::Stored(key)),
            Err(_) => return refused("`zip_metadata_file_id` is no id of a stored file"),
        },
        Some(_) => return refused("`zip_metadata_file_id` is no text"),
    }
    match config.get("zip_metadata") {
        None | Some(Value::Null) => Ok(ZipMetadata::None),
        Some(metadata @ (Value::Object(_) | Value::Array(_))) => {
            Ok(ZipMetadata::Given(metadata.clone()))
        }
        Some(_) => refused("`zip_metadata` is no object"),
    }
}
