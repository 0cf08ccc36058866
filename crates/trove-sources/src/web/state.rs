//! How far a crawl is: everything that it needs to go on, in another process as well.
//!
//! Addresses stand in the order in which they were found, and are asked for in that order, so the
//! rest of the list is what is still to do. A checkpoint is this, packed: addresses of one site
//! are so alike that twenty thousand of them take a few hundred kilobytes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trove_domain::port::{CHECKPOINT_BYTES_MAX, Checkpoint};
use url::Url;

use super::CrawlLimits;
use super::address::is_trap;

/// Grows with every change of what is kept or of how pages are read.
const VERSION: u64 = 1;
/// Largest state after it was unpacked.
const STATE_BYTES_MAX: u64 = 128 << 20;
/// Most bytes of all addresses.
const ADDRESSES_BYTES_MAX: usize = 8 << 20;
/// Most addresses that differ only in their query: calendars and filters have no end.
const QUERIES_MAX: usize = 500;
/// Longest validator that is kept.
const VALIDATOR_BYTES_MAX: usize = 256;

/// What is known of a page since it was read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Visit {
    /// `ETag`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
    /// `Last-Modified`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) modified: Option<String>,
    /// Hash of title and text.
    pub(super) hash: u64,
    /// Where it leads, as places in the list of addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) links: Vec<usize>,
}

impl Visit {
    /// Without validators that are too long to keep; `None` when there is none.
    pub(super) fn validated(etag: &str, modified: &str, hash: u64) -> Option<Self> {
        let fits = |text: &str| {
            (!text.is_empty() && text.len() <= VALIDATOR_BYTES_MAX).then(|| text.to_owned())
        };
        let (etag, modified) = (fits(etag), fits(modified));
        let is_some = etag.is_some() || modified.is_some();
        is_some.then_some(Self { etag, modified, hash, links: Vec::new() })
    }
}

/// The pages of an earlier run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Before {
    addresses: Vec<String>,
    visits: BTreeMap<usize, Visit>,
}

/// One crawl.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Crawl {
    /// All addresses that are pages, in the order in which they were found.
    addresses: Vec<String>,
    /// How many links they are away from the first one.
    depths: Vec<u16>,
    /// The first one that is still to be asked for.
    pub(super) at: usize,
    /// Where redirects led to.
    aliases: Vec<String>,
    /// Lists of addresses.
    pub(super) sitemaps: Vec<String>,
    /// The first one that is still to be asked for.
    pub(super) sitemaps_at: usize,
    /// Whether they are guesses, which need not be there.
    pub(super) is_searching: bool,
    /// Hashes of title and text of the documents.
    contents: Vec<u64>,
    visits: BTreeMap<usize, Visit>,
    before: Before,
    /// How many pages worked.
    pub(super) worked: usize,
    /// Why the first that did not work did not.
    pub(super) failure: Option<String>,
    /// Whether addresses were left out because there are too many.
    pub(super) is_full: bool,

    /// Places of addresses; none for where redirects led to.
    #[serde(skip)]
    seen: HashMap<String, Option<usize>>,
    #[serde(skip)]
    queries: HashMap<String, usize>,
    #[serde(skip)]
    bytes: usize,
    #[serde(skip)]
    known_before: HashMap<String, usize>,
    #[serde(skip)]
    contents_seen: HashSet<u64>,
}

impl Crawl {
    /// Continues from a checkpoint of the same configuration and purpose; `None` if it is none.
    pub(super) fn resume(from: &Checkpoint, fingerprint: &str, purpose: &str) -> Option<Self> {
        let mut crawl: Self = unpack(from, fingerprint, purpose)?;
        let aliases = crawl.aliases.iter().map(|alias| (alias.clone(), None));
        let places = crawl.addresses.iter().enumerate();
        let places = places.map(|(place, address)| (address.clone(), Some(place)));
        crawl.seen = aliases.chain(places).collect();
        crawl.bytes = crawl.seen.keys().map(String::len).sum();
        for address in &crawl.addresses {
            let path = without_query(address).to_owned();
            *crawl.queries.entry(path).or_default() += 1;
        }
        let before = crawl.before.addresses.iter().cloned().enumerate();
        crawl.known_before = before.map(|(place, address)| (address, place)).collect();
        crawl.contents_seen = crawl.contents.iter().copied().collect();
        Some(crawl)
    }

