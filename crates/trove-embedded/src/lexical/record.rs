//! Chunks as they are stored: the only file that knows the stored form.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tantivy::TantivyDocument;
use tantivy::schema::Field;
use tantivy::schema::document::{DeserializeError, DocumentDeserialize, DocumentDeserializer};
use trove_analysis::{Language, Profile};
use trove_domain::access::{AclTag, DocumentAccess};
use trove_domain::chunk::Chunk;
use trove_domain::document::{DocumentAttributes, MetadataValue, keywords};
use trove_domain::id::{DocumentId, DocumentSetId};

use super::analysis::marked;
use super::schema::Fields;

/// What the chunks of a document share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Head {
    pub id: DocumentId,
    pub revision: i64,
    pub title: Option<String>,
    pub attributes: DocumentAttributes,
}

/// A stored value that cannot be read back.
#[derive(Debug, thiserror::Error)]
#[error("a stored {part} is not readable: {problem}")]
pub(crate) struct UnreadableRecord {
    part: &'static str,
    problem: String,
}

impl UnreadableRecord {
    fn new(part: &'static str, problem: &dyn std::fmt::Display) -> Self {
        Self { part, problem: problem.to_string() }
    }
}

/// [`Head`] on disk. Fields may be added with a default; anything else is a new format.
#[derive(Serialize, Deserialize)]
struct StoredHead {
    id: String,
    revision: i64,
    title: Option<String>,
    semantic_identifier: String,
    source: String,
    public: bool,
    acl: Vec<String>,
    document_sets: Vec<i32>,
    hidden: bool,
    boost: i32,
    metadata: BTreeMap<String, StoredValue>,
    updated_at: Option<DateTime<Utc>>,
    created_at: Option<DateTime<Utc>>,
    primary_owners: Vec<String>,
    secondary_owners: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredValue {
    One(String),
    Many(Vec<String>),
}

impl From<&Head> for StoredHead {
    fn from(head: &Head) -> Self {
        let Head { id, revision, title, attributes } = head;
        // Destructured in full: a new attribute is a compile error here, not a silent drop.
        let DocumentAttributes {
            semantic_identifier,
            source,
            access: DocumentAccess { public, tags },
            document_sets,
            hidden,
            boost,
            metadata,
            updated_at,
            created_at,
            primary_owners,
            secondary_owners,
        } = attributes;
        Self {
            id: id.as_str().to_owned(),
            revision: *revision,
            title: title.clone(),
            semantic_identifier: semantic_identifier.clone(),
            source: source.as_str().to_owned(),
            public: *public,
            acl: tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
            document_sets: document_sets.iter().map(|set| set.0).collect(),
            hidden: *hidden,
            boost: *boost,
            metadata: metadata
                .iter()
                .map(|(key, value)| {
                    let value = match value {
                        MetadataValue::One(value) => StoredValue::One(value.clone()),
                        MetadataValue::Many(values) => StoredValue::Many(values.clone()),
                    };
                    (key.clone(), value)
                })
                .collect(),
            updated_at: *updated_at,
            created_at: *created_at,
            primary_owners: primary_owners.clone(),
            secondary_owners: secondary_owners.clone(),
        }
    }
}

impl TryFrom<StoredHead> for Head {
    type Error = UnreadableRecord;

    fn try_from(stored: StoredHead) -> Result<Self, UnreadableRecord> {
        let source = stored.source.parse().map_err(|e| UnreadableRecord::new("source", &e))?;
        let id =
            DocumentId::new(stored.id).map_err(|e| UnreadableRecord::new("document id", &e))?;
        let metadata = stored.metadata.into_iter().map(|(key, value)| {
            let value = match value {
                StoredValue::One(value) => MetadataValue::One(value),
                StoredValue::Many(values) => MetadataValue::Many(values),
            };
            (key, value)
        });
        Ok(Self {
            id,
            revision: stored.revision,
            title: stored.title,
            attributes: DocumentAttributes {
                semantic_identifier: stored.semantic_identifier,
                source,
                access: DocumentAccess {
                    public: stored.public,
                    tags: stored.acl.into_iter().map(AclTag::from_stored).collect(),
                },
                document_sets: stored
                    .document_sets
                    .into_iter()
                    .map(DocumentSetId)
                    .collect::<BTreeSet<_>>(),
                hidden: stored.hidden,
                boost: stored.boost,
                metadata: metadata.collect(),
                updated_at: stored.updated_at,
                created_at: stored.created_at,
                primary_owners: stored.primary_owners,
                secondary_owners: stored.secondary_owners,
            },
        })
    }
}

/// A document in the form tantivy takes: what every entry repeats is prepared once.
pub(crate) struct RecordWriter<'a> {
    fields: Fields,
    head: &'a Head,
    stored_head: String,
    terms: &'a [String],
    /// Languages that the text may be in; empty for any.
    languages: &'a [Language],
    /// What is searched beside title and text.
    keywords: String,
}

impl<'a> RecordWriter<'a> {
    pub(crate) fn new(
        fields: Fields,
        head: &'a Head,
        terms: &'a [String],
        languages: &'a [Language],
    ) -> Result<Self, serde_json::Error> {
        let stored_head = serde_json::to_string(&StoredHead::from(head))?;
        let keywords: Vec<&str> = keywords(&head.attributes.metadata).collect();
        Ok(Self { fields, head, stored_head, terms, languages, keywords: keywords.join("\n") })
    }

