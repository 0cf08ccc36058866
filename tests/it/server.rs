//! The HTTP interface over the real store and index, on a port of this machine.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use actix_web::HttpServer;
use actix_web::dev::ServerHandle;
use reqwest::Method;
use reqwest::header::HeaderMap;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use trove_domain::access::Role;
use trove_domain::cc_pair::AccessType;
use trove_domain::id::{CcPairId, GroupId, UserId};
use trove_domain::port::{Clock, LanguageModel, NewCcPair, NewDocumentSet, NewUser, SetChange};
use trove_domain::source::DocumentSource;
use trove_engine::{Backends, Engine, EngineConfig};
use trove_http::{Http, HttpConfig, Readiness};
use trove_testkit::scripted_model::ScriptedLanguageModel;

use crate::stack::Stack;

/// A server that ends with its value.
pub(crate) struct Server {
    pub(crate) engine: Engine,
    pub(crate) stack: Stack,
    address: SocketAddr,
    client: reqwest::Client,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

/// Settings of a server.
pub(crate) struct Options {
    pub(crate) engine: EngineConfig,
    pub(crate) http: HttpConfig,
    pub(crate) readiness: Readiness,
    /// Replaces backends, to make them fail.
    pub(crate) backends: fn(Backends) -> Backends,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: EngineConfig::default(),
            http: HttpConfig { version: "1.2.3".to_owned(), ..HttpConfig::default() },
            readiness: Readiness::default(),
            backends: |backends| backends,
        }
    }
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let stack = Stack::with(options.engine, options.backends).await;
        let engine = stack.engine.clone();
        Self::over(stack, engine, options.http, options.readiness)
    }

    /// A server over backends that `change` has replaced.
    pub(crate) async fn changed(change: impl FnOnce(Backends) -> Backends) -> Self {
        Self::changed_with(EngineConfig::default(), change).await
    }

    /// The same with settings of the engine.
    pub(crate) async fn changed_with(
        config: EngineConfig,
        change: impl FnOnce(Backends) -> Backends,
    ) -> Self {
        let stack = Stack::start().await;
        let backends = change(stack.engine.backends().clone());
        let engine = Engine::new(backends, config);
        let Options { http, readiness, .. } = Options::default();
        Self::over(stack, engine, http, readiness)
    }

    /// A server that a language model helps.
    pub(crate) async fn assisted(model: &Arc<ScriptedLanguageModel>) -> Self {
        let model: Arc<dyn LanguageModel> = Arc::<ScriptedLanguageModel>::clone(model);
        Self::changed(|backends| Backends { language_model: Some(model), ..backends }).await
    }

    /// The same, searching by words alone.
    pub(crate) async fn assisted_by_words(model: &Arc<ScriptedLanguageModel>) -> Self {
        let model: Arc<dyn LanguageModel> = Arc::<ScriptedLanguageModel>::clone(model);
        Self::changed(|backends| Backends {
            language_model: Some(model),
            embedding_model: None,
            ..backends
        })
        .await
    }

    fn over(stack: Stack, engine: Engine, http: HttpConfig, readiness: Readiness) -> Self {
        let http = Http::new(engine.clone(), http, readiness.fixed());
        let (address, handle, thread) = listen(http);
        let redirect = reqwest::redirect::Policy::none();
        let client = reqwest::Client::builder().redirect(redirect).no_proxy().build().unwrap();
        Self { engine, stack, address, client, handle, thread: Some(thread) }
    }

    /// Somebody without a key.
    pub(crate) fn nobody(&self) -> Client<'_> {
        Client { server: self, headers: Vec::new() }
    }

    /// A new user with this role and a key.
    pub(crate) async fn caller(&self, role: Role) -> Client<'_> {
        let id = self.engine.backends().ids.uuid();
        let email = format!("{role}-{id}@example.com");
        self.user(&email, role).await
    }

    /// A new user with this address and role, and a key.
    pub(crate) async fn user(&self, email: &str, role: Role) -> Client<'_> {
        let key = self.key(email, role).await;
        self.nobody().with("authorization", &format!("Bearer {key}"))
    }

    /// The key of a new user.
    pub(crate) async fn key(&self, email: &str, role: Role) -> String {
        let backends = self.engine.backends();
        let id = UserId(backends.ids.uuid());
        let user = NewUser::person(id, email, role, backends.clock.now());
        assert!(backends.users.insert(user).await.unwrap());
        self.engine.issue_key(email, None).await.unwrap().secret.expose_secret().to_owned()
    }

    /// A pair that only members of `groups` read.
    pub(crate) async fn private_pair(&self, name: &str, groups: &[GroupId]) -> CcPairId {
        let pair = NewCcPair {
            name: name.to_owned(),
            source: DocumentSource::IngestionApi,
            config: json!({}),
            access_type: AccessType::Private,
            groups: groups.iter().copied().collect(),
            creator: None,
            created_at: self.stack.clock.now(),
        };
        self.engine.backends().cc_pairs.get_or_insert(pair).await.unwrap().id
    }

    /// A group of existing users, each with whether it curates the group.
    pub(crate) async fn group(&self, name: &str, members: &[(&str, bool)]) -> GroupId {
        let backends = self.engine.backends();
        let group = backends.groups.insert(name).await.unwrap().unwrap().id;
        let mut ids = Vec::new();
        for (email, curator) in members {
            let user = backends.users.get_by_email(email).await.unwrap().unwrap();
            ids.push((user.id, *curator));
        }
        assert!(backends.groups.set_members(group, &ids).await.unwrap());
        group
    }

    /// A document set over pairs, in the index when this returns.
    pub(crate) async fn document_set(&self, name: &str, public: bool, pairs: &[CcPairId]) {
        let set = NewDocumentSet {
            name: name.to_owned(),
            description: String::new(),
            public,
            groups: BTreeSet::new(),
            users: BTreeSet::new(),
            cc_pairs: pairs.iter().copied().collect(),
        };
        let (sets, now) = (&self.engine.backends().document_sets, self.stack.clock.now());
        let made = sets.insert(set, None, now, self.engine.sync_job()).await.unwrap();
        assert!(matches!(made, SetChange::Done(_)), "{made:?}");
        self.engine.sync_documents().await.unwrap();
    }

    /// Sends bytes as they are; answers everything that comes back until the server closes.
    pub(crate) async fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // The server may refuse and close before it has read everything.
        let _ = stream.write_all(request).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A connection, to do unusual things with.
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}

