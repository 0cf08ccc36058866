//! One reader for each kind of value.
//!
//! Coercions are those of the reference: a numeric string is a number, a number is no string, and
//! so on. The `type` of every failure is listed in `docs/spec-gaps.md`.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{Field, Json, Read, Record, timestamp as instant};

/// A string.
///
/// # Errors
///
/// `string_type`.
pub fn text(field: Field<'_>) -> Read<String> {
    let (json, place) = field.split();
    match json {
        Json::Text(text) => Ok(text),
        _ => Err(place.reject("string_type", "Input should be a valid string")),
    }
}

/// A string of `min` to `max` characters (code points).
///
/// # Errors
///
/// `string_type`, `string_too_short`, `string_too_long`.
pub fn text_between(min: usize, max: usize) -> impl Fn(Field<'_>) -> Read<String> {
    move |field| {
        let (json, place) = field.split();
        let Json::Text(text) = json else {
            return Err(place.reject("string_type", "Input should be a valid string"));
        };
        let plural = |count: usize| if count == 1 { "character" } else { "characters" };
        if min > 0 && text.chars().nth(min - 1).is_none() {
            let msg = format!("String should have at least {min} {}", plural(min));
            return Err(place.reject("string_too_short", msg));
        }
        // A string has at most as many characters as bytes: most are not worth counting.
        if text.len() > max && text.chars().nth(max).is_some() {
            let msg = format!("String should have at most {max} {}", plural(max));
            return Err(place.reject("string_too_long", msg));
        }
        Ok(text)
    }
}

/// An integer: a number without a fraction, a string of one, `true` or `false`.
///
/// # Errors
///
/// `int_type`, `int_parsing`, `int_parsing_size`, `int_from_float`.
pub fn integer(field: Field<'_>) -> Read<i64> {
    const UNPARSABLE: &str =
        "Input should be a valid integer, unable to parse string as an integer";
    const TOO_BIG: &str = "Unable to parse input string as an integer, exceeded maximum size";
    let (json, place) = field.split();
    match json {
        Json::Integer(value) => Ok(value),
        Json::Bool(value) => Ok(i64::from(value)),
        Json::Float(value) if value.fract() != 0.0 => Err(place.reject(
            "int_from_float",
            "Input should be a valid integer, got a number with a fractional part",
        )),
        Json::Float(value) => whole(value).ok_or_else(|| place.reject("int_parsing_size", TOO_BIG)),
        Json::Huge(_) => Err(place.reject("int_parsing_size", TOO_BIG)),
        Json::Text(text) => {
            let digits = integer_digits(&text);
            let digits = digits.ok_or_else(|| place.reject("int_parsing", UNPARSABLE))?;
            digits.parse().map_err(|_| place.reject("int_parsing_size", TOO_BIG))
        }
        Json::Null | Json::List(_) | Json::Object(_) => {
            Err(place.reject("int_type", "Input should be a valid integer"))
        }
    }
}

/// An integer within bounds.
///
/// # Errors
///
/// As [`integer`], `greater_than_equal`, `less_than_equal`.
pub fn integer_between(min: i64, max: i64) -> impl Fn(Field<'_>) -> Read<i64> {
    move |field| {
        let (json, place) = field.split();
        let value = integer(place.same(json))?;
        if value < min {
            let msg = format!("Input should be greater than or equal to {min}");
            return Err(place.reject("greater_than_equal", msg));
        }
        if value > max {
            let msg = format!("Input should be less than or equal to {max}");
            return Err(place.reject("less_than_equal", msg));
        }
        Ok(value)
    }
}

