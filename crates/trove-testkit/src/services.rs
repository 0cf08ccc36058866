//! Services that some tests need, and what happens where they are not there.
//!
//! The environment names each service. Without it a test is skipped, unless `TROVE_TEST_REQUIRE`
//! lists the service: then it fails, so that a suite is never green because nothing ran.

use secrecy::SecretString;

/// Where the PostgreSQL server for tests is.
pub const POSTGRES_URL_VARIABLE: &str = "TROVE_TEST_POSTGRES_URL";

/// Where the gRPC interface of the Qdrant server for tests is.
pub const QDRANT_URL_VARIABLE: &str = "TROVE_TEST_QDRANT_URL";

/// The key that the Qdrant server for tests asks for, if it does.
pub const QDRANT_API_KEY_VARIABLE: &str = "TROVE_TEST_QDRANT_API_KEY";

/// Services whose absence fails a test instead of skipping it, separated by commas.
pub const REQUIRE_VARIABLE: &str = "TROVE_TEST_REQUIRE";

/// The address of the PostgreSQL server for tests; `None`, after saying so, when there is none.
///
/// # Panics
///
/// When there is none and it is required.
#[must_use]
pub fn postgres_url() -> Option<String> {
    url("postgres", POSTGRES_URL_VARIABLE)
}

/// The address of the Qdrant server for tests; `None`, after saying so, when there is none.
///
/// # Panics
///
/// When there is none and it is required.
#[must_use]
pub fn qdrant_url() -> Option<String> {
    url("qdrant", QDRANT_URL_VARIABLE)
}

/// The key of the Qdrant server for tests, where it asks for one.
#[must_use]
pub fn qdrant_api_key() -> Option<SecretString> {
    environment(QDRANT_API_KEY_VARIABLE).map(SecretString::from)
}

/// The services whose absence fails a test.
pub fn required() -> impl Iterator<Item = String> {
    let names = environment(REQUIRE_VARIABLE).unwrap_or_default();
    let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
    names.into_iter().filter(|name| !name.is_empty())
}

fn url(service: &str, variable: &str) -> Option<String> {
    let url = environment(variable);
    if url.is_none() {
        assert!(
            !required().any(|name| name == service),
            "{variable} is not set, and {REQUIRE_VARIABLE} requires {service}"
        );
        eprintln!("skipped: {variable} is not set");
    }
    url
}

pub(crate) fn environment(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "tests are configured by the environment")]
    let value = std::env::var(name).ok();
    value.filter(|value| !value.is_empty())
}
