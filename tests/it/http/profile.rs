//! What users set for themselves.

use reqwest::Method;
use serde_json::{Value, json};
use trove_domain::access::Role;

use crate::server::{Answer, Client, Server};

async fn set(client: &Client<'_>, path: &str) -> Answer {
    client.send(Method::PATCH, path, None).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_setting_shows_in_me() {
    let server = Server::start().await;
    let user = server.user("reader@example.com", Role::Basic).await;
    let other = server.user("other@example.com", Role::Basic).await;
    let untouched = other.me().await.ok();
    for (path, body) in [
        ("/api/user/default-model", json!({"default_model": "gpt-4.1"})),
        ("/api/user/pinned-assistants", json!({"ordered_assistant_ids": [2, "1"]})),
        ("/api/user/theme-preference", json!({"theme_preference": "dark"})),
        ("/api/user/chat-background", json!({"chat_background": "clouds"})),
        ("/api/user/default-app-mode", json!({"default_app_mode": "SEARCH"})),
        ("/api/auto-scroll", json!({"auto_scroll": false})),
        (
            "/api/user/personalization",
            json!({"name": "A. Reader", "role": "librarian", "use_memories": false,
                "memories": ["likes tea", {"content": "has a cat"}], "user_preferences": "short"}),
        ),
    ] {
        assert_eq!(user.patch(path, body).await.ok(), Value::Null, "{path}");
    }
    for path in [
        "/api/user/assistant-list/update/3?show=true",
        "/api/user/assistant-list/update/4?show=no",
        "/api/temperature-override-enabled?temperature_override_enabled=true",
        "/api/shortcut-enabled?shortcut_enabled=false",
    ] {
        assert_eq!(set(&user, path).await.ok(), Value::Null, "{path}");
    }
    let me = user.me().await.ok();
    assert_eq!(
        me["preferences"],
        json!({
            "chosen_assistants": null, "hidden_assistants": [4], "visible_assistants": [3],
            "default_model": "gpt-4.1", "pinned_assistants": [2, 1], "shortcut_enabled": false,
            "auto_scroll": false, "temperature_override_enabled": true, "theme_preference": "dark",
            "chat_background": "clouds", "default_app_mode": "SEARCH",
            "assistant_specific_configs": null,
        })
    );
    assert_eq!(
        me["personalization"],
        json!({
            "name": "A. Reader", "role": "librarian", "use_memories": false,
            "enable_memory_tool": true,
            "memories": [{"id": 1, "content": "likes tea"}, {"id": 2, "content": "has a cat"}],
            "user_preferences": "short",
        })
    );
    // Null and absent keep what is there; a model is taken back by null.
    let keep = json!({"name": null, "memories": [{"id": 2, "content": "had a cat"}]});
    user.patch("/api/user/personalization", keep).await.ok();
    user.patch("/api/user/default-model", json!({"default_model": null})).await.ok();
    let me = user.me().await.ok();
    assert_eq!(me["personalization"]["name"], "A. Reader");
    let memories = json!([{"id": 2, "content": "had a cat"}]);
    assert_eq!(me["personalization"]["memories"], memories);
    assert_eq!(me["preferences"]["default_model"], Value::Null);
    assert_eq!(other.me().await.ok(), untouched);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_make_no_sense_are_refused() {
    let server = Server::start().await;
    let user = server.caller(Role::Basic).await;
    let before = user.me().await.ok();
    for (path, body, failure) in [
        (
            "/api/user/theme-preference",
            json!({"theme_preference": "Dark"}),
            "theme_preference enum",
        ),
        (
            "/api/user/default-app-mode",
            json!({"default_app_mode": "chat"}),
            "default_app_mode enum",
        ),
        ("/api/auto-scroll", json!({}), "auto_scroll missing"),
        ("/api/auto-scroll", json!({"auto_scroll": null}), "auto_scroll bool_type"),
        ("/api/user/default-model", json!({"default_model": 1}), "default_model string_type"),
        (
            "/api/user/chat-background",
            json!({"chat_background": "\0"}),
            "chat_background value_error",
        ),
        (
            "/api/user/pinned-assistants",
            json!({"ordered_assistant_ids": vec![1; 1001]}),
            "ordered_assistant_ids too_long",
        ),
        (
            "/api/user/personalization",
            json!({"user_preferences": "x".repeat(501)}),
            "user_preferences string_too_long",
        ),
        ("/api/user/personalization", json!({"memories": vec!["x"; 11]}), "memories too_long"),
        ("/api/user/personalization", json!({"memories": [1]}), "memories/0 model_attributes_type"),
        ("/api/user/personalization", json!({"memories": [{}]}), "memories/0/content missing"),
    ] {
        user.patch(path, body).await.invalid(&[&format!("body/{failure}")]);
    }
    let path = "/api/user/assistant-list/update/x?show=maybe";
    set(&user, path).await.invalid(&["path/assistant_id int_parsing", "query/show bool_parsing"]);
    set(&user, "/api/shortcut-enabled").await.invalid(&["query/shortcut_enabled missing"]);
    let path = "/api/temperature-override-enabled?temperature_override_enabled=";
    let answer = set(&user, path).await;
    answer.invalid(&["query/temperature_override_enabled bool_parsing"]);
    assert_eq!(user.me().await.ok(), before);
}

async fn permissions_of(client: &Client<'_>) -> Value {
    client.get("/api/me/permissions").await.ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_are_what_the_role_amounts_to() {
    let server = Server::start().await;
    let basic = server.user("basic@example.com", Role::Basic).await;
    let curator = server.user("curator@example.com", Role::Curator).await;
    let global = server.user("global@example.com", Role::GlobalCurator).await;
    let members =
        [("basic@example.com", true), ("curator@example.com", true), ("global@example.com", false)];
    let group = server.group("g", &members).await.0;
    server.group("h", &[("curator@example.com", false)]).await;
    let permissions = permissions_of(&basic).await;
    assert_eq!(
        permissions,
        json!({"permissions": ["add:agents", "basic", "generate:image", "read:chat", "read:search",
            "use:llm_gateway", "write:chat"], "is_manager": false, "managed_group_ids": []})
    );
    let permissions = permissions_of(&curator).await;
    assert_eq!(permissions["managed_group_ids"], json!([group]));
    assert_eq!(permissions["is_manager"], true);
    assert_eq!(permissions_of(&global).await["managed_group_ids"], json!([group]));
    let admin = permissions_of(&server.caller(Role::Admin).await).await;
    assert!(admin["permissions"].as_array().unwrap().contains(&json!("admin")));
    let limited = server.caller(Role::Limited).await;
    limited.get("/api/me/permissions").await.refused(403, "INSUFFICIENT_PERMISSIONS");
}
