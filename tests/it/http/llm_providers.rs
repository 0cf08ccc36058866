//! `/llm/provider`, `/admin/llm/…`

use std::fs;
use std::sync::Arc;

use secrecy::ExposeSecret;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::port::LanguageModelEndpoint;
use trove_engine::Backends;
use trove_testkit::scripted_model::ScriptedLanguageModel;

use crate::server::{Answer, Client, Options, Server};
use crate::stack::STORY;

const CREATE: &str = "/api/admin/llm/provider?is_creation=true";
const UPDATE: &str = "/api/admin/llm/provider";
const MASK: &str = "********";

/// A provider with a key, at an address of its own.
fn provider(name: &str) -> Value {
    json!({
        "name": name, "provider": "openai", "api_key": "sk-first", "api_base": "https://a.example/v1",
        "custom_config": {"organization": "org-first"}, "default_model_name": "m",
        "model_configurations": [{"name": "m", "is_visible": true}],
    })
}

/// The same with other fields.
fn with(mut body: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    body.as_object_mut().unwrap().extend(fields);
    body
}

async fn create(admin: &Client<'_>, body: Value) -> i64 {
    admin.put(CREATE, body).await.ok()["id"].as_i64().unwrap()
}

fn names(list: &Answer) -> Vec<String> {
    let list = list.ok();
    list.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap().to_owned()).collect()
}

