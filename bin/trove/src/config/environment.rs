//! Which environment variables are settings.

use std::ffi::OsString;

use super::layers::{Layer, value_of};
use super::problem::{closest, suggestion};
use super::rule;

/// Settings with names of their own.
const NAMED: [(&str, &str); 15] = [
    ("TROVE_DATA_DIR", "data_dir"),
    ("TROVE_LISTEN", "listen"),
    ("TROVE_MODEL_DIR", "embedding.model_dir"),
    ("TROVE_LLM_PROVIDER", "llm.provider"),
    ("TROVE_LLM_URL", "llm.url"),
    ("TROVE_LLM_MODEL", "llm.model"),
    ("TROVE_LLM_API_KEY", "llm.api_key"),
    ("TROVE_LLM_API_KEY_FILE", "llm.api_key_file"),
    ("TROVE_QDRANT_URL", "qdrant.url"),
    ("TROVE_QDRANT_API_KEY", "qdrant.api_key"),
    ("TROVE_SECRETS_KEY", "secrets.key"),
    ("TROVE_SECRETS_KEY_FILE", "secrets.key_file"),
    ("DISABLE_VECTOR_DB", "retrieval.disable_vector_db"),
    ("HYBRID_ALPHA", "retrieval.hybrid_alpha"),
    ("ENABLED_CONNECTOR_TYPES", "indexing.enabled_sources"),
];

/// Names the configuration file.
pub(super) const FILE_VARIABLE: &str = "TROVE_CONFIG";

/// All other settings are `TROVE__SECTION__SETTING`.
const PREFIX: &str = "TROVE__";

/// What the environment says.
#[derive(Default)]
pub(super) struct Environment {
    pub(super) layers: Vec<Layer>,
    pub(super) file: Option<OsString>,
    pub(super) problems: Vec<String>,
}

/// Picks the settings out of the environment. An empty variable counts as not set, because that
/// is how container files spell it.
pub(super) fn read(variables: Vec<(OsString, OsString)>) -> Environment {
    let mut found = Environment::default();
    // Own names first: where both spellings are set, they win.
    let mut named = Vec::new();
    let settings = rule::keys();
    for (name, value) in variables {
        let Some(name) = name.to_str() else { continue };
        if value.is_empty() {
            continue;
        }
        if name == FILE_VARIABLE {
            found.file = Some(value);
            continue;
        }
        let own = NAMED.iter().find(|(own, _)| *own == name).map(|(_, key)| (*key).to_owned());
        let is_own = own.is_some();
        let key = match own.or_else(|| spelled_out(name)) {
            Some(key) => key,
            None => {
                found.problems.extend(misspelled(name));
                continue;
            }
        };
        if !settings.iter().any(|(known, _)| *known == key) {
            let hint = match closest(&key, settings.iter().map(|(known, _)| known.as_str())) {
                Some(near) => format!("; did you mean `{}`?", spelling(near)),
                None => suggestion(&key, []),
            };
            found.problems.push(format!("the environment variable {name} is not a setting{hint}"));
            continue;
        }
        let Some(value) = value.to_str() else {
            found.problems.push(format!("the environment variable {name} is not valid UTF-8"));
            continue;
        };
        let origin = format!("environment variable {name}");
        let layer = Layer::single(origin, &key, value_of(&key, value));
        if is_own { named.push(layer) } else { found.layers.push(layer) }
    }
    found.layers.append(&mut named);
    found
}

/// `TROVE__HTTP__BODY_LIMIT_BYTES` is `http.body_limit_bytes`.
fn spelled_out(name: &str) -> Option<String> {
    Some(name.strip_prefix(PREFIX)?.to_ascii_lowercase().replace("__", "."))
}

/// The other way round.
fn spelling(key: &str) -> String {
    format!("{PREFIX}{}", key.to_ascii_uppercase().replace('.', "__"))
}

/// A sentence if `name` is probably meant to be one of ours. Anything else that begins with
/// `TROVE_` is left alone: orchestrators make such variables for a service of that name.
fn misspelled(name: &str) -> Option<String> {
    let name_is_ours = name.starts_with("TROVE_");
    let own = NAMED.iter().map(|(own, _)| *own).chain([FILE_VARIABLE]);
    let near = closest(name, own.filter(|own| own.starts_with("TROVE_")))
        .filter(|near| name_is_ours && strsim::osa_distance(name, near) <= 2)
        .map(str::to_owned);
    // All but the underscores are right.
    let letters = |name: &str| name.replace('_', "");
    let spelled = || {
        let mut spellings = rule::keys().into_iter().map(|(key, _)| spelling(&key));
        spellings.find(|spelled| letters(spelled) == letters(name))
    };
    near.or_else(spelled).map(|meant| {
        format!("the environment variable {name} is not a setting; did you mean `{meant}`?")
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    fn problems(variables: &[(&str, &str)]) -> Vec<String> {
        let owned = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        read(owned.collect()).problems
    }

    #[test]
    fn misspelled_variables_are_refused_and_foreign_ones_ignored() {
        assert!(problems(&[("TROVE_DATADIR", "x")])[0].contains("did you mean `TROVE_DATA_DIR`"));
        let spelled = &problems(&[("TROVE__HTTP__PREFXI", "x")])[0];
        assert!(spelled.contains("did you mean `TROVE__HTTP__PREFIX`"), "{spelled}");
        let spelled = &problems(&[("TROVE_DATABASE_URL", "postgres://h/n")])[0];
        assert!(spelled.contains("did you mean `TROVE__DATABASE__URL`"), "{spelled}");
        let password = &problems(&[("TROVE__DATABASE__PASSWORD", "hunter2")])[0];
        assert!(password.contains("parts of `database.url`"), "{password}");
        assert!(!password.contains("hunter2"), "{password}");
        let foreign = [("TROVE_PORT", "tcp://10.0.0.1:80"), ("TROVE_SERVICE_HOST", "10.0.0.1")];
        assert!(problems(&foreign).is_empty());
        assert!(problems(&[("TROVE_LISTEN", ""), ("HOME", "/root")]).is_empty());
    }
}
