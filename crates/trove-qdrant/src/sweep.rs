//! What lost writers left behind: chunks of versions that never counted, or do not any more.

use std::collections::HashMap;
use std::time::Duration;

use qdrant_client::qdrant::{Filter, PointId};
use trove_domain::id::DocumentId;
use trove_domain::port::DocumentIndexError;

use crate::chunk::chunk_ids;
use crate::error::{backend, failed};
use crate::filter::below;
use crate::intent::Intent;
use crate::payload::field;
use crate::write::Writer;

const OPERATION: &str = "index.sweep";
/// How old an intent is when its writer is certainly gone: far more than any write takes.
const LOST_AFTER: Duration = Duration::from_hours(1);
/// How long to wait between sweeps.
pub(crate) const EVERY: Duration = Duration::from_hours(1);
/// Intents that are dealt with at a time.
const AT_ONCE: u32 = 200;

/// Finishes what writers that are gone have left, and says how many writes that were.
pub(crate) async fn sweep(writer: &Writer) -> Result<usize, DocumentIndexError> {
    let lost_before = writer.clock.now() - LOST_AFTER;
    let mut swept = 0;
    loop {
        let filter = Filter::must([below(field::BEGAN_AT, lost_before)]);
        let points = writer.connection.list(filter, AT_ONCE).await.map_err(failed(OPERATION))?;
        if points.is_empty() {
            return Ok(swept);
        }
        let mut intents = Vec::with_capacity(points.len());
        let mut done: Vec<PointId> = Vec::new();
        for mut point in points {
            intents.push(Intent::read(&mut point.payload).map_err(backend(OPERATION))?);
            done.extend(point.id);
        }
        let heads = intents.iter().map(|intent| &intent.document);
        let current: HashMap<DocumentId, _> = writer.heads(OPERATION, heads, false).await?;
        let mut gone: Vec<PointId> = Vec::new();
        for intent in &intents {
            let version = current.get(&intent.document).map(|(mark, _)| mark.version);
            for (touched, chunks) in &intent.touched {
                if Some(*touched) != version {
                    gone.extend(chunk_ids(*touched, *chunks));
                }
            }
        }
        swept += intents.len();
        // Intents last: what is not removed now is found again.
        gone.append(&mut done);
        writer.connection.delete(gone).await.map_err(failed(OPERATION))?;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::TimeDelta;
    use qdrant_client::qdrant::{Filter, PointStruct};
    use trove_domain::port::{DocumentIndex, WriteOutcome};
    use trove_testkit::builders::{chunk, document, document_id, query};
    use trove_testkit::fakes::{FakeClock, SequentialIds};
    use trove_testkit::services;

    use super::sweep;
    use crate::chunk::{ChunkWriter, chunk_ids};
    use crate::head::{Head, Mark};
    use crate::intent::Intent;
    use crate::payload::point_id;
    use crate::seen::Seen;
    use crate::write::Writer;
    use crate::{QdrantDocumentIndex, QdrantIndexConfig};

    /// What a writer leaves that is lost between staging and publishing a version of `a`.
    fn lost(writer: &Writer, mark: Mark) -> Vec<PointStruct> {
        let attributes = Arc::new(document("a").build().attributes);
        let head = Head { title: None, attributes };
        let id = document_id("a");
        let chunks = ChunkWriter::new(&id, mark.version, &head, &[]);
        let intent = Intent::new(id.clone(), [mark]);
        let began_at = writer.clock.now().timestamp_micros();
        let mut points = vec![intent.point(writer.ids.uuid(), began_at)];
        points.extend((0..mark.chunks).map(|n| chunks.point(chunk(n, "zebra lost"))));
        points
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_a_lost_writer_left_is_never_found_and_goes_after_an_hour() {
        let Some(url) = services::qdrant_url() else { return };
        let mut config = QdrantIndexConfig::new(url, None);
        config.api_key = services::qdrant_api_key();
        #[expect(clippy::disallowed_methods, reason = "tests in other processes draw names too")]
        let name = uuid::Uuid::new_v4().simple();
        config.collection = format!("test_{name}");
        let (ids, clock) = (Arc::new(SequentialIds::default()), Arc::new(FakeClock::default()));
        let index = QdrantDocumentIndex::open(config.clone(), ids.clone(), clock.clone());
        let index = index.await.unwrap();
        let outcomes = index.replace(vec![document("a").text("zebra kept").build()]).await;
        assert_eq!(outcomes.unwrap(), [WriteOutcome::Written]);

        let connection = crate::connection::Connection::new(&config).unwrap();
        let seen = Arc::new(Seen::default());
        let writer = Writer {
            connection: Arc::new(connection),
            ids,
            clock: clock.clone(),
            seen,
            languages: Arc::default(),
        };
        let mark = Mark { version: writer.ids.uuid(), revision: 2, chunks: 3 };
        writer.connection.put(lost(&writer, mark)).await.unwrap();
        let left = || async {
            let ids = chunk_ids(mark.version, mark.chunks).collect();
            writer.connection.get(ids, &[], false).await.unwrap().len()
        };
        let found = || async {
            let hits = index.search(&query("zebra").build()).await.unwrap();
            hits.into_iter().map(|hit| hit.chunk.text).collect::<Vec<_>>()
        };

        assert_eq!((sweep(&writer).await.unwrap(), left().await), (0, 3));
        assert_eq!(found().await, ["zebra kept"]);
        clock.advance(TimeDelta::minutes(61));
        assert_eq!((sweep(&writer).await.unwrap(), left().await), (1, 0));
        assert_eq!(found().await, ["zebra kept"]);
        assert_eq!(sweep(&writer).await.unwrap(), 0);
        // Nothing of it is left but the document: its head and its chunk.
        let all = writer.connection.list(Filter::default(), 100).await.unwrap();
        assert_eq!(all.len(), 2);
        assert!(!all.iter().any(|point| point.id == Some(point_id(mark.version))));
        index.destroy().await.unwrap();
    }
}
