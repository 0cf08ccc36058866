//! What the files of a connector are called.

use std::collections::HashMap;

use serde_json::{Map, Value};
use trove_domain::connector::ConnectorDetails;
use trove_domain::error::StoreError;
use trove_domain::port::FileKey;
use trove_domain::source::DocumentSource;

use super::rights::{LOCATIONS, NAMES};
use crate::Engine;

impl Engine {
    /// The configuration of a connector in which every file has a name: the one that it was
    /// uploaded with where the configuration says none. What is no list of texts stays as it is,
    /// for the source to refuse.
    pub(crate) async fn with_file_names(
        &self,
        details: &ConnectorDetails,
    ) -> Result<Map<String, Value>, StoreError> {
        let mut config = details.config.clone();
        if details.source != DocumentSource::File {
            return Ok(config);
        }
        let Some(nameless) = nameless(&config) else { return Ok(config) };
        let keys: Vec<FileKey> = nameless.iter().filter_map(|id| FileKey::new(*id).ok()).collect();
        let found = self.backends().stored_files.find(&keys).await?;
        let stored: HashMap<&str, &str> =
            found.iter().map(|file| (file.id.as_str(), file.name.as_str())).collect();
        let names = completed(&config, &stored);
        config.insert(NAMES.to_owned(), names.into());
        Ok(config)
    }
}

/// The files and their names; `None` when it is no list of texts.
fn lists(config: &Map<String, Value>) -> Option<(Vec<&str>, Vec<&str>)> {
    let texts = |key| match config.get(key) {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(list) => list.as_array()?.iter().map(Value::as_str).collect(),
    };
    Some((texts(LOCATIONS)?, texts(NAMES)?))
}

/// The ids of the files that the configuration gives no name; `None` when there are none.
fn nameless(config: &Map<String, Value>) -> Option<Vec<&str>> {
    let (ids, names) = lists(config)?;
    let named = |at: usize| names.get(at).is_some_and(|name| !name.trim().is_empty());
    let nameless: Vec<&str> =
        ids.into_iter().enumerate().filter(|(at, _)| !named(*at)).map(|(_, id)| id).collect();
    if nameless.is_empty() { None } else { Some(nameless) }
}

/// A name for each file: its own, the stored one, or its id.
fn completed(config: &Map<String, Value>, stored: &HashMap<&str, &str>) -> Vec<String> {
    let (ids, names) = lists(config).unwrap_or_default();
    let name_of = |(at, id): (usize, &str)| {
        let own = names.get(at).copied().filter(|name| !name.trim().is_empty());
        own.or_else(|| stored.get(id).copied()).unwrap_or(id).to_owned()
    };
    ids.into_iter().enumerate().map(name_of).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::json;

    use super::{completed, nameless};

    #[test]
    fn whatever_has_no_name_gets_the_stored_one() {
        let stored = HashMap::from([("a", "A"), ("b", "B"), ("c", "C")]);
        let ids = ["a", "b", "c", "lost"];
        for (names, missing, expected) in [
            (json!(null), vec!["a", "b", "c", "lost"], ["A", "B", "C", "lost"]),
            (json!(["x"]), vec!["b", "c", "lost"], ["x", "B", "C", "lost"]),
            (json!(["x", " ", "", "y"]), vec!["b", "c"], ["x", "B", "C", "y"]),
        ] {
            let config = json!({"file_locations": ids, "file_names": names});
            let config = config.as_object().unwrap();
            assert_eq!(nameless(config), Some(missing), "{names}");
            assert_eq!(completed(config, &stored), expected, "{names}");
        }
    }

    #[test]
    fn what_is_complete_or_cannot_be_read_stays() {
        for config in [
            json!({"file_locations": ["a"], "file_names": ["x", "y"]}),
            json!({"file_locations": [], "file_names": []}),
            json!({"file_locations": [1]}),
            json!({"file_locations": ["a"], "file_names": "x"}),
            json!({"file_locations": "a"}),
            json!({}),
        ] {
            assert_eq!(nameless(config.as_object().unwrap()), None, "{config}");
        }
    }
}
