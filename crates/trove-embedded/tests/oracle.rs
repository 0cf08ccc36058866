//! Random documents, edits and queries against the plainest index there is.
#![expect(clippy::unwrap_used, reason = "failing is panicking here")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tempfile::TempDir;
use trove_domain::chunk::IndexableDocument;
use trove_domain::id::DocumentId;
use trove_domain::port::{AttributeUpdate, DocumentIndex, WriteOutcome};
use trove_domain::query::IndexQuery;
use trove_domain::source::DocumentSource;
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};
use trove_testkit::builders::{DocumentBuilder, QueryBuilder, document, document_id, query};

const DIMENSIONS: Option<usize> = Some(4);
const WORDS: [&str; 4] = ["zebra", "lion", "giraffe", "ostrich"];
const TAGS: [&str; 3] = ["group:1", "group:2", "user_email:a@example.com"];
const SOURCES: [DocumentSource; 3] =
    [DocumentSource::Web, DocumentSource::Slack, DocumentSource::File];

#[derive(Clone, Debug)]
enum Step {
    Replace(Vec<DocumentBuilder>),
    Update(Vec<DocumentBuilder>),
    Remove(Vec<(DocumentId, i64)>),
    Search(Box<QueryBuilder>),
    Reopen,
}

fn some<T: Copy + std::fmt::Debug + 'static>(from: &'static [T]) -> impl Strategy<Value = Vec<T>> {
    proptest::sample::subsequence(from, 0..=from.len())
}

fn id() -> impl Strategy<Value = String> {
    (0..8u8).prop_map(|number| format!("document {number}"))
}