/// The key and the settings that the last model was opened with.
fn last_opened(server: &Server) -> (Option<String>, Vec<(String, String)>, Option<String>) {
    let endpoint: LanguageModelEndpoint = server.stack.models.opened().pop().unwrap();
    let custom = endpoint.custom.iter();
    (
        endpoint.api_key.map(|key| key.expose_secret().to_owned()),
        custom.map(|(name, value)| (name.clone(), value.expose_secret().to_owned())).collect(),
        endpoint.api_base,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_has_the_fields_of_the_contract_and_no_secrets() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let group = server.group("G", &[]).await;
    let body = json!({
        "name": " Local ", "provider": " Ollama ", "api_key": "sk-secret\n",
        "api_base": "http://127.0.0.1:11434", "api_version": "1", "deployment_name": "d",
        "custom_config": {"header:x": "hush"}, "default_model_name": "b",
        "default_vision_model": "v", "is_public": false, "is_auto_mode": true,
        "groups": [group.0], "personas": [0], "unknown": 1,
        "model_configurations": [
            {"name": "a", "is_visible": false, "max_input_tokens": 4096,
             "supports_image_input": true, "display_name": "A"},
            {"name": "b", "is_visible": false},
        ],
    });
    let model = |name: &str, visible: bool, tokens: Value, images: bool, display: Value| {
        json!({
            "name": name, "is_visible": visible, "max_input_tokens": tokens,
            "supports_image_input": images, "supports_reasoning": false, "display_name": display,
            "provider_display_name": "Ollama", "vendor": null, "version": null, "region": null,
        })
    };
    let expected = json!({
        "id": 1, "name": "Local", "provider": "ollama", "api_key": MASK,
        "api_base": "http://127.0.0.1:11434", "api_version": "1", "deployment_name": "d",
        "custom_config": {"header:x": MASK}, "default_model_name": "b",
        "default_vision_model": "v", "default_chat_naming_model": null,
        "is_default_provider": null, "is_default_vision_provider": null,
        "is_default_chat_naming_provider": null, "is_public": false, "is_auto_mode": true,
        "groups": [group.0], "personas": [0],
        "model_configurations": [
            model("a", false, json!(4096), true, json!("A")),
            // The default models are added and made visible.
            model("b", true, Value::Null, false, Value::Null),
            model("v", true, Value::Null, false, Value::Null),
        ],
    });
    assert_eq!(admin.put(CREATE, body).await.ok(), expected);
    assert_eq!(admin.get(UPDATE).await.ok(), json!([expected]));
    assert_eq!(last_opened(&server).0.as_deref(), Some("sk-secret"));

    // As a user sees it: bound to an agent, hence not without one.
    assert_eq!(admin.get("/api/llm/provider").await.ok(), json!([]));
    let seen = admin.get("/api/llm/persona/0/providers").await.ok();
    let descriptor = json!([{
        "id": 1, "name": "Local", "provider": "ollama", "provider_display_name": "Ollama",
        "default_model_name": "b", "is_default_provider": null,
        "is_default_vision_provider": null, "default_vision_model": "v",
        "model_configurations": [expected["model_configurations"][1], expected["model_configurations"][2]],
    }]);
    assert_eq!(seen, descriptor);
    let stranger = server.caller(Role::Basic).await;
    assert_eq!(stranger.get("/api/llm/persona/0/providers").await.ok(), json!([]));
    stranger.get("/api/llm/persona/7/providers").await.refused(404, "PERSONA_NOT_FOUND");
    stranger.get("/api/llm/persona/x/providers").await.invalid(&["path/persona_id int_parsing"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_least_that_makes_a_provider() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let view = admin.put(CREATE, json!({"provider": "openai"})).await.ok();
    assert_eq!((&view["name"], &view["is_public"]), (&json!("openai"), &json!(true)));
    for absent in ["api_key", "api_base", "custom_config", "default_model_name"] {
        assert_eq!(view[absent], Value::Null, "{absent}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_provider_is_told_everything_at_once() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let body = json!({
        "name": 5, "is_public": "maybe", "groups": ["x"], "custom_config": {"a": 1},
        "model_configurations": [{"name": "m"}], "api_key_changed": null,
    });
    admin.put("/api/admin/llm/provider?is_creation=perhaps", body).await.invalid(&[
        "query/is_creation bool_parsing",
        "body/name string_type",
        "body/provider missing",
        "body/custom_config/a string_type",
        "body/api_key_changed bool_type",
        "body/is_public bool_parsing",
        "body/groups/0 int_parsing",
        "body/model_configurations/0/is_visible missing",
    ]);
    let many: Vec<i32> = (0..1001).collect();
    let body = json!({"provider": "openai", "personas": many});
    admin.put(CREATE, body).await.invalid(&["body/personas too_long"]);
    admin.put(UPDATE, json!([])).await.invalid(&["body model_attributes_type"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_is_400_and_names_the_field() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let twice = json!([{"name": "m", "is_visible": true}, {"name": "m", "is_visible": true}]);
    let table = [
        ("name", json!({"name": "a\u{0}b"})),
        ("name", json!({"name": ""})),
        ("provider", json!({"provider": " "})),
        ("api_base", json!({"api_base": "localhost:11434"})),
        ("api_base", json!({"api_base": "https://user:hunter2@a.example/"})),
        ("api_base", json!({"api_base": "http://169.254.169.254/latest"})),
        ("api_key", json!({"api_key": "sk-\u{1}hunter2"})),
        ("api_key", json!({"api_key": "x".repeat(20_000)})),
        ("api_key", json!({"api_key": "sk-a****hunter2"})),
        ("custom_config", json!({"custom_config": {"k": MASK}})),
        ("default_model_name", json!({"default_model_name": "x".repeat(300)})),
        ("model_configurations", json!({"model_configurations": twice})),
        ("groups", json!({"groups": [4711]})),
        ("personas", json!({"personas": [4711]})),
        ("unknown", json!({"provider": "unknown"})),
    ];
    for (field, fields) in table {
        let answer = admin.put(CREATE, with(provider("p"), fields)).await;
        let detail = answer.refused(400, "INVALID_INPUT");
        assert!(detail.contains(field), "{detail}");
        assert_eq!(answer.json()["message"], answer.json()["detail"]);
        assert!(!answer.text.contains("hunter2"), "{}", answer.text);
    }
    assert_eq!(admin.get(UPDATE).await.ok(), json!([]), "nothing is half-written");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_name_and_a_missing_provider_are_400() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    admin.put(UPDATE, provider("p")).await.refused(400, "INVALID_INPUT");
    let id = create(&admin, provider("p")).await;
    admin.put(CREATE, provider("p")).await.refused(400, "INVALID_INPUT");
    create(&admin, provider("q")).await;
    // By id the name may change, though not to another's.
    let renamed = with(provider("r"), json!({"id": id}));
    assert_eq!(admin.put(UPDATE, renamed).await.ok()["id"], id);
    let taken = with(provider("q"), json!({"id": id}));
    admin.put(UPDATE, taken).await.refused(400, "INVALID_INPUT");
    admin.put(UPDATE, with(provider("r"), json!({"id": 99}))).await.refused(400, "INVALID_INPUT");
    assert_eq!(names(&admin.get(UPDATE).await), ["r", "q"]);
    let nameless = with(provider(""), json!({"id": id, "name": null}));
    assert_eq!(admin.put(UPDATE, nameless).await.ok()["name"], "r");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_key_stays_unless_it_is_said_to_change() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    create(&admin, provider("p")).await;
    let update = async |fields: Value| {
        admin.put(UPDATE, with(provider("p"), fields)).await.ok();
        let (key, custom, _) = last_opened(&server);
        (key.unwrap_or_default(), custom.first().map(|(_, value)| value.clone()))
    };
    let first = || ("sk-first".to_owned(), Some("org-first".to_owned()));
    // Whatever is sent with it.
    assert_eq!(
        update(json!({"api_key": "sk-other", "custom_config": {"organization": "x"}})).await,
        first()
    );
    assert_eq!(update(json!({"api_key": null, "custom_config": null})).await, first());
    // A mask is no value.
    let masked = json!({"api_key": MASK, "api_key_changed": true,
        "custom_config": {"organization": MASK}, "custom_config_changed": true});
    assert_eq!(update(masked).await, first());
    let changed = json!({"api_key": "sk-second", "api_key_changed": true});
    assert_eq!(update(changed).await, ("sk-second".to_owned(), Some("org-first".to_owned())));
    let both = json!({"api_key": "sk-third", "api_key_changed": true,
        "custom_config": {"organization": "org-third"}, "custom_config_changed": true});
    assert_eq!(update(both).await, ("sk-third".to_owned(), Some("org-third".to_owned())));
    let gone = json!({"api_key": null, "api_key_changed": true,
        "custom_config": null, "custom_config_changed": true});
    assert_eq!(update(gone).await, (String::new(), None));
    let view = admin.get(UPDATE).await.ok();
    assert_eq!((&view[0]["api_key"], &view[0]["custom_config"]), (&Value::Null, &Value::Null));
}

/// CVE-2024-12779, and its sister: an address that is changed gets no stored secret.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_12779_a_stored_secret_goes_to_its_own_address_only() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    create(&admin, provider("p")).await;
    let opened = server.stack.models.opened().len();
    let new_key = json!({"api_key": "sk-x", "api_key_changed": true});
    let moves = [
        json!({"api_base": "https://evil.example/v1"}),
        json!({"api_base": null}),
        json!({"provider": "vllm"}),
        json!({"custom_config": {"header:x": "y"}, "custom_config_changed": true}),
        json!({"custom_config": {"organization": MASK, "proxy": "http://evil"}, "custom_config_changed": true}),
        json!({"api_base": "https://evil.example/v1", "api_key": MASK, "api_key_changed": true}),
        // The settings are secrets as well.
        with(json!({"api_base": "https://evil.example/v1"}), new_key.clone()),
    ];
    for fields in &moves {
        let body = with(provider("p"), fields.clone());
        let detail = admin.put(UPDATE, body.clone()).await.refused(400, "INVALID_INPUT");
        assert!(detail.contains("_changed"), "{detail}");
        let test = with(body, json!({"name": "p"}));
        admin.post("/api/admin/llm/test", test).await.refused(400, "INVALID_INPUT");
    }
    assert_eq!(server.stack.models.opened().len(), opened, "nothing was opened with them");
    let all = json!({"api_base": "https://b.example/v1", "api_key": "sk-x", "api_key_changed": true,
        "custom_config": {"organization": "y"}, "custom_config_changed": true});
    admin.put(UPDATE, with(provider("p"), all)).await.ok();
    let (key, _, base) = last_opened(&server);
    assert_eq!((key.as_deref(), base.as_deref()), (Some("sk-x"), Some("https://b.example/v1")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_without_secrets_may_move() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let bare = json!({"name": "p", "provider": "ollama", "default_model_name": "m"});
    create(&admin, bare.clone()).await;
    let moved = with(bare, json!({"api_base": "http://10.0.0.7:11434"}));
    assert_eq!(admin.put(UPDATE, moved).await.ok()["api_base"], "http://10.0.0.7:11434");
}

#[tokio::test(flavor = "multi_thread")]
async fn defaults_are_set_by_provider_and_by_model() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let p = create(&admin, provider("p")).await;
    let q = create(&admin, provider("q")).await;
    let flags = async || {
        let list = admin.get(UPDATE).await.ok();
        let of = |p: &Value| {
            ["is_default_provider", "is_default_vision_provider", "is_default_chat_naming_provider"]
                .map(|flag| p[flag] == true)
        };
        (of(&list[0]), of(&list[1]))
    };
    let none = [false; 3];
    assert_eq!(flags().await, (none, none), "the first provider is no default");
    let default = format!("/api/admin/llm/provider/{p}/default");
    assert_eq!(admin.send(reqwest::Method::POST, &default, None).await.ok(), Value::Null);
    assert_eq!(flags().await, ([true, false, false], none));
    let by_model = json!({"provider_id": q, "model_name": "m"});
    for path in ["default", "default-vision", "default-chat-naming"] {
        let answer = admin.post(&format!("/api/admin/llm/{path}"), by_model.clone()).await;
        assert_eq!(answer.ok(), Value::Null);
    }
    assert_eq!(flags().await, (none, [true; 3]));
    let vision = format!("/api/admin/llm/provider/{p}/default-vision");
    let post = async |path: String| admin.send(reqwest::Method::POST, &path, None).await;
    post(vision.clone()).await.refused(404, "NOT_FOUND");
    post(format!("{vision}?vision_model=none")).await.refused(404, "NOT_FOUND");
    post(format!("{vision}?vision_model=m")).await.ok();
    assert_eq!(flags().await, ([false, true, false], [true, false, true]));
    assert_eq!(admin.get("/api/llm/provider").await.ok()[0]["default_vision_model"], "m");

    post("/api/admin/llm/provider/99/default".to_owned()).await.refused(404, "NOT_FOUND");
    let unknown = json!({"provider_id": 99, "model_name": "m"});
    admin.post("/api/admin/llm/default", unknown).await.refused(404, "NOT_FOUND");
    let unknown = json!({"provider_id": p, "model_name": "none"});
    admin.post("/api/admin/llm/default", unknown).await.refused(404, "NOT_FOUND");
    admin
        .post("/api/admin/llm/default", json!({}))
        .await
        .invalid(&["body/provider_id missing", "body/model_name missing"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_default_provider_is_removed_by_force_only() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    for purpose in ["default", "default-vision", "default-chat-naming"] {
        let p = create(&admin, provider("p")).await;
        let path = format!("/api/admin/llm/provider/{p}");
        let default = json!({"provider_id": p, "model_name": "m"});
        admin.post(&format!("/api/admin/llm/{purpose}"), default).await.ok();
        let detail = admin.delete(&path).await.refused(400, "INVALID_INPUT");
        assert!(detail.contains("force"), "{detail}");
        assert_eq!(admin.delete(&format!("{path}?force=true")).await.ok(), Value::Null);
        admin.delete(&path).await.refused(404, "NOT_FOUND");
    }
    assert_eq!(admin.get(UPDATE).await.ok(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_asks_the_model_with_what_is_sent_or_stored() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let test = async |body: Value| admin.post("/api/admin/llm/test", body).await;
    let new = json!({"provider": "openai", "api_key": "sk-new", "default_model_name": "m"});
    assert_eq!(test(new).await.ok(), Value::Null);
    assert_eq!(last_opened(&server).0.as_deref(), Some("sk-new"));
    let id = create(&admin, provider("p")).await;
    for by in [json!({"id": id}), json!({"name": "p"})] {
        let stored =
            json!({"provider": "openai", "model": "m", "api_base": "https://a.example/v1"});
        test(with(stored, by)).await.ok();
        assert_eq!(last_opened(&server).0.as_deref(), Some("sk-first"));
    }
    let unknown = json!({"id": 99, "provider": "openai", "model": "m"});
    test(unknown).await.refused(404, "NOT_FOUND");
    test(json!({})).await.invalid(&["body/provider missing", "body/default_model_name missing"]);
}

/// What it says is shown for addresses that an administrator stored, and for no other: otherwise a
/// test would read pages of the network for whoever asks.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_test_is_400_and_repeats_no_unsaved_address() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    create(&admin, provider("p")).await;
    let broken = json!({"name": "p", "provider": "openai", "model": "broken"});
    let body = with(broken.clone(), json!({"api_base": "https://a.example/v1"}));
    let detail = admin.post("/api/admin/llm/test", body).await.refused(400, "INVALID_INPUT");
    assert!(detail.contains(STORY), "{detail}");
    let unsaved = json!({"name": "new", "api_base": "http://10.0.0.1:80/admin", "api_key": "k"});
    let answer = admin.post("/api/admin/llm/test", with(broken, unsaved)).await;
    let detail = answer.refused(400, "INVALID_INPUT");
    assert!(!detail.contains(STORY) && detail.contains("cannot be reached"), "{detail}");
    let metadata =
        json!({"provider": "openai", "model": "m", "api_base": "http://169.254.169.254/"});
    let detail = admin.post("/api/admin/llm/test", metadata).await.refused(400, "INVALID_INPUT");
    assert!(detail.contains("api_base"), "{detail}");
}

/// Whether its address is stored or not: it repeats nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_says_nothing_fails_its_test() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    create(&admin, provider("p")).await;
    let silent = json!({"name": "p", "provider": "openai", "model": "silent"});
    for api_base in ["https://a.example/v1", "http://10.0.0.1:80/admin"] {
        let body = with(
            silent.clone(),
            json!({
                "api_base": api_base, "api_key": "k", "api_key_changed": true,
                "custom_config_changed": true,
            }),
        );
        let detail = admin.post("/api/admin/llm/test", body).await.refused(400, "INVALID_INPUT");
        assert!(detail.contains("empty answer"), "{detail}");
    }
    let default = with(provider("q"), json!({"default_model_name": "silent"}));
    let id = create(&admin, default).await;
    let path = format!("/api/admin/llm/provider/{id}/default");
    admin.send(reqwest::Method::POST, &path, None).await.ok();
    let answer = admin.send(reqwest::Method::POST, "/api/admin/llm/test/default", None).await;
    assert!(answer.refused(400, "INVALID_INPUT").contains("empty answer"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_model_is_tested() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let test =
        async || admin.send(reqwest::Method::POST, "/api/admin/llm/test/default", None).await;
    test().await.refused(400, "INVALID_INPUT");
    let p = create(&admin, provider("p")).await;
    test().await.refused(400, "INVALID_INPUT");
    let broken = with(provider("q"), json!({"default_model_name": "broken"}));
    let q = create(&admin, broken).await;
    let set = async |id: i64| {
        let path = format!("/api/admin/llm/provider/{id}/default");
        admin.send(reqwest::Method::POST, &path, None).await.ok();
    };
    set(p).await;
    assert_eq!(test().await.ok(), Value::Null);
    set(q).await;
    assert!(test().await.refused(400, "INVALID_INPUT").contains(STORY));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_model_is_no_default_to_test() {
    fn built_in(backends: Backends) -> Backends {
        let model = trove_local::ExtractiveLanguageModel::new();
        Backends { language_model: Some(Arc::new(model)), ..backends }
    }
    let server = Server::with(Options { backends: built_in, ..Options::default() }).await;
    let admin = server.caller(Role::Admin).await;
    let answer = admin.send(reqwest::Method::POST, "/api/admin/llm/test/default", None).await;
    assert!(answer.refused(400, "INVALID_INPUT").contains("no default"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_of_the_configuration_is_listed_last_and_tested() {
    fn configured(backends: Backends) -> Backends {
        let model = ScriptedLanguageModel::saying("yes").named("env", "env-1");
        Backends { language_model: Some(Arc::new(model)), ..backends }
    }
    let server = Server::with(Options { backends: configured, ..Options::default() }).await;
    let admin = server.caller(Role::Admin).await;
    admin.send(reqwest::Method::POST, "/api/admin/llm/test/default", None).await.ok();
    create(&admin, provider("p")).await;
    let list = server.caller(Role::Limited).await.get("/api/llm/provider").await;
    assert_eq!(names(&list), ["p", "env"]);
    let listed = list.ok();
    assert_eq!((&listed[1]["id"], &listed[1]["is_default_provider"]), (&Value::Null, &json!(true)));
    assert_eq!(listed[1]["model_configurations"][0]["name"], "env-1");
    // Administrators change what has a number.
    assert_eq!(names(&admin.get(UPDATE).await), ["p"]);
    let namesake = with(provider("env"), json!({}));
    create(&admin, namesake).await;
    let list = admin.get("/api/llm/provider").await;
    assert_eq!(names(&list), ["p", "env"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_of_providers_are_listed() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let options = admin.get("/api/admin/llm/built-in/options").await.ok();
    for option in options.as_array().unwrap() {
        let keys: Vec<&String> = option.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 3, "{keys:?}");
        let recommended = &option["recommended_default_model"];
        assert_eq!(recommended["name"], option["known_models"][0]["name"]);
    }
    assert_eq!(options[0]["name"], "openai");
}

/// A secret goes in and comes out at its own provider, and nowhere else.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_in_no_answer_and_in_no_byte_of_the_database() {
    const CANARIES: [&str; 4] = ["canary-key-1", "canary-key-2", "canary-cfg-1", "canary-cfg-2"];
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let mut answers: Vec<Answer> = Vec::new();
    let secret = |n: usize| {
        json!({"api_key": CANARIES[n], "custom_config": {"header:x": CANARIES[n + 2]},
            "api_key_changed": true, "custom_config_changed": true})
    };
    answers.push(admin.put(CREATE, with(provider("p"), secret(0))).await);
    answers.push(admin.put(UPDATE, with(provider("p"), secret(1))).await);
    answers.push(admin.get(UPDATE).await);
    answers.push(admin.get("/api/llm/provider").await);
    let test = with(with(provider("p"), secret(0)), json!({"model": "broken"}));
    answers.push(admin.post("/api/admin/llm/test", test).await);
    // Refused after the secrets were read.
    for bad in [
        json!({"groups": [4711]}),
        json!({"provider": "unknown"}),
        json!({"api_base": "nonsense"}),
        json!({"custom_config": {"canary-cfg-1\u{0}": "x"}}),
    ] {
        let body = with(with(provider("q"), secret(0)), bad);
        answers.push(admin.put(CREATE, body).await);
    }
    let malformed =
        with(with(provider("q"), secret(0)), json!({"name": 5, "api_key": ["canary-key-1"]}));
    answers.push(admin.put(CREATE, malformed).await);
    for answer in &answers {
        for canary in CANARIES {
            assert!(!answer.text.contains(canary), "{answer:?}");
        }
    }
    // The model had them, so that they are not just lost.
    let keys: Vec<String> = server
        .stack
        .models
        .opened()
        .into_iter()
        .filter_map(|endpoint| endpoint.api_key)
        .map(|key| key.expose_secret().to_owned())
        .collect();
    assert!(keys.iter().any(|key| key == CANARIES[1]));
    let mut databases = 0;
    for entry in fs::read_dir(server.stack.directory.path()).unwrap() {
        let path = entry.unwrap().path();
        let Ok(bytes) = fs::read(&path) else { continue };
        for canary in CANARIES {
            let found = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
            assert!(!found, "{canary} is in {}", path.display());
        }
        let holds_provider = bytes.windows(20).any(|window| window == b"https://a.example/v1");
        databases += usize::from(holds_provider);
    }
    assert!(databases > 0, "the database was looked at");
}
