//! User groups: who makes and changes which, what they open, and what follows for roles.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::id::{CcPairId, GroupId};

use crate::server::{Answer, Client, Server, document};

const GROUPS: &str = "/api/manage/admin/user-group";
const MINIMAL: &str = "/api/manage/user-groups/minimal";

/// The key of a user.
async fn id(server: &Server, email: &str) -> String {
    let user = server.engine.backends().users.get_by_email(email).await.unwrap();
    user.unwrap().id.to_string()
}

async fn role(server: &Server, email: &str) -> Role {
    server.engine.backends().users.get_by_email(email).await.unwrap().unwrap().role
}

async fn create(client: &Client<'_>, name: &str, users: &[&str], pairs: &[CcPairId]) -> Value {
    let pairs: Vec<i32> = pairs.iter().map(|pair| pair.0).collect();
    let body = json!({"name": name, "user_ids": users, "cc_pair_ids": pairs});
    client.post(GROUPS, body).await.ok()
}

async fn replace(client: &Client<'_>, id: &Value, users: &[&str], pairs: &[CcPairId]) -> Answer {
    let pairs: Vec<i32> = pairs.iter().map(|pair| pair.0).collect();
    client.patch(&format!("{GROUPS}/{id}"), json!({"user_ids": users, "cc_pair_ids": pairs})).await
}

async fn names(client: &Client<'_>, path: &str) -> Vec<String> {
    let groups = client.get(path).await.ok();
    let groups = groups.as_array().unwrap().iter();
    groups.map(|group| group["name"].as_str().unwrap().to_owned()).collect()
}

async fn titles(client: &Client<'_>) -> Vec<String> {
    client.search(json!({"query": "apple"})).await.titles()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// A pair with one document that says `apple`.
async fn pair_with_document(server: &Server, admin: &Client<'_>, name: &str) -> CcPairId {
    let pair = server.private_pair(name, &[]).await;
    let posted = json!({"document": document(name, name, "apple"), "cc_pair_id": pair.0});
    admin.ingest(posted).await.ok();
    pair
}

/// From its making to the end, with what it opens on the way.
#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_made_used_changed_and_deleted() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let reader = server.user("reader@example.com", Role::Basic).await;
    let reader_id = id(&server, "reader@example.com").await;
    let pair = pair_with_document(&server, &admin, "A").await;

    let made = create(&admin, "Readers", &[&reader_id], &[pair]).await;
    assert_eq!(
        keys(&made),
        BTreeSet::from([
            "id",
            "name",
            "users",
            "curator_ids",
            "manager_ids",
            "cc_pairs",
            "document_sets",
            "personas",
            "is_up_to_date",
            "is_up_for_deletion",
            "is_default",
            "incognito_enabled",
            "permissions",
        ])
    );
    assert_eq!((&made["name"], &made["is_up_to_date"]), (&json!("Readers"), &json!(false)));
    assert_eq!(made["users"][0]["email"], "reader@example.com");
    // The same record as `/me`, without what belongs to the user alone.
    assert_eq!(keys(&made["users"][0]), keys(&reader.me().await.ok()));
    let descriptor = json!({"id": pair.0, "name": "A", "access_type": "private",
        "connector": {"id": made["cc_pairs"][0]["connector"]["id"], "source": "ingestion_api"},
        "credential": {"id": 0}});
    assert_eq!(made["cc_pairs"], json!([descriptor]));
    let group = made["id"].clone();

    // The index does not know yet, and the group takes no change.
    assert!(titles(&reader).await.is_empty());
    replace(&admin, &group, &[], &[]).await.refused(400, "INVALID_INPUT");
    let add = format!("{GROUPS}/{group}/add-users");
    admin.post(&add, json!({"user_ids": []})).await.refused(400, "INVALID_INPUT");
    server.engine.sync_documents().await.unwrap();
    assert_eq!(titles(&reader).await, ["A"]);
    assert!(titles(&admin).await.is_empty(), "an administrator who is no member");
    assert_eq!(admin.get(GROUPS).await.ok()[0]["is_up_to_date"], true);

    // Row 86: without the pair, its documents are out when the index knows.
    let changed = replace(&admin, &group, &[&reader_id], &[]).await.ok();
    assert_eq!((&changed["cc_pairs"], &changed["is_up_to_date"]), (&json!([]), &json!(false)));
    server.engine.sync_documents().await.unwrap();
    assert!(titles(&reader).await.is_empty());

    let deleted = admin.delete(&format!("{GROUPS}/{group}")).await;
    assert_eq!((deleted.status, deleted.text.as_str()), (200, "null"));
    let listed = admin.get(GROUPS).await.ok();
    assert_eq!(listed[0]["is_up_for_deletion"], true);
    assert_eq!(listed[0]["users"], json!([]));
    server.engine.sync_documents().await.unwrap();
    assert!(names(&admin, GROUPS).await.is_empty());
    admin.delete(&format!("{GROUPS}/{group}")).await.refused(404, "NOT_FOUND");
}

