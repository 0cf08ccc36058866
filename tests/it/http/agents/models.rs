//! Which models agents may name.

use serde_json::{Value, json};
use trove_domain::access::Role;

use super::{body, create, read, with};
use crate::server::{Client, Server};

/// A provider with the model `m`; answers its id.
pub(super) async fn provider(admin: &Client<'_>, name: &str, fields: Value) -> i64 {
    let provider = json!({"name": name, "provider": "openai", "default_model_name": "m"});
    let path = "/api/admin/llm/provider?is_creation=true";
    admin.put(path, with(provider, fields)).await.ok()["id"].as_i64().unwrap()
}

/// `model` at `provider`, as an editor names it.
fn with_model(provider: Option<&str>, model: Option<&str>) -> Value {
    let names =
        json!({"llm_model_provider_override": provider, "llm_model_version_override": model});
    with(body("a"), names)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_of_an_agent_must_be_there_for_its_editor() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let basic = server.caller(Role::Basic).await;
    provider(&admin, "open", json!({})).await;
    provider(&admin, "closed", json!({"is_public": false})).await;
    let refused = async |client: &Client<'_>, provider: Option<&str>, model: Option<&str>| {
        let answer = client.post("/api/persona", with_model(provider, model)).await;
        answer.refused(400, "INVALID_INPUT")
    };
    for (provider, model, field) in [
        (Some("none"), Some("m"), "llm_model_provider_override"),
        (Some("none"), None, "llm_model_provider_override"),
        (Some("open"), Some("x"), "llm_model_version_override"),
        // There is no default provider.
        (None, Some("m"), "llm_model_version_override"),
    ] {
        let detail = refused(&admin, provider, model).await;
        assert!(detail.starts_with(field), "{provider:?} {model:?}: {detail}");
    }
    // What is closed looks like what is missing.
    let missing = refused(&basic, Some("none"), Some("m")).await;
    let closed = refused(&basic, Some("closed"), Some("m")).await;
    assert_eq!(missing.replace("none", "N"), closed.replace("closed", "N"));
    let configuration = with(body("a"), json!({"default_model_configuration_id": 7}));
    let answer = admin.post("/api/persona", configuration).await;
    let detail = answer.refused(400, "INVALID_INPUT");
    assert!(detail.starts_with("default_model_configuration_id"), "{detail}");
    let long = refused(&basic, Some(&"x".repeat(200)), None).await;
    assert!(long.len() < 400, "{long}");
    assert_eq!(admin.get("/api/admin/persona").await.ok().as_array().unwrap().len(), 1);

    let id = create(&admin, with_model(Some("closed"), Some("m"))).await;
    let path = format!("/api/persona/{id}");
    for (provider, model) in [(Some("open"), Some("m")), (Some("open"), None), (Some(""), Some(""))]
    {
        admin.patch(&path, with_model(provider, model)).await.ok();
    }
    assert_eq!(read(&admin, id).await.ok()["llm_model_provider_override"], Value::Null);
}

/// Whoever sends back what it read is not refused for what somebody else has taken away.
#[tokio::test(flavor = "multi_thread")]
async fn the_model_that_an_agent_has_may_stay_when_it_is_gone() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let p = provider(&admin, "p", json!({})).await;
    let id = create(&admin, with_model(Some("p"), Some("m"))).await;
    admin.delete(&format!("/api/admin/llm/provider/{p}")).await.ok();
    let path = format!("/api/persona/{id}");
    admin.patch(&path, with_model(Some("p"), Some("m"))).await.ok();
    let other = admin.patch(&path, with_model(Some("p"), None)).await;
    other.refused(400, "INVALID_INPUT");
}

/// Bound to agents, a provider is for these.
#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_bound_to_an_agent_is_for_no_other() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let (bound, other) = (create(&admin, body("b")).await, create(&admin, body("o")).await);
    provider(&admin, "p", json!({"personas": [bound]})).await;
    let patch = async |id: i64| {
        admin.patch(&format!("/api/persona/{id}"), with_model(Some("p"), Some("m"))).await
    };
    patch(other).await.refused(400, "INVALID_INPUT");
    patch(bound).await.ok();
}
