//! Metadata in the first line of a text.

use serde_json::{Map, Value};

/// What the line begins with, behind `#` or in a comment of HTML.
const MARKER: &str = "ONYX_METADATA";
/// So much of a file is looked at for its first line.
pub(super) const FIRST_LINE_BYTES_MAX: u64 = 64 << 10;
/// Files in which such a line may stand.
const PLAIN: [&str; 15] = [
    "txt", "text", "md", "mdx", "markdown", "conf", "log", "json", "csv", "tsv", "xml", "yml",
    "yaml", "sql", "rst",
];

/// Whether files with this extension may have such a line.
pub(super) fn may_have(extension: &str) -> bool {
    PLAIN.contains(&extension)
}

/// The metadata in the first line, and how many bytes it takes with its end; `None` if the first
/// line is none of metadata.
pub(super) fn read(head: &[u8]) -> Option<(Map<String, Value>, u64)> {
    let mark = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let most = usize::try_from(FIRST_LINE_BYTES_MAX).unwrap_or(usize::MAX);
    let head = &head[..head.len().min(most)];
    let end = head[mark..].iter().position(|byte| *byte == b'\n');
    let end = end.map_or(head.len(), |end| mark + end + 1);
    let line = std::str::from_utf8(&head[mark..end]).ok()?.trim();
    let inside = match line.strip_prefix("<!--") {
        Some(comment) => comment.strip_suffix("-->")?,
        None => line.strip_prefix('#')?,
    };
    let object = inside.trim().strip_prefix(MARKER)?.trim_start();
    let object = object.strip_prefix(['=', ':']).unwrap_or(object).trim_start();
    if !object.starts_with('{') {
        return None;
    }
    // The first closing brace is the end of it.
    let object = &object[..=object.find('}')?];
    let about = serde_json::from_str(object).ok()?;
    Some((about, u64::try_from(end).ok()?))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_first_line_may_be_metadata() {
        for line in [
            "#ONYX_METADATA={\"a\": \"b\"}\n",
            "# ONYX_METADATA {\"a\": \"b\"}\n",
            "<!-- ONYX_METADATA={\"a\":\"b\"} -->\n",
            "<!--ONYX_METADATA: {\"a\":\"b\"}-->\n",
            "\u{feff}#ONYX_METADATA={\"a\":\"b\"}\n",
        ] {
            let text = format!("{line}rest");
            let (about, length) = read(text.as_bytes()).unwrap();
            assert_eq!(about["a"], "b", "{line}");
            assert_eq!(length, u64::try_from(line.len()).unwrap());
        }
        assert!(read(b"#ONYX_METADATA={\"a\":\"b\"}").is_some());
        for none in [
            "ONYX_METADATA={\"a\":\"b\"}\n",
            "#ONYX_METADATA=[]\n",
            "#ONYX_METADATA={\"a\":{\"b\":\"c\"}}\n",
            "#ONYX_METADATA={\"a\"\n",
            "#ONYX_METADATA\n{\"a\":\"b\"}\n",
            "<!-- ONYX_METADATA={\"a\":\"b\"}\n",
            "text\n#ONYX_METADATA={\"a\":\"b\"}\n",
            "",
            "#",
        ] {
            assert!(read(none.as_bytes()).is_none(), "{none}");
        }
    }
}