/// Membership is read with every request: the index need not know.
#[tokio::test(flavor = "multi_thread")]
async fn row_85_who_leaves_a_group_loses_its_documents_with_the_next_query() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let reader = server.user("reader@example.com", Role::Basic).await;
    let reader_id = id(&server, "reader@example.com").await;
    let pair = pair_with_document(&server, &admin, "A").await;
    let group = create(&admin, "Readers", &[], &[pair]).await["id"].clone();
    server.engine.sync_documents().await.unwrap();
    assert!(titles(&reader).await.is_empty());
    admin.post(&format!("{GROUPS}/{group}/add-users"), json!({"user_ids": [reader_id]})).await.ok();
    assert_eq!(titles(&reader).await, ["A"]);
    replace(&admin, &group, &[], &[pair]).await.ok();
    assert!(titles(&reader).await.is_empty());
    assert_eq!(admin.get(GROUPS).await.ok()[0]["is_up_to_date"], true);
}

/// The same at once when the group is deleted, before the index knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_group_opens_nothing_from_the_next_query_on() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let reader = server.user("reader@example.com", Role::Basic).await;
    let reader_id = id(&server, "reader@example.com").await;
    let pair = pair_with_document(&server, &admin, "A").await;
    let group = create(&admin, "Readers", &[&reader_id], &[pair]).await["id"].clone();
    server.engine.sync_documents().await.unwrap();
    assert_eq!(titles(&reader).await, ["A"]);
    admin.delete(&format!("{GROUPS}/{group}")).await.ok();
    assert!(titles(&reader).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn row_84_another_name_takes_nothing_from_the_members() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let reader = server.user("reader@example.com", Role::Basic).await;
    let reader_id = id(&server, "reader@example.com").await;
    let pair = pair_with_document(&server, &admin, "A").await;
    let group = create(&admin, "Readers", &[&reader_id], &[pair]).await["id"].clone();
    server.engine.sync_documents().await.unwrap();
    create(&admin, "Taken", &[], &[]).await;
    let rename = format!("{GROUPS}/rename");
    let named = |name: &str| json!({"id": group, "name": name});
    admin.patch(&rename, named("Taken")).await.refused(400, "INVALID_INPUT");
    let renamed = admin.patch(&rename, named("Engineering")).await.ok();
    assert_eq!(
        (&renamed["name"], &renamed["is_up_to_date"]),
        (&json!("Engineering"), &json!(true))
    );
    assert_eq!(titles(&reader).await, ["A"]);
}

