//! Where a request of a browser comes from.
//!
//! A browser sends the cookies of this service whatever page asks it to. Browsers say which page
//! that is, and no page can make them lie; programs say nothing, and have no cookies that somebody
//! else could use.

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use url::Url;

use crate::HttpConfig;
use crate::error::{ApiError, Refusal};

/// What newer browsers say.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Refuses what may change something and comes from a page of another origin.
pub(crate) fn check(request: &HttpRequest, config: &HttpConfig) -> Result<(), ApiError> {
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if is_safe || is_own(request.headers(), config.public_origin.as_deref()) {
        Ok(())
    } else {
        Err(Refusal::ForeignOrigin.into())
    }
}

fn is_own(headers: &HeaderMap, public: Option<&str>) -> bool {
    // What is said twice is said by nobody: whoever looked at the request before may have taken the
    // other one.
    let text = |name: &HeaderName| -> Option<Result<&str, ()>> {
        let mut values = headers.get_all(name);
        let first = values.next()?;
        Some(if values.next().is_some() { Err(()) } else { first.to_str().map_err(|_| ()) })
    };
    let origin = text(&ORIGIN);
    if let (Some(Ok(origin)), Some(public)) = (origin, public)
        && origin == public
    {
        return true;
    }
    match text(&HeaderName::from_static(SEC_FETCH_SITE)) {
        // `none`: the user asked for it, not a page.
        Some(site) => matches!(site, Ok("same-origin" | "none")),
        None => match origin {
            None => true,
            Some(Ok(origin)) => {
                text(&HOST).is_some_and(|host| host.is_ok_and(|host| names(origin, host)))
            }
            Some(Err(())) => false,
        },
    }
}

/// Whether an origin is that of a host.
fn names(origin: &str, host: &str) -> bool {
    let Ok(url) = Url::parse(origin) else { return false };
    // The host says no scheme: its port may be the one that the origin's scheme implies.
    let Ok(asked) = Url::parse(&format!("{}://{host}", url.scheme())) else { return false };
    matches!(url.scheme(), "http" | "https")
        && url.host().is_some()
        && url.host() == asked.host()
        && url.port_or_known_default() == asked.port_or_known_default()
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

    use super::is_own;

    #[test]
    fn origins_that_are_ours_and_others() {
        let check = |headers: &[(&str, &str)], public: Option<&str>, want: bool| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
                map.append(name, HeaderValue::from_str(value).unwrap());
            }
            assert_eq!(is_own(&map, public), want, "{headers:?} {public:?}");
        };
        let host = ("host", "trove.example:8080");
        // Programs.
        check(&[], None, true);
        check(&[host], None, true);
        // Older browsers.
        check(&[host, ("origin", "http://trove.example:8080")], None, true);
        check(&[host, ("origin", "http://TROVE.example:8080")], None, true);
        check(&[host, ("origin", "http://trove.example")], None, false);
        check(&[host, ("origin", "http://trove.example:8081")], None, false);
        check(&[host, ("origin", "https://evil.example")], None, false);
        check(&[host, ("origin", "https://trove.example.evil:8080")], None, false);
        check(&[host, ("origin", "null")], None, false);
        check(&[host, ("origin", "")], None, false);
        check(&[host, ("origin", "trove.example:8080")], None, false);
        check(&[host, ("origin", "http://x@trove.example.evil:8080")], None, false);
        check(&[("host", "trove.example"), ("origin", "https://trove.example")], None, true);
        check(&[("host", "trove.example"), ("origin", "https://trove.example:443")], None, true);
        check(&[("host", "trove.example"), ("origin", "https://trove.example:80")], None, false);
        check(&[("origin", "https://trove.example")], None, false);
        // Newer ones, also behind a proxy that asks for another host.
        let page = ("origin", "https://trove.example");
        check(&[host, page, ("sec-fetch-site", "same-origin")], None, true);
        check(&[host, ("sec-fetch-site", "none")], None, true);
        check(&[host, ("sec-fetch-site", "same-site")], None, false);
        check(&[host, ("sec-fetch-site", "cross-site")], None, false);
        check(
            &[host, ("origin", "http://trove.example:8080"), ("sec-fetch-site", "cross-site")],
            None,
            false,
        );
        // Said twice.
        let own = ("origin", "http://trove.example:8080");
        check(&[host, own, ("origin", "https://evil.example")], None, false);
        check(&[host, ("host", "evil.example"), own], None, false);
        let same = ("sec-fetch-site", "same-origin");
        check(&[host, own, same, ("sec-fetch-site", "cross-site")], None, false);
        // The setting.
        let public = Some("https://trove.example");
        check(&[("host", "internal"), page], public, true);
        check(&[("host", "internal"), page, ("sec-fetch-site", "same-site")], public, true);
        check(&[("host", "internal"), ("origin", "https://evil.example")], public, false);
        check(&[("host", "internal"), ("origin", "http://trove.example")], public, false);
    }
}
