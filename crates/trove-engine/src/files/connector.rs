//! The files of a connector: which it has, and how they change.

use std::collections::{BTreeSet, HashMap};
use std::future::ready;

use chrono::{DateTime, Utc};
use futures::{StreamExt, stream};
use serde_json::{Map, Value};
use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::connector::Connector;
use trove_domain::id::ConnectorId;
use trove_domain::port::{ConnectorRefusal, ConnectorReplacement, FileKey, WantedOfPairs};
use trove_domain::source::DocumentSource;
use trove_domain::stored_file::StoredFile;

use super::intake::Intake;
use super::rights::{LOCATIONS, METADATA, METADATA_FILE, NAMES};
use super::{FileError, Upload, metadata};
use crate::administration::ConnectorError;
use crate::audit::{Details, details};
use crate::{Engine, log};

/// How often a change is made anew on top of one that was not made here: changes by this process
/// wait for each other.
const ATTEMPTS: usize = 10;

/// Contents that are looked for at the same time.
const LOOKED_AT_ONCE: usize = 16;

/// A file of a connector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorFile {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Its length, when the file is known.
    pub size_bytes: Option<u64>,
    /// When it was uploaded, when the file is known.
    pub uploaded_at: Option<DateTime<Utc>>,
}

/// All files of a connector after a change.
#[derive(Clone, Debug, Default)]
pub struct ConnectorFiles {
    /// Their ids and names, in their order.
    pub files: Vec<(String, String)>,
    /// What is known about them, by their names.
    pub metadata: Map<String, Value>,
    /// The file that says so.
    pub metadata_file: Option<String>,
}

