//! What stands for the values of a credential in an answer, and how it is read back.

use serde_json::{Map, Value};

/// What stands for a string that is too short to show a part of it.
const BULLETS: &str = "\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}";

/// What stands for a number.
const NUMBER: &str = "*****";

/// Shorter strings show nothing.
const SHOWN_CHARS_MIN: usize = 14;

/// Keys whose values are no secrets.
const OPEN_KEYS: [&str; 5] =
    ["authentication_method", "wiki_base", "cloud_name", "cloud_id", "scopes"];

/// Most levels of a credential that are looked into; deeper values are masked as one.
const DEPTH_MAX: usize = 64;

/// Somebody sends a mask back where it stands for nothing that is stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("credential_json: the value of {0:?} is a mask, not a secret; send the secret itself")]
pub struct StaleMask(pub String);

/// What may be shown of a credential.
#[must_use]
pub fn mask(content: &Map<String, Value>) -> Map<String, Value> {
    masked_object(content, DEPTH_MAX)
}

/// What `sent` means, where values of `stored` were sent back as they were shown.
///
/// # Errors
///
/// [`StaleMask`] when a value that looks like a mask is not the one of the value stored under the
/// same key: storing it would lose a secret.
pub fn unmask(
    sent: Map<String, Value>,
    stored: &Map<String, Value>,
) -> Result<Map<String, Value>, StaleMask> {
    unmasked_object(sent, Some(stored), DEPTH_MAX)
}

fn masked_object(content: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    let entry = |(key, value): (&String, &Value)| {
        let open = OPEN_KEYS.contains(&key.as_str());
        (key.clone(), if open { value.clone() } else { masked(value, depth) })
    };
    content.iter().map(entry).collect()
}

fn masked(value: &Value, depth: usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(_) => NUMBER.into(),
        Value::String(text) => masked_text(text).into(),
        Value::Array(_) | Value::Object(_) if depth == 0 => BULLETS.into(),
        Value::Array(items) => items.iter().map(|item| masked(item, depth - 1)).collect(),
        Value::Object(entries) => masked_object(entries, depth - 1).into(),
    }
}

fn masked_text(text: &str) -> String {
    let chars = text.chars().count();
    if chars < SHOWN_CHARS_MIN {
        return BULLETS.to_owned();
    }
    let first: String = text.chars().take(4).collect();
    let last: String = text.chars().skip(chars - 4).collect();
    format!("{first}...{last}")
}

fn looks_masked(text: &str) -> bool {
    let chars: Vec<char> = text.chars().take(12).collect();
    text == BULLETS || text == NUMBER || (chars.len() == 11 && chars[4..7] == ['.', '.', '.'])
}

fn unmasked_object(
    sent: Map<String, Value>,
    stored: Option<&Map<String, Value>>,
    depth: usize,
) -> Result<Map<String, Value>, StaleMask> {
    let entry = |(key, value): (String, Value)| {
        if OPEN_KEYS.contains(&key.as_str()) {
            return Ok((key, value));
        }
        let stored = stored.and_then(|stored| stored.get(&key));
        let value = unmasked(value, stored, &key, depth)?;
        Ok((key, value))
    };
    sent.into_iter().map(entry).collect()
}

fn unmasked(
    sent: Value,
    stored: Option<&Value>,
    key: &str,
    depth: usize,
) -> Result<Value, StaleMask> {
    match sent {
        Value::String(text) if looks_masked(&text) => match stored {
            Some(stored) if masked(stored, depth) == Value::String(text) => Ok(stored.clone()),
            _ => Err(StaleMask(key.to_owned())),
        },
        Value::Array(items) if depth > 0 => {
            let stored = stored.and_then(Value::as_array);
            let item = |(index, item)| {
                unmasked(item, stored.and_then(|stored| stored.get(index)), key, depth - 1)
            };
            items.into_iter().enumerate().map(item).collect()
        }
        Value::Object(entries) if depth > 0 => {
            let stored = stored.and_then(Value::as_object);
            unmasked_object(entries, stored, depth - 1).map(Value::Object)
        }
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{StaleMask, mask, unmask};

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { panic!("{value}") };
        map
    }

    const BULLETS: &str = "••••••••••••";

    #[test]
    fn values_are_masked_by_their_type() {
        let check = |value: Value, shown: Value| {
            let masked = mask(&object(json!({"k": value})));
            assert_eq!(masked, object(json!({"k": shown})));
        };
        check(json!("abcdefghijklmn"), json!("abcd...klmn"));
        check(json!("abcdefghijklm"), json!(BULLETS));
        check(json!(""), json!(BULLETS));
        check(json!("äöüßäöüßäöüßäö"), json!("äöüß...üßäö"));
        check(json!(5), json!("*****"));
        check(json!(5.5), json!("*****"));
        check(json!(true), json!(true));
        check(json!(null), json!(null));
        check(json!({"a": {"b": 1}}), json!({"a": {"b": "*****"}}));
        check(json!(["x", 1, null]), json!([BULLETS, "*****", null]));
        check(json!({"scopes": ["read"]}), json!({"scopes": ["read"]}));
        check(
            json!({"wiki_base": "https://a.example.com"}),
            json!({"wiki_base": "https://a.example.com"}),
        );
    }

    #[test]
    fn what_is_shown_comes_back_as_what_is_stored() {
        let stored = object(json!({
            "token": "abcdefghijklmn", "n": 5, "short": "s", "ok": true, "none": null,
            "deep": {"list": ["one-long-enough-secret", 7], "wiki_base": "https://a.example.com"},
        }));
        assert_eq!(unmask(mask(&stored), &stored), Ok(stored.clone()));
        let sent = object(json!({"token": "abcd...klmn", "new": "x"}));
        let meant = object(json!({"token": "abcdefghijklmn", "new": "x"}));
        assert_eq!(unmask(sent, &stored), Ok(meant));
    }

    #[test]
    fn a_mask_of_something_else_is_refused() {
        let stored = object(json!({"token": "abcdefghijklmn", "short": "s", "n": 1}));
        for (key, value) in [
            ("token", "zzzz...zzzz"),
            ("token", BULLETS),
            ("other", BULLETS),
            ("short", "abcd...klmn"),
            ("other", "*****"),
        ] {
            let sent = object(json!({key: value}));
            assert_eq!(unmask(sent, &stored), Err(StaleMask(key.to_owned())), "{key} {value}");
        }
        // Stars for a number stand for that number alone.
        assert_eq!(unmask(object(json!({"n": "*****"})), &stored), Ok(object(json!({"n": 1}))));
    }
}