/// A number within bounds; a string of one is one.
///
/// # Errors
///
/// `float_type`, `float_parsing`, `greater_than_equal`, `less_than_equal`.
pub fn float_between(min: f64, max: f64) -> impl Fn(Field<'_>) -> Read<f64> {
    move |field| {
        let (json, place) = field.split();
        #[expect(clippy::as_conversions, reason = "the bounds are far smaller than 2^53")]
        #[expect(clippy::cast_precision_loss, reason = "the bounds are far smaller than 2^53")]
        let value = match json {
            Json::Float(value) => value,
            Json::Integer(value) => value as f64,
            Json::Bool(value) => f64::from(u8::from(value)),
            Json::Huge(digits) if digits.starts_with('-') => f64::NEG_INFINITY,
            Json::Huge(_) => f64::INFINITY,
            Json::Text(text) => text.trim().parse().map_err(|_| {
                let msg = "Input should be a valid number, unable to parse string as a number";
                place.reject("float_parsing", msg)
            })?,
            Json::Null | Json::List(_) | Json::Object(_) => {
                return Err(place.reject("float_type", "Input should be a valid number"));
            }
        };
        // Not a number is not within any bounds.
        if value.is_nan() || value < min {
            let msg = format!("Input should be greater than or equal to {min}");
            return Err(place.reject("greater_than_equal", msg));
        }
        if value > max {
            let msg = format!("Input should be less than or equal to {max}");
            return Err(place.reject("less_than_equal", msg));
        }
        Ok(value)
    }
}

/// The number of a stored object, within the range that any of them has.
///
/// # Errors
///
/// As [`integer_between`].
pub fn integer_id(field: Field<'_>) -> Read<i32> {
    let value = integer_between(i64::from(i32::MIN), i64::from(i32::MAX))(field)?;
    // Cannot fail after the bounds; saturate rather than panic.
    Ok(i32::try_from(value).unwrap_or(i32::MAX))
}

/// `true` or `false`, or one of the usual spellings of them.
///
/// # Errors
///
/// `bool_type`, `bool_parsing`.
pub fn boolean(field: Field<'_>) -> Read<bool> {
    const TRUE: [&str; 6] = ["true", "1", "yes", "on", "t", "y"];
    const FALSE: [&str; 6] = ["false", "0", "no", "off", "f", "n"];
    let (json, place) = field.split();
    let spelled =
        |words: [&str; 6], text: &str| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    let value = match &json {
        Json::Bool(value) => Some(*value),
        Json::Integer(0) | Json::Float(0.0) => Some(false),
        Json::Integer(1) | Json::Float(1.0) => Some(true),
        Json::Text(text) if spelled(TRUE, text) => Some(true),
        Json::Text(text) if spelled(FALSE, text) => Some(false),
        Json::Text(_) | Json::Integer(_) => None,
        Json::Float(_) | Json::Huge(_) | Json::Null | Json::List(_) | Json::Object(_) => {
            return Err(place.reject("bool_type", "Input should be a valid boolean"));
        }
    };
    value.ok_or_else(|| {
        let msg = "Input should be a valid boolean, unable to interpret input";
        place.reject("bool_parsing", msg)
    })
}

/// A UUID, hyphenated or not, in any letter case.
///
/// # Errors
///
/// `uuid_type`, `uuid_parsing`.
pub fn uuid(field: Field<'_>) -> Read<Uuid> {
    let (json, place) = field.split();
    let Json::Text(text) = json else {
        let msg = "UUID input should be a string, bytes or UUID object";
        return Err(place.reject("uuid_type", msg));
    };
    Uuid::try_parse(&text).map_err(|error| {
        place.reject("uuid_parsing", format!("Input should be a valid UUID, {error}"))
    })
}

/// An instant: ISO 8601, a bare date, or an epoch number; without a zone it is UTC.
///
/// # Errors
///
/// `datetime_type`, `datetime_from_date_parsing` for strings, `datetime_parsing` for numbers.
pub fn timestamp(field: Field<'_>) -> Read<DateTime<Utc>> {
    let (json, place) = field.split();
    let from_number = |epoch| {
        instant::from_epoch(epoch).map_err(|why| {
            place.reject("datetime_parsing", format!("Input should be a valid datetime, {why}"))
        })
    };
    match json {
        Json::Text(text) => instant::parse(&text).map_err(|why| {
            let msg = format!("Input should be a valid datetime or date, {why}");
            place.reject("datetime_from_date_parsing", msg)
        }),
        #[expect(clippy::as_conversions, reason = "an instant needs no more than a float holds")]
        #[expect(clippy::cast_precision_loss, reason = "instants are far smaller than 2^53")]
        Json::Integer(epoch) => from_number(epoch as f64),
        Json::Float(epoch) => from_number(epoch),
        Json::Huge(_) => from_number(f64::INFINITY),
        Json::Null | Json::Bool(_) | Json::List(_) | Json::Object(_) => {
            Err(place.reject("datetime_type", "Input should be a valid datetime"))
        }
    }
}