    /// A new crawl that knows an earlier one.
    pub(super) fn after(carry: Option<&Checkpoint>, fingerprint: &str) -> Self {
        let before: Before =
            carry.and_then(|carry| unpack(carry, fingerprint, "carry")).unwrap_or_default();
        let known = before.addresses.iter().cloned().enumerate();
        let known_before = known.map(|(place, address)| (address, place)).collect();
        Self { before, known_before, ..Self::default() }
    }

    /// Where to go on.
    pub(super) fn checkpoint(&self, fingerprint: &str, purpose: &str) -> Option<Checkpoint> {
        pack(self, fingerprint, purpose)
    }

    /// What the next run should know; `None` when there is nothing.
    pub(super) fn carry(self, fingerprint: &str) -> Option<Checkpoint> {
        if self.visits.is_empty() {
            return None;
        }
        let before = Before { addresses: self.addresses, visits: self.visits };
        pack(&before, fingerprint, "carry")
    }

    /// Takes an address into the list unless it is there, and tells its place; `None` if it does
    /// not belong there.
    pub(super) fn admit(&mut self, url: &Url, depth: u16, limits: &CrawlLimits) -> Option<usize> {
        let address = url.as_str();
        if let Some(place) = self.seen.get(address) {
            return *place;
        }
        if depth > limits.depth || is_trap(url) {
            return None;
        }
        let queries = self.queries.entry(without_query(address).to_owned()).or_default();
        if *queries >= QUERIES_MAX {
            self.is_full = true;
            return None;
        }
        if self.addresses.len() >= limits.pages || self.bytes + address.len() > ADDRESSES_BYTES_MAX
        {
            self.is_full = true;
            return None;
        }
        *queries += 1;
        self.bytes += address.len();
        let place = self.addresses.len();
        self.seen.insert(address.to_owned(), Some(place));
        self.addresses.push(address.to_owned());
        self.depths.push(depth);
        Some(place)
    }

    /// Notes where the page at `place` redirected to; false if that page is known already.
    pub(super) fn lands(&mut self, place: usize, at: &Url) -> bool {
        if self.addresses.get(place).is_some_and(|address| address == at.as_str()) {
            return true;
        }
        if self.seen.contains_key(at.as_str()) {
            return false;
        }
        self.seen.insert(at.as_str().to_owned(), None);
        self.bytes += at.as_str().len();
        self.aliases.push(at.as_str().to_owned());
        true
    }

    /// Whether no document of this crawl has this title and text yet.
    pub(super) fn is_new_content(&mut self, hash: u64) -> bool {
        let is_new = self.contents_seen.insert(hash);
        if is_new {
            self.contents.push(hash);
        }
        is_new
    }

    /// The next addresses, at most so many, each with its place.
    pub(super) fn next(&self, count: usize) -> Vec<(usize, String)> {
        self.addresses.iter().cloned().enumerate().skip(self.at).take(count).collect()
    }

    /// Whether every address has been asked for.
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.addresses.len() && self.sitemaps_at >= self.sitemaps.len()
    }

    /// Whether there is any address at all.
    pub(super) fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Distance of the page at `place` from the first one.
    pub(super) fn depth(&self, place: usize) -> u16 {
        self.depths.get(place).copied().unwrap_or_default()
    }

    /// What an earlier run knows of an address.
    pub(super) fn known(&self, address: &str) -> Option<&Visit> {
        self.before.visits.get(self.known_before.get(address)?)
    }

    /// Where a page led to when an earlier run read it.
    pub(super) fn known_links(&self, visit: &Visit) -> Vec<String> {
        let links = visit.links.iter();
        links.filter_map(|place| self.before.addresses.get(*place).cloned()).collect()
    }

    /// Keeps what is known of a page, and the links that were new or known.
    pub(super) fn keep(&mut self, place: usize, visit: Visit) {
        self.visits.insert(place, visit);
    }
}

