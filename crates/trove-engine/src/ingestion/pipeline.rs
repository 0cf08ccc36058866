//! Documents of a batch, from the source's form to the index.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use trove_domain::chunk::{Chunk, IndexableDocument};
use trove_domain::document::{Document, Expert, MetadataValue, Section};
use trove_domain::external_access::ExternalAccess;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::port::{
    AttributeUpdate, DocumentRecord, IndexedMark, RegisteredAttributes, Registration, WriteOutcome,
};

use super::chunker::{ChunkDraft, ChunkLimits, chunk};
use super::content_hash::content_hash;
use super::words::{WINDOW_TOKENS, WordTokenizer};
use super::{IngestError, IngestOutcome};
use crate::Engine;

/// How often a document is written again because another process was faster.
const ATTEMPTS_MAX: usize = 5;

/// A document on its way, with its place in the caller's batch.
struct Item {
    position: usize,
    document: Document,
    hash: String,
    record: Option<DocumentRecord>,
    /// Whether the registry has what its source says of who may read it.
    access_is_known: bool,
}

impl Engine {
    /// Indexes documents for a pair; one outcome per document, in input order.
    ///
    /// A document whose content, attributes and pair are what the registry has costs one lookup. A
    /// failure concerns its own document only, unless the database or the index is down. When the
    /// same id occurs more than once, later ones are written later.
    #[tracing::instrument(name = "ingestion.batch", skip_all, fields(documents = documents.len()))]
    pub async fn ingest_batch(
        &self,
        pair: CcPairId,
        documents: Vec<Document>,
    ) -> Vec<IngestOutcome> {
        let mut outcomes: Vec<Option<IngestOutcome>> = Vec::new();
        outcomes.resize_with(documents.len(), || None);
        let mut waiting: Vec<(usize, Document)> = Vec::new();
        for (position, document) in documents.into_iter().enumerate() {
            let document = without_nul(document);
            match self.refuse(&document) {
                Some(outcome) => outcomes[position] = Some(outcome),
                None => waiting.push((position, document)),
            }
        }
        let batch_max = self.backends().index.capabilities().batch_max.max(1);
        while !waiting.is_empty() {
            let mut ids = HashSet::new();
            let (batch, rest) = waiting.into_iter().partition::<Vec<_>, _>(|(_, document)| {
                ids.len() < batch_max && ids.insert(document.id.clone())
            });
            waiting = rest;
            self.ingest_unique(pair, batch, &mut outcomes).await;
        }
        outcomes.into_iter().map(|outcome| outcome.unwrap_or(IngestOutcome::Empty)).collect()
    }

    /// Sorts out documents that are not worth a lookup.
    fn refuse(&self, document: &Document) -> Option<IngestOutcome> {
        let chars = document.title.as_deref().unwrap_or_default().chars().count()
            + document.sections.iter().map(|s| s.text.chars().count()).sum::<usize>();
        let max = self.config().limits.document_chars_max;
        if chars > max {
            return Some(failed(IngestError::TooLong { chars, max }));
        }
        if let Some(Err(error)) = document.external_access.as_ref().map(ExternalAccess::check) {
            return Some(failed(error.into()));
        }
        document.is_empty().then_some(IngestOutcome::Empty)
    }

    /// Indexes documents with different ids.
    async fn ingest_unique(
        &self,
        pair: CcPairId,
        batch: Vec<(usize, Document)>,
        outcomes: &mut [Option<IngestOutcome>],
    ) {
        let positions: Vec<usize> = batch.iter().map(|(position, _)| *position).collect();
        if let Err(error) = self.try_ingest_unique(pair, batch, outcomes).await {
            let error = Arc::new(error);
            for position in positions {
                outcomes[position].get_or_insert_with(|| IngestOutcome::Failed(Arc::clone(&error)));
            }
        }
    }

