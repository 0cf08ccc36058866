//! Runs over HTTP: asked for, listed, summed up. The names tell the rows of the contract.

use chrono::TimeDelta;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::id::CcPairId;
use trove_domain::port::RunBy;

use super::deletion::made;
use super::scripted::{Play, Scripted, Worker};
use super::start;
use crate::server::{Client, Server};

const ADMIN: &str = "/api/manage/admin";

async fn parts(server: &Server, pair: CcPairId) -> (i32, i32) {
    let pair = server.engine.backends().cc_pairs.get(pair).await.unwrap().unwrap();
    (pair.connector.0, pair.credential.0)
}

async fn run_once(client: &Client<'_>, body: Value) -> Value {
    client.post(&format!("{ADMIN}/connector/run-once"), body).await.ok()
}

async fn runs(client: &Client<'_>, pair: CcPairId, query: &str) -> Value {
    client.get(&format!("{ADMIN}/cc-pair/{pair}/index-attempts{query}")).await.ok()
}

async fn statuses(client: &Client<'_>, body: Value) -> Value {
    client.post(&format!("{ADMIN}/connector/indexing-status"), body).await.ok()
}

async fn pause(client: &Client<'_>, pair: CcPairId, status: &str) {
    let path = format!("{ADMIN}/cc-pair/{pair}/status");
    client.put(&path, json!({"status": status})).await.ok();
}

fn marked(count: u64) -> Value {
    let message = format!("Marked {count} index attempts with indexing triggers.");
    json!({"success": true, "message": message, "data": count})
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_10_to_14_runs_out_of_turn() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "a").await;
    let (connector, credential) = parts(&server, pair).await;
    sources.play(pair, [Play::documents(["a"]), Play::hanging()]);
    let worker = Worker::start(&server, &sources);
    sources.reached(&server, pair, 1).await;
    // Row 11: one that runs is not asked.
    assert_eq!(run_once(&admin, json!({"connector_id": connector})).await, marked(0));
    pause(&admin, pair, "PAUSED").await;
    worker.until_finished(pair).await;
    // Rows 10 and 12: all credentials, and a paused one remembers.
    let body = json!({"connector_id": connector, "credential_ids": [], "from_beginning": true});
    assert_eq!(run_once(&admin, body).await, marked(1));
    assert_eq!(runs(&admin, pair, "").await["total_items"], 1, "nothing runs");
    // Row 13: the last wish counts.
    let body = json!({"connector_id": connector, "credential_ids": [credential]});
    assert_eq!(run_once(&admin, body).await, marked(1));
    sources.play(pair, [Play::documents(["a"]), Play::empty()]);
    server.stack.clock.advance(TimeDelta::seconds(1));
    pause(&admin, pair, "ACTIVE").await;
    Worker::start(&server, &sources).until_finished(pair).await;
    let listed = runs(&admin, pair, "").await;
    assert_eq!(listed["total_items"], 2);
    let [last, first] = &listed["items"].as_array().unwrap()[..] else { panic!("two runs") };
    assert_eq!((&last["status"], &first["status"]), (&json!("success"), &json!("canceled")));
    assert_eq!(last["from_beginning"], false);
    assert_eq!(last["poll_range_end"], first["poll_range_end"], "row 55");
    assert_eq!(first["error_msg"], "Connector paused");
    // Row 14.
    server.stack.clock.advance(TimeDelta::seconds(1));
    let body = json!({"connector_id": connector, "from_beginning": true});
    assert_eq!(run_once(&admin, body).await, marked(1));
    Worker::start(&server, &sources).until_finished(pair).await;
    let last = runs(&admin, pair, "?page_size=1").await["items"][0].clone();
    let of = |key: &str| last[key].clone();
    assert_eq!((of("status"), of("from_beginning")), (json!("success"), json!(true)));
    assert_eq!((of("new_docs_indexed"), of("docs_unchanged")), (json!(0), json!(1)));
    assert_eq!((of("total_docs_indexed"), of("docs_enumerated")), (json!(1), json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_run_is_told() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let pair = Scripted::default().pair(&server, "a").await;
    let (connector, _) = parts(&server, pair).await;
    let path = format!("{ADMIN}/connector/run-once");
    let told = async |body: Value| admin.post(&path, body).await;
    let answer = told(json!({"connector_id": 4711})).await;
    answer.refused(404, "NOT_FOUND");
    assert_eq!(answer.json()["detail"], "Connector by id 4711 does not exist.");
    let answer = told(json!({"connector_id": connector, "credential_ids": [4711]})).await;
    answer.refused(400, "INVALID_INPUT");
    assert_eq!(
        answer.json()["detail"],
        "Not all specified credentials are associated with connector"
    );
    told(json!({})).await.invalid(&["body/connector_id missing"]);
    told(json!({"connector_id": "x", "credential_ids": "all", "from_beginning": 7})).await.invalid(
        &[
            "body/connector_id int_parsing",
            "body/credential_ids list_type",
            "body/from_beginning bool_parsing",
        ],
    );
    // The system's own is run by nobody.
    let posted = told(json!({"connector_id": 0})).await;
    posted.refused(400, "INVALID_INPUT");
    let pairs = &server.engine.backends().cc_pairs;
    pairs.set_schedule(pair, RunBy::Nobody, None).await.unwrap();
    told(json!({"connector_id": connector})).await.refused(400, "INVALID_INPUT");
    // Whoever may not change a pair may not run it.
    pairs.set_schedule(pair, RunBy::Schedule, None).await.unwrap();
    let curator = server.user("curator@example.com", Role::GlobalCurator).await;
    let answer = curator.post(&path, json!({"connector_id": connector})).await;
    answer.refused(403, "INSUFFICIENT_PERMISSIONS");
}

/// The connector is like none to whoever sees no pair of it, and pairs that they do not see are like
/// credentials that it does not have.
#[tokio::test(flavor = "multi_thread")]
async fn pairs_of_others_are_run_like_pairs_that_are_not_there() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let curator = server.user("curator@example.com", Role::GlobalCurator).await;
    let group = server.group("g", &[("curator@example.com", true)]).await.0;
    let connector = crate::http::connectors::body("c", "web");
    let connector = crate::http::connectors::create(&admin, connector).await;
    let associate = async |groups: Value| {
        let credential = json!({"credential_json": {}, "admin_public": true, "source": "web"});
        let credential = admin.post("/api/manage/credential", credential).await.ok()["id"].clone();
        let path = format!("/api/manage/connector/{connector}/credential/{credential}");
        let name = format!("pair {credential}");
        let body = json!({"name": name, "access_type": "private", "groups": groups});
        (admin.put(&path, body).await.ok()["data"].clone(), credential)
    };
    let told = async |who: &Client<'_>, connector: i64, credentials: Value| {
        let body = json!({"connector_id": connector, "credential_ids": credentials});
        who.post(&format!("{ADMIN}/connector/run-once"), body).await
    };
    let (_, foreign) = associate(json!([])).await;
    let hidden = told(&curator, connector, json!([foreign])).await.refused(404, "NOT_FOUND");
    let missing = told(&curator, 4711, json!([foreign])).await.refused(404, "NOT_FOUND");
    assert_eq!(hidden.replace(&connector.to_string(), "ID"), missing.replace("4711", "ID"));
    let (_, own) = associate(json!([group])).await;
    let hidden = told(&curator, connector, json!([own, foreign])).await;
    let missing = told(&curator, connector, json!([own, 4711])).await;
    assert_eq!(hidden.refused(400, "INVALID_INPUT"), missing.refused(400, "INVALID_INPUT"));
    assert_eq!(told(&curator, connector, json!([])).await.ok(), marked(1));
    assert_eq!(told(&admin, connector, json!([])).await.ok(), marked(2));
}

