//! `/persona`, `/agents` and what belongs to them.

mod models;
mod rights;

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_engine::EngineConfig;

use crate::server::{Answer, Client, Options, Server, document};

fn body(name: &str) -> Value {
    json!({"name": name, "description": "", "system_prompt": "", "task_prompt": "",
        "document_set_ids": [], "tool_ids": [], "datetime_aware": true})
}

/// A body with further fields.
fn with(mut body: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    body.as_object_mut().unwrap().extend(fields);
    body
}

async fn create(client: &Client<'_>, body: Value) -> i64 {
    client.post("/api/persona", body).await.ok()["id"].as_i64().unwrap()
}

async fn read(client: &Client<'_>, id: i64) -> Answer {
    client.get(&format!("/api/persona/{id}")).await
}

/// Names of a list, the default agent among them.
fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|agent| agent["name"].as_str().unwrap()).collect()
}

async fn id_of(client: &Client<'_>) -> String {
    client.me().await.ok()["id"].as_str().unwrap().to_owned()
}

/// Names of the fields, sorted.
fn keys(record: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

const MINIMAL: &str = "attached_document_count builtin_persona default_model_configuration_id \
    description display_priority document_sets hierarchy_node_count icon_name id \
    is_default_persona is_featured is_listed is_public is_visible knowledge_sources labels \
    llm_model_provider_override llm_model_version_override name owner starter_messages tools \
    uploaded_image_id";

const SNAPSHOT: &str = "attached_documents builtin_persona datetime_aware \
    default_model_configuration_id description display_priority document_sets group_shares groups \
    hierarchy_nodes icon_name id is_default_persona is_featured is_listed is_public is_visible \
    labels llm_filter_extraction llm_model_provider_override llm_model_version_override \
    llm_relevance_filter name num_chunks owner owner_group permissions public_permission \
    replace_base_system_prompt sharing_status starter_messages system_prompt task_prompt tools \
    uploaded_image_id user_file_ids user_shares users";

#[tokio::test(flavor = "multi_thread")]
async fn records_have_exactly_the_fields_of_the_contract() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let made = admin.post("/api/persona", body("a")).await.ok();
    let id = made["id"].as_i64().unwrap();
    let mut full: Vec<&str> = SNAPSHOT.split_whitespace().collect();
    assert_eq!(keys(&made), full);
    assert_eq!(keys(&admin.get("/api/admin/persona").await.ok()[0]), full);
    assert_eq!(keys(&admin.get("/api/admin/agents").await.ok()["items"][0]), full);
    full.push("search_start_date");
    full.sort_unstable();
    assert_eq!(keys(&read(&admin, id).await.ok()), full);
    let minimal: Vec<&str> = MINIMAL.split_whitespace().collect();
    assert_eq!(keys(&admin.get("/api/persona").await.ok()[0]), minimal);
    let page = admin.get("/api/agents").await.ok();
    assert_eq!(keys(&page), ["items", "total_items"]);
    assert_eq!(keys(&page["items"][0]), minimal);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_answered_as_it_was_sent() {
    let server = Server::start().await;
    let admin = server.user("root@example.com", Role::Admin).await;
    let user = server.user("ann@example.com", Role::Basic).await;
    let group = server.group("g", &[]).await;
    admin.ingest(json!({"document": document("a/b", "A", "apple")})).await.ok();
    server.document_set("Set", true, &[trove_domain::id::CcPairId(1)]).await;
    let label = admin.post("/api/persona/labels", json!({"name": "HR"})).await.ok();
    models::provider(&admin, "p", json!({})).await;
    let sent = json!({
        "name": "Отчёты", "description": "of all", "system_prompt": "be brief",
        "task_prompt": "answer", "document_set_ids": [1], "tool_ids": [1], "datetime_aware": false,
        "is_public": true, "llm_model_provider_override": "p", "llm_model_version_override": "m",
        "default_model_configuration_id": null, "users": [id_of(&user).await], "groups": [group.0],
        "starter_messages": [{"name": "n", "message": "m"}], "replace_base_system_prompt": true,
        "search_start_date": "2024-06-01", "label_ids": [label["id"]], "is_featured": true,
        "display_priority": 4, "user_file_ids": [], "hierarchy_node_ids": [],
        "document_ids": ["a%2Fb"], "icon_name": "owl", "remove_image": null,
        // What older clients send.
        "num_chunks": 5.5, "recency_bias": "auto", "llm_filter_extraction": true,
        "llm_relevance_filter": true,
    });
    let id = create(&admin, sent).await;
    let agent = read(&admin, id).await.ok();
    let part = |keys: &[&str]| {
        let of = |key: &&str| ((*key).to_owned(), agent[*key].clone());
        Value::Object(keys.iter().map(of).collect())
    };
    let expected = json!({
        "name": "Отчёты", "description": "of all", "system_prompt": "be brief",
        "task_prompt": "answer", "datetime_aware": false, "is_public": true, "is_listed": true,
        "is_visible": true, "is_featured": true, "is_default_persona": true,
        "llm_model_provider_override": "p", "llm_model_version_override": "m",
        "default_model_configuration_id": null, "groups": [group.0],
        "starter_messages": [{"name": "n", "message": "m"}], "replace_base_system_prompt": true,
        "search_start_date": "2024-06-01T00:00:00Z", "labels": [{"id": label["id"], "name": "HR"}],
        "display_priority": 4, "icon_name": "owl", "builtin_persona": false,
        "owner": {"id": id_of(&admin).await, "email": "root@example.com"},
        "users": [{"id": id_of(&user).await, "email": "ann@example.com"}],
        "sharing_status": "PUBLIC", "public_permission": "VIEWER",
        "hierarchy_nodes": [], "user_file_ids": [], "permissions": {"edit": true},
        "attached_documents": [{"id": "a%2Fb", "title": "A", "link": null, "parent_id": null,
            "last_modified": "2026-01-01T00:00:00Z", "last_synced": null,
            "source": "ingestion_api"}],
    });
    assert_eq!(part(&keys(&expected)), expected);
    assert_eq!(agent["tools"][0]["in_code_tool_id"], "SearchTool");
    assert_eq!(agent["document_sets"][0]["name"], "Set");
    let minimal = admin.get(&format!("/api/persona?persona_ids={id}")).await.ok();
    assert_eq!(minimal[0]["attached_document_count"], 1);
    assert_eq!(minimal[0]["knowledge_sources"], json!(["ingestion_api"]));

    // What is null or absent stays, where the contract says so; the rest is replaced.
    let answer = admin.patch(&format!("/api/persona/{id}"), body("New")).await.ok();
    assert_eq!((&answer["name"], &answer["icon_name"]), (&json!("New"), &Value::Null));
    assert_eq!((&answer["is_public"], &answer["groups"]), (&json!(true), &json!([group.0])));
    assert_eq!((&answer["is_featured"], &answer["display_priority"]), (&json!(true), &json!(4)));
    assert_eq!((&answer["attached_documents"], &answer["tools"]), (&json!([]), &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_agent_is_there_for_everybody_and_stays() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    for role in Role::ALL {
        let client = server.caller(role).await;
        let agent = read(&client, 0).await.ok();
        assert_eq!((&agent["id"], &agent["builtin_persona"]), (&json!(0), &json!(true)));
        assert_eq!(agent["permissions"], json!({"edit": false}));
        assert_eq!(client.get("/api/persona").await.ok()[0]["id"], 0);
    }
    admin.delete("/api/persona/0").await.refused(400, "INVALID_INPUT");
    admin.patch("/api/persona/0", body("x")).await.refused(400, "INVALID_INPUT");
    let private = json!({"is_public": false});
    admin.patch("/api/persona/0/public", private.clone()).await.refused(400, "INVALID_INPUT");
    admin.patch("/api/persona/0/share", private).await.refused(400, "INVALID_INPUT");
    for (path, flag) in [("visible", "is_visible"), ("listed", "is_listed")] {
        let path = format!("/api/admin/persona/0/{path}");
        let detail = admin.patch(&path, json!({flag: false})).await.refused(400, "INVALID_INPUT");
        assert!(detail.contains("lists"), "{detail}");
        admin.patch(&path, json!({flag: true})).await.ok();
    }
    let basic = server.caller(Role::Basic).await;
    assert_eq!(basic.get("/api/persona").await.ok()[0]["id"], 0);
    basic.delete("/api/persona/0").await.refused(403, "INSUFFICIENT_PERMISSIONS");
    assert_eq!(read(&admin, 0).await.ok()["name"], "Assistant");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_cannot_name_is_400_and_named() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let basic = server.user("a@example.com", Role::Basic).await;
    let foreign = server.group("foreign", &[]).await;
    let pair = server.private_pair("p", &[]).await;
    let secret = json!({"document": document("secret", "S", "s"), "cc_pair_id": pair.0});
    admin.ingest(secret).await.ok();
    server.document_set("Hidden", false, &[pair]).await;
    create(&basic, body("taken")).await;
    let stranger = "00000000-0000-7000-8000-000000000000";
    for (fields, word) in [
        (json!({"name": "taken"}), "taken"),
        (json!({"tool_ids": [1, 4711]}), "tool_ids"),
        (json!({"document_set_ids": [4711]}), "document_set_ids"),
        (json!({"document_set_ids": [1]}), "document_set_ids"),
        (json!({"document_ids": ["none"]}), "document_ids"),
        (json!({"document_ids": ["secret"]}), "document_ids"),
        (json!({"label_ids": [4711]}), "label_ids"),
        (json!({"users": [stranger]}), "users"),
        (json!({"groups": [4711]}), "groups"),
        (json!({"groups": [foreign.0]}), "groups"),
        (json!({"hierarchy_node_ids": [1]}), "hierarchy_node_ids"),
        (json!({"user_file_ids": [stranger]}), "user_file_ids"),
        (json!({"uploaded_image_id": "x"}), "uploaded_image_id"),
    ] {
        let answer = basic.post("/api/persona", with(body("new"), fields.clone())).await;
        let detail = answer.refused(400, "INVALID_INPUT");
        assert!(detail.contains(word), "{fields}: {detail}");
        assert_eq!(answer.json()["message"], detail, "{fields}");
    }
    // Hidden and missing are the same.
    let refused = async |field: &str, value: Value| {
        let text = basic.post("/api/persona", with(body("n"), json!({field: [value]}))).await.text;
        text.replace(value.as_str().unwrap_or(&value.to_string()), "N")
    };
    let sets = (refused("document_set_ids", json!(1)).await, json!(990_001));
    assert_eq!(sets.0, refused("document_set_ids", sets.1).await);
    let documents = refused("document_ids", json!("secret")).await;
    assert_eq!(documents, refused("document_ids", json!("zzzzzz")).await);
    let groups = refused("groups", json!(foreign.0)).await;
    assert_eq!(groups, refused("groups", json!(990_001)).await);
    assert_eq!(names(&basic.get("/api/persona").await.ok()), ["Assistant", "taken"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_agents_are_422_with_everything_that_is_wrong() {
    let server = Server::start().await;
    let basic = server.caller(Role::Basic).await;
    basic.post("/api/persona", json!({})).await.invalid(&[
        "body/name missing",
        "body/description missing",
        "body/system_prompt missing",
        "body/task_prompt missing",
        "body/document_set_ids missing",
        "body/tool_ids missing",
        "body/datetime_aware missing",
    ]);
    let wrong = json!({
        "name": "a\u{202e}b", "description": 5, "system_prompt": "\u{0}", "users": ["x"],
        "starter_messages": [{"name": "n"}], "search_start_date": "soon",
        "document_ids": ["", "ok"], "hierarchy_node_ids": null, "display_priority": 3e9,
    });
    basic.post("/api/persona", with(body(""), wrong)).await.invalid(&[
        "body/name value_error",
        "body/description string_type",
        "body/system_prompt value_error",
        "body/starter_messages/0/message missing",
        "body/users/0 uuid_parsing",
        "body/search_start_date datetime_from_date_parsing",
        "body/display_priority less_than_equal",
        "body/hierarchy_node_ids list_type",
        "body/document_ids/0 value_error",
    ]);
    let many = json!({"document_ids": vec!["d"; 101], "tool_ids": vec![1; 1001]});
    basic
        .post("/api/persona", with(body("x"), many))
        .await
        .invalid(&["body/tool_ids too_long", "body/document_ids too_long"]);
    basic.get("/api/persona/x").await.invalid(&["path/persona_id int_parsing"]);
    basic.get("/api/agents?page_num=-1&page_size=1001&include_default=perhaps").await.invalid(&[
        "query/page_num greater_than_equal",
        "query/page_size less_than_equal",
        "query/include_default bool_parsing",
    ]);
    let admin = server.caller(Role::Admin).await;
    for map in [json!({"x": 1}), json!({"0": "x"}), json!({"0": 3_000_000_000_i64}), json!([])] {
        let answer = admin
            .patch("/api/admin/agents/display-priorities", json!({"display_priority_map": map}))
            .await;
        assert_eq!(answer.status, 422, "{answer:?}");
    }
}

/// An editor does not see everything that an agent searches in, and does not lose it either.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_editor_does_not_see_of_an_agent_stays() {
    let server = Server::start().await;
    let owner = server.user("own@example.com", Role::Basic).await;
    let other = server.user("oth@example.com", Role::Curator).await;
    let admin = server.caller(Role::Admin).await;
    let own = server.group("own", &[("own@example.com", false)]).await;
    let both = [("own@example.com", false), ("oth@example.com", true)];
    let both = server.group("both", &both).await;
    let pair = server.private_pair("p", &[own]).await;
    let secret = json!({"document": document("secret", "Secret", "s"), "cc_pair_id": pair.0});
    admin.ingest(secret).await.ok();
    admin.ingest(json!({"document": document("open", "Open", "o")})).await.ok();
    let fields = json!({"document_ids": ["secret", "open"], "groups": [both.0]});
    let id = create(&owner, with(body("a"), fields)).await;
    let titles = |agent: &Value| -> Vec<String> {
        let documents = agent["attached_documents"].as_array().unwrap().iter();
        documents.map(|document| document["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles(&read(&owner, id).await.ok()), ["Open", "Secret"]);
    for reader in [&other, &admin] {
        let seen = read(reader, id).await;
        assert_eq!(titles(&seen.ok()), ["Open"]);
        assert!(!seen.text.contains("secret"));
    }
    other.patch(&format!("/api/persona/{id}"), body("b")).await.ok();
    assert_eq!(titles(&read(&owner, id).await.ok()), ["Secret"]);
    owner.patch(&format!("/api/persona/{id}"), body("b")).await.ok();
    assert!(titles(&read(&owner, id).await.ok()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_feature_agents_and_featured_ones_are_public() {
    let server = Server::start().await;
    let (admin, basic) = (server.caller(Role::Admin).await, server.caller(Role::Basic).await);
    let featured = |public: bool| json!({"is_featured": true, "is_public": public});
    let refused = basic.post("/api/persona", with(body("a"), featured(true))).await;
    refused.refused(403, "INSUFFICIENT_PERMISSIONS");
    let refused = admin.post("/api/persona", with(body("a"), featured(false))).await;
    refused.refused(400, "INVALID_INPUT");
    let id = create(&basic, body("a")).await;
    let path = format!("/api/admin/persona/{id}");
    // The switch of its own publishes instead of refusing, under both names.
    admin.patch(&format!("{path}/default"), json!({"is_default_persona": true})).await.ok();
    let agent = read(&basic, id).await.ok();
    assert_eq!((&agent["is_public"], &agent["is_default_persona"]), (&json!(true), &json!(true)));
    // Its owner may change it and leave it featured, and may not hide it.
    let same = with(body("b"), json!({"is_default_persona": true}));
    basic.patch(&format!("/api/persona/{id}"), same).await.ok();
    let hide = json!({"is_public": false});
    basic.patch(&format!("/api/persona/{id}/public"), hide).await.refused(400, "INVALID_INPUT");
    admin.patch(&format!("{path}/featured"), json!({"is_featured": false})).await.ok();
    assert_eq!(read(&basic, id).await.ok()["is_featured"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_in_order_and_in_pages() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let mut ids = Vec::new();
    for name in ["a", "b", "c", "d"] {
        ids.push(create(&admin, with(body(name), json!({"is_public": true}))).await);
    }
    let map = json!({"display_priority_map": {ids[3].to_string(): -1, ids[2].to_string(): 2}});
    let done = admin.patch("/api/admin/agents/display-priorities", map).await;
    assert_eq!((done.status, done.text.as_str()), (200, "null"));
    let unknown = json!({"display_priority_map": {ids[0].to_string(): 1, "4711": 2}});
    let refused = admin.patch("/api/admin/agents/display-priorities", unknown).await;
    refused.refused(404, "PERSONA_NOT_FOUND");
    let limited = server.caller(Role::Limited).await;
    let all = limited.get("/api/persona").await.ok();
    assert_eq!(names(&all), ["d", "c", "Assistant", "a", "b"]);
    let page = async |query: &str| limited.get(&format!("/api/agents?{query}")).await.ok();
    let second = page("page_num=1&page_size=2").await;
    assert_eq!(
        (names(&second["items"]), &second["total_items"]),
        (vec!["Assistant", "a"], &json!(5))
    );
    let own = page("include_default=false&page_size=2").await;
    assert_eq!((names(&own["items"]), &own["total_items"]), (vec!["d", "c"], &json!(4)));
    assert!(names(&page("page_num=9").await["items"]).is_empty());
    assert!(names(&page("get_editable=true").await["items"]).is_empty());
    let two = format!("/api/persona?persona_ids={}&persona_ids={}", ids[0], ids[3]);
    assert_eq!(names(&limited.get(&two).await.ok()), ["d", "a"]);

    // What is not listed can be used, and is in the lists of administration.
    let path = format!("/api/admin/persona/{}/visible", ids[3]);
    admin.patch(&path, json!({"is_visible": false})).await.ok();
    assert_eq!(names(&limited.get("/api/persona").await.ok()).len(), 4);
    read(&limited, ids[3]).await.ok();
    let curator = server.caller(Role::Curator).await;
    assert_eq!(names(&curator.get("/api/admin/persona").await.ok()).len(), 5);
    assert_eq!(curator.get("/api/admin/agents").await.ok()["total_items"], 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_agent_is_gone_until_an_administrator_brings_it_back() {
    let server = Server::start().await;
    let (admin, basic) = (server.caller(Role::Admin).await, server.caller(Role::Basic).await);
    let id = create(&basic, body("a")).await;
    let gone = basic.delete(&format!("/api/persona/{id}")).await;
    assert_eq!((gone.status, gone.text.as_str()), (200, "null"));
    read(&basic, id).await.refused(404, "PERSONA_NOT_FOUND");
    assert_eq!(names(&basic.get("/api/persona").await.ok()), ["Assistant"]);
    let deleted = basic.get("/api/persona?include_deleted=true").await.ok();
    assert_eq!(names(&deleted), ["Assistant", "a"]);
    let undelete = format!("/api/admin/persona/{id}/undelete");
    basic.patch(&undelete, json!({})).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    admin.patch(&undelete, json!({})).await.ok();
    read(&basic, id).await.ok();
    let missing = admin.patch("/api/admin/persona/4711/undelete", json!({})).await;
    missing.refused(404, "PERSONA_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_shared() {
    let server = Server::start().await;
    let owner = server.user("own@example.com", Role::Basic).await;
    let other = server.user("oth@example.com", Role::Basic).await;
    let group = server.group("g", &[("own@example.com", false), ("oth@example.com", false)]).await;
    let id = create(&owner, body("a")).await;
    let share = async |body: Value| {
        let done = owner.patch(&format!("/api/persona/{id}/share"), body).await;
        assert_eq!((done.status, done.text.as_str()), (200, "null"));
        read(&other, id).await.status
    };
    assert_eq!(share(json!({})).await, 404);
    assert_eq!(share(json!({"user_ids": [id_of(&other).await]})).await, 200);
    assert_eq!(share(json!({"user_ids": [], "group_ids": [group.0]})).await, 200);
    assert_eq!(share(json!({"user_ids": null, "group_ids": []})).await, 404);
    assert_eq!(share(json!({"is_public": true})).await, 200);
    let hide = json!({"is_public": false});
    owner.patch(&format!("/api/persona/{id}/public"), hide).await.ok();
    read(&other, id).await.refused(404, "PERSONA_NOT_FOUND");
    let empty = owner.patch(&format!("/api/persona/{id}/public"), json!({})).await;
    empty.invalid(&["body/is_public missing"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_are_made_once() {
    let server = Server::start().await;
    let basic = server.caller(Role::Basic).await;
    let label = basic.post("/api/persona/labels", json!({"name": "HR"})).await.ok();
    assert_eq!(label, json!({"id": label["id"], "name": "HR"}));
    basic.post("/api/persona/labels", json!({"name": "HR"})).await.refused(400, "INVALID_INPUT");
    basic
        .post("/api/persona/labels", json!({"name": ""}))
        .await
        .invalid(&["body/name string_too_short"]);
    assert_eq!(basic.get("/api/persona/labels").await.ok(), json!([label]));
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_those_that_exist() {
    let server = Server::start().await;
    let basic = server.caller(Role::Basic).await;
    let tools = basic.get("/api/tool").await.ok();
    assert_eq!(tools.as_array().unwrap().len(), 1);
    assert_eq!(tools[0], basic.get("/api/tool/1").await.ok());
    let expected = "agent_creation_selectable chat_selectable custom_headers default_enabled \
        definition description display_name enabled id in_code_tool_id mcp_server_id name \
        oauth_config_id oauth_config_name passthrough_auth user_id";
    assert_eq!(keys(&tools[0]), expected.split_whitespace().collect::<Vec<_>>());
    basic.get("/api/tool/2").await.refused(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_are_not_implemented_and_say_so() {
    let server = Server::start().await;
    let basic = server.caller(Role::Basic).await;
    let answer = basic.post("/api/admin/persona/upload-image", json!({})).await;
    assert!(answer.refused(501, "NOT_IMPLEMENTED").contains("file"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_vector_db_an_agent_has_no_knowledge() {
    let engine = EngineConfig { vector_db: false, ..EngineConfig::default() };
    let server = Server::with(Options { engine, ..Options::default() }).await;
    let basic = server.caller(Role::Basic).await;
    for fields in [json!({"document_set_ids": [1]}), json!({"document_ids": ["a"]})] {
        let answer = basic.post("/api/persona", with(body("a"), fields)).await;
        assert!(answer.refused(400, "INVALID_INPUT").contains("DISABLE_VECTOR_DB"));
    }
    create(&basic, body("a")).await;
}
