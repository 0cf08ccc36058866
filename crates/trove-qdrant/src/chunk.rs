//! Chunks as points. A point is written once, for one version of a document, and never changed.

use std::mem::size_of_val;

use qdrant_client::qdrant::vector::Vector as VectorKind;
use qdrant_client::qdrant::vectors_output::VectorsOptions;
use qdrant_client::qdrant::{
    DenseVector, NamedVectors, PointId, PointStruct, RetrievedPoint, Vector, VectorsOutput,
    vector_output,
};
use trove_analysis::Language;
use trove_domain::chunk::Chunk;
use trove_domain::document::keywords;
use trove_domain::id::DocumentId;

use crate::error::Unreadable;
use crate::filter;
use crate::head::Head;
use crate::payload::{
    Payload, Version, derived_id, expect_text, expect_u32, field, point_id, take_text,
};
use crate::words;

/// Name of the dense vector.
pub(crate) const DENSE: &str = "dense";
/// Name of the sparse vector.
pub(crate) const WORDS: &str = "words";

/// The id of a chunk of a version.
pub(crate) fn chunk_id(version: Version, ordinal: u32) -> PointId {
    point_id(derived_id(&[b"chunk", version.as_bytes(), &ordinal.to_le_bytes()]))
}

/// The ids of all chunks of a version.
pub(crate) fn chunk_ids(version: Version, chunks: u32) -> impl Iterator<Item = PointId> {
    (0..chunks).map(move |ordinal| chunk_id(version, ordinal))
}

/// Makes the points of one version of a document.
pub(crate) struct ChunkWriter<'a> {
    document: &'a DocumentId,
    version: Version,
    head: &'a Head,
    /// What is searched beside title and text.
    keywords: String,
    /// Languages that the texts may be in; empty for any.
    languages: &'a [Language],
}

impl<'a> ChunkWriter<'a> {
    pub(crate) fn new(
        document: &'a DocumentId,
        version: Version,
        head: &'a Head,
        languages: &'a [Language],
    ) -> Self {
        let keywords: Vec<&str> = keywords(&head.attributes.metadata).collect();
        Self { document, version, head, keywords: keywords.join("\n"), languages }
    }

    pub(crate) fn point(&self, chunk: Chunk) -> PointStruct {
        let Chunk { ordinal, text, blurb, link, vector } = chunk;
        let sparse =
            words::of_chunk(self.head.title.as_deref(), &text, &self.keywords, self.languages);
        let mut vectors = NamedVectors::default();
        vectors.vectors.insert(WORDS.to_owned(), vector_of(VectorKind::Sparse(sparse)));
        if let Some(data) = vector {
            vectors
                .vectors
                .insert(DENSE.to_owned(), vector_of(VectorKind::Dense(DenseVector { data })));
        }
        let mut payload = Payload::from([
            (field::DOCUMENT.to_owned(), self.document.as_str().into()),
            (field::VERSION.to_owned(), self.version.to_string().into()),
            (field::ORDINAL.to_owned(), i64::from(ordinal).into()),
            (field::TEXT.to_owned(), text.into()),
            (field::BLURB.to_owned(), blurb.into()),
        ]);
        if let Some(link) = link {
            payload.insert(field::LINK.to_owned(), link.into());
        }
        filter::describe(&self.head.attributes, &mut payload);
        PointStruct {
            id: Some(chunk_id(self.version, ordinal)),
            payload,
            vectors: Some(vectors.into()),
        }
    }
}

fn vector_of(kind: VectorKind) -> Vector {
    Vector { vector: Some(kind), ..Vector::default() }
}

/// The fields that [`read`] reads.
pub(crate) const FIELDS: [&str; 4] = [field::ORDINAL, field::TEXT, field::BLURB, field::LINK];

/// A chunk from its point.
pub(crate) fn read(mut point: RetrievedPoint) -> Result<Chunk, Unreadable> {
    let payload = &mut point.payload;
    Ok(Chunk {
        ordinal: expect_u32(payload, field::ORDINAL)?,
        text: expect_text(payload, field::TEXT)?,
        blurb: expect_text(payload, field::BLURB)?,
        link: take_text(payload, field::LINK),
        vector: point.vectors.and_then(dense),
    })
}

fn dense(vectors: VectorsOutput) -> Option<Vec<f32>> {
    let VectorsOptions::Vectors(mut named) = vectors.vectors_options? else { return None };
    match named.vectors.remove(DENSE)?.vector? {
        vector_output::Vector::Dense(dense) => Some(dense.data),
        _ => None,
    }
}

/// About how many bytes a chunk takes on the wire, without what its document adds.
pub(crate) fn wire_bytes(chunk: &Chunk) -> usize {
    // A term of a sparse vector is eight bytes, and a word of text about six.
    let vector = chunk.vector.as_deref().map_or(0, size_of_val);
    3 * chunk.text.len() + chunk.blurb.len() + chunk.link.as_ref().map_or(0, String::len) + vector
}
