//! `/manage/document-set` and what curators do with document sets.

use reqwest::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use trove_domain::access::Role;

use crate::server::{Answer, Client, Server, document};

const SETS: &str = "/api/manage/document-set";
const ADMIN: &str = "/api/manage/admin/document-set";

fn body(name: &str, pairs: &[i32]) -> Value {
    json!({"name": name, "description": "", "cc_pair_ids": pairs, "is_public": true})
}

/// A body with further fields.
fn with(mut body: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    body.as_object_mut().unwrap().extend(fields);
    body
}

async fn create(client: &Client<'_>, body: Value) -> i64 {
    client.post(ADMIN, body).await.ok().as_i64().unwrap()
}

fn update(id: i64, body: Value) -> Value {
    with(body, json!({"id": id, "users": [], "groups": []}))
}

async fn names(client: &Client<'_>, query: &str) -> Vec<String> {
    let sets = client.get(&format!("{SETS}{query}")).await.ok();
    let sets = sets.as_array().unwrap().iter();
    sets.map(|set| set["name"].as_str().unwrap().to_owned()).collect()
}

async fn public(client: &Client<'_>, ids: &[i64]) -> Answer {
    let body = json!({"document_set_ids": ids}).to_string().into_bytes();
    let client = client.with("content-type", "application/json");
    client.send(Method::GET, "/api/manage/document-set-public", Some(body)).await
}

/// From its making to the end; only `sync_documents`, which the worker calls, changes what the
/// index knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_set_is_made_found_changed_and_deleted() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let basic = server.caller(Role::Basic).await;
    let pair = server.private_pair("p", &[]).await;
    admin.ingest(json!({"document": document("a", "A", "apple")})).await.ok();
    let id = create(&admin, body("Set", &[1])).await;
    let expected = |up_to_date: bool| {
        json!([{
            "id": id, "name": "Set", "description": "", "is_up_to_date": up_to_date,
            "cc_pair_summaries": [{"id": 1, "name": "DefaultCCPair", "source": "ingestion_api",
                "access_type": "public"}],
            "is_public": true, "users": [], "groups": [], "federated_connector_summaries": [],
            "permissions": {"edit": false},
        }])
    };
    let search = json!({"query": "apple", "document_sets": ["Set"]});
    assert_eq!(basic.get(SETS).await.ok(), expected(false));
    basic.search(search.clone()).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    // What the worker does; there is a job for it.
    assert_eq!(server.engine.run_due_jobs(&CancellationToken::new()).await.unwrap(), 1);
    assert_eq!(basic.get(SETS).await.ok(), expected(true));
    assert_eq!(basic.search(search.clone()).await.titles(), ["A"]);

    // Nothing that the index must know of.
    let changed = admin.patch(ADMIN, update(id, body("Renamed", &[1]))).await;
    assert_eq!((changed.status, changed.text.as_str()), (200, "null"));
    let search = json!({"query": "apple", "document_sets": ["Renamed"]});
    assert_eq!(basic.search(search.clone()).await.titles(), ["A"]);
    // Something that it must: until then the set is what it was.
    admin.patch(ADMIN, update(id, body("Renamed", &[pair.0]))).await.ok();
    assert_eq!(basic.get(SETS).await.ok()[0]["is_up_to_date"], false);
    assert_eq!(basic.search(search.clone()).await.titles(), ["A"]);
    server.engine.sync_documents().await.unwrap();
    assert!(basic.search(search.clone()).await.titles().is_empty());

    let deleted = admin.delete(&format!("{ADMIN}/{id}")).await;
    assert_eq!((deleted.status, deleted.text.as_str()), (200, "null"));
    assert_eq!(names(&basic, "").await, ["Renamed"]);
    basic.search(search.clone()).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    admin.post(ADMIN, body("Renamed", &[1])).await.refused(400, "INVALID_INPUT");
    server.engine.sync_documents().await.unwrap();
    assert!(names(&basic, "").await.is_empty());
    create(&admin, body("Renamed", &[1])).await;
}

