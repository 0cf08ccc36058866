//! What a host wishes of whoever reads all of it.

use std::time::Duration;

use texting_robots::Robot;

/// Whom hosts mean.
const AGENT: &str = "Trove";
/// So much of a file counts (RFC 9309, section 2.5).
pub(super) const ROBOTS_BYTES_MAX: usize = 500 << 10;
/// Rules that must be compiled; what is beyond them is left out.
const COMPILED_MAX: usize = 500;
/// Longest pause that is kept; a host that wants longer ones gets these.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Most sitemaps that a host may name.
const SITEMAPS_MAX: usize = 100;

/// The wishes of one host.
#[derive(Debug, Default)]
pub(super) struct Robots {
    rules: Option<Robot>,
    /// Least time between two requests.
    pub(super) interval: Duration,
    /// Where its sitemaps are.
    pub(super) sitemaps: Vec<String>,
}

impl Robots {
    /// Reads a `robots.txt`. What cannot be read wishes nothing.
    pub(super) fn read(content: &[u8]) -> Self {
        let content = &content[..content.len().min(ROBOTS_BYTES_MAX)];
        let mut compiled = 0;
        let mut bounded = Vec::with_capacity(content.len());
        for line in content.split(|byte| matches!(byte, b'\n' | b'\r')) {
            compiled += usize::from(line.contains(&b'$'));
            if compiled <= COMPILED_MAX || !line.contains(&b'$') {
                bounded.extend_from_slice(line);
                bounded.push(b'\n');
            }
        }
        let Ok(rules) = Robot::new(AGENT, &bounded) else { return Self::default() };
        let interval = rules.delay.map_or(0.0, f32::abs).min(PAUSE_MAX.as_secs_f32());
        let interval = Duration::try_from_secs_f32(interval).unwrap_or_default();
        let sitemaps = rules.sitemaps.iter().take(SITEMAPS_MAX).cloned().collect();
        Self { rules: Some(rules), interval, sitemaps }
    }

    /// Whether the host lets this address be read.
    pub(super) fn allows(&self, address: &str) -> bool {
        self.rules.as_ref().is_none_or(|rules| rules.allowed(address))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Robots;

    #[test]
    fn wishes_are_kept() {
        let robots = Robots::read(
            b"User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /private\nAllow: /private/a$\n\
              Crawl-delay: 2.5\nSitemap: https://example.com/map.xml\n",
        );
        assert!(robots.allows("https://example.com/"));
        assert!(!robots.allows("https://example.com/private/b"));
        assert!(robots.allows("https://example.com/private/a"));
        assert_eq!(robots.interval, Duration::from_millis(2500));
        assert_eq!(robots.sitemaps, ["https://example.com/map.xml"]);
        let named = Robots::read(b"User-agent: TROVE\nDisallow: /a\nUser-agent: *\nDisallow: /");
        assert!(named.allows("https://example.com/b") && !named.allows("https://example.com/a"));
    }

    #[test]
    fn pauses_are_bounded_and_nonsense_wishes_nothing() {
        let slow = Robots::read(b"User-agent: *\nCrawl-delay: 86400");
        assert_eq!(slow.interval, Duration::from_secs(10));
        for nonsense in ["Crawl-delay: NaN", "Crawl-delay: inf", "\0\0\0", "<html>", ""] {
            let robots = Robots::read(format!("User-agent: *\n{nonsense}").as_bytes());
            assert!(robots.allows("https://example.com/a"), "{nonsense}");
            assert!(robots.interval <= Duration::from_secs(10));
        }
    }

    /// CVE-2024-7779: patterns of strangers end.
    #[test]
    fn patterns_of_strangers_end_cve_2024_7779() {
        let rule = format!("Disallow: /{}$\n", "a*".repeat(2000));
        let robots = format!("User-agent: *\n{}", rule.repeat(100));
        let address = format!("https://example.com/{}", "a".repeat(1900));
        let _ = Robots::read(robots.as_bytes()).allows(&address);
        let stars = format!("User-agent: *\nDisallow: /{}b", "*a".repeat(5000));
        assert!(Robots::read(stars.as_bytes()).allows(&address));
    }
}
