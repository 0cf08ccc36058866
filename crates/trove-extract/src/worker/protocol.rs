//! What goes over the pipes: a head in JSON behind its length, and texts as they are behind it.
//!
//! A worker that a file has taken over may say anything, so the one who asks bounds every length.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use trove_domain::document::Section;
use trove_domain::port::{ExtractError, ExtractedText, FileFacts, Resource};

use crate::budget::Budget;

/// Longest head in bytes. Facts are bounded, and sections are as many as pages.
const HEAD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A file to read.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) file_name: String,
    pub(super) budget: Budget,
    pub(super) content: Content,
}

/// Where the bytes of a file are.
#[derive(Debug)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    File(PathBuf),
}

impl Content {
    /// Bytes of the file, as far as they can be told.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len().try_into().unwrap_or(u64::MAX),
            Self::File(path) => path.metadata().map_or(0, |about| about.len()),
        }
    }
}

#[derive(Deserialize, Serialize)]
struct RequestHead {
    file_name: String,
    budget: Budget,
    /// The bytes that follow are the content, or its path.
    is_path: bool,
    length: u64,
}

#[derive(Deserialize, Serialize)]
enum AnswerHead {
    Text {
        title: Option<String>,
        /// Bytes of the text of each section, and its link.
        sections: Vec<(usize, Option<String>)>,
        authors: Vec<String>,
        created_at: Option<DateTime<Utc>>,
        modified_at: Option<DateTime<Utc>>,
        language: Option<String>,
        links: Vec<String>,
        properties: Vec<(String, Vec<String>)>,
        warnings: Vec<String>,
    },
    Error(Error),
}

/// [`ExtractError`], for the way.
#[derive(Deserialize, Serialize)]
enum Error {
    UnsupportedFormat { extension: String },
    Binary,
    TooLong { max_chars: usize },
    OutOfBudget { resource: usize, limit: u64 },
    Encrypted,
    Malformed { format: String, detail: String },
    Unreadable { detail: String },
    TimedOut { after: Duration },
    Crashed { detail: String },
}

/// Asks for the text of a file that is in memory.
pub(super) fn write_bytes(
    out: &mut impl Write,
    file_name: &str,
    budget: Budget,
    content: &[u8],
) -> io::Result<()> {
    write_request(out, file_name, budget, false, content)
}

/// Asks for the text of a file on the disk.
pub(super) fn write_path(
    out: &mut impl Write,
    file_name: &str,
    budget: Budget,
    path: &Path,
) -> io::Result<()> {
    write_request(out, file_name, budget, true, path.as_os_str().as_encoded_bytes())
}

fn write_request(
    out: &mut impl Write,
    file_name: &str,
    budget: Budget,
    is_path: bool,
    content: &[u8],
) -> io::Result<()> {
    let length = u64::try_from(content.len()).map_err(io::Error::other)?;
    write_head(out, &RequestHead { file_name: file_name.to_owned(), budget, is_path, length })?;
    out.write_all(content)?;
    out.flush()
}

/// The next request; `None` when there are no more.
pub(super) fn read_request(input: &mut impl Read) -> io::Result<Option<Request>> {
    let Some(head) = read_head::<RequestHead>(input)? else { return Ok(None) };
    let mut content = Vec::new();
    input.take(head.length).read_to_end(&mut content)?;
    let content =
        if head.is_path { Content::File(path_of(content)?) } else { Content::Bytes(content) };
    Ok(Some(Request { file_name: head.file_name, budget: head.budget, content }))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn path_of(bytes: Vec<u8>) -> io::Result<PathBuf> {
    let path: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes);
    Ok(path.into())
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> io::Result<PathBuf> {
    String::from_utf8(bytes).map(PathBuf::from).map_err(io::Error::other)
}

/// Answers a request.
pub(super) fn write_answer(
    out: &mut impl Write,
    answer: &Result<ExtractedText, ExtractError>,
) -> io::Result<()> {
    match answer {
        Ok(text) => {
            let sections = text.sections.iter();
            let about = &text.about;
            let properties = about.properties.iter();
            write_head(
                out,
                &AnswerHead::Text {
                    title: text.title.clone(),
                    sections: sections.map(|one| (one.text.len(), one.link.clone())).collect(),
                    authors: about.authors.clone(),
                    created_at: about.created_at,
                    modified_at: about.modified_at,
                    language: about.language.clone(),
                    links: about.links.clone(),
                    properties: properties.map(|(name, all)| (name.clone(), all.clone())).collect(),
                    warnings: text.warnings.clone(),
                },
            )?;
            for section in &text.sections {
                out.write_all(section.text.as_bytes())?;
            }
        }
        Err(error) => write_head(out, &AnswerHead::Error(Error::of(error)))?,
    }
    out.flush()
}

/// An answer of at most `chars` characters.
pub(super) fn read_answer(
    input: &mut impl Read,
    chars: usize,
) -> io::Result<Result<ExtractedText, ExtractError>> {
    let head = read_head(input)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let (title, lengths, about, warnings) = match head {
        AnswerHead::Error(error) => return Ok(Err(error.into())),
        AnswerHead::Text {
            title,
            sections,
            authors,
            created_at,
            modified_at,
            language,
            links,
            properties,
            warnings,
        } => {
            let properties = properties.into_iter().collect();
            let about = FileFacts { authors, created_at, modified_at, language, links, properties };
            (title, sections, about, warnings)
        }
    };
    // A character has four bytes at most.
    let mut left = chars.saturating_mul(4);
    let mut sections = Vec::with_capacity(lengths.len());
    for (length, link) in lengths {
        left = left.checked_sub(length).ok_or(io::ErrorKind::InvalidData)?;
        let mut text = vec![0; length];
        input.read_exact(&mut text)?;
        let text = String::from_utf8(text).map_err(io::Error::other)?;
        sections.push(Section { text, link });
    }
    Ok(Ok(ExtractedText { title, sections, about, warnings }))
}

fn write_head(out: &mut impl Write, head: &impl Serialize) -> io::Result<()> {
    let head = serde_json::to_vec(head)?;
    let length = u32::try_from(head.len()).map_err(io::Error::other)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&head)
}