/// A curator changes the groups that it curates; others are as good as none, in body and status.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2025_51479_a_curator_changes_no_group_that_it_does_not_curate() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let curator = server.user("curator@example.com", Role::Curator).await;
    let global = server.user("global@example.com", Role::GlobalCurator).await;
    let victim = server.user("victim@example.com", Role::Basic).await;
    let curator_id = id(&server, "curator@example.com").await;
    let own = server.group("own", &[("curator@example.com", true)]).await;
    let joined = [("curator@example.com", false), ("global@example.com", false)];
    let joined = server.group("joined", &joined).await;
    let foreign = server.group("foreign", &[("victim@example.com", false)]).await;

    assert_eq!(names(&admin, GROUPS).await, ["own", "joined", "foreign"]);
    assert_eq!(names(&curator, GROUPS).await, ["own"]);
    assert_eq!(names(&global, GROUPS).await, ["joined"]);
    assert_eq!(names(&admin, MINIMAL).await, ["own", "joined", "foreign"]);
    assert_eq!(names(&curator, MINIMAL).await, ["own", "joined"]);
    assert_eq!(names(&victim, MINIMAL).await, ["foreign"]);

    for GroupId(group) in [joined, foreign, GroupId(4711)] {
        let missing = format!("there is no user group {group}");
        let path = |rest: &str| format!("{GROUPS}/{group}{rest}");
        let refused = [
            replace(&curator, &json!(group), &[&curator_id], &[]).await,
            curator.post(&path("/add-users"), json!({"user_ids": [curator_id]})).await,
            curator
                .post(&path("/set-curator"), json!({"user_id": curator_id, "is_curator": true}))
                .await,
            curator
                .put(&path("/manager"), json!({"user_id": curator_id, "is_manager": true}))
                .await,
            curator.patch(&format!("{GROUPS}/rename"), json!({"id": group, "name": "x"})).await,
        ];
        for answer in refused {
            assert_eq!(answer.refused(404, "NOT_FOUND"), missing);
        }
    }
    // Making and deleting them is for administrators.
    curator.delete(&format!("{GROUPS}/{}", own.0)).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    let body = json!({"name": "new", "user_ids": [], "cc_pair_ids": []});
    curator.post(GROUPS, body).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    victim.get(GROUPS).await.refused(403, "INSUFFICIENT_PERMISSIONS");

    let groups = server.engine.list_groups(&admin_caller(&server).await, None, 10).await.unwrap();
    let members = groups.items.iter().map(|view| view.record.members.len());
    assert_eq!(members.collect::<Vec<_>>(), [1, 2, 1], "nothing has changed");
    replace(&curator, &json!(own.0), &[&curator_id], &[]).await.ok();
    replace(&global, &json!(joined.0), &[], &[]).await.ok();
}

async fn admin_caller(server: &Server) -> trove_domain::access::Caller {
    let key = server.key("auditor@example.com", Role::Admin).await;
    server.engine.authenticate(&key.into()).await.unwrap().unwrap()
}

/// A list of users in a group is no way to learn what somebody set for itself.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2026_63178_a_curator_adds_nobody_to_groups_of_others_and_reads_no_profile() {
    let server = Server::start().await;
    let curator = server.user("curator@example.com", Role::Curator).await;
    let member = server.user("member@example.com", Role::Basic).await;
    let member_id = id(&server, "member@example.com").await;
    let own = server.group("own", &[("curator@example.com", true)]).await;
    let foreign = server.group("foreign", &[]).await;
    let set = json!({"name": "Secret nickname", "user_preferences": "secret wish"});
    member.patch("/api/user/personalization", set).await.ok();
    let add = |group: GroupId| format!("{GROUPS}/{}/add-users", group.0);
    let body = json!({"user_ids": [member_id]});
    curator.post(&add(foreign), body.clone()).await.refused(404, "NOT_FOUND");
    let group = curator.post(&add(own), body).await;
    assert_eq!(group.ok()["users"].as_array().unwrap().len(), 2);
    assert!(!group.text.contains("ecret"), "{}", group.text);
}

/// Otherwise it would open to its group what belongs to another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_curator_takes_no_pair_of_others_into_its_group() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let curator = server.user("curator@example.com", Role::Curator).await;
    let curator_id = id(&server, "curator@example.com").await;
    let own = server.group("own", &[("curator@example.com", true)]).await;
    let pair = pair_with_document(&server, &admin, "A").await;
    let missing = replace(&curator, &json!(own.0), &[&curator_id], &[CcPairId(4711)]).await;
    let foreign = replace(&curator, &json!(own.0), &[&curator_id], &[pair]).await;
    let missing = missing.refused(400, "INVALID_INPUT").replace("4711", &pair.to_string());
    assert_eq!(foreign.refused(400, "INVALID_INPUT"), missing);
    server.engine.sync_documents().await.unwrap();
    assert!(titles(&curator).await.is_empty());
}

