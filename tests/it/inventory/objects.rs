//! Objects in each state, made without asking what is tested.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::json;
use trove_domain::access::{Caller, Proof, Role};
use trove_domain::agent::AgentDefinition;
use trove_domain::cc_pair::AccessType;
use trove_domain::connector::{ConnectorDetails, InputType};
use trove_domain::credential::CredentialDetails;
use trove_domain::id::{AgentId, CcPairId, CredentialId, GroupId, TokenLimitId, UserId};
use trove_domain::port::{
    AgentChange, AgentFlags, AgentSharing, AgentWrite, Clock, NewCcPair, NewConnector,
    NewCredential, NewDocumentSet, NewScheduledPair, NewUser, SetChange, UserChange,
};
use trove_domain::source::DocumentSource;
use trove_domain::token_limit::{LimitScope, TokenAllowance};
use trove_engine::accounts::AccessTokenRequest;
use trove_engine::administration::ServiceKeyRequest;

use super::principals::World;
use super::rules::{Kind, State};
use super::table::Named;
use crate::server::document;

/// Of a kind with numbers, the one that never was.
const MISSING_NUMBER: i32 = 990_001;
const MISSING_UUID: &str = "0190a1b2-c3d4-7000-8000-0000000000ff";

/// As paths and as people name it.
pub(super) type Object = (String, String);

/// What has been made and not been changed.
#[derive(Default)]
pub(super) struct Cache {
    made: RefCell<BTreeMap<(Kind, State, UserId), Object>>,
    serial: Cell<usize>,
}

impl World {
    pub(super) fn serial(&self) -> usize {
        self.cache.serial.set(self.cache.serial.get() + 1);
        self.cache.serial.get()
    }

    /// An object that nothing was done to, perhaps one that has been answered before.
    pub(super) async fn kept(&self, kind: Kind, state: State, me: UserId) -> Object {
        let key = (kind, state, me);
        if let Some(made) = self.cache.made.borrow().get(&key) {
            return made.clone();
        }
        let made = self.make(kind, state, me).await;
        self.cache.made.borrow_mut().insert(key, made.clone());
        made
    }

    pub(super) fn named(&self, object: Object, state: State) -> Named {
        Named {
            id: object.0,
            name: object.1,
            state,
            on: None,
            team: self.team.0,
            other: self.other.0,
            member: self.member.to_string(),
            stranger: self.owner.to_string(),
            serial: self.serial(),
        }
    }

    /// A new object.
    pub(super) async fn make(&self, kind: Kind, state: State, me: UserId) -> Object {
        let name = format!("object-{}", self.serial());
        let id = match kind {
            Kind::Agent => self.agent(&name, state, me).await,
            Kind::DocumentSet => self.document_set(&name, state, me).await,
            Kind::Pair => self.pair(&name, state, me).await,
            Kind::ScheduledPair => {
                self.scheduled(&name, state, me, DocumentSource::MockConnector).await.1
            }
            Kind::Connector => {
                self.scheduled(&name, state, me, DocumentSource::MockConnector).await.0
            }
            Kind::FileConnector | Kind::ConnectorFiles => {
                self.scheduled(&name, state, me, DocumentSource::File).await.0
            }
            Kind::UsableCredential | Kind::Credential => {
                self.credential(&name, state, me).await.to_string()
            }
            Kind::Document | Kind::ReadDocument => self.document(&name, state, me).await,
            Kind::Group | Kind::Audience => self.group(&name, state, me).await,
            Kind::TokenLimit => self.token_limit(state).await,
            Kind::Provider | Kind::UsableProvider => self.provider(&name, state).await,
            Kind::User => self.user(&name, state, me, true).await.0,
            Kind::Address => self.user(&name, state, me, true).await.1,
            Kind::InactiveAddress => self.user(&name, state, me, false).await.1,
            Kind::Invitation => self.invitation(&name, state).await,
            Kind::Label => self.label(&name, state).await,
            Kind::ApiKey => self.api_key(&name, state, me).await,
            Kind::AccessToken => self.access_token(&name, state, me).await,
            // Built in.
            Kind::Tool if state == State::Missing => MISSING_NUMBER.to_string(),
            Kind::Tool => "1".to_owned(),
        };
        (id, name)
    }

