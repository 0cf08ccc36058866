//! The engine and its oracle, changed and asked together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::TimeDelta;
use futures::StreamExt;
use trove_domain::access::{Caller, Proof, Role};
use trove_domain::agent::{AgentDefinition, RetrievalScope};
use trove_domain::cc_pair::AccessType;
use trove_domain::document::{Document, MetadataValue, Section, Tag};
use trove_domain::external_access::{ExternalAccess, ExternalGroup, ExternalMembers};
use trove_domain::id::{CcPairId, DocumentId, GroupId, UserId};
use trove_domain::llm::LlmRequest;
use trove_domain::permission_sync::PermissionSyncStatus;
use trove_domain::port::{
    AccessChange, AgentChange, AgentSharing, AgentWrite, Control, NewCcPair, NewDocumentSet,
    NewUser, PermissionRecord, PermissionSyncEnd, RunBy, SetChange,
};
use trove_domain::query::{HybridAlpha, IndexQuery, QueryText, SearchFilters};
use trove_domain::section::RankedSection;
use trove_domain::source::DocumentSource;
use trove_engine::ingestion::IngestOutcome;
use trove_engine::retrieval::{
    DocumentSearchRequest, FilterRequest, SearchError, SearchEvent, SearchRequest,
};
use trove_engine::{Backends, Engine, EngineConfig};
use trove_testkit::scripted_model::ScriptedLanguageModel;
use uuid::Uuid;

use super::oracle::{KnownAgent, KnownDocument, KnownSet, Oracle, Shared, Told};
use crate::stack::Stack;

const WORDS: [&str; 4] = ["apple", "river", "stone", "cloud"];
const SOURCES: [DocumentSource; 2] = [DocumentSource::Web, DocumentSource::Confluence];
/// What the language model makes of every query.
const EXPANSIONS: [&str; 2] = ["river", "stone cloud"];
const DOCUMENTS: usize = 8;
const SETS: usize = 2;
const AGENTS: usize = 2;
const KINDS: [AccessType; 3] = [AccessType::Public, AccessType::Private, AccessType::Sync];

/// Numbers name things by position; each is taken modulo how many there are.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Ingest {
        document: usize,
        pair: usize,
        words: u8,
        source: usize,
        tag: usize,
        says: Option<Says>,
    },
    SetAccess {
        pair: usize,
        kind: usize,
        groups: u8,
    },
    /// The source of a pair tells who may read a document, and who is in its groups.
    Tell {
        pair: usize,
        document: usize,
        says: Says,
        groups: [Shares; 2],
        fails: bool,
    },
    SetMembers {
        group: usize,
        users: u8,
    },
    WriteSet {
        set: usize,
        pairs: u8,
        shares: Shares,
    },
    RemoveSet {
        set: usize,
    },
    WriteAgent {
        agent: usize,
        sets: u8,
        documents: u8,
        shares: Shares,
    },
    RemoveFromPair {
        document: usize,
        pair: usize,
    },
    Remove {
        document: usize,
    },
    Search(Asked),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    pub(super) public: bool,
    pub(super) users: u8,
}

/// What a source says of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Says {
    pub(super) users: u8,
    pub(super) groups: u8,
    pub(super) public: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) user: usize,
    pub(super) word: usize,
    pub(super) source: Option<usize>,
    pub(super) tag: Option<usize>,
    pub(super) set: Option<usize>,
    pub(super) agent: Option<usize>,
}

pub(super) struct World {
    stack: Stack,
    oracle: Oracle,
    users: Vec<Caller>,
    groups: Vec<GroupId>,
    pairs: Vec<CcPairId>,
}

fn bits<T: Clone>(mask: u8, items: &[T]) -> impl Iterator<Item = T> + '_ {
    items
        .iter()
        .enumerate()
        .filter(move |(i, _)| mask & (1 << i) != 0)
        .map(|(_, item)| item.clone())
}

fn id(n: usize) -> DocumentId {
    DocumentId::new(format!("document {}", n % DOCUMENTS)).unwrap()
}

fn external_group(n: usize) -> ExternalGroup {
    ExternalGroup::new(DocumentSource::Jira, ["Engineering", "Sales"][n])
}

/// More queries for whoever asks for some, and nothing for other steps.
fn expand(request: &LlmRequest) -> String {
    let expands = request.messages[0].text.contains("keyword queries");
    if expands { EXPANSIONS.join("\n") } else { String::new() }
}