/// The role follows, and every refusal is a 404.
#[tokio::test(flavor = "multi_thread")]
async fn set_curator_changes_the_role_and_refuses_whom_it_does_not_fit() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    server.user("member@example.com", Role::Basic).await;
    let member_id = id(&server, "member@example.com").await;
    let first = create(&admin, "first", &[&member_id], &[]).await["id"].clone();
    let second = create(&admin, "second", &[&member_id], &[]).await["id"].clone();
    let curate = async |group: &Value, user: &str, yes: bool| {
        let body = json!({"user_id": user, "is_curator": yes});
        admin.post(&format!("{GROUPS}/{group}/set-curator"), body).await
    };
    let done = curate(&first, &member_id, true).await;
    assert_eq!((done.status, done.text.as_str()), (200, "null"));
    assert_eq!(role(&server, "member@example.com").await, Role::Curator);
    let manager = json!({"user_id": member_id, "is_manager": true});
    admin.put(&format!("{GROUPS}/{second}/manager"), manager).await.ok();
    let groups = admin.get(GROUPS).await.ok();
    assert_eq!(groups[1]["curator_ids"], json!([member_id]));
    assert_eq!(groups[1]["manager_ids"], json!([member_id]));
    curate(&first, &member_id, false).await.ok();
    assert_eq!(role(&server, "member@example.com").await, Role::Curator);
    // The last one goes with the group.
    admin.delete(&format!("{GROUPS}/{second}")).await.ok();
    assert_eq!(role(&server, "member@example.com").await, Role::Basic);

    for unfit in [Role::Admin, Role::GlobalCurator, Role::Limited, Role::SlackUser] {
        let email = format!("{unfit}@example.com");
        server.user(&email, unfit).await;
        let user = id(&server, &email).await;
        let stranger = curate(&first, &user, true).await.refused(404, "NOT_FOUND");
        let add = format!("{GROUPS}/{first}/add-users");
        admin.post(&add, json!({"user_ids": [user]})).await.ok();
        assert_eq!(curate(&first, &user, true).await.refused(404, "NOT_FOUND"), stranger);
        assert_eq!(role(&server, &email).await, unfit);
    }
}

/// Without the group the provider could be open to more people.
#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_keeps_a_provider_from_others_stays() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let group = create(&admin, "Buyers", &[], &[]).await["id"].clone();
    let provider = json!({"name": "Paid", "provider": "openai", "default_model_name": "m",
        "api_key": "sk-x", "api_key_changed": true, "is_public": false, "groups": [group],
        "model_configurations": [{"name": "m", "is_visible": true}]});
    let made = admin.put("/api/admin/llm/provider?is_creation=true", provider).await.ok();
    let path = format!("{GROUPS}/{group}");
    assert!(admin.delete(&path).await.refused(409, "CONFLICT").contains("Paid"));
    admin.delete(&format!("/api/admin/llm/provider/{}", made["id"])).await.ok();
    admin.delete(&path).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_lists_its_sets_and_agents() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let group = create(&admin, "g", &[], &[]).await["id"].clone();
    let set = json!({"name": "Set", "description": "", "cc_pair_ids": [1], "is_public": false,
        "groups": [group]});
    admin.post("/api/manage/admin/document-set", set).await.ok();
    let agent = json!({"name": "Agent", "description": "", "system_prompt": "",
        "task_prompt": "", "document_set_ids": [], "tool_ids": [], "datetime_aware": true,
        "groups": [group]});
    admin.post("/api/persona", agent).await.ok();
    let groups = admin.get(GROUPS).await.ok();
    assert_eq!(groups[0]["document_sets"][0]["name"], "Set");
    assert_eq!(groups[0]["personas"][0]["name"], "Agent");
    assert_eq!(groups[0]["personas"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_request_is_told_at_once() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    admin.post(GROUPS, json!({"user_ids": ["x"], "cc_pair_ids": 7})).await.invalid(&[
        "body/name missing",
        "body/user_ids/0 uuid_parsing",
        "body/cc_pair_ids list_type",
    ]);
    admin
        .post(GROUPS, json!({"name": " ", "user_ids": [], "cc_pair_ids": ["x"]}))
        .await
        .invalid(&["body/name value_error", "body/cc_pair_ids/0 int_parsing"]);
    admin.patch(&format!("{GROUPS}/x"), json!({})).await.invalid(&[
        "path/user_group_id int_parsing",
        "body/user_ids missing",
        "body/cc_pair_ids missing",
    ]);
    let curator = admin.post(&format!("{GROUPS}/1/set-curator"), json!({"user_id": 1})).await;
    curator.invalid(&["body/user_id uuid_type", "body/is_curator missing"]);
    // `rename` is no number of a group.
    let rename = admin.patch(&format!("{GROUPS}/rename"), json!({})).await;
    rename.invalid(&["body/id missing", "body/name missing"]);
    let nobody = "0190a1b2-c3d4-7000-8000-00000000000a";
    let body = json!({"name": "g", "user_ids": [nobody], "cc_pair_ids": []});
    admin.post(GROUPS, body).await.refused(400, "INVALID_INPUT");
    create(&admin, "g", &[], &[]).await;
    let again = json!({"name": "g", "user_ids": [], "cc_pair_ids": []});
    admin.post(GROUPS, again).await.refused(400, "INVALID_INPUT");
}
