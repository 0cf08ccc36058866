use super::{
    Failures, Field, Fields, Json, Read, Record, boolean, entries, integer, integer_between,
    integer_id, list, one_of, record, root, text, text_between, timestamp, uuid,
};
use trove_domain::access::Role;

/// Reads `body` as one value; answers the value or `loc type` of every failure.
fn outcome<T: std::fmt::Debug>(body: &str, read: impl Fn(Field<'_>) -> Read<T>) -> String {
    let failures = Failures::default();
    let json = Json::parse(body.as_bytes()).unwrap();
    let value = read(root("body", &failures).same(json));
    let failures = failures.into_vec();
    if let Ok(value) = value {
        assert!(failures.is_empty());
        return format!("{value:?}");
    }
    assert!(!failures.is_empty());
    let lines: Vec<String> =
        failures.iter().map(|f| format!("{} {}", f.loc.join("/"), f.kind)).collect();
    lines.join("; ")
}

fn check<T: std::fmt::Debug>(read: impl Fn(Field<'_>) -> Read<T>, table: &[(&str, &str)]) {
    for (body, expected) in table {
        assert_eq!(outcome(body, &read), *expected, "{body}");
    }
}

#[test]
fn text_is_never_made_from_anything_else() {
    check(
        text,
        &[
            (r#""""#, r#""""#),
            (r#""5""#, r#""5""#),
            ("5", "body string_type"),
            ("true", "body string_type"),
            ("null", "body string_type"),
            ("[]", "body string_type"),
            ("{}", "body string_type"),
        ],
    );
}

#[test]
fn length_is_counted_in_characters() {
    check(
        text_between(1, 3),
        &[
            (r#""""#, "body string_too_short"),
            (r#"" ""#, r#"" ""#),
            (r#""😀😀😀""#, r#""😀😀😀""#),
            (r#""😀😀😀😀""#, "body string_too_long"),
            ("1", "body string_type"),
        ],
    );
}

#[test]
fn integers_may_come_as_text() {
    check(
        integer,
        &[
            ("5", "5"),
            ("5.0", "5"),
            ("-0.0", "0"),
            (r#""5""#, "5"),
            (r#""5.0""#, "5"),
            (r#"" -5 ""#, "-5"),
            (r#""+5""#, "5"),
            ("true", "1"),
            ("5.5", "body int_from_float"),
            (r#""5.5""#, "body int_parsing"),
            (r#""5.""#, "body int_parsing"),
            (r#""""#, "body int_parsing"),
            (r#""0x5""#, "body int_parsing"),
            (r#""5e1""#, "body int_parsing"),
            (r#""99999999999999999999""#, "body int_parsing_size"),
            ("99999999999999999999", "body int_parsing_size"),
            ("1e300", "body int_parsing_size"),
            ("1e400", "body int_parsing_size"),
            ("null", "body int_type"),
            ("[5]", "body int_type"),
            ("{}", "body int_type"),
        ],
    );
    check(
        integer_between(0, 10),
        &[
            ("0", "0"),
            ("10", "10"),
            ("-1", "body greater_than_equal"),
            ("11", "body less_than_equal"),
            (r#""x""#, "body int_parsing"),
        ],
    );
    check(integer_id, &[("2147483647", "2147483647"), ("2147483648", "body less_than_equal")]);
}

#[test]
fn booleans_have_twelve_spellings() {
    for (words, value) in [
        (["true", "1", "yes", "on", "t", "y"], "true"),
        (["false", "0", "no", "off", "f", "n"], "false"),
    ] {
        for word in words {
            for word in [word.to_owned(), word.to_uppercase()] {
                assert_eq!(outcome(&format!("\"{word}\""), boolean), value);
            }
        }
    }
    check(
        boolean,
        &[
            ("true", "true"),
            ("0", "false"),
            ("1.0", "true"),
            ("2", "body bool_parsing"),
            (r#""maybe""#, "body bool_parsing"),
            (r#""""#, "body bool_parsing"),
            ("0.5", "body bool_type"),
            ("null", "body bool_type"),
            ("[]", "body bool_type"),
        ],
    );
}

#[test]
fn uuids_come_with_and_without_hyphens() {
    let id = "0190a1b2-c3d4-7000-8000-00000000000a";
    check(
        uuid,
        &[
            (&format!("\"{id}\""), id),
            (&format!("\"{}\"", id.to_uppercase()), id),
            (&format!("\"{}\"", id.replace('-', "")), id),
            (r#""not-a-uuid""#, "body uuid_parsing"),
            (r#""""#, "body uuid_parsing"),
            ("5", "body uuid_type"),
        ],
    );
}

#[test]
fn instants_come_as_text_or_number() {
    check(
        timestamp,
        &[
            (r#""2024-05-01T00:00:00""#, "2024-05-01T00:00:00Z"),
            (r#""2024-05-01""#, "2024-05-01T00:00:00Z"),
            ("1714521600", "2024-05-01T00:00:00Z"),
            ("1714521600.5", "2024-05-01T00:00:00.500Z"),
            (r#""yesterday""#, "body datetime_from_date_parsing"),
            ("1e30", "body datetime_parsing"),
            ("true", "body datetime_type"),
            ("null", "body datetime_type"),
            ("{}", "body datetime_type"),
        ],
    );
}

#[test]
fn words_of_a_set_are_exact() {
    let role = || one_of::<Role>(|| Role::ALL.map(Role::as_str).to_vec());
    check(
        role(),
        &[
            (r#""basic""#, "Basic"),
            (r#""Basic""#, "body enum"),
            (r#"" basic""#, "body enum"),
            ("1", "body enum"),
            ("null", "body enum"),
        ],
    );
    let failures = Failures::default();
    let field = root("body", &failures);
    let yes_or_no = one_of::<bool>(|| vec!["true", "false"]);
    assert!(yes_or_no(field.same(Json::Null)).is_err());
    assert_eq!(failures.into_vec()[0].msg, "Input should be 'true' or 'false'");
}

#[test]
fn lists_report_every_bad_item() {
    check(
        list(text),
        &[
            ("[]", "[]"),
            (r#"["a"]"#, r#"["a"]"#),
            (r#"[1,"a",null]"#, "body/0 string_type; body/2 string_type"),
            (r#""a""#, "body list_type"),
            ("{}", "body list_type"),
        ],
    );
    let many = format!("[{}0]", "0,".repeat(100_000));
    let answer = outcome(&many, list(text));
    assert_eq!(answer.split("; ").count(), super::FAILURES_MAX);
}

#[test]
fn free_objects_are_objects() {
    check(
        entries,
        &[("{}", "[]"), (r#"{"a":1}"#, r#"[("a", Integer(1))]"#), ("[]", "body dict_type")],
    );
}

#[derive(Debug)]
struct Sample {
    name: String,
    size: Option<i64>,
    on: bool,
    parts: Option<Vec<Part>>,
}

#[derive(Debug)]
struct Part {
    key: String,
}

impl Record for Part {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { key: fields.required("key", text)? })
    }
}

impl Record for Sample {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.required("name", text);
        let size = fields.nullable("size", integer);
        let on = fields.or("on", false, boolean);
        let parts = fields.nullable("parts", list(record::<Part>));
        if matches!((&name, &size), (Ok(name), Ok(None)) if name == "sized") {
            return Err(fields.reject("a sized one needs a size"));
        }
        Ok(Self { name: name?, size: size?, on: on?, parts: parts? })
    }
}

#[test]
fn a_record_reports_all_its_failures_in_order() {
    let show = |field: Field<'_>| {
        let Sample { name, size, on, parts } = record(field)?;
        let keys: Option<Vec<String>> = parts.map(|p| p.into_iter().map(|p| p.key).collect());
        Ok((name, size, on, keys))
    };
    check(
        show,
        &[
            (r#"{"name":"a"}"#, r#"("a", None, false, None)"#),
            (r#"{"name":"a","x":1,"size":null}"#, r#"("a", None, false, None)"#),
            (r#"{"name":"a","name":"b","size":"7"}"#, r#"("b", Some(7), false, None)"#),
            (r#"{"name":"a","parts":[{"key":"k"}]}"#, r#"("a", None, false, Some(["k"]))"#),
            ("{}", "body/name missing"),
            (r#"{"name":null,"on":null}"#, "body/name string_type; body/on bool_type"),
            (
                r#"{"parts":[{},{"key":1},7],"on":"?","size":[]}"#,
                "body/name missing; body/size int_type; body/on bool_parsing; \
             body/parts/0/key missing; body/parts/1/key string_type; \
             body/parts/2 model_attributes_type",
            ),
            (r#"{"name":"sized"}"#, "body value_error"),
            ("[]", "body model_attributes_type"),
            ("null", "body model_attributes_type"),
        ],
    );
}

#[test]
fn parameters_are_text_that_may_be_repeated() {
    let failures = Failures::default();
    let place = root("query", &failures);
    let parameters = [("n", "5"), ("b", "YES"), ("r", "admin"), ("r", "x,basic"), ("n", "6")];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut query = Fields::of_parameters(parameters.into_iter(), &place);
    assert_eq!(query.or("n", 0, integer), Ok(6));
    assert_eq!(query.nullable("b", boolean), Ok(Some(true)));
    assert_eq!(query.nullable("absent", boolean), Ok(None));
    let role = one_of::<Role>(|| Role::ALL.map(Role::as_str).to_vec());
    assert!(query.repeated("r", role).is_err());
    assert_eq!(query.repeated("none", text), Ok(Vec::new()));
    assert!(query.reject_field("n", "it is bad").eq(&query.reject("as a whole")));
    let locs: Vec<Vec<String>> = failures.into_vec().into_iter().map(|f| f.loc).collect();
    assert_eq!(locs, [vec!["query", "r", "1"], vec!["query", "n"], vec!["query"]]);
}
