//! Addresses of pages: one spelling for each, what belongs to a site, what is a trap.

use url::Url;

/// How often one part of a path may occur: links that are relative where they should not be grow
/// by one part with each page.
const SAME_PART_MAX: usize = 3;
/// Most parts of a path.
const PARTS_MAX: usize = 40;

/// The one spelling of an address: without a fragment, unless it is a page of its own (`#!`).
pub(super) fn canonical(mut url: Url) -> Url {
    if !url.fragment().is_some_and(|fragment| fragment.starts_with('!')) {
        url.set_fragment(None);
    }
    if url.query() == Some("") {
        url.set_query(None);
    }
    url
}

/// What belongs to a site: the host, with or without `www.`, and what is below the path.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    host: String,
    port: Option<u16>,
    path: String,
}

impl Scope {
    pub(super) fn of(base: &Url) -> Self {
        let path = base.path().trim_end_matches('/').to_owned();
        Self { host: host(base), port: base.port(), path }
    }

    pub(super) fn holds(&self, url: &Url) -> bool {
        let below = url.path().strip_prefix(&self.path);
        host(url) == self.host
            && url.port() == self.port
            && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    host.strip_prefix("www.").unwrap_or(host).to_owned()
}

/// Whether a path looks as if it grew by itself.
pub(super) fn is_trap(url: &Url) -> bool {
    let parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
    parts.len() > PARTS_MAX
        || parts
            .iter()
            .any(|part| parts.iter().filter(|other| *other == part).count() > SAME_PART_MAX)
}

/// Pages below one address that are known to readers by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rewrite {
    pub(super) source: String,
    pub(super) target: String,
}

/// The address under which readers find a page: the first rule that fits counts.
pub(super) fn rewritten(address: &str, rules: &[Rewrite]) -> String {
    for Rewrite { source, target } in rules {
        let source = source.trim_end_matches('/');
        let Some(rest) = address.strip_prefix(source) else { continue };
        if rest.is_empty() || rest.starts_with(['/', '?', '#']) {
            return format!("{}{rest}", target.trim_end_matches('/'));
        }
    }
    address.to_owned()
}

/// The last part of a path as people read it; the host when there is none.
pub(super) fn last_part(url: &Url) -> String {
    let part = url.path().rsplit('/').find(|part| !part.is_empty());
    let Some(part) = part else { return url.host_str().unwrap_or_default().to_owned() };
    // Decoded as the value of a query is; a plus sign stands for itself in a path.
    let plain = part.replace('+', "%2B").replace('&', "%26").replace('=', "%3D");
    let decoded = url::form_urlencoded::parse(plain.as_bytes()).next();
    let decoded = decoded.map_or_else(|| part.to_owned(), |(name, _)| name.into_owned());
    decoded.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::{Rewrite, Scope, canonical, is_trap, last_part, rewritten};

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_has_one_spelling() {
        for (spelling, expected) in [
            ("HTTPS://Example.COM:443/a/../b#c", "https://example.com/b"),
            ("http://example.com:80", "http://example.com/"),
            ("https://example.com/a?#", "https://example.com/a"),
            ("https://example.com/a?b#c", "https://example.com/a?b"),
            ("https://example.com/#!/page", "https://example.com/#!/page"),
            ("https://example.com/ä b", "https://example.com/%C3%A4%20b"),
        ] {
            assert_eq!(canonical(url(spelling)).as_str(), expected);
        }
    }

    /// S4 of the catalogue, and its neighbours.
    #[test]
    fn a_site_ends_at_the_border_of_a_part_of_the_path() {
        let docs = Scope::of(&url("https://www.example.com/docs"));
        for inside in ["docs", "docs/", "docs/a", "docs?b", "docs/a/b#c"] {
            assert!(docs.holds(&url(&format!("http://example.com/{inside}"))), "{inside}");
        }
        for outside in [
            "https://example.com/docs2",
            "https://example.com/docs2/x",
            "https://example.com/",
            "https://example.com/a/docs",
            "https://example.com/docs/../a",
            "https://other.example.com/docs/a",
            "https://example.com.example.org/docs/a",
            "https://example.com:8080/docs/a",
        ] {
            assert!(!docs.holds(&url(outside)), "{outside}");
        }
        assert!(Scope::of(&url("https://example.com")).holds(&url("https://www.example.com/a")));
    }

    #[test]
    fn paths_that_grow_are_traps() {
        assert!(is_trap(&url("https://example.com/a/b/a/b/a/b/a/b")));
        assert!(is_trap(&url(&format!(
            "https://example.com/{}",
            (0..50).map(|n| n.to_string()).collect::<Vec<_>>().join("/")
        ))));
        assert!(!is_trap(&url("https://example.com/2024/02/02/a")));
    }

    #[test]
    fn rules_rewrite_whole_parts() {
        let rule = |source: &str, target: &str| Rewrite {
            source: source.to_owned(),
            target: target.to_owned(),
        };
        let rules = [
            rule("http://inside:80/a/", "https://docs.example.com/"),
            rule("http://inside", "https://x"),
        ];
        assert_eq!(rewritten("http://inside:80/a/b", &rules), "https://docs.example.com/b");
        assert_eq!(rewritten("http://inside/b?c", &rules), "https://x/b?c");
        assert_eq!(rewritten("http://inside2/b", &rules), "http://inside2/b");
    }

    #[test]
    fn the_last_part_is_for_people() {
        assert_eq!(last_part(&url("https://e.com/a/The%20plan+1%261.pdf?x=1")), "The plan+1&1.pdf");
        assert_eq!(last_part(&url("https://e.com/")), "e.com");
        assert_eq!(last_part(&url("https://e.com/%00a%0a")), "a");
    }
}
