//! What administrators decide for everybody.

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::audit::{AuditAction, AuditOutcome};
use trove_domain::email::EmailAddress;
use trove_domain::port::WorkspaceStore;
use trove_engine::Backends;
use trove_engine::accounts::{AccountConfig, RegistrationPolicy};

use super::people::{PASSWORD, browser, cheap, register, start, with};
use super::users::{admin, invite};
use crate::server::{Answer, Client, Server};

const SETTINGS: &str = "/api/admin/settings";

async fn put(admin: &Client<'_>, body: Value) -> Answer {
    admin.put(SETTINGS, body).await
}

pub(crate) async fn patch(admin: &Client<'_>, body: Value) -> Answer {
    admin.patch(SETTINGS, body).await
}

async fn read(client: &Client<'_>) -> Value {
    client.get("/api/settings").await.ok()
}

/// What a deployment answers in which nobody has decided anything.
fn defaults() -> Value {
    json!({
        "maximum_chat_retention_days": null, "company_name": null, "company_description": null,
        "gpu_enabled": null, "application_status": "active", "anonymous_user_enabled": false,
        "invite_only_enabled": false, "deep_research_enabled": false, "ee_features_enabled": true,
        "temperature_override_enabled": null, "auto_scroll": null, "query_history_type": null,
        "image_extraction_and_analysis_enabled": false,
        "search_time_image_analysis_enabled": false, "image_analysis_max_size_mb": 20,
        "user_knowledge_enabled": false, "show_extra_connectors": true,
        "disable_default_assistant": false, "opensearch_indexing_enabled": false,
        "notifications": [], "needs_reindexing": false, "tenant_id": "public",
        "vector_db_enabled": true,
    })
}

/// The same with other values.
fn changed(changes: &Value) -> Value {
    let mut settings = defaults();
    for (key, value) in changes.as_object().unwrap() {
        settings[key] = value.clone();
    }
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_kept_and_answered() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let limited = server.caller(Role::Limited).await;
    assert_eq!(read(&limited).await, defaults());
    let all = json!({
        "company_name": "Example \u{1f332}", "company_description": "", "auto_scroll": false,
        "anonymous_user_enabled": true, "invite_only_enabled": true,
        "temperature_override_enabled": true, "query_history_type": "anonymized",
        "image_analysis_max_size_mb": 7, "show_extra_connectors": false,
        "disable_default_assistant": true,
    });
    assert_eq!(put(&admin, all.clone()).await.ok(), Value::Null);
    assert_eq!(read(&limited).await, changed(&all));
    // One at a time, and each alone.
    let mut expected = all;
    for (key, value) in [
        ("company_name", Value::Null),
        ("company_description", json!("b")),
        ("auto_scroll", Value::Null),
        ("anonymous_user_enabled", json!(false)),
        ("invite_only_enabled", json!(false)),
        ("temperature_override_enabled", json!(false)),
        ("query_history_type", json!("normal")),
        ("image_analysis_max_size_mb", Value::Null),
        ("show_extra_connectors", Value::Null),
        ("disable_default_assistant", Value::Null),
    ] {
        assert_eq!(patch(&admin, json!({key: value.clone()})).await.ok(), Value::Null);
        expected[key] = value;
        assert_eq!(read(&limited).await, changed(&expected), "{key}");
    }
    assert_eq!(patch(&admin, json!({})).await.ok(), Value::Null);
    assert_eq!(read(&limited).await, changed(&expected));
    // What is left out of a replacement has its default.
    assert_eq!(put(&admin, json!({"company_name": "x"})).await.ok(), Value::Null);
    assert_eq!(read(&limited).await, changed(&json!({"company_name": "x"})));
    put(&admin, json!({})).await.ok();
    assert_eq!(read(&limited).await, defaults());
}

