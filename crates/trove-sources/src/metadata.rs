//! Metadata as people write it.

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use serde_json::{Map, Value};
use trove_domain::document::{Metadata, MetadataValue};

/// Values as tags: texts stay, lists become lists of texts, everything else its JSON. What is null
/// is not there.
pub(crate) fn metadata_of(values: Map<String, Value>) -> Metadata {
    let value = |value: Value| match value {
        Value::Null => None,
        Value::Array(items) => Some(MetadataValue::Many(items.into_iter().map(text).collect())),
        single => Some(MetadataValue::One(text(single))),
    };
    values.into_iter().filter_map(|(key, json)| Some((key, value(json)?))).collect()
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// A date, in the ways in which people write one; without a zone it is UTC.
pub(crate) fn date(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if let Ok(date) =
        DateTime::parse_from_rfc3339(text).or_else(|_| DateTime::parse_from_rfc2822(text))
    {
        return Some(date.to_utc());
    }
    let local =
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"]
            .iter()
            .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let day = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
    local.or_else(day).map(|date| date.and_utc())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trove_domain::document::MetadataValue;

    use super::{date, metadata_of};

    #[test]
    fn values_become_texts() {
        let values = json!({ "n": 5, "l": [1, "x"], "b": true, "s": "t", "z": null });
        let metadata = metadata_of(values.as_object().unwrap().clone());
        let one = |text: &str| MetadataValue::One(text.to_owned());
        assert_eq!(metadata["n"], one("5"));
        assert_eq!(metadata["l"], MetadataValue::Many(vec!["1".into(), "x".into()]));
        assert_eq!((&metadata["b"], &metadata["s"]), (&one("true"), &one("t")));
        assert!(!metadata.contains_key("z"));
    }

    #[test]
    fn dates_are_read() {
        let expected = "2024-02-29T10:00:00+00:00";
        for text in [
            "2024-02-29T10:00:00Z",
            " 2024-02-29T12:00:00+02:00",
            "2024-02-29 10:00:00",
            "2024-02-29T10:00:00.000",
            "2024-02-29 10:00",
            "Thu, 29 Feb 2024 10:00:00 +0000",
        ] {
            assert_eq!(date(text).unwrap().to_rfc3339(), expected, "{text}");
        }
        assert_eq!(date("2024-02-29").unwrap().to_rfc3339(), "2024-02-29T00:00:00+00:00");
        assert_eq!(date("2023-02-29"), None);
    }
}