/// One of a closed set of words, exact and case-sensitive; `allowed` is for the message.
///
/// # Errors
///
/// `enum`.
pub fn one_of<T: std::str::FromStr>(
    allowed: impl Fn() -> Vec<&'static str>,
) -> impl Fn(Field<'_>) -> Read<T> {
    move |field| {
        let (json, place) = field.split();
        let value = if let Json::Text(text) = &json { text.parse().ok() } else { None };
        value.ok_or_else(|| {
            let words: Vec<String> = allowed().iter().map(|word| format!("'{word}'")).collect();
            let words = match words.split_last() {
                Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                _ => words.concat(),
            };
            place.reject("enum", format!("Input should be {words}"))
        })
    }
}

/// A list.
///
/// # Errors
///
/// `list_type`, and whatever `read` rejects, item by item.
pub fn list<T>(read: impl Fn(Field<'_>) -> Read<T>) -> impl Fn(Field<'_>) -> Read<Vec<T>> {
    move |field| {
        let (json, place) = field.split();
        let Json::List(items) = json else {
            return Err(place.reject("list_type", "Input should be a valid list"));
        };
        let mut values = Vec::with_capacity(items.len());
        let mut rejected = None;
        for (index, item) in items.into_iter().enumerate() {
            match read(place.item(index, item)) {
                Ok(value) => values.push(value),
                Err(failure) => rejected = Some(failure),
            }
        }
        rejected.map_or(Ok(values), Err)
    }
}

/// A list of at most `max` items.
///
/// # Errors
///
/// As [`list`], `too_long`.
pub fn list_of_at_most<T>(
    max: usize,
    read: impl Fn(Field<'_>) -> Read<T>,
) -> impl Fn(Field<'_>) -> Read<Vec<T>> {
    let read = list(read);
    move |field| {
        let (json, place) = field.split();
        match &json {
            Json::List(items) if items.len() > max => Err(place.reject(
                "too_long",
                format!(
                    "List should have at most {max} items after validation, not {}",
                    items.len()
                ),
            )),
            _ => read(place.same(json)),
        }
    }
}

/// An object with keys of the client's choice.
///
/// # Errors
///
/// `dict_type`.
pub fn entries(field: Field<'_>) -> Read<Vec<(String, Json)>> {
    let (json, place) = field.split();
    match json {
        Json::Object(entries) => Ok(entries),
        _ => Err(place.reject("dict_type", "Input should be a valid dictionary")),
    }
}

/// A nested record.
///
/// # Errors
///
/// `model_attributes_type`, and whatever the record rejects.
pub fn record<T: Record>(field: Field<'_>) -> Read<T> {
    field.record()
}

/// The integer that a float without fraction stands for, if it is small enough to be exact.
fn whole(value: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::as_conversions, reason = "exact within 2^53")]
    #[expect(clippy::cast_possible_truncation, reason = "no fraction, and within 2^53")]
    (value.abs() <= EXACT).then_some(value as i64)
}

/// Sign and digits of an integer in a text, however many there are.
fn integer_digits(text: &str) -> Option<&str> {
    let text = text.trim();
    // "5.0" is 5, "5.5" and "5." are nothing.
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte == b'0') {
        return None;
    }
    let digits = whole.strip_prefix(['+', '-']).unwrap_or(whole);
    let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    valid.then_some(whole)
}
