//! From a file to a document.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use chrono::{DateTime, SubsecRound, Utc};
use trove_domain::document::{Document, Metadata};
use trove_domain::id::DocumentId;
use trove_domain::port::{ExtractError, TextExtractor};
use trove_domain::source::DocumentSource;
use url::Url;

/// Why a file gave no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// Its type is not one that is indexed: nothing is wrong with it.
    Unsupported(String),
    /// Something is wrong with it.
    Failed(String),
}

/// Reads a file. Blocks.
pub(super) fn read(
    path: &Path,
    extractor: &dyn TextExtractor,
    bytes_max: u64,
) -> Result<Document, Unread> {
    let failed = |reason: String| Unread::Failed(reason);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    is_supported(path, extractor).map_err(Unread::Unsupported)?;
    let url = file_url(path).ok_or_else(|| failed("its path has no URL".to_owned()))?;
    let id = DocumentId::new(url.clone()).map_err(|error| failed(error.to_string()))?;
    let (content, modified) = content(path, bytes_max).map_err(failed)?;
    let text = extractor.extract(&name, &content).map_err(|error| match error {
        ExtractError::UnsupportedFormat { .. } => Unread::Unsupported(error.to_string()),
        other => failed(other.to_string()),
    })?;
    let title = text.title.filter(|title| !title.trim().is_empty()).unwrap_or(name);
    let mut sections = text.sections;
    for section in &mut sections {
        section.link.get_or_insert_with(|| url.clone());
    }
    Ok(Document {
        id,
        sections,
        source: DocumentSource::File,
        semantic_identifier: title.clone(),
        title: Some(title),
        metadata: Metadata::new(),
        updated_at: modified,
        created_at: None,
        primary_owners: Vec::new(),
        secondary_owners: Vec::new(),
        from_ingestion_api: false,
    })
}

/// The URL of a file: plain ASCII whatever its name is, and its document's id.
pub(super) fn file_url(path: &Path) -> Option<String> {
    Url::from_file_path(path).ok().map(String::from)
}

/// What the URLs of everything below a directory begin with.
pub(super) fn directory_url(path: &Path) -> Option<String> {
    Url::from_directory_path(path).ok().map(String::from)
}

fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Whether files of this name are indexed; the error says why not.
pub(super) fn is_supported(path: &Path, extractor: &dyn TextExtractor) -> Result<(), String> {
    let extension = extension(path);
    if extractor.extensions().contains(&extension.as_str()) {
        Ok(())
    } else if extension.is_empty() {
        Err("files without an extension are not indexed".to_owned())
    } else {
        Err(format!("files of type .{extension} are not indexed"))
    }
}

fn content(path: &Path, bytes_max: u64) -> Result<(Vec<u8>, Option<DateTime<Utc>>), String> {
    let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
    let too_large = || format!("it has more than {bytes_max} bytes (ingestion.file_bytes_max)");
    // Opening a FIFO that took the file's place would wait for a writer.
    if !path.symlink_metadata().map_err(unreadable)?.is_file() {
        return Err("it is not a regular file any more".to_owned());
    }
    let file = File::open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    if about.len() > bytes_max {
        return Err(too_large());
    }
    // A file may grow while it is read.
    let mut content = Vec::with_capacity(usize::try_from(about.len()).unwrap_or(0));
    file.take(bytes_max + 1).read_to_end(&mut content).map_err(unreadable)?;
    if u64::try_from(content.len()).is_ok_and(|length| length > bytes_max) {
        return Err(too_large());
    }
    // Databases keep microseconds; more would look like a change at the next run.
    let modified = about.modified().ok().map(|at| DateTime::<Utc>::from(at).trunc_subsecs(6));
    Ok((content, modified))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use trove_domain::document::Section;
    use trove_domain::port::{ExtractError, ExtractedText, TextExtractor};

    use super::{Unread, read};

    struct Plain;

    impl TextExtractor for Plain {
        fn extensions(&self) -> &'static [&'static str] {
            &["txt"]
        }

        fn extract(&self, _: &str, content: &[u8]) -> Result<ExtractedText, ExtractError> {
            let text = String::from_utf8(content.to_vec()).map_err(|_| ExtractError::Binary)?;
            Ok(ExtractedText { title: None, sections: vec![Section { text, link: None }] })
        }
    }

    #[test]
    fn a_document_is_named_and_linked_by_its_file() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a b\u{1}.txt");
        fs::write(&path, "words").unwrap();
        let document = read(&path, &Plain, 100).unwrap();
        assert!(document.id.as_str().starts_with("file:///"));
        assert!(document.id.as_str().ends_with("/a%20b%01.txt"), "{}", document.id);
        assert_eq!(document.link(), Some(document.id.as_str()));
        assert_eq!(document.semantic_identifier, "a b\u{1}.txt");
        assert!(document.updated_at.is_some());
    }

    #[test]
    fn whatever_is_wrong_with_a_file_is_said() {
        let temp = tempfile::tempdir().unwrap();
        let check = |name: &str, content: &[u8], wanted: &str| {
            let path = temp.path().join(name);
            fs::write(&path, content).unwrap();
            let (Unread::Failed(reason) | Unread::Unsupported(reason)) =
                read(&path, &Plain, 10).unwrap_err();
            assert!(reason.contains(wanted), "{reason}");
        };
        check("large.txt", &[b'a'; 11], "more than 10 bytes");
        check("binary.txt", &[0xff, 0xfe], "binary data");
        check("picture.png", b"", "type .png");
        check("LICENSE", b"", "without an extension");
    }
}
