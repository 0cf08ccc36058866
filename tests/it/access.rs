//! No forbidden hit, none missing: random users, groups, pairs, documents, edits and queries on the
//! real store and index, against a plain oracle.

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt;
use proptest::prelude::*;
use trove_domain::access::{Caller, Role};
use trove_domain::cc_pair::AccessType;
use trove_domain::document::{Document, MetadataValue, Section, Tag};
use trove_domain::id::{CcPairId, DocumentId, GroupId, UserId};
use trove_domain::port::{AccessChange, NewCcPair, NewUser};
use trove_domain::query::{HybridAlpha, IndexQuery, QueryText, SearchFilters};
use trove_domain::section::RankedSection;
use trove_domain::source::DocumentSource;
use trove_engine::Engine;
use trove_engine::ingestion::IngestOutcome;
use trove_engine::retrieval::{DocumentSearchRequest, FilterRequest, SearchEvent, SearchRequest};
use uuid::Uuid;

use crate::stack::Stack;

const WORDS: [&str; 4] = ["apple", "river", "stone", "cloud"];
const SOURCES: [DocumentSource; 2] = [DocumentSource::Web, DocumentSource::Confluence];

/// Numbers name things by position; each is taken modulo how many there are.
#[derive(Clone, Debug)]
enum Step {
    Ingest { document: usize, pair: usize, words: u8, source: usize, tag: usize },
    SetAccess { pair: usize, public: bool, groups: u8 },
    SetMembers { group: usize, users: u8 },
    RemoveFromPair { document: usize, pair: usize },
    Remove { document: usize },
    Search { user: usize, word: usize, source: Option<usize>, tag: Option<usize> },
}

fn step() -> impl Strategy<Value = Step> {
    let n = 0_usize..12;
    prop_oneof![
        4 => (n.clone(), n.clone(), 1_u8..16, n.clone(), n.clone()).prop_map(
            |(document, pair, words, source, tag)| {
                Step::Ingest { document, pair, words, source, tag }
            }
        ),
        2 => (n.clone(), any::<bool>(), 0_u8..8)
            .prop_map(|(pair, public, groups)| Step::SetAccess { pair, public, groups }),
        2 => (n.clone(), 0_u8..8).prop_map(|(group, users)| Step::SetMembers { group, users }),
        1 => (n.clone(), n.clone())
            .prop_map(|(document, pair)| Step::RemoveFromPair { document, pair }),
        1 => n.clone().prop_map(|document| Step::Remove { document }),
        4 => (n.clone(), n.clone(), proptest::option::of(n.clone()), proptest::option::of(n))
            .prop_map(|(user, word, source, tag)| Step::Search { user, word, source, tag }),
    ]
}

#[derive(Clone, Debug)]
struct Known {
    words: BTreeSet<&'static str>,
    source: DocumentSource,
    tag: String,
    pairs: BTreeSet<CcPairId>,
}

/// What should be true.
struct Oracle {
    documents: BTreeMap<DocumentId, Known>,
    pairs: BTreeMap<CcPairId, (bool, BTreeSet<GroupId>)>,
    members: BTreeMap<GroupId, BTreeSet<UserId>>,
}

impl Oracle {
    fn readable(&self, user: UserId, document: &Known) -> bool {
        document.pairs.iter().any(|pair| {
            let (public, groups) = &self.pairs[pair];
            *public || groups.iter().any(|g| self.members.get(g).is_some_and(|m| m.contains(&user)))
        })
    }
}

fn bits<T: Copy>(mask: u8, items: &[T]) -> impl Iterator<Item = T> + '_ {
    items.iter().enumerate().filter(move |(i, _)| mask & (1 << i) != 0).map(|(_, item)| *item)
}

struct World {
    stack: Stack,
    oracle: Oracle,
    users: Vec<Caller>,
    groups: Vec<GroupId>,
    pairs: Vec<CcPairId>,
}