fn listen(http: Http) -> (SocketAddr, ServerHandle, JoinHandle<()>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let serve = move || {
        actix_web::rt::System::new().block_on(async move {
            let server = HttpServer::new(move || http.app())
                .workers(1)
                .disable_signals()
                .h1_allow_half_closed(false)
                .bind(("127.0.0.1", 0))
                .unwrap();
            let address = server.addrs()[0];
            let running = server.run();
            sender.send((address, running.handle())).unwrap();
            running.await.unwrap();
        });
    };
    let thread = std::thread::Builder::new().name("server".to_owned()).spawn(serve).unwrap();
    let (address, handle) = receiver.recv().unwrap();
    (address, handle, thread)
}

impl Drop for Server {
    fn drop(&mut self) {
        // The command is sent by the call; the future only waits for it to be carried out.
        drop(self.handle.stop(false));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Somebody who calls.
#[derive(Clone)]
pub(crate) struct Client<'a> {
    server: &'a Server,
    headers: Vec<(String, String)>,
}

impl Client<'_> {
    /// The same with one more header.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    pub(crate) async fn search(&self, body: Value) -> Answer {
        self.post("/api/search", body).await
    }

    /// `POST /search/send-search-message`
    pub(crate) async fn send_search(&self, body: Value) -> Answer {
        self.post("/api/search/send-search-message", body).await
    }

    /// `GET /search/search-history` with this query string.
    pub(crate) async fn history(&self, query: &str) -> Answer {
        self.get(&format!("/api/search/search-history{query}")).await
    }

    pub(crate) async fn ingest(&self, body: Value) -> Answer {
        self.post("/api/ingestion", body).await
    }

    pub(crate) async fn ingested(&self) -> Answer {
        self.get("/api/ingestion").await
    }

    pub(crate) async fn connector_docs(&self, pair: impl std::fmt::Display) -> Answer {
        self.get(&format!("/api/ingestion/connector-docs/{pair}")).await
    }

    /// `id` goes into the path as it is.
    pub(crate) async fn remove(&self, id: &str) -> Answer {
        self.send(Method::DELETE, &format!("/api/ingestion/{id}"), None).await
    }

    pub(crate) async fn me(&self) -> Answer {
        self.get("/api/me").await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        let client = self.with("content-type", "application/json");
        client.send(Method::POST, path, Some(body.to_string().into_bytes())).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        let client = self.with("content-type", "application/json");
        client.send(Method::PATCH, path, Some(body.to_string().into_bytes())).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        let client = self.with("content-type", "application/json");
        client.send(Method::PUT, path, Some(body.to_string().into_bytes())).await
    }

    /// A `POST` of a form, encoded already.
    pub(crate) async fn form(&self, path: &str, form: &str) -> Answer {
        let client = self.with("content-type", "application/x-www-form-urlencoded");
        client.send(Method::POST, path, Some(form.as_bytes().to_vec())).await
    }

    /// A `DELETE` with a body.
    pub(crate) async fn delete_with(&self, path: &str, body: Value) -> Answer {
        let client = self.with("content-type", "application/json");
        client.send(Method::DELETE, path, Some(body.to_string().into_bytes())).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// A `POST /search` with exactly this body.
    pub(crate) async fn search_raw(&self, body: impl Into<Vec<u8>>) -> Answer {
        let client = self.with("content-type", "application/json");
        client.send(Method::POST, "/api/search", Some(body.into())).await
    }

    /// A request with the path as it is: nothing is normalised on the way.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<Vec<u8>>) -> Answer {
        let url = format!("http://{}{path}", self.server.address);
        let mut request = self.server.client.request(method, url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        Answer { status, headers, text: response.text().await.unwrap() }
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The answer, which must be 200.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// Fails unless this is an error of the usual form.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, error_code: &str) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let body = self.json();
        assert_eq!(body["error_code"], error_code, "{self:?}");
        body["detail"].as_str().unwrap().to_owned()
    }

    /// Fails unless this is a 422 with exactly these failures, each as `loc/of/field type`.
    #[track_caller]
    pub(crate) fn invalid(&self, failures: &[&str]) {
        assert_eq!(self.status, 422, "{self:?}");
        let body = self.json();
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        let found: Vec<String> = body["detail"]
            .as_array()
            .unwrap()
            .iter()
            .map(|failure| {
                let keys: BTreeSet<&str> =
                    failure.as_object().unwrap().keys().map(String::as_str).collect();
                assert_eq!(keys, BTreeSet::from(["loc", "msg", "type"]));
                let loc = failure["loc"].as_array().unwrap().iter();
                let loc: Vec<&str> = loc.map(|step| step.as_str().unwrap()).collect();
                assert!(!failure["msg"].as_str().unwrap().is_empty());
                format!("{} {}", loc.join("/"), failure["type"].as_str().unwrap())
            })
            .collect();
        assert_eq!(found, failures);
    }

    /// The lines of a streamed answer.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{self:?}");
        assert!(self.text.ends_with('\n'), "{self:?}");
        self.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The ids of the documents of an answer to `POST /search/send-search-message`, in order.
    #[track_caller]
    pub(crate) fn found(&self) -> Vec<String> {
        let body = self.ok();
        assert_eq!(body["error"], Value::Null, "{body}");
        let docs = body["search_docs"].as_array().unwrap().clone();
        docs.iter().map(|doc| doc["document_id"].as_str().unwrap().to_owned()).collect()
    }

    /// The titles of search results, in order.
    #[track_caller]
    pub(crate) fn titles(&self) -> Vec<String> {
        let results = self.ok()["results"].clone();
        let results = results.as_array().unwrap().clone();
        results.iter().map(|result| result["title"].as_str().unwrap().to_owned()).collect()
    }
}

/// A document with an id, a name and a text.
pub(crate) fn document(id: &str, name: &str, text: &str) -> Value {
    json!({
        "id": id, "semantic_identifier": name, "metadata": {}, "sections": [{"text": text}],
    })
}