    /// Whose an object of this state is.
    fn owner_of(&self, state: State, me: UserId) -> UserId {
        if matches!(state, State::Own | State::Deleted) { me } else { self.owner }
    }

    fn groups_of(&self, state: State) -> BTreeSet<GroupId> {
        match state {
            State::Team => [self.team].into(),
            State::Both => [self.team, self.other].into(),
            _ => BTreeSet::new(),
        }
    }

    fn users_of(state: State, me: UserId) -> BTreeSet<UserId> {
        if state == State::Shared { [me].into() } else { BTreeSet::new() }
    }

    fn whoever(user: UserId) -> Caller {
        Caller { user, email: String::new(), role: Role::Admin, proof: Proof::Trusted }
    }

    async fn agent(&self, name: &str, state: State, me: UserId) -> String {
        if state == State::Missing {
            return MISSING_NUMBER.to_string();
        }
        let (store, now) = (&self.server.engine.backends().agents, self.server.stack.clock.now());
        let definition = AgentDefinition { name: name.to_owned(), ..AgentDefinition::default() };
        let sharing = AgentSharing {
            public: Some(matches!(state, State::Public | State::Deleted)),
            users: Some(Self::users_of(state, me)),
            groups: Some(self.groups_of(state)),
        };
        let write = AgentWrite { definition, sharing, ..AgentWrite::default() };
        let owner = Self::whoever(self.owner_of(state, me));
        let AgentChange::Done(AgentId(id)) = store.insert(&owner, write, now).await.unwrap() else {
            panic!("no agent")
        };
        if state == State::Deleted {
            let flags = AgentFlags { deleted: Some(true), ..AgentFlags::default() };
            store.set_flags(&owner, AgentId(id), flags, now).await.unwrap();
        }
        id.to_string()
    }

    async fn document_set(&self, name: &str, state: State, me: UserId) -> String {
        if state == State::Missing {
            return MISSING_NUMBER.to_string();
        }
        let engine = &self.server.engine;
        let (store, now) = (&engine.backends().document_sets, self.server.stack.clock.now());
        let set = NewDocumentSet {
            name: name.to_owned(),
            description: String::new(),
            public: matches!(state, State::Public | State::Deleted),
            groups: self.groups_of(state),
            users: Self::users_of(state, me),
            cc_pairs: [CcPairId(1)].into(),
        };
        let owner = self.owner_of(state, me);
        let made = store.insert(set, Some(owner), now, engine.sync_job()).await.unwrap();
        let SetChange::Done(id) = made else { panic!("{made:?}") };
        engine.sync_documents().await.unwrap();
        if state == State::Deleted {
            let owner = Self::whoever(owner);
            store.begin_removal(&owner, id, now, engine.sync_job()).await.unwrap();
            engine.sync_documents().await.unwrap();
        }
        id.to_string()
    }

    async fn pair(&self, name: &str, state: State, me: UserId) -> String {
        if state == State::Missing {
            return MISSING_NUMBER.to_string();
        }
        let engine = &self.server.engine;
        let public = matches!(state, State::Public | State::Deleted);
        let pair = NewCcPair {
            name: name.to_owned(),
            source: DocumentSource::IngestionApi,
            config: json!({}),
            access_type: if public { AccessType::Public } else { AccessType::Private },
            groups: self.groups_of(state),
            creator: Some(self.owner_of(state, me)),
            created_at: self.server.stack.clock.now(),
        };
        let pairs = &engine.backends().cc_pairs;
        let id = pairs.get_or_insert(pair).await.unwrap().id;
        if state == State::Deleted {
            let now = self.server.stack.clock.now();
            assert!(pairs.remove(id, now, engine.sync_job()).await.unwrap());
            engine.sync_documents().await.unwrap();
        }
        id.to_string()
    }