prop_compose! {
    fn any_document()(
        id in id(),
        revision in 0..4i64,
        words in proptest::collection::vec(some(&WORDS), 1..4),
        access in proptest::option::of(some(&TAGS)),
        hidden in proptest::bool::weighted(0.2),
        source in proptest::sample::select(&SOURCES[..]),
        sets in some(&[1, 2]),
        team in proptest::option::of(some(&["red", "blue"])),
        updated_at in proptest::option::of(0..5i64),
        created_at in proptest::option::of(0..5i64),
        degrees in 0..180u8,
    ) -> DocumentBuilder {
        let texts: Vec<String> = words.iter().map(|words| words.join(" ")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut document = document(&id)
            .revision(revision)
            .texts(&texts)
            .near(DIMENSIONS, f64::from(degrees))
            .source(source)
            .sets(&sets);
        if let Some(tags) = access {
            document = document.readable_by(&tags);
        }
        if hidden {
            document = document.hidden();
        }
        if let Some(team) = team {
            document = document.metadata("team", &team);
        }
        if let Some(seconds) = updated_at {
            document = document.updated_at(seconds);
        }
        if let Some(seconds) = created_at {
            document = document.created_at(seconds);
        }
        document
    }
}

prop_compose! {
    fn any_query()(
        words in some(&WORDS),
        alpha in proptest::sample::select(&[0.0f32, 0.5, 1.0][..]),
        scope in proptest::option::weighted(0.9, some(&TAGS)),
        sources in some(&SOURCES),
        sets in some(&[1, 2]),
        teams in some(&["red", "blue"]),
        updated in (proptest::option::of(0..5i64), proptest::option::of(0..5i64)),
        created in (proptest::option::of(0..5i64), proptest::option::of(0..5i64)),
        kinds in [proptest::bool::weighted(0.3); 5],
    ) -> QueryBuilder {
        let mut query = query(&words.join(" ")).alpha(alpha).near(DIMENSIONS, 0.0).limit(1000);
        query = match scope {
            Some(tags) => query.within(&tags),
            None => query.unrestricted(),
        };
        // All kinds of filters at once leave next to nothing, so most are left out.
        if kinds[0] {
            query = query.sources(&sources);
        }
        if kinds[1] {
            query = query.sets(&sets);
        }
        if kinds[2] {
            query = teams.iter().fold(query, |query, team| query.tag("team", team));
        }
        if kinds[3] {
            query = query.updated(updated.0, updated.1);
        }
        if kinds[4] {
            query = query.created(created.0, created.1);
        }
        query
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let documents = || proptest::collection::vec(any_document(), 1..4);
    let step = prop_oneof![
        4 => documents().prop_map(Step::Replace),
        3 => documents().prop_map(Step::Update),
        1 => proptest::collection::vec((id(), 0..4_i64), 1..3).prop_map(|removals| {
            Step::Remove(removals.iter().map(|(id, at)| (document_id(id), *at)).collect())
        }),
        6 => any_query().prop_map(|query| Step::Search(Box::new(query))),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..25)
}

/// What an index is, without any engine.
#[derive(Default)]
struct Oracle(BTreeMap<DocumentId, IndexableDocument>);

impl Oracle {
    fn replace(&mut self, document: IndexableDocument) -> WriteOutcome {
        if self.0.get(&document.id).is_some_and(|held| held.revision > document.revision) {
            return WriteOutcome::Superseded;
        }
        self.0.insert(document.id.clone(), document);
        WriteOutcome::Written
    }

    fn update(&mut self, update: AttributeUpdate) -> WriteOutcome {
        match self.0.get_mut(&update.id) {
            None => WriteOutcome::Absent,
            Some(held) if held.revision > update.revision => WriteOutcome::Superseded,
            Some(held) => {
                held.revision = update.revision;
                held.attributes = update.attributes;
                WriteOutcome::Written
            }
        }
    }

    /// Chunks that a search finds, whatever their order.
    fn search(&self, query: &IndexQuery) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for document in self.0.values() {
            let attributes = &document.attributes;
            let passes = !attributes.hidden
                && attributes.access.is_readable_in(&query.scope)
                && query.filters.accept(&document.id, attributes);
            for chunk in document.chunks.iter().filter(|_| passes) {
                let by_words = query.text.split_whitespace().any(|word| chunk.text.contains(word));
                if by_words && !query.alpha.is_dense() || !query.alpha.is_lexical() {
                    found.insert(format!("{}#{}", document.id, chunk.ordinal));
                }
            }
        }
        found
    }
}

async fn check(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let directory = TempDir::new().unwrap();
    let open = || {
        let config = EmbeddedIndexConfig::with_dimensions(DIMENSIONS);
        EmbeddedDocumentIndex::open(directory.path(), config).unwrap()
    };
    let mut index = open();
    let mut oracle = Oracle::default();
    for step in steps {
        match step {
            Step::Replace(documents) => {
                let documents: Vec<_> = once_each(documents);
                let outcomes = index.replace(documents.clone()).await.unwrap();
                let expected: Vec<_> =
                    documents.into_iter().map(|document| oracle.replace(document)).collect();
                prop_assert_eq!(outcomes, expected);
            }
            Step::Update(documents) => {
                let updates: Vec<_> = once_each(documents)
                    .into_iter()
                    .map(|document| DocumentBuilder(document).into_update())
                    .collect();
                let outcomes = index.update_attributes(updates.clone()).await.unwrap();
                let expected: Vec<_> =
                    updates.into_iter().map(|update| oracle.update(update)).collect();
                prop_assert_eq!(outcomes, expected);
            }
            Step::Remove(removals) => {
                index.remove(&removals).await.unwrap();
                for (id, revision) in &removals {
                    oracle.0.retain(|held, document| held != id || document.revision > *revision);
                }
            }
            Step::Search(query) => {
                let query = query.build();
                let hits = index.search(&query).await.unwrap();
                let found: BTreeSet<_> = hits.iter().map(|hit| hit.chunk.id.to_string()).collect();
                prop_assert_eq!(found.len(), hits.len());
                prop_assert_eq!(found, oracle.search(&query));
                for hit in hits {
                    let held = &oracle.0[&hit.chunk.id.document];
                    prop_assert_eq!(&*hit.chunk.attributes, &held.attributes);
                }
            }
            Step::Reopen => {
                drop(index);
                index = open();
            }
        }
        let statistics = index.statistics().await.unwrap();
        prop_assert_eq!(statistics.documents, u64::try_from(oracle.0.len()).unwrap());
    }
    Ok(())
}

/// A batch holds a document once.
fn once_each(documents: Vec<DocumentBuilder>) -> Vec<IndexableDocument> {
    let by_id: BTreeMap<_, _> =
        documents.into_iter().map(|document| (document.0.id.clone(), document.build())).collect();
    by_id.into_values().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn search_finds_what_a_plain_scan_finds(steps in steps()) {
        tokio::runtime::Runtime::new().unwrap().block_on(check(steps))?;
    }
}
