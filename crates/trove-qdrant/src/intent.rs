//! Intents: what a write is about to leave behind, should its process be lost in the middle.

use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{NamedVectors, PointStruct};
use trove_domain::id::DocumentId;
use uuid::Uuid;

use crate::error::Unreadable;
use crate::head::Mark;
use crate::payload::{Payload, Version, expect_text, field, list, point_id};

/// A write of one document that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Intent {
    /// The document.
    pub document: DocumentId,
    /// Versions with their numbers of chunks, each of which is to go unless it is current.
    pub touched: Vec<(Version, u32)>,
}

impl Intent {
    pub(crate) fn new(document: DocumentId, marks: impl IntoIterator<Item = Mark>) -> Self {
        let touched = marks.into_iter().map(|mark| (mark.version, mark.chunks)).collect();
        Self { document, touched }
    }

    /// The point, which has no vectors, so no search finds it. `began_at` is in microseconds since
    /// 1970.
    pub(crate) fn point(&self, id: Uuid, began_at: i64) -> PointStruct {
        let touched = self.touched.iter().map(|(version, chunks)| format!("{version} {chunks}"));
        let payload = Payload::from([
            (field::DOCUMENT.to_owned(), self.document.as_str().into()),
            (field::BEGAN_AT.to_owned(), began_at.into()),
            (field::TOUCHED.to_owned(), list(touched)),
        ]);
        PointStruct {
            id: Some(point_id(id)),
            payload,
            vectors: Some(NamedVectors::default().into()),
        }
    }

    pub(crate) fn read(payload: &mut Payload) -> Result<Self, Unreadable> {
        let document = DocumentId::new(expect_text(payload, field::DOCUMENT)?)
            .map_err(|error| Unreadable::new(field::DOCUMENT, &error))?;
        let Some(Kind::ListValue(list)) =
            payload.remove(field::TOUCHED).and_then(|value| value.kind)
        else {
            return Err(Unreadable::absent(field::TOUCHED));
        };
        let touched = list.values.into_iter().map(|value| {
            let Some(Kind::StringValue(text)) = value.kind else {
                return Err(Unreadable::absent(field::TOUCHED));
            };
            let unreadable = || Unreadable::new(field::TOUCHED, &text);
            let (version, chunks) = text.split_once(' ').ok_or_else(unreadable)?;
            Ok((
                version.parse().map_err(|_| unreadable())?,
                chunks.parse().map_err(|_| unreadable())?,
            ))
        });
        Ok(Self { document, touched: touched.collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use trove_domain::id::DocumentId;
    use uuid::Uuid;

    use super::Intent;

    #[test]
    fn an_intent_survives_as_a_point() {
        let intent = Intent {
            document: DocumentId::new("a b").unwrap(),
            touched: vec![(Uuid::from_u128(1), 3), (Uuid::from_u128(2), 0)],
        };
        let mut payload = intent.point(Uuid::from_u128(9), 5).payload;
        assert_eq!(Intent::read(&mut payload).unwrap(), intent);
    }
}