    /// The entry of one chunk.
    pub(crate) fn entry(&self, key: u64, chunk: &Chunk, vector: Option<&[f32]>) -> TantivyDocument {
        let Self { fields, head, stored_head, terms, languages, keywords } = self;
        let mut entry = TantivyDocument::new();
        entry.add_text(fields.document, head.id.as_str());
        entry.add_u64(fields.key, key);
        entry.add_u64(fields.ordinal, u64::from(chunk.ordinal));
        entry.add_i64(fields.revision, head.revision);
        for term in *terms {
            entry.add_text(fields.terms, term);
        }
        let title = head.title.as_deref().unwrap_or_default();
        let searched = format!("{title}\n{}\n{keywords}", chunk.text);
        let profile = Profile::detect_among(&searched, languages);
        for language in profile.special_languages().iter() {
            entry.add_text(fields.languages, language.code());
        }
        let searched = marked(profile, &searched);
        entry.add_text(fields.function_words, &searched);
        entry.add_text(fields.words, searched);
        if let Some(title) = &head.title {
            entry.add_text(fields.title_words, marked(profile, title));
        }
        if let Some(instant) = head.attributes.updated_at {
            entry.add_i64(fields.updated_at, instant.timestamp_micros());
        }
        if let Some(instant) = head.attributes.created_at {
            entry.add_i64(fields.created_at, instant.timestamp_micros());
        }
        if chunk.ordinal == 0 {
            entry.add_text(fields.head, stored_head);
        }
        entry.add_text(fields.text, &chunk.text);
        entry.add_text(fields.blurb, &chunk.blurb);
        if let Some(link) = &chunk.link {
            entry.add_text(fields.link, link);
        }
        if let Some(vector) = vector {
            entry.add_text(fields.vector, to_text(vector));
        }
        entry
    }
}

/// The stored fields of an entry, which are all text, each at most once. Read straight from the
/// store: tantivy's own document copies every value twice.
#[derive(Debug)]
pub(crate) struct StoredEntry(Vec<(Field, String)>);

impl DocumentDeserialize for StoredEntry {
    fn deserialize<'de, D: DocumentDeserializer<'de>>(
        mut deserializer: D,
    ) -> Result<Self, DeserializeError> {
        let mut values = Vec::with_capacity(deserializer.size_hint());
        while let Some(value) = deserializer.next_field()? {
            values.push(value);
        }
        Ok(Self(values))
    }
}

impl StoredEntry {
    fn get(&self, field: Field) -> Option<&str> {
        self.0.iter().find(|(name, _)| *name == field).map(|(_, value)| value.as_str())
    }

    fn take(&mut self, field: Field) -> Option<String> {
        let (_, value) = self.0.iter_mut().find(|(name, _)| *name == field)?;
        Some(std::mem::take(value))
    }
}

/// The shared part of a document from its first entry.
pub(crate) fn read_head(fields: &Fields, entry: &StoredEntry) -> Result<Head, UnreadableRecord> {
    let text = entry
        .get(fields.head)
        .ok_or_else(|| UnreadableRecord::new("document head", &"it is absent"))?;
    serde_json::from_str::<StoredHead>(text)
        .map_err(|error| UnreadableRecord::new("document head", &error))?
        .try_into()
}

/// A chunk from its entry; `ordinal` is known from elsewhere.
pub(crate) fn read_chunk(
    fields: &Fields,
    mut entry: StoredEntry,
    ordinal: u32,
    with_vector: bool,
) -> Chunk {
    let vector = with_vector.then(|| entry.get(fields.vector).map(from_text)).flatten();
    Chunk {
        ordinal,
        text: entry.take(fields.text).unwrap_or_default(),
        blurb: entry.take(fields.blurb).unwrap_or_default(),
        link: entry.take(fields.link),
        vector,
    }
}

/// A vector as text of seven bits per character.
///
/// tantivy reads stored bytes one by one and stored text in one go, which is the difference between
/// thirty microseconds and one for every hit that is fetched.
fn to_text(vector: &[f32]) -> String {
    let mut text = String::with_capacity((vector.len() * 32).div_ceil(7));
    let (mut bits, mut count) = (0u64, 0u32);
    let mut push = |bits: u64| text.push(char::from(u8::try_from(bits & 0x7f).unwrap_or(0)));
    for value in vector {
        bits |= u64::from(value.to_bits()) << count;
        count += 32;
        while count >= 7 {
            push(bits);
            bits >>= 7;
            count -= 7;
        }
    }
    if count > 0 {
        push(bits);
    }
    text
}

fn from_text(text: &str) -> Vec<f32> {
    let mut vector = Vec::with_capacity(text.len() * 7 / 32);
    let (mut bits, mut count) = (0u64, 0u32);
    for byte in text.bytes() {
        bits |= u64::from(byte & 0x7f) << count;
        count += 7;
        if count >= 32 {
            vector.push(f32::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or(0)));
            bits >>= 32;
            count -= 32;
        }
    }
    vector
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{from_text, to_text};

    proptest! {
        #[test]
        fn vectors_survive_as_text(bits in proptest::collection::vec(any::<u32>(), 0..50)) {
            let vector: Vec<f32> = bits.iter().copied().map(f32::from_bits).collect();
            let read: Vec<u32> = from_text(&to_text(&vector)).iter().map(|v| v.to_bits()).collect();
            prop_assert_eq!(read, bits);
        }
    }
}