fn with_model(backends: Backends) -> Backends {
    let model = ScriptedLanguageModel::new(|request| Ok(expand(request)));
    Backends { language_model: Some(Arc::new(model)), ..backends }
}

impl World {
    pub(super) async fn new() -> Self {
        let stack = Stack::with(EngineConfig::default(), with_model).await;
        let backends = stack.engine.backends();
        let now = backends.clock.now();
        let mut users = Vec::new();
        for n in 1..=3_u128 {
            let (id, email) = (UserId(Uuid::from_u128(0x100 + n)), format!("user{n}@example.com"));
            let role = if n == 1 { Role::Admin } else { Role::Basic };
            let user = NewUser::person(id, &email, role, now);
            assert!(backends.users.insert(user).await.unwrap());
            users.push(Caller { user: id, email, role, proof: Proof::Trusted });
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
            let pair = backends.cc_pairs.get_or_insert(pair).await.unwrap().id;
            assert!(backends.cc_pairs.set_schedule(pair, RunBy::Schedule, None).await.unwrap());
            backends.cc_pairs.set_paused(pair, false, now).await.unwrap().unwrap();
            pairs.push(pair);
        }
        let private = pairs.iter().map(|pair| (*pair, (AccessType::Private, BTreeSet::new())));
        let private = private.collect();
        let oracle = Oracle { pairs: private, ..Oracle::default() };
        Self { stack, oracle, users, groups, pairs }
    }

    fn engine(&self) -> &Engine {
        &self.stack.engine
    }

    fn shares(&self, shares: Shares) -> (bool, BTreeSet<UserId>) {
        let ids: Vec<UserId> = self.users.iter().map(|user| user.user).collect();
        (shares.public, bits(shares.users, &ids).collect())
    }

    pub(super) async fn take(&mut self, step: Step) {
        match step {
            Step::Ingest { document, pair, words, source, tag, says } => {
                let pair = self.pairs[pair % self.pairs.len()];
                let known = KnownDocument {
                    words: bits(words, &WORDS).collect(),
                    source: SOURCES[source % SOURCES.len()],
                    tag: format!("t{}", tag % 2),
                    pairs: BTreeSet::from([pair]),
                };
                self.ingest(id(document), pair, known, says).await;
            }
            Step::SetAccess { pair, kind, groups } => {
                let pair = self.pairs[pair % self.pairs.len()];
                let groups: BTreeSet<_> = bits(groups, &self.groups).collect();
                let access_type = KINDS[kind % KINDS.len()];
                let change = AccessChange { access_type, groups: groups.clone() };
                assert!(self.engine().set_pair_access(pair, change).await.unwrap());
                self.engine().sync_documents().await.unwrap();
                if access_type != AccessType::Sync {
                    self.oracle.told.retain(|(told_by, _), _| *told_by != pair);
                    self.oracle.external.retain(|(told_by, _), _| *told_by != pair);
                }
                self.oracle.pairs.insert(pair, (access_type, groups));
            }
            Step::Tell { pair, document, says, groups, fails } => {
                let pair = self.pairs[pair % self.pairs.len()];
                self.tell(pair, id(document), says, groups, fails).await;
            }
            Step::SetMembers { group, users } => {
                let group = self.groups[group % self.groups.len()];
                let (_, members) = self.shares(Shares { public: false, users });
                let list: Vec<_> = members.iter().map(|user| (*user, false)).collect();
                assert!(self.engine().backends().groups.set_members(group, &list).await.unwrap());
                self.oracle.members.insert(group, members);
            }
            Step::WriteSet { set, pairs, shares } => {
                let pairs = bits(pairs, &self.pairs).collect();
                self.write_set(set % SETS, pairs, shares).await;
            }
            Step::RemoveSet { set } => {
                let Some(set) = self.oracle.sets.remove(&(set % SETS)) else { return };
                let removed = self.engine().delete_document_set(&self.users[0], set.what.id).await;
                removed.unwrap();
                self.engine().sync_documents().await.unwrap();
            }
            Step::WriteAgent { agent, sets, documents, shares } => {
                let sets = (0..SETS).filter(|n| sets & (1 << n) != 0);
                let sets = sets.filter_map(|n| Some(self.oracle.sets.get(&n)?.what.id)).collect();
                // Mostly few documents, so that sets decide.
                let documents = (0..DOCUMENTS).filter(|n| documents & 0b0101 & (1 << n) != 0);
                let documents = documents.map(id).collect();
                self.write_agent(agent % AGENTS, sets, documents, shares).await;
            }
            Step::RemoveFromPair { document, pair } => {
                let pair = self.pairs[pair % self.pairs.len()];
                let id = id(document);
                self.engine().remove_from_pair(pair, std::slice::from_ref(&id)).await.unwrap();
                self.oracle.told.remove(&(pair, id.clone()));
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
                self.oracle.told.retain(|(_, document), _| *document != id);
            }
            Step::Search(asked) => self.search(&asked).await,
        }
    }