/// What a set is for is to narrow: it opens nothing.
#[tokio::test(flavor = "multi_thread")]
async fn membership_of_a_set_never_widens_what_is_read() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let basic = server.caller(Role::Basic).await;
    let pair = server.private_pair("p", &[]).await;
    let posted = json!({"document": document("a", "A", "apple"), "cc_pair_id": pair.0});
    admin.ingest(posted).await.ok();
    create(&admin, body("Set", &[pair.0])).await;
    server.engine.sync_documents().await.unwrap();
    let search = json!({"query": "apple", "document_sets": ["Set"]});
    assert!(basic.search(search).await.titles().is_empty());
    // Nor does it tell what the pair is called.
    let sets = basic.get(SETS).await.ok();
    assert_eq!(sets[0]["cc_pair_summaries"], json!([]));
}

/// A set that is being changed filters, as always: who lost the access to a document does not find
/// it by a set that still holds it, and who cannot see the set cannot name it.
#[tokio::test(flavor = "multi_thread")]
async fn a_set_that_is_being_changed_never_widens_what_is_read() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let reader = server.user("reader@example.com", Role::Basic).await;
    let stranger = server.caller(Role::Basic).await;
    let group = server.group("g", &[("reader@example.com", false)]).await;
    let pair = server.private_pair("p", &[group]).await;
    let posted = json!({"document": document("a", "A", "apple"), "cc_pair_id": pair.0});
    admin.ingest(posted).await.ok();
    let private =
        |pairs: &[i32]| with(body("Set", pairs), json!({"is_public": false, "groups": [group.0]}));
    let id = create(&admin, private(&[pair.0])).await;
    server.engine.sync_documents().await.unwrap();
    let changed = with(private(&[1]), json!({"id": id, "users": []}));
    admin.patch(ADMIN, changed).await.ok();
    let search = json!({"query": "apple", "document_sets": ["Set"]});
    assert_eq!(reader.search(search.clone()).await.titles(), ["A"]);
    assert!(admin.search(search.clone()).await.titles().is_empty());
    stranger.search(search.clone()).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    server.engine.sync_documents().await.unwrap();
    assert!(reader.search(search).await.titles().is_empty());
}