impl World {
    async fn new() -> Self {
        let stack = Stack::start().await;
        let engine = &stack.engine;
        let backends = engine.backends();
        let now = backends.clock.now();
        let mut users = Vec::new();
        for n in 1..=3_u128 {
            let (id, email) = (UserId(Uuid::from_u128(n)), format!("user{n}@example.com"));
            let role = if n == 1 { Role::Admin } else { Role::Basic };
            let user = NewUser { id, email: email.clone(), role, created_at: now };
            assert!(backends.users.insert(user).await.unwrap());
            users.push(Caller { user: id, email, role, api_key: None });
        }
        let mut groups = Vec::new();
        for name in ["a", "b", "c"] {
            groups.push(backends.groups.insert(name).await.unwrap().unwrap().id);
        }
        let mut pairs = Vec::new();
        for name in ["p", "q", "r"] {
            let pair = NewCcPair {
                name: name.to_owned(),
                source: DocumentSource::Web,
                config: serde_json::json!({}),
                access_type: AccessType::Private,
                groups: BTreeSet::new(),
                creator: None,
                created_at: now,
            };
            pairs.push(backends.cc_pairs.get_or_insert(pair).await.unwrap().id);
        }
        let oracle = Oracle {
            documents: BTreeMap::new(),
            pairs: pairs.iter().map(|pair| (*pair, (false, BTreeSet::new()))).collect(),
            members: BTreeMap::new(),
        };
        Self { stack, oracle, users, groups, pairs }
    }

    fn engine(&self) -> &Engine {
        &self.stack.engine
    }

    async fn take(&mut self, step: Step) {
        let id = |n: usize| DocumentId::new(format!("document {}", n % 8)).unwrap();
        match step {
            Step::Ingest { document, pair, words, source, tag } => {
                let pair = self.pairs[pair % self.pairs.len()];
                let source = SOURCES[source % SOURCES.len()];
                let words: BTreeSet<_> = bits(words, &WORDS).collect();
                let tag = format!("t{}", tag % 2);
                self.ingest(id(document), pair, words, source, tag).await;
            }
            Step::SetAccess { pair, public, groups } => {
                let pair = self.pairs[pair % self.pairs.len()];
                let groups: BTreeSet<_> = bits(groups, &self.groups).collect();
                let access_type = if public { AccessType::Public } else { AccessType::Private };
                let change = AccessChange { access_type, groups: groups.clone() };
                assert!(self.engine().set_pair_access(pair, change).await.unwrap());
                self.engine().sync_documents().await.unwrap();
                self.oracle.pairs.insert(pair, (public, groups));
            }
            Step::SetMembers { group, users } => {
                let group = self.groups[group % self.groups.len()];
                let ids: Vec<UserId> = self.users.iter().map(|user| user.user).collect();
                let members: BTreeSet<_> = bits(users, &ids).collect();
                let list: Vec<_> = members.iter().map(|user| (*user, false)).collect();
                assert!(self.engine().backends().groups.set_members(group, &list).await.unwrap());
                self.oracle.members.insert(group, members);
            }
            Step::RemoveFromPair { document, pair } => {
                let pair = self.pairs[pair % self.pairs.len()];
                let id = id(document);
                self.engine().remove_from_pair(pair, std::slice::from_ref(&id)).await.unwrap();
                if let Some(known) = self.oracle.documents.get_mut(&id) {
                    known.pairs.remove(&pair);
                    if known.pairs.is_empty() {
                        self.oracle.documents.remove(&id);
                    }
                }
            }
            Step::Remove { document } => {
                let id = id(document);
                self.engine().remove_documents(std::slice::from_ref(&id)).await.unwrap();
                self.oracle.documents.remove(&id);
            }
            Step::Search { user, word, source, tag } => {
                let user = self.users[user % self.users.len()].clone();
                let word = WORDS[word % WORDS.len()];
                let source = source.map(|n| SOURCES[n % SOURCES.len()]);
                let tag = tag.map(|n| format!("t{}", n % 2));
                self.search(&user, word, source, tag).await;
            }
        }
    }

