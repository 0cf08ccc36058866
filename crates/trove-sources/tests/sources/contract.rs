//! Every source keeps the contract of the port.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use trove_domain::port::Source;
use trove_domain::source::DocumentSource;
use trove_testkit::source::SourceSubject;

use crate::support::{Setting, World};

/// A source of a kind, and what keeps it alive.
struct Subject<T> {
    world: World,
    kind: DocumentSource,
    config: Value,
    broken: Value,
    _server: T,
}

#[async_trait]
impl<T: Send + Sync> SourceSubject for Subject<T> {
    async fn open(&self) -> Arc<dyn Source> {
        self.world.open(self.kind, &self.config).await.unwrap()
    }

    async fn open_broken(&self) -> Arc<dyn Source> {
        self.world.open(self.kind, &self.broken).await.unwrap()
    }
}

mod web {
    use super::{DocumentSource, Setting, Subject, World, json};
    use crate::web::site::Site;

    async fn start() -> Box<Subject<Site>> {
        let site = Site::start().await;
        for n in 0..60 {
            let links = [3 * n + 1, 3 * n + 2, 3 * n + 3].map(|link| format!("/{link}"));
            let links = links.each_ref().map(String::as_str);
            site.page(&format!("/{n}"), &format!("Page {}", n % 50), &links);
        }
        site.redirect("/17", "/elsewhere");
        site.page("/elsewhere", "Elsewhere", &["/55"]);
        let broken = json!({ "base_url": "http://127.0.0.1:1/?token=canary" });
        Box::new(Subject {
            world: World::new(Setting::default()),
            kind: DocumentSource::Web,
            config: json!({ "base_url": site.url("/0"), "web_connector_type": null }),
            broken,
            _server: site,
        })
    }

    /// The links of the pages are beside the first one, not below it.
    async fn from_the_root() -> Box<Subject<Site>> {
        let mut subject = start().await;
        subject._server.page("/", "Start", &["/0"]);
        subject.config["base_url"] = subject._server.url("/").into();
        subject
    }

    trove_testkit::source_contract!(async { Some(from_the_root().await) });
}

mod file {
    use bytes::Bytes;
    use trove_domain::port::FileKey;

    use super::{DocumentSource, Setting, Subject, World, json};

    async fn start() -> Box<Subject<()>> {
        let world = World::new(Setting::default());
        let (mut locations, mut names) = (Vec::new(), Vec::new());
        for n in 0..80 {
            let key = FileKey::new(format!("f{n}")).unwrap();
            world.files.put(&key, Bytes::from(format!("Text {n}"))).await.unwrap();
            locations.push(key.as_str().to_owned());
            names.push(if n % 7 == 3 { format!("{n}.exe") } else { format!("folder/{n}.txt") });
        }
        let about = FileKey::new("about").unwrap();
        world.files.put(&about, Bytes::from_static(b"{\"a\": canary")).await.unwrap();
        Box::new(Subject {
            world,
            kind: DocumentSource::File,
            config: json!({ "file_locations": locations, "file_names": names }),
            broken: json!({ "file_locations": ["f1"], "zip_metadata_file_id": "about" }),
            _server: (),
        })
    }

    trove_testkit::source_contract!(async { Some(start().await) });
}

mod mock {
    use super::{DocumentSource, Setting, Subject, World, json};
    use crate::mock::{Script, step};

    async fn start() -> Box<Subject<(Script, Script)>> {
        let steps = json!([
            step(&["a", "b"], true, Some("b")),
            step(&[], true, Some("b")),
            step(&["c"], true, None),
            step(&["d"], false, None),
        ]);
        let script = Script::start(steps).await;
        let broken = Script::start(json!(["canary"])).await;
        Box::new(Subject {
            world: World::new(Setting::default()),
            kind: DocumentSource::MockConnector,
            config: script.config(),
            broken: broken.config(),
            _server: (script, broken),
        })
    }

    trove_testkit::source_contract!(async { Some(start().await) });
}