/// The next head; `None` where the input ends before it.
fn read_head<H: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<H>> {
    let mut length = Vec::new();
    input.take(4).read_to_end(&mut length)?;
    if length.is_empty() {
        return Ok(None);
    }
    let length: [u8; 4] = length.try_into().map_err(|_| io::ErrorKind::UnexpectedEof)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > HEAD_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut head = vec![0; length];
    input.read_exact(&mut head)?;
    Ok(Some(serde_json::from_slice(&head)?))
}

impl Error {
    fn of(error: &ExtractError) -> Self {
        match error.clone() {
            ExtractError::UnsupportedFormat { extension } => Self::UnsupportedFormat { extension },
            ExtractError::Binary => Self::Binary,
            ExtractError::TooLong { max_chars } => Self::TooLong { max_chars },
            ExtractError::OutOfBudget { resource, limit } => {
                let resource = Resource::ALL.iter().position(|one| *one == resource);
                Self::OutOfBudget { resource: resource.unwrap_or_default(), limit }
            }
            ExtractError::Encrypted => Self::Encrypted,
            ExtractError::Malformed { format, detail } => Self::Malformed { format, detail },
            ExtractError::Unreadable { detail } => Self::Unreadable { detail },
            ExtractError::TimedOut { after } => Self::TimedOut { after },
            ExtractError::Crashed { detail } => Self::Crashed { detail },
            other => Self::Crashed { detail: other.to_string() },
        }
    }
}

impl From<Error> for ExtractError {
    fn from(error: Error) -> Self {
        match error {
            Error::UnsupportedFormat { extension } => Self::UnsupportedFormat { extension },
            Error::Binary => Self::Binary,
            Error::TooLong { max_chars } => Self::TooLong { max_chars },
            Error::OutOfBudget { resource, limit } => {
                let resource = Resource::ALL.get(resource).copied();
                Self::OutOfBudget { resource: resource.unwrap_or(Resource::Memory), limit }
            }
            Error::Encrypted => Self::Encrypted,
            Error::Malformed { format, detail } => Self::Malformed { format, detail },
            Error::Unreadable { detail } => Self::Unreadable { detail },
            Error::TimedOut { after } => Self::TimedOut { after },
            Error::Crashed { detail } => Self::Crashed { detail },
        }
    }
}

#[cfg(test)]
mod tests {
    use trove_domain::document::Section;
    use trove_domain::port::{ExtractError, ExtractedText, FileFacts, Resource};

    use super::{read_answer, write_answer};

    fn there_and_back(answer: &Result<ExtractedText, ExtractError>) {
        let mut sent = Vec::new();
        write_answer(&mut sent, answer).unwrap();
        assert_eq!(&read_answer(&mut sent.as_slice(), 1000).unwrap(), answer);
        for cut in 0..sent.len() {
            assert!(read_answer(&mut &sent[..cut], 1000).is_err(), "{cut}");
        }
    }

    #[test]
    fn answers_arrive_as_they_were() {
        let link = Some("#page=1".to_owned());
        let section = |text: &str| Section { text: text.to_owned(), link: link.clone() };
        there_and_back(&Ok(ExtractedText {
            title: Some("世界".to_owned()),
            sections: vec![section("Grüße"), section("")],
            about: FileFacts {
                authors: vec!["Writer".to_owned()],
                created_at: Some("2024-02-29T10:00:00Z".parse().unwrap()),
                properties: [("to".to_owned(), vec!["Reader".to_owned()])].into(),
                ..FileFacts::default()
            },
            warnings: vec!["a warning".to_owned()],
        }));
        for resource in Resource::ALL {
            there_and_back(&Err(ExtractError::OutOfBudget { resource, limit: 3 }));
        }
        there_and_back(&Err(ExtractError::Encrypted));
    }

    #[test]
    fn a_liar_is_not_believed() {
        let mut sent = Vec::new();
        let text = Section { text: "a".repeat(100), link: None };
        let answer = Ok(ExtractedText { sections: vec![text], ..ExtractedText::default() });
        write_answer(&mut sent, &answer).unwrap();
        assert!(read_answer(&mut sent.as_slice(), 10).is_err());
        assert!(read_answer(&mut u32::MAX.to_le_bytes().as_slice(), 10).is_err());
    }
}