/// Files by id and name, in the order of a configuration; one without a name has its id for one.
fn listed(config: &Map<String, Value>) -> Vec<(String, String)> {
    let texts = |key: &str| {
        let list = config.get(key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
    };
    let mut names = texts(NAMES);
    texts(LOCATIONS).map(|id| (id.clone(), names.next().unwrap_or(id))).collect()
}

/// Reads which files are to be removed.
fn removal(sent: Option<&str>) -> Result<BTreeSet<String>, FileError> {
    let Some(sent) = sent else { return Ok(BTreeSet::new()) };
    let value: Value = serde_json::from_str(sent).map_err(|_| FileError::RemovalSyntax)?;
    let Value::Array(ids) = value else { return Err(FileError::RemovalNoList) };
    let id = |id: Value| match id {
        Value::String(id) => Ok(id),
        _ => Err(FileError::RemovalNoList),
    };
    ids.into_iter().map(id).collect()
}

/// What has become of a connector.
struct Changed {
    files: ConnectorFiles,
    /// It has not changed, and still somebody wants to be sure of what is gone.
    is_pruned: bool,
}

impl Engine {
    /// The files of a connector, in their order.
    ///
    /// # Errors
    ///
    /// [`FileError`], also when `caller` sees no pair of it.
    pub async fn connector_files(
        &self,
        caller: &Caller,
        id: ConnectorId,
    ) -> Result<Vec<ConnectorFile>, FileError> {
        let connector = self.file_connector(caller, id).await?;
        let listed = listed(&connector.details.config);
        let keys: Vec<FileKey> =
            listed.iter().filter_map(|(id, _)| FileKey::new(id.as_str()).ok()).collect();
        let known = self.readable(self.backends().stored_files.find(&keys).await?).await;
        let told = |(id, name): (String, String)| {
            let file = known.get(id.as_str());
            let (size_bytes, uploaded_at) =
                (file.map(|file| file.size_bytes), file.map(|file| file.created_at));
            ConnectorFile { id, name, size_bytes, uploaded_at }
        };
        Ok(listed.into_iter().map(told).collect())
    }

    /// Those of the files whose contents are there, by their ids.
    async fn readable(&self, files: Vec<StoredFile>) -> HashMap<String, StoredFile> {
        let Some(contents) = &self.backends().files else { return HashMap::new() };
        let looked = files.into_iter().map(|file| async move {
            // What cannot be asked for cannot be read either.
            let is_there = matches!(contents.size(&file.id).await, Ok(Some(_)));
            is_there.then(|| (file.id.as_str().to_owned(), file))
        });
        stream::iter(looked).buffer_unordered(LOOKED_AT_ONCE).filter_map(ready).collect().await
    }

    /// Gives a connector more files and takes others, in one step, and has it read them. Without
    /// `upload` nothing changes. Answers all files that it then has.
    ///
    /// Dropped, it goes on as [`Engine::upload_files`] does.
    ///
    /// # Errors
    ///
    /// [`FileError`]; nothing changes then, and nothing is stored.
    pub async fn update_connector_files(
        &self,
        caller: &Caller,
        id: ConnectorId,
        upload: Option<Upload>,
    ) -> Result<ConnectorFiles, FileError> {
        let (engine, caller) = (self.clone(), caller.clone());
        let change = async move {
            let present = engine.changeable(&caller, id).await?;
            let Some(upload) = upload else { return engine.unchanged(&present).await };
            let mut intake = engine.intake(caller.user)?;
            let changed = match intake.take(upload, true).await {
                Ok(sent) => engine.change_files(&caller, id, &mut intake, sent).await,
                Err(error) => Err(error),
            };
            intake.close().await;
            let changed = changed?;
            if changed.is_pruned {
                engine.look_for_gone(id).await;
            }
            engine.shared.runs_wanted.notify_one();
            Ok(changed)
        };
        let engine = self.clone();
        let changed = self.outlasting(async move {
            let subject = Some(format!("connector {id}"));
            let told =
                |changed: &Changed| details([("files", changed.files.files.len().to_string())]);
            let action = AuditAction::UpdateConnector;
            engine.recorded_as(action, subject, Details::new(), change, told).await
        });
        Ok(changed.await?.files)
    }

    /// A connector of files with a pair that `caller` sees: another one is like none.
    async fn file_connector(
        &self,
        caller: &Caller,
        id: ConnectorId,
    ) -> Result<Connector, FileError> {
        let connector = self.backends().connectors.get(id).await?;
        let connector = connector.ok_or(FileError::NoSuchConnector)?;
        if !self.knows_connector(caller, &connector).await? {
            return Err(FileError::NoSuchConnector);
        }
        if connector.details.source != DocumentSource::File {
            return Err(FileError::NotFiles);
        }
        if connector.credentials.is_empty() { Err(FileError::NoPair) } else { Ok(connector) }
    }

    async fn changeable(&self, caller: &Caller, id: ConnectorId) -> Result<Connector, FileError> {
        let connector = self.file_connector(caller, id).await?;
        self.require_editable_connector(caller, &connector).await?;
        if self.is_being_deleted(&connector).await? {
            return Err(FileError::Deleting(id));
        }
        Ok(connector)
    }

    /// What a connector has.
    async fn unchanged(&self, connector: &Connector) -> Result<Changed, FileError> {
        let config = &connector.details.config;
        let metadata = self.known_metadata(connector).await?;
        let metadata_file = config.get(METADATA_FILE).and_then(Value::as_str).map(str::to_owned);
        let files = ConnectorFiles { files: listed(config), metadata, metadata_file };
        Ok(Changed { files, is_pruned: false })
    }

    /// Changes the connector, on top of what others change at the same time.
    async fn change_files(
        &self,
        caller: &Caller,
        id: ConnectorId,
        intake: &mut Intake,
        sent: Option<String>,
    ) -> Result<Changed, FileError> {
        let removal = removal(sent.as_deref())?;
        let new: Vec<(String, String)> = {
            let files = intake.taken().files.iter();
            files.map(|file| (file.id.as_str().to_owned(), file.name.clone())).collect()
        };
        let new_metadata = intake.taken().metadata.clone();
        let _turn = self.shared.connector_turns.lock([id]).await;
        for _ in 0..ATTEMPTS {
            let present = self.changeable(caller, id).await?;
            // Names that nobody gave are written down: an id says nothing about what a file is.
            let all = listed(&self.with_file_names(&present.details).await?);
            let (removed, mut files): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|(id, _)| removal.contains(id));
            files.extend(new.iter().cloned());
            if files.is_empty() && !removed.is_empty() {
                return Err(FileError::NothingLeft);
            }
            let names: BTreeSet<&str> = removed.iter().map(|(_, name)| name.as_str()).collect();
            if new.is_empty() && removed.is_empty() {
                let is_pruned = !removal.is_empty();
                return Ok(Changed { is_pruned, ..self.unchanged(&present).await? });
            }
            let known = self.known_metadata(&present).await?;
            let mut details = present.details.clone();
            let file = details.config.get(METADATA_FILE).and_then(Value::as_str);
            let told = file.map(str::to_owned);
            let mut metadata_file = told.clone();
            intake.forget_about();
            let about = metadata::merged(known.clone(), &names, &new_metadata);
            if about.is_empty() {
                metadata_file = None;
            } else if about != known || metadata_file.is_none() {
                let content = serde_json::to_vec(&about).unwrap_or_default();
                metadata::check_length(content.len())?;
                metadata_file = Some(intake.keep_about(content).await?.as_str().to_owned());
            }
            let result = ConnectorFiles { files, metadata: about, metadata_file };
            result.write(&mut details.config);
            if serde_json::to_string(&details.config)
                .is_ok_and(|json| json.len() > Connector::CONFIG_BYTES_MAX)
            {
                return Err(ConnectorError::TooLarge.into());
            }
            details.prune_freq_s = details.prune_freq_s.or(Some(Connector::PRUNE_FREQ_S));
            let (present, now) = (present.details, self.backends().clock.now());
            let wanted = WantedOfPairs { update: !new.is_empty(), prune: !removal.is_empty() };
            let replacement = ConnectorReplacement { id, present, details, wanted, now };
            // What goes may be wanted back, and a run may be reading it.
            let gone = removed.iter().map(|(id, _)| id.as_str()).chain(told.as_deref());
            let gone: Vec<FileKey> = gone.filter_map(|id| FileKey::new(id).ok()).collect();
            self.backends().stored_files.keep(&gone, now).await?;
            match intake.finish_into(replacement).await? {
                Ok(()) => return Ok(Changed { files: result, is_pruned: false }),
                // Somebody else's change came between; this one is made on top of it.
                Err(ConnectorRefusal::Superseded) => {}
                Err(ConnectorRefusal::Missing) => return Err(FileError::NoSuchConnector),
                Err(ConnectorRefusal::BuiltIn) => return Err(ConnectorError::BuiltIn(id).into()),
                Err(ConnectorRefusal::NameTaken) => return Err(ConnectorError::NameTaken.into()),
                Err(ConnectorRefusal::Full) => return Err(ConnectorError::Full.into()),
            }
        }
        Err(FileError::Busy)
    }

    /// What is known about the files of a connector.
    async fn known_metadata(&self, connector: &Connector) -> Result<Map<String, Value>, FileError> {
        let config = &connector.details.config;
        let lost = || FileError::LostMetadata(connector.id);
        if let Some(id) = config.get(METADATA_FILE).and_then(Value::as_str) {
            let key = FileKey::new(id).map_err(|_| lost())?;
            let files = self.backends().files.as_ref().ok_or(FileError::NoStore)?;
            let content = files.get(&key, metadata::BYTES_MAX).await?.ok_or_else(lost)?;
            return metadata::read(&content).map_err(|_| lost());
        }
        match config.get(METADATA) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(given) => metadata::read(given.to_string().as_bytes()).map_err(|_| lost()),
        }
    }

    /// Asks the pairs of a connector to look for what is gone. What fails here is only told.
    async fn look_for_gone(&self, id: ConnectorId) {
        let ask = async {
            let store = &self.backends().cc_pairs;
            let connector = self.backends().connectors.get(id).await?;
            let connector = connector.ok_or(FileError::NoSuchConnector)?;
            for credential in &connector.credentials {
                let Some(pair) = store.get_by_parts(id, *credential).await? else { continue };
                if let Err(error) = self.request_prune(pair.id).await {
                    log::warn(&error, "a pair was not asked to look for files that are gone");
                }
            }
            Ok::<_, FileError>(())
        };
        if let Err(error) = ask.await {
            log::warn(&error, "a connector was not asked to look for files that are gone");
        }
    }
}