/// Documents that come while a set is not up to date are in it like the others.
#[tokio::test(flavor = "multi_thread")]
async fn documents_that_are_added_meanwhile_belong_to_the_set() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    admin.ingest(json!({"document": document("a", "A", "apple")})).await.ok();
    create(&admin, body("Set", &[1])).await;
    admin.ingest(json!({"document": document("b", "B", "apple")})).await.ok();
    server.engine.sync_documents().await.unwrap();
    admin.ingest(json!({"document": document("c", "C", "apple")})).await.ok();
    let mut titles =
        admin.search(json!({"query": "apple", "document_sets": ["Set"]})).await.titles();
    titles.sort();
    assert_eq!(titles, ["A", "B", "C"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_98_a_set_is_not_deleted_right_after_it_was_made() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let id = create(&admin, body("Set", &[1])).await;
    for answer in [
        admin.delete(&format!("{ADMIN}/{id}")).await,
        admin.patch(ADMIN, update(id, body("Set", &[1]))).await,
    ] {
        let detail = answer.refused(400, "INVALID_INPUT");
        assert!(detail.contains("syncing"), "{detail}");
        assert_eq!(answer.json()["message"], answer.json()["detail"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_97_a_private_pair_must_belong_to_every_group_of_a_private_set() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let (one, two) = (server.group("one", &[]).await, server.group("two", &[]).await);
    let pair = server.private_pair("p", &[one]).await;
    let private = |groups: Value| {
        with(body("Set", &[pair.0, 1]), json!({"is_public": false, "groups": groups}))
    };
    let detail =
        admin.post(ADMIN, private(json!([one.0, two.0]))).await.refused(400, "INVALID_INPUT");
    assert!(detail.contains("not owned by the specified groups"), "{detail}");
    create(&admin, private(json!([one.0]))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_a_set_is_400() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    create(&admin, body("Taken", &[1])).await;
    let stranger = json!({"users": ["00000000-0000-7000-8000-000000000000"]});
    for (body, word) in [
        (body("Taken", &[1]), "Taken"),
        (body("Set", &[]), "cc_pair_ids"),
        (body("Set", &[4711]), "4711"),
        (with(body("Set", &[1]), json!({"groups": [4711]})), "groups"),
        (with(body("Set", &[1]), stranger), "users"),
        (with(body("Set", &[1]), json!({"federated_connectors": [{}]})), "federated_connectors"),
    ] {
        let detail = admin.post(ADMIN, body.clone()).await.refused(400, "INVALID_INPUT");
        assert!(detail.contains(word), "{body}: {detail}");
    }
    assert_eq!(names(&admin, "").await, ["Taken"]);
    for missing in [update(4711, body("Set", &[1]))] {
        admin.patch(ADMIN, missing).await.refused(404, "DOCUMENT_SET_NOT_FOUND");
    }
    admin.delete(&format!("{ADMIN}/4711")).await.refused(404, "DOCUMENT_SET_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_sets_are_422_with_everything_that_is_wrong() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    admin.post(ADMIN, json!({})).await.invalid(&[
        "body/name missing",
        "body/description missing",
        "body/cc_pair_ids missing",
        "body/is_public missing",
    ]);
    admin
        .patch(ADMIN, json!({"id": "x", "name": "a\u{0}b", "description": "\u{0}"}))
        .await
        .invalid(&[
            "body/id int_parsing",
            "body/name value_error",
            "body/description value_error",
            "body/cc_pair_ids missing",
            "body/is_public missing",
            "body/users missing",
            "body/groups missing",
        ]);
    admin.post(ADMIN, body(&"é".repeat(201), &[1])).await.invalid(&["body/name string_too_long"]);
    admin.post(ADMIN, body("  ", &[1])).await.invalid(&["body/name value_error"]);
    admin.post(ADMIN, body("x", &[1; 1001])).await.invalid(&["body/cc_pair_ids too_long"]);
    admin.delete(&format!("{ADMIN}/x")).await.invalid(&["path/document_set_id int_parsing"]);
}

/// Rows of 9.3, for document sets.
#[tokio::test(flavor = "multi_thread")]
async fn a_curator_makes_sets_for_its_groups_and_public_ones() {
    let server = Server::start().await;
    let curator = server.user("cur@example.com", Role::Curator).await;
    let own = server.group("own", &[("cur@example.com", true)]).await;
    let joined = server.group("joined", &[("cur@example.com", false)]).await;
    let private =
        |groups: Value| with(body("Set", &[1]), json!({"is_public": false, "groups": groups}));
    for (groups, word) in
        [(json!([]), "at least one group"), (json!([own.0, joined.0]), "cannot control")]
    {
        let detail = curator.post(ADMIN, private(groups)).await.refused(400, "INVALID_INPUT");
        assert!(detail.contains(word), "{detail}");
    }
    // Foreign and missing groups are the same.
    let foreign = server.group("foreign", &[]).await;
    let refused = async |group: i32| {
        let answer = curator.post(ADMIN, private(json!([group]))).await;
        answer.text.replace(&group.to_string(), "N")
    };
    assert_eq!(refused(foreign.0).await, refused(4711).await);
    create(&curator, private(json!([own.0]))).await;
    create(&curator, body("Public", &[1])).await;
    assert_eq!(names(&curator, "?get_editable=true").await, ["Set", "Public"]);
}

/// The bodies are the same to the byte, but for the number that was sent.
#[tokio::test(flavor = "multi_thread")]
async fn foreign_sets_and_pairs_look_like_missing_ones() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let curator = server.user("cur@example.com", Role::Curator).await;
    let group = server.group("g", &[("cur@example.com", true)]).await;
    let pair = server.private_pair("p", &[]).await;
    let private = with(body("Hidden", &[1]), json!({"is_public": false}));
    let hidden = create(&admin, private).await;
    server.engine.sync_documents().await.unwrap();
    let attempt = async |id: i64, pair: i32| {
        let groups = json!({"groups": [group.0], "is_public": false});
        let answers = [
            curator.patch(ADMIN, with(update(id, body("x", &[1])), groups.clone())).await,
            curator.delete(&format!("{ADMIN}/{id}")).await,
            curator.post(ADMIN, with(body("x", &[pair]), groups)).await,
        ];
        let same = |text: &str| text.replace(&id.to_string(), "N").replace(&pair.to_string(), "N");
        answers.map(|answer| (answer.status, same(&answer.text)))
    };
    let foreign = attempt(hidden, pair.0).await;
    assert_eq!(foreign, attempt(990_001, 990_002).await);
    assert_eq!(foreign.map(|(status, _)| status), [404, 404, 400]);
    assert!(names(&curator, "").await.is_empty());
    assert_eq!(names(&admin, "").await, ["Hidden"]);
}

/// 403, as it is no secret that there is one.
#[tokio::test(flavor = "multi_thread")]
async fn a_curator_of_another_group_does_not_change_a_public_set() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let curator = server.user("cur@example.com", Role::Curator).await;
    server.group("g", &[("cur@example.com", true)]).await;
    let id = create(&admin, body("Set", &[1])).await;
    server.engine.sync_documents().await.unwrap();
    curator
        .patch(ADMIN, update(id, body("x", &[1])))
        .await
        .refused(403, "INSUFFICIENT_PERMISSIONS");
    curator.delete(&format!("{ADMIN}/{id}")).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    assert_eq!(names(&curator, "").await, ["Set"]);
    assert!(names(&curator, "?get_editable=true").await.is_empty());
}

/// Pairs that a curator does not see are not lost when it changes its set.
#[tokio::test(flavor = "multi_thread")]
async fn an_update_keeps_the_pairs_that_its_caller_does_not_see() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let curator = server.user("cur@example.com", Role::Curator).await;
    let pair = server.private_pair("p", &[]).await;
    let id = create(&curator, body("Set", &[1])).await;
    server.engine.sync_documents().await.unwrap();
    admin.patch(ADMIN, update(id, body("Set", &[1, pair.0]))).await.ok();
    server.engine.sync_documents().await.unwrap();
    curator.patch(ADMIN, update(id, body("Renamed", &[1]))).await.ok();
    let pairs = async |client: &Client<'_>| {
        client.get(SETS).await.ok()[0]["cc_pair_summaries"].as_array().unwrap().len()
    };
    assert_eq!((pairs(&curator).await, pairs(&admin).await), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn sets_are_public_when_all_their_pairs_are() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let basic = server.caller(Role::Basic).await;
    let pair = server.private_pair("p", &[]).await;
    let open = create(&admin, body("Open", &[1])).await;
    let mixed = create(&admin, body("Mixed", &[1, pair.0])).await;
    let hidden = create(&admin, with(body("Hidden", &[1]), json!({"is_public": false}))).await;
    let ask = async |client: &Client<'_>, ids: &[i64]| {
        public(client, ids).await.ok()["is_public"].as_bool().unwrap()
    };
    for client in [&admin, &basic] {
        assert!(ask(client, &[open]).await && ask(client, &[]).await);
        assert!(!ask(client, &[mixed]).await && !ask(client, &[open, mixed]).await);
        assert!(!ask(client, &[4711]).await);
    }
    assert!(ask(&admin, &[hidden]).await && !ask(&basic, &[hidden]).await);
    basic.get("/api/manage/document-set-public").await.invalid(&["body missing"]);
}

/// Shares are for those who may change a set.
#[tokio::test(flavor = "multi_thread")]
async fn shares_are_shown_to_editors_only() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let member = server.user("mem@example.com", Role::Basic).await;
    let group = server.group("g", &[("mem@example.com", true)]).await;
    let private = json!({"is_public": false, "groups": [group.0]});
    create(&admin, with(body("Set", &[1]), private)).await;
    assert_eq!(admin.get(SETS).await.ok()[0]["groups"], json!([group.0]));
    assert_eq!(member.get(SETS).await.ok()[0]["groups"], json!([]));
    assert!(names(&server.caller(Role::Basic).await, "").await.is_empty());
}