    async fn try_ingest_unique(
        &self,
        pair: CcPairId,
        batch: Vec<(usize, Document)>,
        outcomes: &mut [Option<IngestOutcome>],
    ) -> Result<(), IngestError> {
        let ids: Vec<DocumentId> = batch.iter().map(|(_, document)| document.id.clone()).collect();
        let _writing = self.shared.document_locks.lock(ids.iter().cloned()).await;
        let records = self.backends().documents.get(&ids).await?;
        let batch = self.with_known_access(pair, batch).await?;

        let (mut changed, mut same_content) = (Vec::new(), Vec::new());
        for ((position, document, access_is_known), record) in batch.into_iter().zip(records) {
            let hash = content_hash(&document);
            let item = Item { position, document, hash, record, access_is_known };
            if !self.has_current_content(&item) {
                changed.push(item);
            } else if has_current_attributes(&item, pair) {
                outcomes[item.position] = Some(IngestOutcome::Unchanged);
            } else {
                same_content.push(item);
            }
        }

        // Embedding comes before the first write, so that its failure leaves everything as it was.
        let mut embedded = self.embed(changed, outcomes).await;
        let registrations: Vec<Registration> = same_content
            .iter()
            .map(|item| registration(&item.document, false))
            .chain(embedded.iter().map(|(item, _)| registration(&item.document, true)))
            .collect();
        if registrations.is_empty() {
            return Ok(());
        }
        let now = self.backends().clock.now();
        if self.backends().documents.register(pair, &registrations, now).await?.is_none() {
            return Err(IngestError::NoSuchPair(pair));
        }

        let lost = self.write_attributes(pair, same_content, outcomes).await?;
        embedded.extend(self.embed(lost, outcomes).await);
        self.write_content(pair, embedded, outcomes).await
    }

    /// Compares what sources say of who may read with what the registry has of it. Where the pair
    /// does not leave that to its source, they have said nothing.
    async fn with_known_access(
        &self,
        pair: CcPairId,
        batch: Vec<(usize, Document)>,
    ) -> Result<Vec<(usize, Document, bool)>, IngestError> {
        let says = |document: &Document| document.external_access.is_some();
        let ids = batch.iter().filter(|(_, document)| says(document));
        let ids: Vec<DocumentId> = ids.map(|(_, document)| document.id.clone()).collect();
        let stored = if ids.is_empty() {
            None
        } else {
            self.backends().documents.external_access(pair, &ids).await?
        };
        let stored: Option<HashMap<DocumentId, _>> =
            stored.map(|stored| ids.into_iter().zip(stored).collect());
        let compared = batch.into_iter().map(|(position, mut document)| {
            let Some(stored) = &stored else {
                document.external_access = None;
                return (position, document, true);
            };
            let known = !says(&document)
                || stored.get(&document.id).is_some_and(|known| *known == document.external_access);
            (position, document, known)
        });
        Ok(compared.collect())
    }

    /// Whether the index holds the item's content, with vectors of the present model. Without a
    /// model whatever vectors there are stay for the time when there is one again.
    fn has_current_content(&self, item: &Item) -> bool {
        let model = self.embedding_model_name();
        item.record.as_ref().is_some_and(|record| {
            record.content_hash.as_ref() == Some(&item.hash)
                && (model.is_none() || record.embedding_model == model)
        })
    }

    /// The model that vectors come from now.
    pub(crate) fn embedding_model_name(&self) -> Option<String> {
        self.backends().embedding_model.as_ref().map(|model| model.info().name.clone())
    }

    /// Cuts documents into chunks and embeds these. A document that fails gets its outcome.
    async fn embed(
        &self,
        items: Vec<Item>,
        outcomes: &mut [Option<IngestOutcome>],
    ) -> Vec<(Item, Vec<Chunk>)> {
        if items.is_empty() {
            return Vec::new();
        }
        let (items, drafts) = self.cut(items).await;
        let counts: Vec<usize> = drafts.iter().map(Vec::len).collect();
        let texts: Vec<String> =
            drafts.iter().flatten().map(|draft| draft.embedded.clone()).collect();
        let Some(model) = &self.backends().embedding_model else {
            let chunks = drafts.into_iter().map(|drafts| chunks(drafts, None));
            return items.into_iter().zip(chunks).collect();
        };
        // All at once, for the model sorts and batches; one by one when that fails, so that only
        // the document that the model chokes on is lost.
        let vectors_by_document: Vec<Result<Vec<Vec<f32>>, _>> =
            match model.embed_passages(&texts).await {
                Ok(vectors) => {
                    let mut vectors = vectors.into_iter();
                    counts.iter().map(|count| Ok(vectors.by_ref().take(*count).collect())).collect()
                }
                Err(error) if items.len() == 1 => vec![Err(error)],
                Err(_) => {
                    let mut rest = texts.as_slice();
                    let mut results = Vec::with_capacity(items.len());
                    for count in counts {
                        let (own, others) = rest.split_at(count);
                        rest = others;
                        results.push(model.embed_passages(own).await);
                    }
                    results
                }
            };
        let mut embedded = Vec::with_capacity(items.len());
        for ((item, drafts), vectors) in items.into_iter().zip(drafts).zip(vectors_by_document) {
            match vectors {
                Ok(vectors) => embedded.push((item, chunks(drafts, Some(vectors)))),
                Err(error) => outcomes[item.position] = Some(failed(error.into())),
            }
        }
        embedded
    }

