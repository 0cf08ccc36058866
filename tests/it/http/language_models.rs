//! Which language model a call uses.

use std::sync::Arc;

use serde_json::{Value, json};
use trove_domain::access::{Caller, Proof, Role};
use trove_domain::error::Classify;
use trove_domain::id::AgentId;
use trove_domain::port::LanguageModel;
use trove_engine::language_models::{AgentModel, LanguageModelChoiceError, ModelChoice};
use trove_engine::{Backends, Engine, EngineConfig};
use trove_testkit::scripted_model::ScriptedLanguageModel;

use crate::server::{Client, Options, Server};

const CREATE: &str = "/api/admin/llm/provider?is_creation=true";
const UPDATE: &str = "/api/admin/llm/provider";

#[expect(clippy::needless_pass_by_value, reason = "a literal is easier to pass so")]
fn provider(name: &str, fields: Value) -> Value {
    let mut body = json!({
        "name": name, "provider": "openai", "api_key": "sk-1", "default_model_name": "m",
        "model_configurations": [{"name": "m", "is_visible": true}, {"name": "n", "is_visible": false}],
    });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

async fn create(admin: &Client<'_>, name: &str, fields: Value) -> i64 {
    admin.put(CREATE, provider(name, fields)).await.ok()["id"].as_i64().unwrap()
}

async fn make_default(admin: &Client<'_>, id: i64) {
    let path = format!("/api/admin/llm/provider/{id}/default");
    admin.send(reqwest::Method::POST, &path, None).await.ok();
}

/// A user as the engine knows one.
async fn user(server: &Server, email: &str, role: Role) -> Caller {
    server.key(email, role).await;
    let user = server.engine.backends().users.get_by_email(email).await.unwrap().unwrap();
    Caller { user: user.id, email: user.email, role, proof: Proof::Trusted }
}

fn choice(provider: &str, model: &str) -> ModelChoice {
    ModelChoice { provider: provider.to_owned(), model: model.to_owned() }
}

fn agent(id: i32, provider: Option<&str>, model: Option<&str>) -> AgentModel {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    AgentModel { agent: AgentId(id), provider: owned(provider), model: owned(model) }
}

/// `provider/model` of what a call uses.
async fn used(
    engine: &Engine,
    caller: &Caller,
    agent: Option<AgentModel>,
    choice: Option<ModelChoice>,
) -> Result<Option<String>, LanguageModelChoiceError> {
    let model = engine.language_model(caller, agent.as_ref(), choice.as_ref()).await?;
    Ok(model.map(|model| format!("{}/{}", model.info().provider, model.info().model)))
}

/// Kind, as its status, and code of a refusal.
fn refusal<T: std::fmt::Debug>(
    result: Result<T, LanguageModelChoiceError>,
) -> (String, Option<&'static str>) {
    let error = result.unwrap_err();
    (format!("{:?}", error.kind()), error.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_model_is_used_or_refused() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let ann = user(&server, "ann@example.com", Role::Basic).await;
    let boss = user(&server, "boss@example.com", Role::Admin).await;
    create(&admin, "open", json!({})).await;
    create(&admin, "closed", json!({"is_public": false})).await;
    create(&admin, "bound", json!({"personas": [0]})).await;
    let of = async |caller: &Caller, provider: &str, model: &str| {
        used(&server.engine, caller, None, Some(choice(provider, model))).await
    };
    assert_eq!(of(&ann, "open", "m").await.unwrap().as_deref(), Some("open/m"));
    // Hidden is not forbidden.
    assert_eq!(of(&ann, "open", "n").await.unwrap().as_deref(), Some("open/n"));
    assert_eq!(of(&boss, "closed", "m").await.unwrap().as_deref(), Some("closed/m"));
    assert_eq!(refusal(of(&ann, "none", "m").await), ("NotFound".to_owned(), None));
    assert_eq!(refusal(of(&ann, "open", "M").await), ("NotFound".to_owned(), None));
    let forbidden = ("Forbidden".to_owned(), Some("UNAUTHORIZED"));
    // What is not hers to use is not hers to know of.
    let (closed, none) = (of(&ann, "closed", "m").await, of(&ann, "never", "m").await);
    let (closed, none) = (closed.unwrap_err().to_string(), none.unwrap_err().to_string());
    assert_eq!(closed.replace("closed", "never"), none);
    // Bound to an agent, it is not for anybody without one.
    assert_eq!(refusal(of(&boss, "bound", "m").await), forbidden);
    let with_agent =
        |id| used(&server.engine, &ann, Some(agent(id, None, None)), Some(choice("bound", "m")));
    assert_eq!(with_agent(0).await.unwrap().as_deref(), Some("bound/m"));
    assert_eq!(refusal(with_agent(1).await), ("NotFound".to_owned(), None));
    // A name that somebody sent stays short in the answer.
    let long = of(&ann, &"x".repeat(100_000), "m").await.unwrap_err();
    assert!(long.to_string().len() < 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_name_it_is_the_agents_then_the_default_then_the_configured_one() {
    fn configured(backends: Backends) -> Backends {
        let model = ScriptedLanguageModel::saying("yes").named("env", "env-1");
        Backends { language_model: Some(Arc::new(model)), ..backends }
    }
    let server = Server::with(Options { backends: configured, ..Options::default() }).await;
    let admin = server.caller(Role::Admin).await;
    let ann = user(&server, "ann@example.com", Role::Basic).await;
    let model = async |agent: Option<AgentModel>| {
        used(&server.engine, &ann, agent, None).await.unwrap().unwrap()
    };
    let named = |provider, model| Some(agent(0, provider, model));
    assert_eq!(model(None).await, "env/env-1");
    create(&admin, "p", json!({})).await;
    assert_eq!(model(None).await, "env/env-1", "the first provider is no default");
    assert_eq!(model(named(Some("p"), Some("n"))).await, "p/n");
    assert_eq!(model(named(Some("p"), None)).await, "p/m");
    let d = create(&admin, "d", json!({})).await;
    make_default(&admin, d).await;
    assert_eq!(model(None).await, "d/m");
    assert_eq!(model(named(Some("p"), Some("n"))).await, "p/n");
    assert_eq!(model(named(None, Some("n"))).await, "d/n");
    // What is not there, or not for the caller, is passed over in silence.
    create(&admin, "closed", json!({"is_public": false})).await;
    for (provider, name) in [
        (Some("gone"), Some("m")),
        (Some("p"), Some("gone")),
        (Some("closed"), None),
        (None, Some("x")),
    ] {
        assert_eq!(model(named(provider, name)).await, "d/m", "{provider:?} {name:?}");
    }
    // The one of the configuration has a name, too.
    assert_eq!(model(named(Some("env"), Some("env-1"))).await, "env/env-1");
    assert_eq!(model(named(Some("env"), Some("gone"))).await, "d/m");
    let by_name = |model| used(&server.engine, &ann, None, Some(choice("env", model)));
    assert_eq!(by_name("env-1").await.unwrap().as_deref(), Some("env/env-1"));
    assert_eq!(refusal(by_name("env-2").await).0, "NotFound");
    // A default that is closed is not used for those whom it is closed to.
    let update = provider("d", json!({"is_public": false, "api_key": null}));
    admin.put(UPDATE, update).await.ok();
    assert_eq!(model(None).await, "env/env-1");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_model_there_is_none() {
    let server = Server::start().await;
    let ann = user(&server, "ann@example.com", Role::Basic).await;
    assert_eq!(used(&server.engine, &ann, None, None).await.unwrap(), None);
    let named = Some(agent(0, Some("p"), Some("m")));
    assert_eq!(used(&server.engine, &ann, named, None).await.unwrap(), None);
}

/// Connections are worth keeping, and a change must not wait for anything.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_opened_once_until_its_provider_changes() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let ann = user(&server, "ann@example.com", Role::Basic).await;
    let id = create(&admin, "p", json!({})).await;
    let before = server.stack.models.opened().len();
    let open = async |engine: &Engine| -> Arc<dyn LanguageModel> {
        engine.language_model(&ann, None, Some(&choice("p", "m"))).await.unwrap().unwrap()
    };
    let first = open(&server.engine).await;
    assert!(Arc::ptr_eq(&first, &open(&server.engine).await));
    assert_eq!(server.stack.models.opened().len(), before + 1);

    // Another process on the same database makes the change.
    let other = Engine::new(server.engine.backends().clone(), EngineConfig::default());
    let key = json!({"api_key": "sk-2", "api_key_changed": true});
    admin.put(UPDATE, provider("p", key)).await.ok();
    assert!(!Arc::ptr_eq(&first, &open(&server.engine).await));
    let second = open(&other).await;
    let token = |index: usize| {
        use secrecy::ExposeSecret;
        server.stack.models.opened()[index].api_key.as_ref().unwrap().expose_secret().to_owned()
    };
    assert_eq!(token(server.stack.models.opened().len() - 1), "sk-2");
    assert!(Arc::ptr_eq(&second, &open(&other).await));

    admin.delete(&format!("/api/admin/llm/provider/{id}")).await.ok();
    let gone = used(&other, &ann, None, Some(choice("p", "m"))).await;
    assert_eq!(refusal(gone).0, "NotFound");
}
