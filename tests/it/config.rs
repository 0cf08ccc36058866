//! The configuration and its documentation agree.

use std::collections::BTreeSet;
use std::path::Path;

use trove::config::{keys, rules};

/// Each setting has a row `| \`key\` | default | accepted | … |`, and each row has a setting.
#[test]
fn every_setting_is_documented_with_its_default_and_what_it_accepts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let mut documented = BTreeSet::new();
    for row in &rows {
        let key = row[1].trim_matches('`');
        let Some(default) = keys().into_iter().find(|(known, _)| known == key) else { continue };
        documented.insert(key.to_owned());
        let shown = match toml::Value::try_from(&default.1) {
            Ok(value) => format!("`{value}`"),
            Err(_) => "not set".to_owned(),
        };
        assert_eq!(row[2], shown, "the default of {key}");
        let rule = rules().find(|rule| rule.key == key).unwrap();
        assert_eq!(row[3], rule.accepted, "what {key} accepts");
        assert!(row[4].len() > 20, "{key} has a reason");
    }
    let known: BTreeSet<String> = keys().into_iter().map(|(key, _)| key).collect();
    assert_eq!(documented, known);
}
