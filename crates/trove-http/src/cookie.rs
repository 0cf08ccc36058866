//! The cookie of a session.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};
use trove_engine::accounts::SignedIn;

use crate::HttpConfig;

/// Its name, which clients of the reference know.
const NAME: &str = "fastapiusersauth";

/// The token of the session that a request carries.
///
/// A cookie that occurs twice is ambiguous: another host of the same domain may have set one of
/// them. It counts as no cookie.
pub(crate) fn session_token(request: &HttpRequest) -> Option<SecretString> {
    let cookies = request.cookies().ok()?;
    let mut values = cookies.iter().filter(|cookie| cookie.name() == NAME);
    let (Some(cookie), None) = (values.next(), values.next()) else { return None };
    (!cookie.value().is_empty()).then(|| SecretString::from(cookie.value()))
}

/// What begins a session in a browser.
pub(crate) fn begin(
    signed_in: &SignedIn,
    now: DateTime<Utc>,
    config: &HttpConfig,
) -> Cookie<'static> {
    let left = signed_in.session.expires_at - now;
    cookie(signed_in.secret.expose_secret().to_owned(), left.num_seconds(), config)
}

/// What ends it.
pub(crate) fn end(config: &HttpConfig) -> Cookie<'static> {
    cookie(String::new(), 0, config)
}

fn cookie(value: String, seconds: i64, config: &HttpConfig) -> Cookie<'static> {
    let is_encrypted =
        config.public_origin.as_ref().is_some_and(|origin| origin.starts_with("https:"));
    Cookie::build(NAME, value)
        .path("/")
        .max_age(Duration::seconds(seconds))
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(is_encrypted)
        .finish()
}
