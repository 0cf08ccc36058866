use serde_json::json;
use trove_domain::port::{SourceError, SourceFactory};
use trove_domain::source::DocumentSource;

use crate::support::{Setting, World};

#[tokio::test]
async fn kinds_that_there_are_open_and_others_are_told_which_there_are() {
    let world = World::new(Setting::default());
    let kinds: Vec<DocumentSource> = world.sources.kinds().iter().map(|(kind, _)| *kind).collect();
    assert!(kinds.is_sorted());
    let offered = world.sources.kinds().into_iter().filter(|(_, kind)| kind.offered).count();
    assert_eq!((kinds.len(), offered), (3, 2));
    for source in DocumentSource::ALL {
        let config = match source {
            DocumentSource::Web => json!({ "base_url": "docs.example.com" }),
            DocumentSource::File => json!({ "file_locations": ["a"], "batch_size": 3 }),
            DocumentSource::MockConnector => {
                json!({ "mock_server_host": "::1", "mock_server_port": 1 })
            }
            _ => json!({}),
        };
        let opened = world.open(*source, &config).await;
        match opened {
            Ok(_) => assert!(kinds.contains(source), "{source}"),
            // Its address is not allowed.
            Err(SourceError::Invalid(_)) if *source == DocumentSource::MockConnector => {}
            Err(SourceError::Invalid(message)) => {
                assert!(!kinds.contains(source), "{message}");
                assert!(message.contains("web, file, mock_connector"), "{message}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn keys_that_are_not_known_are_named() {
    let world = World::new(Setting::default());
    for (source, config) in [
        (DocumentSource::File, json!({ "file_locations": ["a"], "foo": 1 })),
        (
            DocumentSource::MockConnector,
            json!({ "mock_server_host": "127.0.0.1", "mock_server_port": 1, "foo": 1 }),
        ),
    ] {
        let Err(SourceError::Invalid(message)) = world.open(source, &config).await else {
            panic!("{source} takes anything")
        };
        assert!(message.contains("`foo`"), "{message}");
    }
    let web = json!({ "base_url": "docs.example.com", "foo": 1 });
    assert!(world.open(DocumentSource::Web, &web).await.is_ok());
}