/// A client may send back everything that it read.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_can_be_sent_back() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    patch(&admin, json!({"company_name": "x", "invite_only_enabled": true})).await.ok();
    let settings = read(&admin).await;
    put(&admin, settings.clone()).await.ok();
    assert_eq!(read(&admin).await, settings);
    patch(&admin, settings.clone()).await.ok();
    assert_eq!(read(&admin).await, settings);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_are_malformed_are_told_together() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let wrong = json!({
        "company_name": "a\0b", "company_description": 5, "anonymous_user_enabled": "maybe",
        "invite_only_enabled": null, "temperature_override_enabled": [], "auto_scroll": 2,
        "query_history_type": "Normal", "image_analysis_max_size_mb": 0,
        "show_extra_connectors": {}, "disable_default_assistant": "x",
        "maximum_chat_retention_days": "soon", "gpu_enabled": 7, "application_status": "paid",
        "deep_research_enabled": "x", "ee_features_enabled": null,
        "image_extraction_and_analysis_enabled": "x", "search_time_image_analysis_enabled": "x",
        "user_knowledge_enabled": "x", "opensearch_indexing_enabled": null,
    });
    let failures = [
        "body/company_name value_error",
        "body/company_description string_type",
        "body/anonymous_user_enabled bool_parsing",
        "body/invite_only_enabled bool_type",
        "body/temperature_override_enabled bool_type",
        "body/auto_scroll bool_parsing",
        "body/query_history_type enum",
        "body/image_analysis_max_size_mb greater_than_equal",
        "body/show_extra_connectors bool_type",
        "body/disable_default_assistant bool_parsing",
        "body/maximum_chat_retention_days float_parsing",
        "body/gpu_enabled bool_parsing",
        "body/application_status enum",
        "body/deep_research_enabled bool_parsing",
        "body/ee_features_enabled bool_type",
        "body/image_extraction_and_analysis_enabled bool_parsing",
        "body/search_time_image_analysis_enabled bool_parsing",
        "body/user_knowledge_enabled bool_parsing",
        "body/opensearch_indexing_enabled bool_type",
    ];
    put(&admin, wrong.clone()).await.invalid(&failures);
    patch(&admin, wrong).await.invalid(&failures);
    let check = async |body: Value, failure: &str| patch(&admin, body).await.invalid(&[failure]);
    check(json!({"company_name": "ä".repeat(201)}), "body/company_name string_too_long").await;
    for odd in ["a\nb", "\u{1b}[2J", "a\u{202e}b", "a\u{2028}b"] {
        check(json!({"company_name": odd}), "body/company_name value_error").await;
    }
    let long = json!({"company_description": "a".repeat(10_001)});
    check(long, "body/company_description string_too_long").await;
    let large = json!({"image_analysis_max_size_mb": 10_001});
    check(large, "body/image_analysis_max_size_mb less_than_equal").await;
    check(
        json!({"image_analysis_max_size_mb": 1.5}),
        "body/image_analysis_max_size_mb int_from_float",
    )
    .await;
    check(
        json!({"maximum_chat_retention_days": -1}),
        "body/maximum_chat_retention_days greater_than_equal",
    )
    .await;
    check(json!({"application_status": null}), "body/application_status enum").await;
    for body in [json!([]), json!("x"), json!(1)] {
        put(&admin, body).await.invalid(&["body model_attributes_type"]);
    }
    assert_eq!(read(&admin).await, defaults(), "nothing was stored");
    let edge = json!({"company_name": "ä".repeat(200), "image_analysis_max_size_mb": "10000"});
    patch(&admin, edge).await.ok();
}

/// Nothing is kept that would promise what does not happen.
#[tokio::test(flavor = "multi_thread")]
async fn what_this_version_does_not_have_cannot_be_turned_on() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    for (key, value, harmless) in [
        ("maximum_chat_retention_days", json!(30.5), Value::Null),
        ("gpu_enabled", json!(true), json!(false)),
        ("application_status", json!("gated_access"), json!("active")),
        ("deep_research_enabled", json!(true), Value::Null),
        ("ee_features_enabled", json!(false), json!(true)),
        ("image_extraction_and_analysis_enabled", json!(true), json!(false)),
        ("search_time_image_analysis_enabled", json!(true), Value::Null),
        ("user_knowledge_enabled", json!(true), json!(false)),
        ("opensearch_indexing_enabled", json!(true), json!(false)),
    ] {
        for answer in [
            put(&admin, json!({key: value.clone(), "company_name": "x"})).await,
            patch(&admin, json!({key: value.clone(), "company_name": "x"})).await,
        ] {
            let detail = answer.refused(501, "NOT_IMPLEMENTED");
            assert!(detail.starts_with(key), "{detail}");
        }
        put(&admin, json!({key: harmless.clone()})).await.ok();
        patch(&admin, json!({key: harmless})).await.ok();
        assert_eq!(read(&admin).await, defaults(), "{key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_for_administrators_to_change() {
    let server = Server::start().await;
    for role in [Role::Limited, Role::Basic, Role::Curator, Role::GlobalCurator, Role::SlackUser] {
        let caller = server.caller(role).await;
        let open = json!({"anonymous_user_enabled": true});
        put(&caller, open.clone()).await.refused(403, "INSUFFICIENT_PERMISSIONS");
        patch(&caller, open).await.refused(403, "INSUFFICIENT_PERMISSIONS");
        assert_eq!(read(&caller).await, defaults());
    }
    patch(&server.nobody(), json!({})).await.refused(401, "UNAUTHENTICATED");
}

/// Nobody loses what another has decided at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn decisions_at_the_same_time_all_hold() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let (first, second, third) = futures::join!(
        patch(&admin, json!({"company_name": "x"})),
        patch(&admin, json!({"auto_scroll": true})),
        patch(&admin, json!({"invite_only_enabled": true})),
    );
    for answer in [first, second, third] {
        answer.ok();
    }
    let all = json!({"company_name": "x", "auto_scroll": true, "invite_only_enabled": true});
    assert_eq!(read(&admin).await, changed(&all));
}

