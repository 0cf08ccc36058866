//! What hits show, fetched for those that are shown.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use qdrant_client::qdrant::PointId;
use qdrant_client::qdrant::point_id::PointIdOptions;
use trove_domain::chunk::{Chunk, ChunkId};
use trove_domain::hit::IndexedChunk;
use trove_domain::id::DocumentId;
use trove_domain::port::DocumentIndexError;

use crate::chunk::{self, chunk_id};
use crate::connection::Connection;
use crate::error::{backend, failed};
use crate::head::{Head, head_id};
use crate::payload::{Version, expect_version, field};

const OPERATION: &str = "index.search";

/// Chunks and heads that were fetched, with the version they belong to.
#[derive(Default)]
pub(crate) struct Contents {
    chunks: HashMap<(Version, u32), Chunk>,
    heads: HashMap<DocumentId, (Version, Head)>,
}

impl Contents {
    /// A chunk of a version with the head that says so, if both were fetched.
    pub(crate) fn of(&self, id: &ChunkId, version: Version) -> Option<(&Chunk, &Head)> {
        let chunk = self.chunks.get(&(version, id.ordinal))?;
        let (current, head) = self.heads.get(&id.document)?;
        (*current == version).then_some((chunk, head))
    }

    /// Fetches what is missing of these chunks, in one call.
    pub(crate) async fn fetch(
        &mut self,
        connection: &Connection,
        wanted: impl Iterator<Item = (&ChunkId, Version)>,
    ) -> Result<(), DocumentIndexError> {
        let mut chunks: HashMap<String, (Version, u32)> = HashMap::new();
        let mut documents: BTreeSet<&DocumentId> = BTreeSet::new();
        for (id, version) in wanted {
            if self.of(id, version).is_some() {
                continue;
            }
            if let Some(PointIdOptions::Uuid(point)) =
                chunk_id(version, id.ordinal).point_id_options
            {
                chunks.insert(point, (version, id.ordinal));
            }
            documents.insert(&id.document);
        }
        if chunks.is_empty() {
            return Ok(());
        }
        let heads: HashMap<String, &DocumentId> =
            documents.into_iter().map(|id| (head_id(id).to_string(), id)).collect();
        let ids = chunks.keys().chain(heads.keys()).map(|id| PointId::from(id.as_str())).collect();
        let mut fields = chunk::FIELDS.to_vec();
        fields.extend([field::VERSION, field::HEAD]);
        let points = connection.get(ids, &fields, false).await.map_err(failed(OPERATION))?;
        for mut point in points {
            let Some(PointIdOptions::Uuid(id)) =
                point.id.as_ref().and_then(|id| id.point_id_options.as_ref())
            else {
                continue;
            };
            if let Some(document) = heads.get(id) {
                let version = expect_version(&mut point.payload).map_err(backend(OPERATION))?;
                let head = Head::read(&mut point.payload).map_err(backend(OPERATION))?;
                self.heads.insert((*document).clone(), (version, head));
            } else if let Some(key) = chunks.get(id).copied() {
                self.chunks.insert(key, chunk::read(point).map_err(backend(OPERATION))?);
            }
        }
        Ok(())
    }
}

/// A chunk as results show it.
pub(crate) fn shown(id: ChunkId, chunk: Chunk, head: &Head) -> IndexedChunk {
    IndexedChunk {
        id,
        title: head.title.clone(),
        text: chunk.text,
        blurb: chunk.blurb,
        link: chunk.link,
        attributes: Arc::clone(&head.attributes),
    }
}

/// The versions that heads name now; documents without a head are left out.
pub(crate) async fn versions(
    connection: &Connection,
    documents: impl Iterator<Item = &DocumentId>,
) -> Result<HashMap<DocumentId, Version>, DocumentIndexError> {
    let heads: HashMap<String, &DocumentId> =
        documents.map(|id| (head_id(id).to_string(), id)).collect();
    let ids = heads.keys().map(|id| PointId::from(id.as_str())).collect();
    let points = connection.get(ids, &[field::VERSION], false).await.map_err(failed(OPERATION))?;
    let mut versions = HashMap::with_capacity(points.len());
    for mut point in points {
        let Some(PointIdOptions::Uuid(id)) = point.id.and_then(|id| id.point_id_options) else {
            continue;
        };
        if let Some(document) = heads.get(&id) {
            let version = expect_version(&mut point.payload).map_err(backend(OPERATION))?;
            versions.insert((*document).clone(), version);
        }
    }
    Ok(versions)
}
