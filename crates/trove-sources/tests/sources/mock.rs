//! Scripts of tests, played by a server.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use trove_domain::external_access::{ExternalAccess, ExternalGroup, ExternalMembers};
use trove_domain::port::{FailedPart, SourceError};
use trove_domain::source::DocumentSource::{self, MockConnector};
use trove_testkit::model_server::{ModelServer, Reply};

use crate::support::{Setting, World};

/// A server that plays a script, and what it was told.
pub(crate) struct Script {
    server: ModelServer,
    told: Arc<Mutex<Vec<Value>>>,
}

impl Script {
    pub(crate) async fn start(steps: Value) -> Self {
        let told = Arc::new(Mutex::default());
        let heard = Arc::clone(&told);
        let server = ModelServer::start(move |request| match request.path.as_str() {
            "/get-documents" => Reply::json(200, &steps),
            "/add-checkpoint" => {
                Vec::push(&mut heard.lock().unwrap(), request.json());
                Reply::json(200, &json!({}))
            }
            _ => Reply::text(404, ""),
        })
        .await;
        Self { server, told }
    }

    pub(crate) fn config(&self) -> Value {
        let address = self.server.address();
        json!({ "mock_server_host": address.ip().to_string(), "mock_server_port": address.port() })
    }

    fn told(&self) -> Vec<Value> {
        self.told.lock().unwrap().clone()
    }
}

pub(crate) fn document(id: &str) -> Value {
    json!({
        "id": id, "source": "slack", "semantic_identifier": format!("Document {id}"),
        "sections": [{ "text": format!("Text of {id}"), "link": "https://e.example/" }],
        "metadata": { "k": ["v", 1] }, "doc_updated_at": "2024-02-29T10:00:00Z",
        "primary_owners": [{ "email": "reader@example.com" }],
    })
}

pub(crate) fn step(ids: &[&str], has_more: bool, last: Option<&str>) -> Value {
    json!({
        "documents": ids.iter().map(|id| document(id)).collect::<Vec<_>>(),
        "checkpoint": { "has_more": has_more, "last_document_id": last },
        "failures": [],
    })
}

#[tokio::test]
async fn each_element_is_a_step_that_is_told_its_checkpoint() {
    let world = World::new(Setting::default());
    let mut second = step(&["b"], false, None);
    second["failures"] = json!([
        { "failed_document": { "document_id": "c", "document_link": "l" }, "failure_message": "m" },
        {
            "failed_entity": {
                "entity_id": "folder",
                "missed_time_range": ["2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"],
            },
            "failure_message": "n", "exception": null,
        },
    ]);
    let script = Script::start(json!([step(&["a"], true, Some("a")), second])).await;
    let run = world.read(MockConnector, &script.config(), None).await.unwrap();
    assert_eq!((run.ids(), run.steps), (vec!["a", "b"], 2));
    assert_eq!(
        script.told(),
        [
            json!({ "has_more": true, "last_document_id": null }),
            json!({ "has_more": true, "last_document_id": "a" }),
        ]
    );
    let a = run.document("a");
    assert_eq!((a.source, a.link()), (DocumentSource::Slack, Some("https://e.example/")));
    assert_eq!(a.metadata["k"].values().collect::<Vec<_>>(), ["v", "1"]);
    assert!(a.updated_at.is_some());
    assert_eq!(a.primary_owners[0].label().unwrap(), "reader@example.com");
    assert_eq!(run.failures.len(), 2);
    assert!(matches!(&run.failures[1].part, FailedPart::Entity { window: Some(_), .. }));
    // A failed document is there.
    assert_eq!(world.list(MockConnector, &script.config()).await.unwrap(), ["a", "b", "c"]);
    assert_eq!(script.told().len(), 2);
}

/// S54: more steps than elements.
#[tokio::test]
async fn running_out_of_elements_is_an_error() {
    let world = World::new(Setting::default());
    let script = Script::start(json!([step(&["a"], true, None)])).await;
    let error = world.read(MockConnector, &script.config(), None).await.unwrap_err();
    assert!(matches!(error, SourceError::Failed { .. }), "{error:?}");
}