    /// What a source says, as the oracle and as the engine know it.
    fn told(&self, says: Says) -> (Told, ExternalAccess) {
        let (_, users) = self.shares(Shares { public: false, users: says.users });
        let groups: BTreeSet<usize> = bits(says.groups, &[0, 1]).collect();
        let keys = groups.iter().map(|group| external_group(*group));
        let access = ExternalAccess::new(self.addresses(&users), keys, says.public);
        (Told { users, groups, public: says.public }, access)
    }

    fn addresses(&self, users: &BTreeSet<UserId>) -> Vec<String> {
        let users = self.users.iter().filter(|user| users.contains(&user.user));
        users.map(|user| user.email.to_uppercase()).collect()
    }

    /// A whole permission sync, of pairs only whose access is their source's to tell.
    async fn tell(
        &mut self,
        pair: CcPairId,
        document: DocumentId,
        says: Says,
        groups: [Shares; 2],
        fails: bool,
    ) {
        let (told, access) = self.told(says);
        let members: Vec<_> = groups.into_iter().map(|shares| self.shares(shares)).collect();
        let engine = self.engine().clone();
        let (permissions, now) = (&engine.backends().permissions, engine.backends().clock.now());
        let lease = std::time::Duration::from_mins(1);
        for claimed in permissions.claim(now, lease, 10).await.unwrap() {
            let (kind, _) = &self.oracle.pairs[&claimed.pair];
            assert_eq!(*kind, AccessType::Sync);
            if claimed.pair != pair {
                permissions.release(&claimed, now).await.unwrap();
                continue;
            }
            let groups = members.iter().enumerate().map(|(group, (everybody, users))| {
                ExternalMembers::new(external_group(group), self.addresses(users), *everybody)
            });
            let record = PermissionRecord {
                documents: vec![(document.clone(), access.clone())],
                groups: groups.collect(),
                ..PermissionRecord::default()
            };
            let job = engine.sync_job();
            permissions.record_step(&claimed, record, now, lease, job).await.unwrap();
            let status =
                if fails { PermissionSyncStatus::Failed } else { PermissionSyncStatus::Success };
            let end = PermissionSyncEnd { status, error: None, next_at: now };
            assert_eq!(permissions.finish(&claimed, end, now).await.unwrap(), Control::Go);
            engine.sync_documents().await.unwrap();
            let held = self.oracle.documents.get(&document);
            if held.is_some_and(|known| known.pairs.contains(&pair)) {
                self.oracle.told.insert((pair, document.clone()), told.clone());
            }
            if !fails {
                for (group, members) in members.iter().enumerate() {
                    self.oracle.external.insert((pair, group), members.clone());
                }
            }
        }
    }

    async fn ingest(
        &mut self,
        id: DocumentId,
        pair: CcPairId,
        mut known: KnownDocument,
        says: Option<Says>,
    ) {
        let told = says.map(|says| self.told(says));
        let text: Vec<&str> = known.words.iter().copied().collect();
        let document = Document {
            id: id.clone(),
            sections: vec![Section { text: text.join(" "), link: None }],
            source: known.source,
            semantic_identifier: "untitled".to_owned(),
            title: Some(String::new()),
            metadata: [("k".to_owned(), MetadataValue::One(known.tag.clone()))].into(),
            updated_at: None,
            created_at: None,
            primary_owners: Vec::new(),
            secondary_owners: Vec::new(),
            from_ingestion_api: false,
            external_access: told.as_ref().map(|(_, access)| access.clone()),
        };
        let outcomes = self.engine().ingest_batch(pair, vec![document]).await;
        assert!(!matches!(outcomes[0], IngestOutcome::Failed(_)), "{outcomes:?}");
        if let Some(before) = self.oracle.documents.get(&id) {
            known.pairs.extend(&before.pairs);
        }
        if let Some((told, _)) = told
            && self.oracle.pairs[&pair].0 == AccessType::Sync
        {
            self.oracle.told.insert((pair, id.clone()), told);
        }
        self.oracle.documents.insert(id, known);
    }

