//! Puts the layers together, once, at start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use figment::value::{Dict, Value};
use figment::{Figment, error::Kind};

use super::layers::Layer;
use super::problem::ConfigError;
use super::rule::{Rule, dict_of, leaves, rules};
use super::secret::MASK;
use super::{Config, DatabaseUrl, FILE_NAME, LogFormat, environment};

/// What a configuration is made from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Names the configuration file; it must be there.
    pub file: Option<PathBuf>,
    /// The environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Settings of the command line.
    pub flags: Flags,
}

/// Settings that have flags. `None` leaves the decision to the other layers.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--data-dir`
    pub data_dir: Option<PathBuf>,
    /// `--listen`
    pub listen: Option<String>,
    /// `--log-format`
    pub log_format: Option<LogFormat>,
    /// `--log-level`
    pub log_level: Option<String>,
}

/// A configuration with the origin of each value.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// Where each comes from, by dotted name.
    pub origins: BTreeMap<String, String>,
}

/// Reads and checks the configuration.
///
/// # Errors
///
/// [`ConfigError`] lists what is wrong, by setting, value and origin.
pub fn load(sources: Sources) -> Result<Loaded, ConfigError> {
    let Sources { file, environment, flags } = sources;
    let mut environment = environment::read(environment);
    let mut problems = std::mem::take(&mut environment.problems);
    if let Some(dir) = flags.data_dir.as_ref().filter(|dir| dir.to_str().is_none()) {
        problems.push(format!(
            "the data directory {} (flag --data-dir) has a name that is not valid UTF-8, which \
             SQLite cannot open; choose another name",
            dir.display()
        ));
    }
    let flags = flag_layers(flags);

    let named = file.or_else(|| environment.file.take().map(PathBuf::from));
    let in_data_dir = named.is_none();
    let path = named.or_else(|| file_in_data_dir(&environment.layers, &flags));
    let file =
        path.and_then(|path| Layer::file(&path).map_err(|problem| problems.push(problem)).ok());
    if let Some(file) = &file {
        problems.extend(file.unknown());
        if in_data_dir && file.values.contains_key("data_dir") {
            problems.push(format!(
                "`data_dir` cannot be set in the data directory itself ({}); use --data-dir or \
                 TROVE_DATA_DIR",
                file.origin
            ));
        }
    }
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }

    let defaults = Layer { origin: "default".to_owned(), values: dict_of(&Config::default()) };
    let figment = file
        .into_iter()
        .chain(environment.layers)
        .chain(flags)
        .fold(Figment::from(defaults), Figment::merge);
    let config: Config = figment.extract().map_err(|error| ConfigError {
        problems: error.into_iter().map(|error| wrong_type(&figment, &error)).collect(),
    })?;
    let problems: Vec<String> = rules()
        .filter(|rule| !(rule.holds)(&config))
        .map(|rule| wrong_value(&figment, rule))
        .collect();
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    let origins = leaves(&dict_of(&config))
        .into_iter()
        .map(|(key, _)| {
            let origin = origin(&figment, &key);
            (key, origin)
        })
        .collect();
    Ok(Loaded { config, origins })
}

fn flag_layers(flags: Flags) -> Vec<Layer> {
    let Flags { data_dir, listen, log_format, log_level } = flags;
    let layer =
        |flag: &str, key: &str, value: Value| Layer::single(format!("flag --{flag}"), key, value);
    let serialized = |value| Value::serialize(value).unwrap_or_else(|_| Value::from(Dict::new()));
    let mut layers = Vec::new();
    layers.extend(data_dir.map(|dir| layer("data-dir", "data_dir", serialized(dir))));
    layers.extend(listen.map(|listen| layer("listen", "listen", listen.into())));
    layers.extend(log_format.map(|format| {
        let name = match format {
            LogFormat::Human => "human",
            LogFormat::Json => "json",
        };
        layer("log-format", "log.format", name.into())
    }));
    layers.extend(log_level.map(|level| layer("log-level", "log.filter", level.into())));
    layers
}

/// The file in the data directory that flags, environment and default decide on, if it is there.
fn file_in_data_dir(environment: &[Layer], flags: &[Layer]) -> Option<PathBuf> {
    let mut set = environment.iter().chain(flags).filter_map(|layer| layer.values.get("data_dir"));
    let data_dir = match set.next_back() {
        Some(dir) => PathBuf::from(dir.as_str()?),
        None => Config::default().data_dir,
    };
    let path = data_dir.join(FILE_NAME);
    // A symbolic link to nothing counts: settings that somebody made must not be passed by.
    path.symlink_metadata().is_ok().then_some(path)
}

fn wrong_type(figment: &Figment, error: &figment::Error) -> String {
    let key = error.path.join(".");
    match rules().find(|rule| rule.key == key) {
        Some(rule) => wrong_value(figment, rule),
        // A section that holds a value, or a list where a table belongs.
        None => match &error.kind {
            Kind::InvalidType(found, wanted) => {
                format!("`{key}` is {found}, expected {wanted} ({})", origin(figment, &key))
            }
            _ => error.to_string(),
        },
    }
}

/// Settings that hold secrets, and addresses that may.
const SECRETS: [&str; 8] = [
    "llm.url",
    "llm.api_key",
    "llm.headers",
    "embedding.url",
    "embedding.api_key",
    "qdrant.url",
    "qdrant.api_key",
    "secrets.key",
];

fn wrong_value(figment: &Figment, rule: &Rule) -> String {
    let key = rule.key;
    let value = figment.find_value(key).ok();
    // A wrong address of a database may hold a right password.
    let (shown, hint) = if key == "database.url" {
        let url = value.and_then(Value::into_string).map(DatabaseUrl::new);
        (MASK.to_owned(), url.map_or_else(String::new, |url| url.hint()))
    } else {
        let shown = match value {
            _ if SECRETS.contains(&key) => MASK.to_owned(),
            Some(value) => shown(&value),
            None => String::new(),
        };
        (shown, String::new())
    };
    format!("`{key}` is {shown} ({}), expected {}{hint}", origin(figment, key), rule.accepted)
}

fn shown(value: &Value) -> String {
    match toml::Value::try_from(value) {
        Ok(value) => value.to_string(),
        Err(_) => "not a value".to_owned(),
    }
}

fn origin(figment: &Figment, key: &str) -> String {
    figment
        .find_metadata(key)
        .map_or_else(|| "default".to_owned(), |metadata| metadata.name.to_string())
}

/// Serialises a [`std::time::Duration`] as whole milliseconds.
pub(super) mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}