/// S5: its pair is run again all the same.
#[tokio::test(flavor = "multi_thread")]
async fn s5_a_server_that_is_dead_five_times_is_shown_and_changes_no_status() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "dead").await;
    sources.play(pair, [Play::documents(["a"])]);
    Worker::start(&server, &sources).until_finished(pair).await;
    sources.play(pair, [Play::unavailable("connection refused")]);
    for round in 1..=5 {
        server.stack.clock.advance(TimeDelta::hours(1));
        let worker = Worker::start(&server, &sources);
        let failed = async || {
            // The waits between tries are over.
            server.stack.clock.advance(TimeDelta::minutes(6));
            let listed = runs(&admin, pair, "?page_num=0&page_size=100").await;
            let listed = listed["items"].as_array().unwrap();
            listed.iter().filter(|run| run["status"] == "failed").count() >= round
        };
        worker.until(failed).await;
        let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
        assert_eq!(shown["status"], "ACTIVE");
        assert_eq!(shown["in_repeated_error_state"], round == 5, "{round}");
    }
}

/// S6: nobody tries any more until somebody gives it another credential.
#[tokio::test(flavor = "multi_thread")]
async fn s6_what_cannot_work_is_invalid_until_its_credential_is_swapped() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let made = made(&admin, &sources, "wrong", "public").await;
    let status =
        async || admin.get(&format!("{ADMIN}/cc-pair/{}", made.pair)).await.ok()["status"].clone();
    let again = json!({"connector_id": made.connector});
    sources.play(made.pair, [Play::invalid("the token is refused")]);
    for round in 1..=5 {
        assert_eq!(run_once(&admin, again.clone()).await, marked(1));
        Worker::start(&server, &sources).until_finished(made.pair).await;
        let last = runs(&admin, made.pair, "").await["items"][0].clone();
        assert_eq!(last["status"], "canceled");
        assert_eq!(last["error_msg"], "Connector validation error: the token is refused");
        assert_eq!(status().await == "INVALID", round == 5, "{round}");
        server.stack.clock.advance(TimeDelta::seconds(1));
    }
    let credential = json!({"credential_json": {}, "admin_public": true, "source": "web"});
    let credential = admin.post("/api/manage/credential", credential).await.ok()["id"].clone();
    let swap = json!({"new_credential_id": credential, "connector_id": made.connector});
    admin.put(&format!("{ADMIN}/credential/swap"), swap).await.ok();
    assert_eq!(status().await, "ACTIVE");
    sources.play(made.pair, [Play::documents(["a"])]);
    run_once(&admin, again).await;
    Worker::start(&server, &sources).until_finished(made.pair).await;
    assert_eq!(runs(&admin, made.pair, "").await["items"][0]["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_and_errors_are_listed_in_pages() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "a").await;
    let failing = ["b", "c"].map(|id| Play::documents([]).failing(id, "it is encrypted"));
    sources.play(pair, [Play::documents(["a"]), failing[0].clone(), failing[1].clone()]);
    Worker::start(&server, &sources).until_finished(pair).await;
    let listed = runs(&admin, pair, "?page_num=0&page_size=1000").await;
    let run = &listed["items"][0];
    assert_eq!((&run["status"], &run["error_count"]), (&json!("completed_with_errors"), &json!(2)));
    assert_eq!((&run["docs_enumerated"], &run["total_docs_indexed"]), (&json!(3), &json!(1)));
    assert_eq!(runs(&admin, pair, "?page_num=1").await, json!({"items": [], "total_items": 1}));
    let errors = format!("{ADMIN}/cc-pair/{pair}/errors");
    let page = admin.get(&format!("{errors}?page_size=1&page_num=1")).await.ok();
    assert_eq!(page["total_items"], 2);
    let error = &page["items"][0];
    let of = |key: &str| error[key].clone();
    assert_eq!((of("document_id"), of("entity_id")), (json!("b"), Value::Null));
    assert_eq!(
        (of("failure_message"), of("is_resolved")),
        (json!("it is encrypted"), json!(false))
    );
    assert_eq!(of("index_attempt_id"), run["id"]);
    // What was read since is shown when somebody asks for it.
    server.stack.clock.advance(TimeDelta::hours(1));
    sources.play(pair, [Play::documents(["a", "b", "c"])]);
    Worker::start(&server, &sources).until_finished(pair).await;
    assert_eq!(admin.get(&errors).await.ok()["total_items"], 0);
    let all = admin.get(&format!("{errors}?include_resolved=true")).await.ok();
    assert_eq!(all["items"][0]["is_resolved"], true);
    for (path, failure) in [
        ("index-attempts?page_size=1001", "query/page_size less_than_equal"),
        ("index-attempts?page_num=-1", "query/page_num greater_than_equal"),
        ("errors?page_size=101", "query/page_size less_than_equal"),
        ("errors?include_resolved=7", "query/include_resolved bool_parsing"),
    ] {
        admin.get(&format!("{ADMIN}/cc-pair/{pair}/{path}")).await.invalid(&[failure]);
    }
    let beyond = runs(&admin, pair, "?page_num=9223372036854775807&page_size=1000").await;
    assert_eq!(beyond["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_49_to_51_which_pairs_fail() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let (fails, works) = (sources.pair(&server, "a").await, sources.pair(&server, "b").await);
    let hopeless = ["1", "2", "3", "4"].iter();
    let hopeless = hopeless.fold(Play::documents([]), |play, id| play.failing(id, "broken"));
    sources.play(fails, [hopeless]);
    sources.play(works, [Play::documents(["x"])]);
    let path = format!("{ADMIN}/connector/failed-indexing-status");
    assert_eq!(admin.get(&path).await.ok(), json!([]));
    Worker::start(&server, &sources).until_finished(fails).await;
    let listed = admin.get(&path).await.ok();
    let [pair] = &listed.as_array().unwrap()[..] else { panic!("{listed}") };
    let (connector, credential) = parts(&server, fails).await;
    assert_eq!(pair["cc_pair_id"], fails.0);
    assert_eq!(
        (&pair["connector_id"], &pair["credential_id"]),
        (&json!(connector), &json!(credential))
    );
    assert!(pair["error_msg"].as_str().unwrap().contains("4 of 4 documents failed"));
    assert_eq!(pair["is_deletable"], false, "it is still scheduled");
    // Row 51: paused, and nothing runs.
    pause(&admin, fails, "PAUSED").await;
    assert_eq!(admin.get(&path).await.ok()[0]["is_deletable"], true);
    pause(&admin, fails, "ACTIVE").await;
    // Row 50: errors clear nothing.
    server.stack.clock.advance(TimeDelta::hours(1));
    sources.play(fails, [Play::documents(["a"]).failing("b", "broken")]);
    Worker::start(&server, &sources).until_finished(fails).await;
    assert_eq!(admin.get(&path).await.ok().as_array().unwrap().len(), 1);
    server.stack.clock.advance(TimeDelta::hours(1));
    sources.play(fails, [Play::documents(["a", "b"])]);
    Worker::start(&server, &sources).until_finished(fails).await;
    assert_eq!(admin.get(&path).await.ok(), json!([]));
    let curator = server.user("curator@example.com", Role::Curator).await;
    assert_eq!(curator.get(&format!("{path}?get_editable=true")).await.ok(), json!([]));
    admin
        .get(&format!("{path}?get_editable=x"))
        .await
        .invalid(&["query/get_editable bool_parsing"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_45_to_49_statuses_by_source() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "Handbook").await;
    sources.play(pair, [Play::documents(["a", "b"]), Play::hanging()]);
    let before = statuses(&admin, json!({})).await;
    let summary = json!({"total_connectors": 1, "active_connectors": 0, "public_connectors": 1,
        "total_docs_indexed": 0});
    assert_eq!((&before[0]["summary"], &before[0]["source"]), (&summary, &json!("web")));
    assert_eq!((&before[0]["current_page"], &before[0]["total_pages"]), (&json!(1), &json!(1)));
    let row = &before[0]["indexing_statuses"][0];
    assert_eq!((&row["last_status"], &row["in_progress"]), (&Value::Null, &json!(false)));
    // Row 47.
    let never = json!({"last_status_filters": ["failed"]});
    assert_eq!(statuses(&admin, never).await, json!([]));
    // Row 46.
    let none = json!({"docs_count_operator": "=", "docs_count_value": 0});
    assert_eq!(statuses(&admin, none.clone()).await, before);
    // Row 45.
    assert_eq!(statuses(&admin, json!({"source_to_page": {"web": 2}})).await, json!([]));
    let worker = Worker::start(&server, &sources);
    sources.reached(&server, pair, 1).await;
    server.stack.clock.advance(TimeDelta::seconds(30));
    let running = statuses(&admin, json!({"name_filter": "HAND"})).await;
    let row = running[0]["indexing_statuses"][0].clone();
    let of = |key: &str| row[key].clone();
    assert_eq!((of("cc_pair_id"), of("name")), (json!(pair.0), json!("Handbook")));
    assert_eq!((of("in_progress"), of("last_status")), (json!(true), json!("in_progress")));
    assert_eq!(of("cc_pair_status"), "INITIAL_INDEXING", "row 48");
    assert_eq!(running[0]["summary"]["active_connectors"], 0);
    assert_eq!((of("docs_indexed"), of("latest_index_attempt_docs_indexed")), (json!(2), json!(2)));
    assert_eq!(of("docs_per_minute"), 4.0);
    assert_eq!(of("estimated_seconds_left"), Value::Null, "nothing to compare with");
    assert_eq!(statuses(&admin, none).await, json!([]));
    let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
    assert_eq!((&shown["indexing"], &shown["num_docs_indexed"]), (&json!(true), &json!(2)));
    assert_eq!(shown["last_index_attempt_status"], "in_progress");
    assert_eq!(
        (&shown["number_of_index_attempts"], &shown["overall_indexing_speed"]),
        (&json!(1), &json!(4.0))
    );
    worker.stop().await;
    let path = format!("{ADMIN}/connector/indexing-status");
    admin
        .post(
            &path,
            json!({"source": "nope", "access_type_filters": ["x"],
            "last_status_filters": "failed", "docs_count_operator": ">=", "docs_count_value": -1,
            "name_filter": 5, "source_to_page": {"nope": 1, "web": "x"},
            "get_all_connectors": "maybe"}),
        )
        .await
        .invalid(&[
            "body/source enum",
            "body/access_type_filters/0 enum",
            "body/last_status_filters list_type",
            "body/docs_count_operator enum",
            "body/docs_count_value greater_than_equal",
            "body/name_filter string_type",
            "body/source_to_page/nope enum",
            "body/source_to_page/web int_parsing",
            "body/get_all_connectors bool_parsing",
        ]);
}