    async fn write_set(&mut self, place: usize, pairs: BTreeSet<CcPairId>, shares: Shares) {
        let (public, users) = self.shares(shares);
        let set = NewDocumentSet {
            name: format!("set {place}"),
            description: String::new(),
            public,
            groups: BTreeSet::new(),
            users: users.clone(),
            cc_pairs: pairs.clone(),
        };
        let (engine, admin) = (self.engine(), &self.users[0]);
        let (sets, now, job) =
            (&engine.backends().document_sets, engine.backends().clock.now(), engine.sync_job());
        let change = match self.oracle.sets.get(&place) {
            Some(known) => sets.update(admin, known.what.id, set, now, job).await.unwrap(),
            None => sets.insert(set, Some(admin.user), now, job).await.unwrap(),
        };
        let SetChange::Done(id) = change else { panic!("{change:?}") };
        engine.sync_documents().await.unwrap();
        let what = KnownSet { id, pairs };
        self.oracle.sets.insert(place, Shared { what, public, users });
    }

    async fn write_agent(
        &mut self,
        place: usize,
        sets: BTreeSet<trove_domain::id::DocumentSetId>,
        documents: BTreeSet<DocumentId>,
        shares: Shares,
    ) {
        let (public, users) = self.shares(shares);
        let scope = RetrievalScope {
            document_sets: sets.clone(),
            documents: documents.clone(),
            ..RetrievalScope::default()
        };
        let name = format!("agent {place}");
        let agent = AgentWrite {
            definition: AgentDefinition { name, scope, ..AgentDefinition::default() },
            sharing: AgentSharing {
                public: Some(public),
                users: Some(users.clone()),
                groups: None,
            },
            ..AgentWrite::default()
        };
        let (backends, admin) = (self.engine().backends(), &self.users[0]);
        let (agents, now) = (&backends.agents, backends.clock.now());
        let change = match self.oracle.agents.get(&place) {
            Some(known) => agents.update(admin, known.what.id, agent, now).await.unwrap(),
            None => agents.insert(admin, agent, now).await.unwrap(),
        };
        let AgentChange::Done(id) = change else { panic!("{change:?}") };
        let what = KnownAgent { id, sets, documents };
        self.oracle.agents.insert(place, Shared { what, public, users });
    }

    async fn search(&mut self, asked: &Asked) {
        // After all users comes whoever is not signed in.
        let user = self.users.get(asked.user % (self.users.len() + 1));
        let user = user.cloned().unwrap_or_else(Caller::anonymous);
        let word = WORDS[asked.word % WORDS.len()];
        let source = asked.source.map(|n| SOURCES[n % SOURCES.len()]);
        let tag = asked.tag.map(|n| format!("t{}", n % 2));
        let readable: BTreeMap<DocumentId, KnownDocument> = self
            .oracle
            .documents
            .iter()
            .filter(|(id, known)| self.oracle.readable(user.user, id, known))
            .filter(|(_, known)| source.is_none_or(|source| known.source == source))
            .filter(|(_, known)| tag.as_ref().is_none_or(|tag| known.tag == *tag))
            .map(|(id, known)| (id.clone(), known.clone()))
            .collect();
        let tags: Vec<Tag> =
            tag.into_iter().map(|value| Tag { key: "k".to_owned(), value }).collect();
        let sources: Vec<DocumentSource> = source.into_iter().collect();
        self.search_index(&user, word, &readable, (&sources, &tags)).await;

        let name = asked.set.map(|n| format!("set {}", n % SETS));
        let document_sets = name.into_iter().collect();
        let filters = FilterRequest { sources, tags, document_sets, ..FilterRequest::default() };
        // `None` is a set that the caller does not see.
        let set = asked.set.map(|n| self.oracle.sets.get(&(n % SETS)));
        let set = set.map(|set| set.filter(|set| set.visible(&user)).map(|set| set.what.id));
        let expected = match set {
            None => Some(readable),
            Some(None) => None,
            Some(Some(set)) => {
                let mut inside = readable;
                inside.retain(|_, known| self.oracle.in_set(set, known));
                Some(inside)
            }
        };
        self.search_documents(&user, word, filters.clone(), expected.as_ref()).await;
        self.search_passages(&user, word, filters, expected, asked.agent).await;
    }

