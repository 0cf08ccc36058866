//! From a file to a document.

use std::path::Path;

use chrono::{DateTime, SubsecRound, Utc};
use trove_domain::document::{Document, Expert, Metadata, MetadataValue};
use trove_domain::id::DocumentId;
use trove_domain::port::{ExtractError, FileFacts, TextExtractor};
use trove_domain::source::DocumentSource;
use url::Url;

/// What a file gave.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FromDisk {
    pub(super) document: Document,
    /// What could not be read of it.
    pub(super) warnings: Vec<String>,
}

/// Why a file gave no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// Its type is not one that is indexed: nothing is wrong with it.
    Unsupported(String),
    /// Something is wrong with it.
    Failed(String),
}

/// Reads a file. Blocks.
pub(super) fn read(path: &Path, extractor: &dyn TextExtractor) -> Result<FromDisk, Unread> {
    let failed = |reason: String| Unread::Failed(reason);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    is_supported(path, extractor).map_err(Unread::Unsupported)?;
    let url = file_url(path).ok_or_else(|| failed("its path has no URL".to_owned()))?;
    let id = DocumentId::new(url.clone()).map_err(|error| failed(error.to_string()))?;
    // Looked at before the content: a change in between is found by the next run.
    let modified = modified(path);
    let text = extractor.extract_file(&name, path).map_err(|error| match error {
        ExtractError::UnsupportedFormat { .. } => Unread::Unsupported(error.to_string()),
        other => failed(format!("{other} ({})", other.remedy())),
    })?;
    let title = text.title.filter(|title| !title.trim().is_empty()).unwrap_or(name);
    let mut sections = text.sections;
    for section in &mut sections {
        section.link = Some(match section.link.take() {
            Some(place) if place.starts_with('#') => format!("{url}{place}"),
            Some(link) => link,
            None => url.clone(),
        });
    }
    let about = text.about;
    let document = Document {
        id,
        sections,
        source: DocumentSource::File,
        semantic_identifier: title.clone(),
        title: Some(title),
        updated_at: about.modified_at.or(about.created_at).or(modified),
        created_at: about.created_at,
        primary_owners: about.authors.iter().map(|author| person(author)).collect(),
        secondary_owners: Vec::new(),
        metadata: metadata(about),
        from_ingestion_api: false,
        external_access: None,
    };
    Ok(FromDisk { document, warnings: text.warnings })
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

/// The time of the file's last change. Databases keep microseconds; more would look like a change
/// at the next run.
fn modified(path: &Path) -> Option<DateTime<Utc>> {
    let at = path.metadata().and_then(|about| about.modified()).ok()?;
    Some(DateTime::<Utc>::from(at).trunc_subsecs(6))
}

/// What the file says of itself, for filters and searches.
fn metadata(about: FileFacts) -> Metadata {
    let mut metadata: Metadata = about
        .properties
        .into_iter()
        .map(|(name, mut values)| match (values.pop(), values.is_empty()) {
            (Some(only), true) => (name, MetadataValue::One(only)),
            (last, _) => (name, MetadataValue::Many(values.into_iter().chain(last).collect())),
        })
        .collect();
    if let Some(language) = about.language {
        metadata.insert("language".to_owned(), MetadataValue::One(language));
    }
    metadata
}

/// A person as a file writes it: a name, an address, or `Name <address>`.
fn person(author: &str) -> Expert {
    let author = author.trim();
    let parts = author.strip_suffix('>').and_then(|author| author.rsplit_once('<'));
    let (name, email) = match parts {
        Some((name, email)) => (name.trim(), Some(email.trim())),
        None if author.contains('@') && !author.contains(' ') => ("", Some(author)),
        None => (author, None),
    };
    Expert {
        display_name: (!name.is_empty()).then(|| name.to_owned()),
        email: email.filter(|email| !email.is_empty()).map(str::to_owned),
        ..Expert::default()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use trove_domain::document::{MetadataValue, Section};
    use trove_domain::port::{ExtractError, ExtractedText, FileFacts, TextExtractor};

    use super::{FromDisk, Unread, person, read};

    struct Plain;

    impl TextExtractor for Plain {
        fn extensions(&self) -> &'static [&'static str] {
            &["txt"]
        }

        fn extract(&self, _: &str, content: &[u8]) -> Result<ExtractedText, ExtractError> {
            let text = String::from_utf8(content.to_vec()).map_err(|_| ExtractError::Binary)?;
            let at = Some("2024-02-29T10:00:00Z".parse().unwrap());
            let about = FileFacts {
                authors: vec!["Writer <writer@example.com>".to_owned()],
                created_at: at,
                language: Some("de".to_owned()),
                properties: [("to".to_owned(), vec!["a".to_owned(), "b".to_owned()])].into(),
                ..FileFacts::default()
            };
            let place = Section { text: text.clone(), link: Some("#page=2".to_owned()) };
            let sections = vec![Section { text, link: None }, place];
            Ok(ExtractedText { title: None, sections, about, warnings: vec!["half".to_owned()] })
        }

        fn extract_file(&self, name: &str, path: &Path) -> Result<ExtractedText, ExtractError> {
            self.extract(name, &fs::read(path).unwrap())
        }
    }

    #[test]
    fn a_document_is_named_and_linked_by_its_file() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a b\u{1}.txt");
        fs::write(&path, "words").unwrap();
        let FromDisk { document, warnings } = read(&path, &Plain).unwrap();
        assert!(document.id.as_str().starts_with("file:///"));
        assert!(document.id.as_str().ends_with("/a%20b%01.txt"), "{}", document.id);
        assert_eq!(document.link(), Some(document.id.as_str()));
        assert_eq!(document.semantic_identifier, "a b\u{1}.txt");
        assert!(document.updated_at.is_some());
        assert_eq!(warnings, ["half"]);
    }

    #[test]
    fn what_a_file_says_of_itself_is_part_of_the_document() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a.txt");
        fs::write(&path, "words").unwrap();
        let document = read(&path, &Plain).unwrap().document;
        assert_eq!(document.sections[1].link, Some(format!("{}#page=2", document.id)));
        assert_eq!(document.primary_owners, [person("Writer <writer@example.com>")]);
        assert_eq!(document.created_at, document.updated_at);
        assert_eq!(document.metadata["language"], MetadataValue::One("de".to_owned()));
        let to = MetadataValue::Many(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(document.metadata["to"], to);
    }

    #[test]
    fn people_have_names_and_addresses() {
        let parts = |author| {
            let person = person(author);
            (person.display_name, person.email)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parts("A B <a@example.com>"), (some("A B"), some("a@example.com")));
        assert_eq!(parts("a@example.com"), (None, some("a@example.com")));
        assert_eq!(parts("A B"), (some("A B"), None));
        assert_eq!(parts("<>"), (None, None));
    }

    #[test]
    fn whatever_is_wrong_with_a_file_is_said() {
        let temp = tempfile::tempdir().unwrap();
        let check = |name: &str, content: &[u8], wanted: &str| {
            let path = temp.path().join(name);
            fs::write(&path, content).unwrap();
            let (Unread::Failed(reason) | Unread::Unsupported(reason)) =
                read(&path, &Plain).unwrap_err();
            assert!(reason.contains(wanted), "{reason}");
        };
        check("binary.txt", &[0xff, 0xfe], "binary data");
        check("picture.png", b"", "type .png");
        check("LICENSE", b"", "without an extension");
    }
}
