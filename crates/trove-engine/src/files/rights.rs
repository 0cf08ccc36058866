//! Who may name a file in the configuration of a connector: it is read on their behalf.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;
use trove_domain::access::{Caller, Role};
use trove_domain::connector::ConnectorDetails;
use trove_domain::port::FileKey;
use trove_domain::source::DocumentSource;
use trove_domain::stored_file::StoredFile;

use crate::Engine;
use crate::administration::{ConnectorError, is_printable};

/// The files.
pub(super) const LOCATIONS: &str = "file_locations";
/// Their names, in the same order.
pub(super) const NAMES: &str = "file_names";
/// The file that tells about them.
pub(super) const METADATA_FILE: &str = "zip_metadata_file_id";
/// What is known about them.
pub(super) const METADATA: &str = "zip_metadata";

/// Which pages of a site of the web are read, and the value that means those of an uploaded list.
const SITE_KIND: &str = "web_connector_type";
const UPLOADED: &str = "upload";
/// The site, or the list.
const SITE: &str = "base_url";

/// The ids that a configuration names. What has another form is refused by the source.
pub(super) fn named(details: &ConnectorDetails) -> BTreeSet<&str> {
    let config = &details.config;
    match details.source {
        DocumentSource::File => {
            let locations = config.get(LOCATIONS).and_then(Value::as_array).into_iter().flatten();
            locations.chain(config.get(METADATA_FILE)).filter_map(Value::as_str).collect()
        }
        // A list of addresses that was uploaded.
        DocumentSource::Web if config.get(SITE_KIND).and_then(Value::as_str) == Some(UPLOADED) => {
            config.get(SITE).and_then(Value::as_str).into_iter().collect()
        }
        _ => BTreeSet::new(),
    }
}

impl Engine {
    /// Fails unless `caller` may name all files that a configuration names: of those that there are,
    /// administrators any, and others their own. What the connector names already stays.
    pub(crate) async fn check_named_files(
        &self,
        caller: &Caller,
        details: &ConnectorDetails,
        present: Option<&ConnectorDetails>,
    ) -> Result<(), ConnectorError> {
        let keys = |ids: &BTreeSet<&str>| -> Vec<FileKey> {
            ids.iter().filter_map(|id| FileKey::new(*id).ok()).collect()
        };
        let (all, present) = (named(details), present.map(named).unwrap_or_default());
        let changed: BTreeSet<&str> = all.symmetric_difference(&present).copied().collect();
        if changed.is_empty() {
            return Ok(());
        }
        let stored = &self.backends().stored_files;
        // What is found from here on is there until it is named; what goes may be wanted back.
        stored.keep(&keys(&changed), self.backends().clock.now()).await?;
        let new: BTreeSet<&str> = all.difference(&present).copied().collect();
        let keys = keys(&new);
        let found = stored.find(&keys).await?;
        let found: HashMap<&str, &StoredFile> =
            found.iter().map(|file| (file.id.as_str(), file)).collect();
        let may_name = |id: &&&str| {
            let own = |file: &&StoredFile| file.owner == Some(caller.user);
            found.get(**id).is_some_and(|file| caller.role == Role::Admin || own(file))
        };
        match new.iter().find(|id| !may_name(id)) {
            // Somebody else's is like none.
            Some(id) => {
                let shown = id.chars().filter(|c| is_printable(*c)).take(100).collect();
                Err(ConnectorError::NoSuchFile(shown))
            }
            None => Ok(()),
        }
    }
}