    /// A connector and its pair, which a schedule runs.
    async fn scheduled(
        &self,
        name: &str,
        state: State,
        me: UserId,
        source: DocumentSource,
    ) -> (String, String) {
        if state == State::Missing {
            return (MISSING_NUMBER.to_string(), MISSING_NUMBER.to_string());
        }
        let (backends, now) = (self.server.engine.backends(), self.server.stack.clock.now());
        let details = ConnectorDetails {
            name: name.to_owned(),
            source,
            input_type: InputType::Poll,
            config: serde_json::Map::new(),
            refresh_freq_s: None,
            prune_freq_s: None,
        };
        let new = NewConnector { details, indexing_start: None, created_at: now };
        let connector = backends.connectors.insert(new).await.unwrap().unwrap().id;
        let public = matches!(state, State::Public | State::Deleted);
        let pair = NewScheduledPair {
            name: name.to_owned(),
            connector,
            credential: CredentialId(0),
            access_type: if public { AccessType::Public } else { AccessType::Private },
            groups: self.groups_of(state),
            auto_sync_options: None,
            creator: Some(self.owner_of(state, me)),
            created_at: now,
        };
        let pair = backends.cc_pairs.associate(pair).await.unwrap().unwrap().id;
        if state == State::Deleted {
            backends.connectors.remove(connector).await.unwrap();
        }
        (connector.to_string(), pair.to_string())
    }

    async fn credential(&self, name: &str, state: State, me: UserId) -> i32 {
        if state == State::Missing {
            return MISSING_NUMBER;
        }
        let engine = &self.server.engine;
        let (backends, now) = (engine.backends(), self.server.stack.clock.now());
        let details = CredentialDetails {
            name: Some(name.to_owned()),
            source: DocumentSource::MockConnector,
            secret: None,
            admin_public: state != State::Foreign,
            curator_public: state == State::Public,
            groups: self.groups_of(state),
        };
        let (uuid, owner) = (backends.ids.uuid(), Some(self.owner_of(state, me)));
        let new = NewCredential { uuid, details, owner, created_at: now };
        let id = backends.credentials.insert(new).await.unwrap().unwrap().id;
        if state == State::Deleted {
            backends.credentials.remove(id).await.unwrap();
        }
        id.0
    }

    async fn document(&self, name: &str, state: State, me: UserId) -> String {
        if state == State::Missing {
            return "never-there".to_owned();
        }
        // The pair of a deleted document stays, and is the caller's.
        let of_pair = if state == State::Deleted { State::Own } else { state };
        let pair: i32 = self.pair(name, of_pair, me).await.parse().unwrap();
        let posted = json!({"document": document(name, name, "apple"), "cc_pair_id": pair});
        let admin = self.admin();
        admin.ingest(posted).await.ok();
        if state == State::Deleted {
            admin.send(Method::DELETE, &format!("/api/ingestion/{name}"), None).await.ok();
        }
        name.to_owned()
    }

    async fn group(&self, name: &str, state: State, me: UserId) -> String {
        if state == State::Missing {
            return MISSING_NUMBER.to_string();
        }
        let engine = &self.server.engine;
        let (store, now) = (&engine.backends().groups, self.server.stack.clock.now());
        let id = store.insert(name).await.unwrap().unwrap().id;
        let mut members = vec![(self.member, false)];
        match state {
            State::Own | State::Deleted if me != self.member => members.push((me, true)),
            State::Joined => members.push((me, false)),
            _ => {}
        }
        assert!(store.set_members(id, &members).await.unwrap());
        if state == State::Deleted {
            store.begin_removal(id, now, engine.sync_job()).await.unwrap();
            engine.sync_documents().await.unwrap();
        }
        id.to_string()
    }

    async fn token_limit(&self, state: State) -> String {
        if state == State::Missing {
            return MISSING_NUMBER.to_string();
        }
        let store = &self.server.engine.backends().token_limits;
        let allowance = TokenAllowance { enabled: true, budget_thousands: 9, period_hours: 9 };
        let limit = store.insert_limit(LimitScope::User, allowance).await.unwrap().unwrap();
        if state == State::Deleted {
            assert!(store.remove_limit(limit.id).await.unwrap());
        }
        let TokenLimitId(id) = limit.id;
        id.to_string()
    }

