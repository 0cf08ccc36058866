//! What an archive says about its files.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::FileError;

/// The file at the root of an archive that says it.
pub(super) const FILE_NAME: &str = ".onyx_metadata.json";

/// Its largest size: the configuration of a connector, where clients put it, is no larger.
pub(super) const BYTES_MAX: u64 = 1024 * 1024;

/// Fails when there is more of it than is read again.
pub(super) fn check_length(bytes: usize) -> Result<(), FileError> {
    if u64::try_from(bytes).is_ok_and(|bytes| bytes <= BYTES_MAX) {
        return Ok(());
    }
    Err(FileError::Metadata(format!("there are more than {BYTES_MAX} bytes of it")))
}

/// Reads an object by names of files, or a list of objects with `filename`.
pub(super) fn read(content: &[u8]) -> Result<Map<String, Value>, FileError> {
    let refused = |problem: &str| FileError::Metadata(problem.to_owned());
    let value: Value =
        serde_json::from_slice(content).map_err(|error| FileError::Metadata(error.to_string()))?;
    match value {
        Value::Object(by_name) if by_name.values().all(Value::is_object) => Ok(by_name),
        Value::Array(list) => {
            let named = |about: Value| {
                let name = about.get("filename")?.as_str()?.to_owned();
                Some((name, about))
            };
            let by_name: Option<_> = list.into_iter().map(named).collect();
            by_name.ok_or_else(|| refused("an element of the list is no object with `filename`"))
        }
        _ => Err(refused("it is neither an object of objects nor a list of objects")),
    }
}

/// What is known after a change: of removed files nothing, of new files what is new.
pub(super) fn merged(
    mut known: Map<String, Value>,
    removed: &BTreeSet<&str>,
    new: &Map<String, Value>,
) -> Map<String, Value> {
    known.retain(|name, _| !removed.contains(name.as_str()));
    known.extend(new.clone());
    known
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    /// Row 38.
    #[test]
    fn metadata_is_an_object_or_a_list_with_names() {
        let read = |text: &str| read(text.as_bytes()).map(serde_json::Value::Object).ok();
        assert_eq!(read(r#"{"a.txt": {"x": 1}}"#), Some(json!({"a.txt": {"x": 1}})));
        let list = r#"[{"filename": "a.txt", "x": 1}, {"filename": "b.txt"}]"#;
        let expected =
            json!({"a.txt": {"filename": "a.txt", "x": 1}, "b.txt": {"filename": "b.txt"}});
        assert_eq!(read(list), Some(expected));
        for bad in
            ["", "{", "1", "null", r#"{"a": 1}"#, r#"[{"x": 1}]"#, "[1]", "[{\"filename\": 1}]"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(&"[".repeat(100_000)), None);
    }
}
