//! Lists of addresses that a site publishes.

use std::io::Read;

use flate2::read::GzDecoder;
use quick_xml::Reader;
use quick_xml::events::Event;

/// Largest list after it was unpacked (sitemaps.org says 50 MB).
pub(super) const SITEMAP_BYTES_MAX: usize = 50 << 20;
/// Most pieces of markup that are looked at.
const EVENTS_MAX: usize = 2_000_000;

/// What a list names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sitemap {
    /// Whether it is a list at all.
    pub(super) is_one: bool,
    /// Pages.
    pub(super) pages: Vec<String>,
    /// More lists.
    pub(super) sitemaps: Vec<String>,
}

/// Reads a list, packed or not; at most `max` addresses of it.
pub(super) fn read(content: &[u8], max: usize) -> Sitemap {
    if content.starts_with(b"\x1f\x8b") {
        let mut unpacked = Vec::new();
        let limit = u64::try_from(SITEMAP_BYTES_MAX).unwrap_or(u64::MAX);
        // A list that is cut off still names pages.
        let _ = GzDecoder::new(content).take(limit).read_to_end(&mut unpacked);
        return parse(&unpacked, max);
    }
    parse(content, max)
}

fn parse(content: &[u8], max: usize) -> Sitemap {
    let mut sitemap = Sitemap::default();
    let text = String::from_utf8_lossy(content);
    let mut reader = Reader::from_str(&text);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    let (mut is_index, mut location) = (false, None::<String>);
    for _ in 0..EVENTS_MAX {
        let Ok(event) = reader.read_event() else { break };
        match event {
            Event::Start(tag) => match tag.local_name().as_ref() {
                "urlset" => sitemap.is_one = true,
                "sitemapindex" => (sitemap.is_one, is_index) = (true, true),
                // Images and videos of a page have such elements, too, under other prefixes.
                "loc" if matches!(tag.name().as_ref(), "loc" | "sm:loc" | "ns0:loc" | "s:loc") => {
                    location = Some(String::new());
                }
                _ => {}
            },
            Event::Text(text) => location.iter_mut().for_each(|location| location.push_str(&text)),
            Event::CData(text) => location.iter_mut().for_each(|location| location.push_str(&text)),
            Event::GeneralRef(name) => {
                if let Some(location) = &mut location {
                    location.push(match &*name {
                        "amp" => '&',
                        "lt" => '<',
                        "gt" => '>',
                        "quot" => '"',
                        "apos" => '\'',
                        // Entities of its own are not expanded.
                        _ => name.resolve_char_ref().ok().flatten().unwrap_or('\u{fffd}'),
                    });
                }
            }
            Event::End(tag) if tag.local_name().as_ref() == "loc" => {
                let Some(location) = location.take() else { continue };
                let location = location.trim().to_owned();
                if location.is_empty() {
                    continue;
                }
                sitemap.is_one = true;
                let list = if is_index { &mut sitemap.sitemaps } else { &mut sitemap.pages };
                list.push(location);
                if list.len() >= max {
                    break;
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    sitemap
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{Sitemap, read};

    const PAGES: &str = "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x 'y'>]>\
        <urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
        <url><loc> https://e.com/?a=1&amp;b=&#x32;</loc><image:image><image:loc>https://e.com/i.png\
        </image:loc></image:image></url><url><loc><![CDATA[https://e.com/c]]></loc></url>";

    #[test]
    fn pages_and_more_lists_are_told_apart() {
        // Also when the end is missing.
        let pages = read(PAGES.as_bytes(), 10);
        assert_eq!(pages.pages, ["https://e.com/?a=1&b=2", "https://e.com/c"]);
        let index =
            "<sitemapindex><sitemap><loc>https://e.com/1.xml</loc></sitemap></sitemapindex>";
        let index = read(index.as_bytes(), 10);
        assert_eq!((index.pages.len(), index.sitemaps.len()), (0, 1));
        for none in ["", "<html><body>not found</body></html>", "{}", "\0\u{1}"] {
            assert_eq!(read(none.as_bytes(), 10), Sitemap::default());
        }
        assert!(read(b"<urlset></urlset>", 10).is_one);
    }

    #[test]
    fn lists_may_be_packed_and_are_bounded() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(PAGES.as_bytes()).unwrap();
        assert_eq!(read(&encoder.finish().unwrap(), 10).pages.len(), 2);
        assert_eq!(read(PAGES.as_bytes(), 1).pages.len(), 1);
    }
}