impl ConnectorFiles {
    /// As the source reads it.
    fn write(&self, config: &mut Map<String, Value>) {
        let (ids, names): (Vec<_>, Vec<_>) = self.files.iter().cloned().unzip();
        config.insert(LOCATIONS.to_owned(), ids.into());
        config.insert(NAMES.to_owned(), names.into());
        config.insert(METADATA_FILE.to_owned(), self.metadata_file.clone().into());
        config.remove(METADATA);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{listed, removal};
    use crate::files::FileError;

    /// Row 43.
    #[test]
    fn a_file_without_a_name_is_called_by_its_id() {
        let config = json!({"file_locations": ["a", "b", "c"], "file_names": ["x"]});
        let expected = [("a", "x"), ("b", "b"), ("c", "c")];
        let expected = expected.map(|(id, name)| (id.to_owned(), name.to_owned()));
        assert_eq!(listed(config.as_object().unwrap()), expected);
    }

    /// Row 41.
    #[test]
    fn what_is_to_be_removed_is_a_list_of_ids() {
        assert!(removal(None).unwrap().is_empty());
        assert!(removal(Some("[]")).unwrap().is_empty());
        assert_eq!(removal(Some(r#"["a", "b", "a"]"#)).unwrap().len(), 2);
        for syntax in ["", "[", "a", "['a']"] {
            assert!(matches!(removal(Some(syntax)), Err(FileError::RemovalSyntax)), "{syntax}");
        }
        for other in ["null", r#"{"a": 1}"#, "1", "[1]", "[null]", r#""a""#] {
            assert!(matches!(removal(Some(other)), Err(FileError::RemovalNoList)), "{other}");
        }
    }
}