fn without_query(address: &str) -> &str {
    address.split_once('?').map_or(address, |(path, _)| path)
}

fn pack(state: &impl Serialize, fingerprint: &str, purpose: &str) -> Option<Checkpoint> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut packer, state).ok()?;
    packer.flush().ok()?;
    let packed = STANDARD.encode(packer.finish().ok()?);
    if packed.len() + 200 > CHECKPOINT_BYTES_MAX {
        return None;
    }
    Some(Checkpoint(json!({
        "version": VERSION, "config": fingerprint, "purpose": purpose, "state": packed,
    })))
}

fn unpack<T: serde::de::DeserializeOwned>(
    from: &Checkpoint,
    fingerprint: &str,
    purpose: &str,
) -> Option<T> {
    let Checkpoint(value) = from;
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let is_ours = value.get("version").and_then(Value::as_u64) == Some(VERSION)
        && text("config") == Some(fingerprint)
        && text("purpose") == Some(purpose);
    if !is_ours {
        return None;
    }
    let packed = STANDARD.decode(text("state")?).ok()?;
    let mut unpacked = Vec::new();
    ZlibDecoder::new(packed.as_slice()).take(STATE_BYTES_MAX).read_to_end(&mut unpacked).ok()?;
    serde_json::from_slice(&unpacked).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trove_domain::port::Checkpoint;
    use url::Url;

    use super::{Crawl, Visit};
    use crate::web::CrawlLimits;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn a_full_crawl_fits_many_times_into_a_checkpoint() {
        let mut crawl = Crawl::default();
        let limits = CrawlLimits::default();
        for n in 0..30_000_u64 {
            let page = url(&format!("https://example.com/documentation/part-{}/{n}", n % 97));
            let place = crawl.admit(&page, 3, &limits);
            assert_eq!(place.is_some(), n < 20_000);
            let Some(place) = place else { continue };
            let mut visit = Visit::validated(&format!("\"{:x}\"", n * 7919), "", n).unwrap();
            visit.links = (0..50).map(|link| place.saturating_sub(link * 31)).collect();
            crawl.keep(place, visit);
            assert!(crawl.is_new_content(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        }
        assert!(crawl.is_full);
        let checkpoint = crawl.checkpoint("f", "read").unwrap();
        assert!(checkpoint.0.to_string().len() < 6 << 20, "{}", checkpoint.0.to_string().len());
        let again = Crawl::resume(&checkpoint, "f", "read").unwrap();
        assert_eq!(again.next(3), crawl.next(3));
        let other = Crawl::resume(&checkpoint, "g", "read").is_none()
            && Crawl::resume(&checkpoint, "f", "list").is_none();
        assert!(other);
    }

    #[test]
    fn traps_have_an_end() {
        let (mut crawl, limits) = (Crawl::default(), CrawlLimits::default());
        let days = (0..10_000).map(|n| url(&format!("https://e.com/calendar?day={n}")));
        let admitted = days.filter_map(|day| crawl.admit(&day, 1, &limits)).count();
        assert_eq!(admitted, 500);
        assert_eq!(crawl.admit(&url("https://e.com/deep"), 101, &limits), None);
        let tiny = CrawlLimits { pages: 500, ..limits };
        assert_eq!(crawl.admit(&url("https://e.com/one-more"), 1, &tiny), None);
    }

    #[test]
    fn what_is_no_checkpoint_of_ours_is_none() {
        for value in [
            json!(null),
            json!({}),
            json!({ "version": 1, "config": "f", "purpose": "read", "state": "?" }),
            json!({ "version": 1, "config": "f", "purpose": "read", "state": "AAAA" }),
            json!({ "version": 2, "config": "f", "purpose": "read", "state": "" }),
        ] {
            assert!(Crawl::resume(&Checkpoint(value), "f", "read").is_none());
        }
    }
}
