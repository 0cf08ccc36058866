//! A source that a server scripts, for tests of whole deployments.

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use trove_domain::external_access::ExternalMembers;
use trove_domain::port::{
    Checkpoint, FailedPart, ListingStep, PermissionStep, ReadWindow, Source, SourceError,
    SourceStep,
};
use url::{Host, Url};

use crate::config::{batch_size, only, refused, text};
use crate::dialer::{Dialer, Request};
use crate::scripted::{ScriptedDocument, ScriptedFailure, ScriptedStep};

/// Largest script.
const SCRIPT_BYTES_MAX: usize = 32 << 20;

/// What a server scripts, one element of its list for each step.
pub(crate) struct Mock {
    dialer: Dialer,
    base: Url,
}

impl Mock {
    pub(crate) fn open(config: &Map<String, Value>, dialer: Dialer) -> Result<Self, SourceError> {
        only(config, &["mock_server_host", "mock_server_port"])?;
        batch_size(config)?;
        let host = text(config, "mock_server_host")?;
        // An address of IPv6 has brackets only in a URL.
        let bracketed = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let Ok(host) = Host::parse(host).or_else(|_| Host::parse(&bracketed)) else {
            return refused("`mock_server_host` is no name of a host");
        };
        let port = match config.get("mock_server_port") {
            None | Some(Value::Null) => return refused("`mock_server_port` is missing"),
            Some(port) => port.as_u64().and_then(|port| u16::try_from(port).ok()),
        };
        let Some(port) = port.filter(|port| *port > 0) else {
            return refused("`mock_server_port` is no number of a port");
        };
        match dialer.policy().admit(&format!("http://{host}:{port}/")) {
            Ok(base) => Ok(Self { dialer, base }),
            Err(error) => refused(format!("`mock_server_host`: {error}")),
        }
    }

    async fn ask(&self, path: &str, json: Option<&Value>) -> Result<Vec<u8>, SourceError> {
        let mut url = self.base.clone();
        url.set_path(path);
        let json = json.map(|json| json.to_string().into_bytes());
        let request = Request { json, bytes_max: SCRIPT_BYTES_MAX, ..Request::get(url) };
        let answer = self.dialer.fetch(&request, &|_| true).await.map_err(|error| {
            let message = format!("the script cannot be read: {error}");
            if error.is_passing() {
                let source = Some(error.into());
                SourceError::Unavailable { message, retry_after: None, source }
            } else {
                SourceError::Failed { message, source: Some(error.into()) }
            }
        })?;
        match answer.head.status {
            200..=299 => Ok(answer.body),
            status => {
                let message = format!("{path} of the script answers with status {status}");
                Err(SourceError::Failed { message, source: None })
            }
        }
    }

    /// The element of the script at a place, which must be there.
    async fn element(&self, at: usize) -> Result<ScriptedStep, SourceError> {
        let script = self.ask("/get-documents", None).await?;
        // What serde says of a script repeats it, so it is not passed on.
        let failed = |message: String| SourceError::Failed { message, source: None };
        let elements: Vec<Value> = serde_json::from_slice(&script)
            .map_err(|_| failed("the script is no list in JSON".to_owned()))?;
        let count = elements.len();
        let Some(element) = elements.into_iter().nth(at) else {
            let message = format!("the script has {count} steps, and says that there are more");
            return Err(failed(message));
        };
        serde_json::from_value(element)
            .map_err(|_| failed(format!("element {} of the script is no step", at + 1)))
    }
}

/// The place in the script, and what the script wants to see again. What is no checkpoint of this
/// source is the beginning.
fn place(from: Option<&Checkpoint>) -> (usize, Value) {
    let start = json!({ "has_more": true, "last_document_id": null });
    let Some(Checkpoint(from)) = from else { return (0, start) };
    let at = from.get("at").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
    match (at, from.get("checkpoint")) {
        (Some(at), Some(checkpoint)) => (at, checkpoint.clone()),
        _ => (0, start),
    }
}

fn next(at: usize, step: &ScriptedStep) -> Option<Checkpoint> {
    step.checkpoint.has_more.then(|| {
        let mut checkpoint = step.checkpoint.rest.clone();
        checkpoint.insert("has_more".to_owned(), true.into());
        Checkpoint(json!({ "at": at + 1, "checkpoint": checkpoint }))
    })
}

#[async_trait]
impl Source for Mock {
    async fn check(&self) -> Result<(), SourceError> {
        self.ask("/get-documents", None).await.map(drop)
    }

    async fn read(
        &self,
        _window: ReadWindow,
        from: Option<&Checkpoint>,
    ) -> Result<SourceStep, SourceError> {
        let (at, checkpoint) = place(from);
        self.ask("/add-checkpoint", Some(&checkpoint)).await?;
        let step = self.element(at).await?;
        if let Some(exception) = step.unhandled_exception {
            return Err(SourceError::Failed { message: exception, source: None });
        }
        let next = next(at, &step);
        let documents =
            step.documents.into_iter().filter_map(ScriptedDocument::into_document).collect();
        let failures =
            step.failures.into_iter().filter_map(ScriptedFailure::into_failure).collect();
        Ok(SourceStep { documents, failures, next, ..SourceStep::default() })
    }

    async fn list(&self, from: Option<&Checkpoint>) -> Result<ListingStep, SourceError> {
        let (at, _) = place(from);
        let step = self.element(at).await?;
        if let Some(exception) = step.unhandled_exception {
            return Err(SourceError::Failed { message: exception, source: None });
        }
        let next = next(at, &step);
        let documents = step.documents.into_iter().filter_map(ScriptedDocument::into_document);
        let failures = step.failures.into_iter().filter_map(ScriptedFailure::into_failure);
        let failed = failures.filter_map(|failure| match failure.part {
            FailedPart::Document { id, .. } => Some(id),
            FailedPart::Entity { .. } => None,
        });
        Ok(ListingStep { ids: documents.map(|doc| doc.id).chain(failed).collect(), next })
    }

    async fn list_permissions(
        &self,
        from: Option<&Checkpoint>,
    ) -> Result<Option<PermissionStep>, SourceError> {
        let (at, _) = place(from);
        let step = self.element(at).await?;
        if let Some(exception) = step.unhandled_exception {
            return Err(SourceError::Failed { message: exception, source: None });
        }
        let next = next(at, &step);
        let documents = step.documents.into_iter().filter_map(ScriptedDocument::into_document);
        let documents = documents.filter_map(|doc| Some((doc.id, doc.external_access?))).collect();
        let groups = step.external_groups.into_iter().map(ExternalMembers::from).collect();
        // What cannot be read is no failure here: nothing is said of who may read it.
        Ok(Some(PermissionStep { documents, groups, next, ..PermissionStep::default() }))
    }
}