    async fn ingest(
        &mut self,
        id: DocumentId,
        pair: CcPairId,
        words: BTreeSet<&'static str>,
        source: DocumentSource,
        tag: String,
    ) {
        let text: Vec<&str> = words.iter().copied().collect();
        let document = Document {
            id: id.clone(),
            sections: vec![Section { text: text.join(" "), link: None }],
            source,
            semantic_identifier: "untitled".to_owned(),
            title: Some(String::new()),
            metadata: [("k".to_owned(), MetadataValue::One(tag.clone()))].into(),
            updated_at: None,
            created_at: None,
            primary_owners: Vec::new(),
            secondary_owners: Vec::new(),
            from_ingestion_api: false,
        };
        let outcomes = self.engine().ingest_batch(pair, vec![document]).await;
        assert!(!matches!(outcomes[0], IngestOutcome::Failed(_)), "{outcomes:?}");
        let mut pairs =
            self.oracle.documents.get(&id).map(|known| known.pairs.clone()).unwrap_or_default();
        pairs.insert(pair);
        self.oracle.documents.insert(id, Known { words, source, tag, pairs });
    }

    async fn search(
        &self,
        user: &Caller,
        word: &'static str,
        source: Option<DocumentSource>,
        tag: Option<String>,
    ) {
        let readable: BTreeMap<&DocumentId, &Known> = self
            .oracle
            .documents
            .iter()
            .filter(|(_, known)| self.oracle.readable(user.user, known))
            .filter(|(_, known)| source.is_none_or(|source| known.source == source))
            .filter(|(_, known)| tag.as_ref().is_none_or(|tag| known.tag == *tag))
            .collect();
        let with_word: BTreeSet<&DocumentId> = readable
            .iter()
            .filter(|(_, known)| known.words.contains(word))
            .map(|(id, _)| *id)
            .collect();
        let tags: Vec<Tag> =
            tag.into_iter().map(|value| Tag { key: "k".to_owned(), value }).collect();

        let backends = self.engine().backends();
        let model = backends.embedding_model.as_ref().unwrap();
        let mut query = IndexQuery {
            text: word.to_owned(),
            vector: Some(model.embed_query(word).await.unwrap()),
            alpha: HybridAlpha::LEXICAL,
            scope: backends.access.scope_for(user).await.unwrap(),
            filters: SearchFilters {
                sources: source.into_iter().collect(),
                tags: tags.clone(),
                ..SearchFilters::default()
            },
            limit: 100,
        };
        let lexical = backends.index.search(&query).await.unwrap();
        let found: BTreeSet<&DocumentId> = lexical.iter().map(|h| &h.chunk.id.document).collect();
        assert_eq!(found, with_word, "by words, as {}", user.email);

        query.alpha = HybridAlpha::DENSE;
        let dense = backends.index.search(&query).await.unwrap();
        let found: BTreeSet<&DocumentId> = dense.iter().map(|h| &h.chunk.id.document).collect();
        assert_eq!(found, readable.keys().copied().collect(), "by vectors, as {}", user.email);

        let filters = FilterRequest {
            sources: source.into_iter().collect(),
            tags,
            ..FilterRequest::default()
        };
        let request = DocumentSearchRequest {
            filters: filters.clone(),
            hits: 100,
            ..DocumentSearchRequest::new(word)
        };
        let events = self.engine().search_documents(user, request).await.unwrap();
        let events: Vec<SearchEvent> = events.collect().await;
        let [SearchEvent::Queries(_), SearchEvent::Sections(sections)] = &events[..] else {
            panic!("{events:?}")
        };
        let streamed: BTreeSet<&DocumentId> =
            sections.iter().map(RankedSection::document).collect();
        assert_eq!(streamed, readable.keys().copied().collect(), "in the stream");

        let request =
            SearchRequest { filters, ..SearchRequest::new(QueryText::new(word).unwrap()) };
        let results = self.engine().search(user, request).await.unwrap();
        let answered: BTreeSet<&DocumentId> =
            results.iter().map(|result| result.section.document()).collect();
        assert_eq!(answered, readable.keys().copied().collect(), "in the answer");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn everybody_finds_what_they_may_read_and_nothing_else(
        steps in proptest::collection::vec(step(), 1..40)
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let mut world = World::new().await;
            for step in steps {
                world.take(step).await;
            }
        });
    }
}
