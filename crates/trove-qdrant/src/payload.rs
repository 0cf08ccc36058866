//! Values of points, in and out.

use std::collections::HashMap;

use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{ListValue, PointId, Value};
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::error::Unreadable;

/// The payload of a point.
pub(crate) type Payload = HashMap<String, Value>;

/// A version of a document: drawn for each write, never used twice.
pub(crate) type Version = Uuid;

/// Names of payload fields. Points carry what they need of them.
pub(crate) mod field {
    /// Id of the document.
    pub(crate) const DOCUMENT: &str = "document";
    /// The version that a chunk belongs to, that a head says is current, that a write makes.
    pub(crate) const VERSION: &str = "version";
    /// Position of a chunk in its document.
    pub(crate) const ORDINAL: &str = "ordinal";
    /// Text of a chunk as shown.
    pub(crate) const TEXT: &str = "text";
    /// Beginning of the text.
    pub(crate) const BLURB: &str = "blurb";
    /// Where a reader finds it.
    pub(crate) const LINK: &str = "link";
    /// Who may read it, see `filter`.
    pub(crate) const ACCESS: &str = "access";
    /// The system it comes from.
    pub(crate) const SOURCE: &str = "source";
    /// Ids of the sets it belongs to.
    pub(crate) const DOCUMENT_SETS: &str = "document_sets";
    /// Metadata as keys with values.
    pub(crate) const TAGS: &str = "tags";
    /// Microseconds since 1970; absent when unknown.
    pub(crate) const UPDATED_AT: &str = "updated_at";
    /// Microseconds since 1970; absent when unknown.
    pub(crate) const CREATED_AT: &str = "created_at";
    /// Revision of a document, on its head.
    pub(crate) const REVISION: &str = "revision";
    /// Number of chunks of a document, on its head.
    pub(crate) const CHUNKS: &str = "chunks";
    /// Title and attributes of a document, on its head.
    pub(crate) const HEAD: &str = "head";
    /// Microseconds since 1970 when a write began, on its intent.
    pub(crate) const BEGAN_AT: &str = "began_at";
    /// Versions that a write leaves behind unless they are current, on its intent.
    pub(crate) const TOUCHED: &str = "touched";
}

pub(crate) fn point_id(id: Uuid) -> PointId {
    PointId::from(id.to_string())
}

/// An id that follows from `parts` and from nothing else.
pub(crate) fn derived_id(parts: &[&[u8]]) -> Uuid {
    let mut hash = Sha256::new();
    for part in parts {
        // Lengths keep parts apart.
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

pub(crate) fn list<T: Into<Value>>(values: impl IntoIterator<Item = T>) -> Value {
    let values = values.into_iter().map(Into::into).collect();
    Value { kind: Some(Kind::ListValue(ListValue { values })) }
}

/// Takes a text out of a payload.
pub(crate) fn take_text(payload: &mut Payload, name: &'static str) -> Option<String> {
    match payload.remove(name)?.kind? {
        Kind::StringValue(text) => Some(text),
        _ => None,
    }
}

/// Takes a text out of a payload that has to be there.
pub(crate) fn expect_text(payload: &mut Payload, name: &'static str) -> Result<String, Unreadable> {
    take_text(payload, name).ok_or_else(|| Unreadable::absent(name))
}

pub(crate) fn expect_integer(payload: &Payload, name: &'static str) -> Result<i64, Unreadable> {
    match payload.get(name).and_then(|value| value.kind.as_ref()) {
        Some(Kind::IntegerValue(number)) => Ok(*number),
        _ => Err(Unreadable::absent(name)),
    }
}

pub(crate) fn expect_u32(payload: &Payload, name: &'static str) -> Result<u32, Unreadable> {
    let number = expect_integer(payload, name)?;
    u32::try_from(number).map_err(|error| Unreadable::new(name, &error))
}

pub(crate) fn expect_version(payload: &mut Payload) -> Result<Version, Unreadable> {
    let text = expect_text(payload, field::VERSION)?;
    text.parse().map_err(|error| Unreadable::new(field::VERSION, &error))
}

#[cfg(test)]
mod tests {
    use super::derived_id;

    #[test]
    fn derived_ids_are_stable_and_keep_parts_apart() {
        assert_eq!(derived_id(&[b"a", b"b"]), derived_id(&[b"a", b"b"]));
        assert_ne!(derived_id(&[b"a", b"b"]), derived_id(&[b"ab", b""]));
        assert_ne!(derived_id(&[b"a", b"b"]), derived_id(&[b"b", b"a"]));
        // Part of the format.
        assert_eq!(derived_id(&[b"head"]).to_string(), "743c0f2d-f10e-8ff0-aa23-5d55d01e52b2");
    }
}