    /// Cuts documents into chunks, off the runtime's threads.
    async fn cut(&self, items: Vec<Item>) -> (Vec<Item>, Vec<Vec<ChunkDraft>>) {
        let model = self.backends().embedding_model.clone();
        let work = move || {
            let drafts = items
                .iter()
                .map(|item| {
                    if let Some(model) = &model {
                        let limits = ChunkLimits::for_window(model.info().window_tokens);
                        chunk(&item.document, model.tokenizer(), limits)
                    } else {
                        let limits = ChunkLimits::for_window(WINDOW_TOKENS);
                        chunk(&item.document, &WordTokenizer, limits)
                    }
                })
                .collect();
            (items, drafts)
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(cut) => cut,
            // The closure cannot be cancelled; its panic is ours.
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    /// Writes attributes of documents whose content is in the index; answers those that the index
    /// turns out not to hold.
    async fn write_attributes(
        &self,
        pair: CcPairId,
        mut items: Vec<Item>,
        outcomes: &mut [Option<IngestOutcome>],
    ) -> Result<Vec<Item>, IngestError> {
        let mut lost = Vec::new();
        for _ in 0..ATTEMPTS_MAX {
            if items.is_empty() {
                return Ok(lost);
            }
            let current = self.current_attributes(&items, outcomes).await?;
            let updates = items_with(&mut items, current)
                .map(|(item, registered)| AttributeUpdate {
                    id: item.document.id.clone(),
                    revision: registered.revision,
                    attributes: registered.attributes,
                })
                .collect::<Vec<_>>();
            let revisions: Vec<i64> = updates.iter().map(|update| update.revision).collect();
            let written = self.backends().index.update_attributes(updates).await?;
            let mut marks = Vec::new();
            let mut again = Vec::new();
            for ((item, revision), outcome) in items.drain(..).zip(revisions).zip(written) {
                match outcome {
                    WriteOutcome::Written => {
                        let chunk_count = item.record.as_ref().map_or(0, |r| r.chunk_count);
                        let embedding_model =
                            item.record.as_ref().and_then(|r| r.embedding_model.clone());
                        marks.push(mark(&item, revision, chunk_count, embedding_model));
                        outcomes[item.position] = Some(IngestOutcome::AttributesUpdated);
                    }
                    WriteOutcome::Superseded => again.push(item),
                    WriteOutcome::Absent => lost.push(item),
                }
            }
            self.mark_indexed(pair, &marks).await?;
            items = again;
        }
        for item in items {
            outcomes[item.position] = Some(failed(IngestError::Contended(item.document.id)));
        }
        Ok(lost)
    }

    /// Writes documents with their chunks.
    async fn write_content(
        &self,
        pair: CcPairId,
        mut items: Vec<(Item, Vec<Chunk>)>,
        outcomes: &mut [Option<IngestOutcome>],
    ) -> Result<(), IngestError> {
        for _ in 0..ATTEMPTS_MAX {
            if items.is_empty() {
                return Ok(());
            }
            let (mut owners, mut chunk_lists): (Vec<Item>, Vec<Vec<Chunk>>) =
                items.drain(..).unzip();
            let current = self.current_attributes(&owners, outcomes).await?;
            let mut keep = current.iter().map(Option::is_some);
            chunk_lists.retain(|_| keep.next().unwrap_or(false));
            let mut documents = Vec::with_capacity(owners.len());
            for ((item, registered), chunks) in
                items_with(&mut owners, current).zip(chunk_lists.iter())
            {
                documents.push(IndexableDocument {
                    id: item.document.id.clone(),
                    revision: registered.revision,
                    title: item.document.searchable_title(),
                    attributes: registered.attributes,
                    chunks: chunks.clone(),
                });
            }
            let revisions: Vec<i64> = documents.iter().map(|document| document.revision).collect();
            let written = self.backends().index.replace(documents).await?;
            let mut marks = Vec::new();
            for (((item, chunks), revision), outcome) in
                owners.into_iter().zip(chunk_lists).zip(revisions).zip(written)
            {
                match outcome {
                    WriteOutcome::Written => {
                        let count = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
                        marks.push(mark(&item, revision, count, self.embedding_model_name()));
                        let new = item.record.as_ref().is_none_or(|r| r.chunk_count == 0);
                        outcomes[item.position] = Some(IngestOutcome::Indexed { new });
                    }
                    WriteOutcome::Superseded => items.push((item, chunks)),
                    WriteOutcome::Absent => {
                        let error = IngestError::Vanished(item.document.id);
                        outcomes[item.position] = Some(failed(error));
                    }
                }
            }
            self.mark_indexed(pair, &marks).await?;
        }
        for (item, _) in items {
            outcomes[item.position] = Some(failed(IngestError::Contended(item.document.id)));
        }
        Ok(())
    }

    /// What the index must say of the items now; `None`, with an outcome, for an item that was
    /// removed meanwhile.
    async fn current_attributes(
        &self,
        items: &[Item],
        outcomes: &mut [Option<IngestOutcome>],
    ) -> Result<Vec<Option<RegisteredAttributes>>, IngestError> {
        let ids: Vec<DocumentId> = items.iter().map(|item| item.document.id.clone()).collect();
        let current = self.backends().documents.attributes(&ids).await?;
        for (item, registered) in items.iter().zip(&current) {
            if registered.is_none() {
                let error = IngestError::Vanished(item.document.id.clone());
                outcomes[item.position] = Some(failed(error));
            }
        }
        Ok(current)
    }

    async fn mark_indexed(&self, pair: CcPairId, marks: &[IndexedMark]) -> Result<(), IngestError> {
        if !marks.is_empty() {
            let now = self.backends().clock.now();
            self.backends().documents.mark_indexed(pair, marks, now).await?;
        }
        Ok(())
    }
}

fn mark(
    item: &Item,
    revision: i64,
    chunk_count: u32,
    embedding_model: Option<String>,
) -> IndexedMark {
    IndexedMark {
        id: item.document.id.clone(),
        revision,
        content_hash: item.hash.clone(),
        chunk_count,
        embedding_model,
    }
}

/// Drops the items without attributes and pairs the others with theirs.
fn items_with(
    items: &mut Vec<Item>,
    current: Vec<Option<RegisteredAttributes>>,
) -> impl Iterator<Item = (&Item, RegisteredAttributes)> {
    let mut keep = current.iter().map(Option::is_some);
    items.retain(|_| keep.next().unwrap_or(false));
    items.iter().zip(current.into_iter().flatten())
}

fn failed(error: IngestError) -> IngestOutcome {
    IngestOutcome::Failed(Arc::new(error))
}

fn chunks(drafts: Vec<ChunkDraft>, vectors: Option<Vec<Vec<f32>>>) -> Vec<Chunk> {
    let mut vectors = vectors.map(Vec::into_iter);
    drafts
        .into_iter()
        .zip(0..)
        .map(|(draft, ordinal)| Chunk {
            ordinal,
            text: draft.text,
            blurb: draft.blurb,
            link: draft.link,
            vector: vectors.as_mut().and_then(Iterator::next),
        })
        .collect()
}

/// Whether everything but the content is what the registry has, for this pair, too.
fn has_current_attributes(item: &Item, pair: CcPairId) -> bool {
    let registration =
        Registration { external_access: None, ..registration(&item.document, false) };
    item.access_is_known
        && item.record.as_ref().is_some_and(|record| {
            record.pending.is_none()
                && record.indexed_for.contains(&pair)
                && record.registration == registration
        })
}

fn registration(document: &Document, content_changes: bool) -> Registration {
    let labels = |experts: &[Expert]| experts.iter().filter_map(Expert::label).collect();
    Registration {
        id: document.id.clone(),
        source: document.source,
        semantic_identifier: document.semantic_identifier.clone(),
        link: document.link().map(str::to_owned),
        metadata: document.metadata.clone(),
        updated_at: document.updated_at,
        created_at: document.created_at,
        primary_owners: labels(&document.primary_owners),
        secondary_owners: labels(&document.secondary_owners),
        from_ingestion_api: document.from_ingestion_api,
        external_access: document.external_access.clone(),
        content_changes,
    }
}

/// Databases of the C family end a text at a NUL; no source means one.
fn without_nul(mut document: Document) -> Document {
    fn strip(text: &mut String) {
        if text.contains('\0') {
            text.retain(|c| c != '\0');
        }
    }
    strip(&mut document.semantic_identifier);
    document.title.as_mut().map(strip);
    for Section { text, link } in &mut document.sections {
        strip(text);
        link.as_mut().map(strip);
    }
    let metadata: HashMap<String, MetadataValue> =
        std::mem::take(&mut document.metadata).into_iter().collect();
    for (mut key, mut value) in metadata {
        strip(&mut key);
        match &mut value {
            MetadataValue::One(value) => strip(value),
            MetadataValue::Many(values) => values.iter_mut().for_each(strip),
        }
        document.metadata.insert(key, value);
    }
    for expert in document.primary_owners.iter_mut().chain(&mut document.secondary_owners) {
        for part in [
            &mut expert.display_name,
            &mut expert.first_name,
            &mut expert.middle_initial,
            &mut expert.last_name,
            &mut expert.email,
        ] {
            part.as_mut().map(strip);
        }
    }
    document
}
