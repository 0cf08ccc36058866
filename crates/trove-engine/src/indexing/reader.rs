//! Reads a source ahead of whoever takes its steps.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use trove_domain::port::{Checkpoint, ReadWindow, Source, SourceError, SourceStep};

use super::watch::answer;

/// How much is read ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// No further step is begun with so many documents waiting.
    pub(super) documents: usize,
    /// No further step is begun with so many bytes of text waiting.
    pub(super) bytes: usize,
}

/// A source that is read from a checkpoint on.
pub(super) struct Reader {
    source: Arc<dyn Source>,
    window: ReadWindow,
    /// How long a step may take.
    limit: Duration,
    ahead: Ahead,
    /// The step under way; none when everything was read, or nothing more can be.
    reading: Option<BoxFuture<'static, Result<SourceStep, SourceError>>>,
    /// What was read and is not taken yet, as one step.
    read: Option<SourceStep>,
    failed: Option<SourceError>,
}

impl Reader {
    pub(super) fn new(
        source: Arc<dyn Source>,
        window: ReadWindow,
        limit: Duration,
        ahead: Ahead,
    ) -> Self {
        Self { source, window, limit, ahead, reading: None, read: None, failed: None }
    }

    /// Goes on from a checkpoint, or from the beginning; what was read ahead is forgotten.
    pub(super) fn begin(&mut self, from: Option<Checkpoint>) {
        (self.read, self.failed) = (None, None);
        self.read_from(from);
    }

    fn read_from(&mut self, from: Option<Checkpoint>) {
        let (source, window, limit) = (Arc::clone(&self.source), self.window, self.limit);
        let read = async move { answer(source.read(window, from.as_ref()), limit).await };
        self.reading = Some(read.boxed());
    }

    /// Waits for something to take: all steps that have been read since the last time, as one.
    /// `None` when everything was taken. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<Option<SourceStep>, SourceError> {
        loop {
            if let Some(step) = self.read.take() {
                return Ok(Some(step));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.reading.is_none() {
                return Ok(None);
            }
            self.read_on().await;
        }
    }

    /// Reads on beside work, as far ahead as is wanted.
    pub(super) async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = self.read_on(), if self.has_room() => {}
            }
        }
    }

    fn has_room(&self) -> bool {
        let Some(step) = &self.read else { return self.reading.is_some() };
        let texts = step.documents.iter().flat_map(|document| &document.sections);
        let bytes: usize = texts.map(|section| section.text.len()).sum();
        self.reading.is_some()
            && step.documents.len() < self.ahead.documents
            && bytes < self.ahead.bytes
    }

    /// Waits for the step under way, if there is one. Cancel-safe.
    async fn read_on(&mut self) {
        let Some(reading) = &mut self.reading else { return };
        let read = reading.await;
        self.reading = None;
        match read {
            Ok(step) => {
                if step.next.is_some() {
                    self.read_from(step.next.clone());
                }
                self.read = Some(match self.read.take() {
                    None => step,
                    Some(earlier) => both(earlier, step),
                });
            }
            Err(error) => self.failed = Some(error),
        }
    }
}

/// Two steps that follow each other, as one.
fn both(mut first: SourceStep, second: SourceStep) -> SourceStep {
    let SourceStep { documents, failures, skipped, unchanged, next, carry } = second;
    first.documents.extend(documents);
    first.failures.extend(failures);
    first.skipped.extend(skipped);
    first.unchanged.extend(unchanged);
    SourceStep { next, carry, ..first }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use async_trait::async_trait;
    use chrono::DateTime;
    use serde_json::json;
    use trove_domain::document::{Document, Section};
    use trove_domain::id::DocumentId;
    use trove_domain::port::{
        Checkpoint, ListingStep, ReadWindow, Source, SourceError, SourceStep,
    };
    use trove_domain::source::DocumentSource;

    use super::{Ahead, Reader};

    /// One document a step, the fifth of which fails.
    #[derive(Default)]
    struct Counting(AtomicU64);

    #[async_trait]
    impl Source for Counting {
        async fn check(&self) -> Result<(), SourceError> {
            Ok(())
        }

        async fn read(
            &self,
            _: ReadWindow,
            from: Option<&Checkpoint>,
        ) -> Result<SourceStep, SourceError> {
            tokio::task::yield_now().await;
            self.0.fetch_add(1, Ordering::Relaxed);
            let at = from.map_or(0, |from| from.0.as_u64().unwrap());
            if at == 4 {
                return Err(SourceError::Invalid("the fifth".to_owned()));
            }
            let section = Section { text: "text".to_owned(), link: None };
            let id = DocumentId::new(at.to_string()).unwrap();
            let document = Document::new(id, DocumentSource::Web, "a", vec![section]);
            let next = Some(Checkpoint(json!(at + 1)));
            Ok(SourceStep { documents: vec![document], next, ..SourceStep::default() })
        }

        async fn list(&self, _: Option<&Checkpoint>) -> Result<ListingStep, SourceError> {
            Ok(ListingStep::default())
        }
    }

    fn reader(ahead: Ahead) -> (Reader, Arc<Counting>) {
        let source = Arc::new(Counting::default());
        let window = ReadWindow { start: DateTime::UNIX_EPOCH, end: DateTime::UNIX_EPOCH };
        let limit = Duration::from_secs(1);
        let opened: Arc<dyn Source> = Arc::<Counting>::clone(&source);
        let mut reader = Reader::new(opened, window, limit, ahead);
        reader.begin(None);
        (reader, source)
    }

    async fn work() {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    fn ids(step: Result<Option<SourceStep>, SourceError>) -> Vec<String> {
        let documents = step.unwrap().unwrap().documents.into_iter();
        documents.map(|document| document.id.as_str().to_owned()).collect()
    }

    #[tokio::test]
    async fn what_is_read_beside_work_is_taken_as_one_step_before_what_failed() {
        let (mut reader, _) = reader(Ahead { documents: 9, bytes: 100 });
        assert_eq!(ids(reader.next().await), ["0"]);
        reader.beside(work()).await;
        assert_eq!(ids(reader.next().await), ["1", "2", "3"]);
        assert!(matches!(reader.next().await, Err(SourceError::Invalid(_))));
        reader.begin(Some(Checkpoint(json!(3))));
        assert_eq!(ids(reader.next().await), ["3"]);
    }

    #[tokio::test]
    async fn so_much_is_read_ahead_and_no_more() {
        for ahead in [Ahead { documents: 2, bytes: 100 }, Ahead { documents: 9, bytes: 5 }] {
            let (mut reader, source) = reader(ahead);
            assert_eq!(ids(reader.next().await), ["0"]);
            reader.beside(work()).await;
            assert_eq!(source.0.load(Ordering::Relaxed), 3, "{ahead:?}");
            assert_eq!(ids(reader.next().await), ["1", "2"]);
        }
    }
}