#[tokio::test]
async fn an_unhandled_exception_fails_the_run_after_the_checkpoint_was_told() {
    let world = World::new(Setting::default());
    let mut failing = step(&["a"], false, None);
    failing["unhandled_exception"] = "it broke".into();
    let script = Script::start(json!([failing])).await;
    let error = world.read(MockConnector, &script.config(), None).await.unwrap_err();
    assert_eq!(error.to_string(), "it broke");
    assert_eq!(script.told().len(), 1);
}

/// Ids of groups are made those of the source; whoever says nothing is for the readers of tests.
#[tokio::test]
async fn it_tells_who_may_read() {
    let world = World::new(Setting::default());
    let mut first = step(&["a", "b"], true, Some("b"));
    first["documents"][0]["external_access"] = json!({
        "external_user_emails": ["Reader@Example.com"],
        "external_user_group_ids": ["Engineering"], "is_public": false,
    });
    let mut last = step(&["c"], false, None);
    last["documents"][0]["external_access"] = json!({ "is_public": true });
    last["external_groups"] = json!([
        { "id": "ENGINEERING", "user_emails": ["reader@example.com", "other@example.com"] },
        { "id": "all", "gives_anyone_access": true },
    ]);
    let script = Script::start(json!([first, last])).await;
    let group = |id: &str| ExternalGroup::new(MockConnector, id);
    let source = world.open(MockConnector, &script.config()).await.unwrap();
    let told = source.list_permissions(None).await.unwrap().unwrap();
    let tests = ["test@example.com", "admin@example.com"];
    let tests = ExternalAccess::new(tests, ["mock-group-1", "mock-group-2"].map(group), false);
    let reader = ExternalAccess::new(["reader@example.com"], [group("engineering")], false);
    assert_eq!(told.documents.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!([&told.documents[0].1, &told.documents[1].1], [&reader, &tests]);
    let told = source.list_permissions(told.next.as_ref()).await.unwrap().unwrap();
    assert!(told.next.is_none() && told.documents[0].1.is_public());
    let members = ["other@example.com", "reader@example.com"];
    let everybody = ExternalMembers::new(group("all"), [""; 0], true);
    let expected = [ExternalMembers::new(group("engineering"), members, false), everybody];
    assert_eq!(told.groups, expected);
    // What is read carries the same.
    let run = world.read(MockConnector, &script.config(), None).await.unwrap();
    assert_eq!(run.document("a").external_access, Some(reader));

    let mut broken = step(&["a"], false, None);
    broken["unhandled_exception"] = "it broke".into();
    let script = Script::start(json!([broken])).await;
    let source = world.open(MockConnector, &script.config()).await.unwrap();
    assert_eq!(source.list_permissions(None).await.unwrap_err().to_string(), "it broke");
}

#[tokio::test]
async fn its_server_is_reached_by_the_one_way_out() {
    let script = Script::start(json!([])).await;
    let world = World::new(Setting { allow: &[], ..Setting::default() });
    let refused = world.open(MockConnector, &script.config()).await;
    assert!(matches!(refused, Err(SourceError::Invalid(_))));
    let world = World::new(Setting::default());
    for host in ["a/b", "a@b", "", "a b", "user:canary@host", "169.254.169.254", "[::1", "a#"] {
        let config = json!({ "mock_server_host": host, "mock_server_port": 80 });
        let Err(SourceError::Invalid(message)) = world.open(MockConnector, &config).await else {
            panic!("{host}")
        };
        assert!(message.contains("mock_server_host"), "{message}");
    }
    for port in [json!(0), json!(65_536), json!("80"), json!(null)] {
        let config = json!({ "mock_server_host": "127.0.0.1", "mock_server_port": port });
        assert!(world.open(MockConnector, &config).await.is_err());
    }
    for body in ["", "{}", "[7]"] {
        let server = ModelServer::start(move |_| Reply::text(200, body)).await;
        let config = json!({
            "mock_server_host": "127.0.0.1", "mock_server_port": server.address().port(),
        });
        let error = world.read(MockConnector, &config, None).await.unwrap_err();
        assert!(matches!(error, SourceError::Failed { .. }), "{error:?}");
    }
}