/// What opens the door says so, and the rest is named.
#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_tells_who_opened_the_door() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let secret = json!({"anonymous_user_enabled": true, "company_description": "canary"});
    patch(&admin, secret).await.ok();
    let entries = server.stack.audit.entries();
    let [begun, done] = &entries[entries.len() - 2..] else { panic!("{entries:?}") };
    assert_eq!(begun.action, AuditAction::ChangeSettings);
    assert_eq!((begun.outcome, done.outcome), (AuditOutcome::Begun, AuditOutcome::Done));
    assert_eq!(begun.details["anonymous_access"], "true");
    assert_eq!(begun.details["settings"], "anonymous_access company_description");
    assert!(!begun.details.contains_key("invited_only"));
    assert!(!format!("{entries:?}").contains("canary"));
    // Without a record the door stays as it is.
    server.stack.audit.set_broken(true);
    patch(&admin, json!({"anonymous_user_enabled": false}))
        .await
        .refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(read(&admin).await["anonymous_user_enabled"], true);
}

/// Administrators close the door that the configuration leaves open, and cannot open one that it
/// closes.
#[tokio::test(flavor = "multi_thread")]
async fn registration_is_closed_when_either_says_so() {
    let server = start().await;
    let admin = admin(&server).await;
    assert_eq!(register(&server, "before@example.com").await.status, 201);
    patch(&admin, json!({"invite_only_enabled": true})).await.ok();
    register(&server, "after@example.com").await.refused(403, "UNAUTHORIZED");
    // Moving to another address follows the same rule.
    let before = browser(&server, "before@example.com").await;
    let move_to =
        async |address: &str| before.patch("/api/users/me", json!({"email": address})).await;
    move_to("after@example.com").await.refused(403, "UNAUTHORIZED");
    invite(&admin, &["guest@example.com"]).await.ok();
    assert_eq!(register(&server, "guest@example.com").await.status, 201);
    register(&server, "after@example.com").await.refused(403, "UNAUTHORIZED");
    patch(&admin, json!({"invite_only_enabled": false})).await.ok();
    assert_eq!(register(&server, "after@example.com").await.status, 201);
    move_to("moved@example.com").await.ok();

    for (registration, code) in [
        (RegistrationPolicy::Invited, "UNAUTHORIZED"),
        (RegistrationPolicy::Closed, "REGISTRATION_DISABLED"),
    ] {
        let server = with(AccountConfig { registration, ..cheap() }).await;
        let admin = server.user("root@example.com", Role::Admin).await;
        put(&admin, json!({"invite_only_enabled": false})).await.ok();
        register(&server, "a@example.com").await.refused(403, code);
    }
}

/// Whoever cannot read what was decided does not guess.
#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cannot_be_read_let_nobody_in() {
    let server = Server::changed(|backends| {
        let workspace: std::sync::Arc<dyn WorkspaceStore> =
            std::sync::Arc::new(super::anonymous::Unreadable);
        Backends { workspace, ..backends }
    })
    .await;
    let admin = admin(&server).await;
    admin.get("/api/settings").await.refused(503, "SERVICE_UNAVAILABLE");
    let address = EmailAddress::parse("a@example.com").unwrap();
    let registered = server.engine.register(address, &PASSWORD.into(), "source").await;
    assert!(registered.is_err(), "{registered:?}");
}