    /// Words and vectors, apart from each other.
    async fn search_index(
        &self,
        user: &Caller,
        word: &str,
        readable: &BTreeMap<DocumentId, KnownDocument>,
        (sources, tags): (&[DocumentSource], &[Tag]),
    ) {
        let with_word = readable.iter().filter(|(_, known)| known.words.contains(word));
        let with_word: BTreeSet<&DocumentId> = with_word.map(|(id, _)| id).collect();
        let backends = self.engine().backends();
        let model = backends.embedding_model.as_ref().unwrap();
        let mut query = IndexQuery {
            text: word.to_owned(),
            vector: Some(model.embed_query(word).await.unwrap()),
            alpha: HybridAlpha::LEXICAL,
            scope: backends.access.scope_for(user).await.unwrap(),
            filters: SearchFilters {
                sources: sources.to_vec(),
                tags: tags.to_vec(),
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
        assert_eq!(found, readable.keys().collect(), "by vectors, as {}", user.email);
    }

    /// The stream, with expansions, and the history that it leaves.
    async fn search_documents(
        &mut self,
        user: &Caller,
        word: &str,
        filters: FilterRequest,
        expected: Option<&BTreeMap<DocumentId, KnownDocument>>,
    ) {
        self.stack.clock.advance(TimeDelta::seconds(1));
        let request = DocumentSearchRequest {
            filters,
            hits: 100,
            expand: true,
            ..DocumentSearchRequest::new(word)
        };
        match (self.engine().search_documents(user, request).await, expected) {
            (Err(SearchError::DocumentSets { .. }), None) => {}
            (Ok(events), Some(expected)) => {
                let events: Vec<SearchEvent> = events.collect().await;
                let [SearchEvent::Queries(queries), SearchEvent::Sections(sections)] = &events[..]
                else {
                    panic!("{events:?}")
                };
                let expansions: Vec<String> = queries[1..].to_vec();
                let wanted: Vec<&str> = EXPANSIONS.into_iter().filter(|e| *e != word).collect();
                assert_eq!(expansions, wanted);
                let found: BTreeSet<_> = sections.iter().map(RankedSection::document).collect();
                assert_eq!(found, expected.keys().collect(), "in the stream");
                let searches = self.oracle.searches.entry(user.user).or_default();
                if !user.is_anonymous() {
                    searches.push((word.to_owned(), expansions));
                }
            }
            (Err(error), _) => panic!("{error:?}"),
            (Ok(_), None) => panic!("a set that {} does not see was searched", user.email),
        }
        let history = self.engine().search_history(user, 1000, None).await.unwrap();
        let history: Vec<_> = history.into_iter().map(|s| (s.query, s.expansions)).collect();
        let searches = self.oracle.searches.get(&user.user).into_iter().flatten();
        assert!(history.iter().eq(searches.rev()), "{history:?}");
    }

    /// Passages, as an agent when one is asked for.
    async fn search_passages(
        &self,
        user: &Caller,
        word: &str,
        filters: FilterRequest,
        expected: Option<BTreeMap<DocumentId, KnownDocument>>,
        agent: Option<usize>,
    ) {
        // An agent that is not there has the number of none.
        let known = agent.and_then(|n| self.oracle.agents.get(&(n % AGENTS)));
        let visible = agent.is_none() || known.is_some_and(|agent| agent.visible(user));
        let request = SearchRequest {
            filters,
            agent: agent.map(|_| known.map_or(i32::MAX, |agent| agent.what.id.0)),
            ..SearchRequest::new(QueryText::new(word).unwrap())
        };
        let expected = expected.filter(|_| visible).map(|mut readable| {
            if let Some(agent) = known {
                readable.retain(|id, known| self.oracle.known_to(&agent.what, id, known));
            }
            readable
        });
        match (self.engine().search(user, request).await, expected) {
            (Err(SearchError::DocumentSets { .. } | SearchError::Agent { .. }), None) => {}
            (Ok(results), Some(expected)) => {
                let found: BTreeSet<&DocumentId> =
                    results.iter().map(|result| result.section.document()).collect();
                assert_eq!(found, expected.keys().collect(), "in the answer to {}", user.email);
            }
            (Err(error), _) => panic!("{error:?}"),
            (Ok(_), None) => panic!("{} does not see what it searched with", user.email),
        }
    }
}
