//! The scripted source is a source, and can be controlled.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use trove_domain::port::{
    ReadWindow, Source, SourceClass, SourceError, SourceFactory, SourceSettings,
};
use trove_domain::source::DocumentSource;
use trove_testkit::scripted_source::{Play, ScriptedSource, ScriptedSources};
use trove_testkit::source::SourceSubject;

const WINDOW: ReadWindow = ReadWindow { start: DateTime::UNIX_EPOCH, end: DateTime::UNIX_EPOCH };

struct Scripted;

#[async_trait]
impl SourceSubject for Scripted {
    async fn open(&self) -> Arc<dyn Source> {
        Arc::new(ScriptedSource::new(vec![
            Play::documents(&["a", "b"]),
            Play::documents(&[]),
            Play::failures(&["c"]),
            Play::documents(&["d"]),
        ]))
    }

    async fn open_broken(&self) -> Arc<dyn Source> {
        Arc::new(ScriptedSource::new(vec![Play::Fails("it is broken".to_owned())]))
    }
}

trove_testkit::source_contract!(async { Some(Box::new(Scripted)) });

#[tokio::test]
async fn a_call_hangs_until_it_is_released_or_dropped() {
    let source = ScriptedSource::new(vec![Play::documents(&["a"]).hanging()]);
    let release = async {
        source.hanging(1).await;
        source.release();
    };
    let (step, ()) = tokio::join!(source.read(WINDOW, None), release);
    assert_eq!(step.unwrap().documents.len(), 1);
    tokio::select! {
        _ = source.read(WINDOW, None) => panic!("nobody released it"),
        () = source.hanging(1) => {}
    }
    source.not_hanging(0).await;
    assert_eq!(source.reads().len(), 2);
}

#[tokio::test]
async fn a_source_may_never_end_and_change_its_mind() {
    let source = ScriptedSource::endless(|n| Play::documents(&[&format!("d{n}")]));
    let mut from = None;
    for n in 0..100 {
        let step = source.read(WINDOW, from.as_ref()).await.unwrap();
        assert_eq!(step.documents[0].id.as_str(), format!("d{n}"));
        from = step.next;
    }
    source.set_check(Play::Unavailable(None));
    assert!(matches!(source.check().await, Err(SourceError::Unavailable { .. })));
}

#[tokio::test]
async fn scripted_sources_are_opened_by_their_kind() {
    let sources = ScriptedSources::default();
    sources.set(DocumentSource::Web, SourceClass::Load, ScriptedSource::of(&["a"]));
    let settings =
        |source| SourceSettings { source, config: serde_json::Map::new(), credential: "{}".into() };
    assert!(sources.open(settings(DocumentSource::Web)).await.is_ok());
    assert!(sources.open(settings(DocumentSource::Slack)).await.is_err());
    assert_eq!(sources.opened().len(), 2);
    assert_eq!(sources.kinds().len(), 1);
}