    async fn provider(&self, name: &str, state: State) -> String {
        if state == State::Missing {
            return MISSING_NUMBER.to_string();
        }
        let groups: Vec<i32> = match state {
            State::Foreign => vec![self.group(&format!("of-{name}"), state, self.owner).await],
            _ => self.groups_of(state).iter().map(ToString::to_string).collect(),
        }
        .iter()
        .map(|id| id.parse().unwrap())
        .collect();
        let body = json!({"name": name, "provider": "openai", "default_model_name": "m",
            "default_vision_model": "m", "api_key": "sk-x", "api_key_changed": true,
            "is_public": groups.is_empty(), "groups": groups,
            "model_configurations": [{"name": "m", "is_visible": true}]});
        let admin = self.admin();
        let made = admin.put("/api/admin/llm/provider?is_creation=true", body).await.ok();
        if state == State::Deleted {
            admin.delete(&format!("/api/admin/llm/provider/{}", made["id"])).await.ok();
        }
        made["id"].to_string()
    }

    /// Key and address.
    async fn user(&self, name: &str, state: State, me: UserId, active: bool) -> (String, String) {
        let (users, now) = (&self.server.engine.backends().users, self.server.stack.clock.now());
        match state {
            State::Missing => return (MISSING_UUID.to_owned(), "never@example.com".to_owned()),
            State::Own => {
                let me = users.get(me).await.unwrap().unwrap();
                return (me.id.to_string(), me.email);
            }
            _ => {}
        }
        let (id, email) =
            (UserId(self.server.engine.backends().ids.uuid()), format!("{name}@example.com"));
        assert!(users.insert(NewUser::person(id, &email, Role::Basic, now)).await.unwrap());
        if !active || state == State::Deleted {
            assert_eq!(users.deactivate(id, now).await.unwrap(), UserChange::Done);
        }
        if state == State::Deleted {
            let job = self.server.engine.sync_job();
            assert_eq!(users.remove(id, now, job).await.unwrap(), UserChange::Done);
        }
        (id.to_string(), email)
    }

    async fn invitation(&self, name: &str, state: State) -> String {
        let email = format!("{name}@example.com");
        if state != State::Missing {
            self.server.engine.invite(std::slice::from_ref(&email)).await.unwrap();
        }
        email
    }

    async fn label(&self, name: &str, state: State) -> String {
        if state == State::Missing {
            return MISSING_NUMBER.to_string();
        }
        let store = &self.server.engine.backends().agents;
        store.insert_label(name).await.unwrap().unwrap().id.to_string()
    }

    async fn api_key(&self, name: &str, state: State, me: UserId) -> String {
        let engine = &self.server.engine;
        if state == State::Missing {
            return MISSING_NUMBER.to_string();
        }
        if state == State::Own {
            let me = engine.backends().users.get(me).await.unwrap().unwrap();
            let issued = engine.issue_key(&me.email, Some(name.to_owned())).await.unwrap();
            return issued.key.id.to_string();
        }
        let request =
            ServiceKeyRequest { name: Some(name.to_owned()), role: Role::Basic, groups: None };
        let (made, _) = engine.create_service_key(request).await.unwrap();
        if state == State::Deleted {
            engine.delete_key(made.key.id).await.unwrap();
        }
        made.key.id.to_string()
    }

    async fn access_token(&self, name: &str, state: State, me: UserId) -> String {
        if state == State::Missing {
            return MISSING_NUMBER.to_string();
        }
        let engine = &self.server.engine;
        let owner = Self::whoever(self.owner_of(state, me));
        let request =
            AccessTokenRequest { name: name.to_owned(), expiration_days: None, scopes: None };
        let (made, _) = engine.create_access_token(&owner, request).await.unwrap();
        if state == State::Deleted {
            engine.revoke_access_token(&owner, made.id).await.unwrap();
        }
        made.id.to_string()
    }
}
