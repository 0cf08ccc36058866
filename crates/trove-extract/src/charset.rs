//! From bytes to characters: which charset it is, and whether it is text at all.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// The content is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binary;

/// A declaration of the charset stands within so many bytes of the beginning (HTML, section
/// 13.2.3.2).
pub(crate) const DECLARATION_BYTES: usize = 1024;

/// A NUL within so many bytes means that the file is binary, as git has it. Later ones occur in
/// logs that were truncated while they were written.
const NUL_BYTES: usize = 8000;

/// First bytes of formats whose beginning may pass for text.
const MAGIC: &[&[u8]] = &[
    b"%PDF-",
    b"PK\x03\x04",
    b"{\\rtf",
    b"\x1f\x8b",
    b"BZh9",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"OggS",
    b"ID3",
    b"\x7fELF",
    b"\xca\xfe\xba\xbe",
    b"\xd0\xcf\x11\xe0",
    b"SQLite format 3",
    b"!<arch>",
];

/// Decodes text.
///
/// A byte order mark decides; else text that is UTF-8 and not only ASCII is that, whatever it
/// declares, for hardly any other text passes for it; else the declaration; else a guess.
pub(crate) fn decode<'c>(
    content: &'c [u8],
    declared: Option<&'static Encoding>,
) -> Result<Cow<'c, str>, Binary> {
    let text = if let Some((encoding, length)) = Encoding::for_bom(content) {
        encoding.decode_without_bom_handling(&content[length..]).0
    } else if is_binary(content) {
        return Err(Binary);
    } else {
        encoding_of(content, declared).decode_without_bom_handling(content).0
    };
    if is_mostly_control(&text) { Err(Binary) } else { Ok(text) }
}

/// The charset with this name, unless it cannot be the charset of text in which the name was found.
pub(crate) fn named(label: &[u8]) -> Option<&'static Encoding> {
    // A declaration that could be read as ASCII is not in UTF-16.
    let encoding = Encoding::for_label_no_replacement(label)?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// The charset of a code page of Windows.
pub(crate) fn code_page(number: u32) -> Option<&'static Encoding> {
    let label = match number {
        874 | 1250..=1258 => format!("windows-{number}"),
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        866 => "ibm866".to_owned(),
        10000 => "macintosh".to_owned(),
        20866 => "koi8-r".to_owned(),
        65001 => "utf-8".to_owned(),
        _ => return None,
    };
    Encoding::for_label(label.as_bytes())
}

/// The charset in `<?xml … encoding="…"?>`.
pub(crate) fn declared_by_xml(content: &[u8]) -> Option<&'static Encoding> {
    let declaration = content.strip_prefix(b"<?xml")?;
    let end = declaration.iter().take(DECLARATION_BYTES).position(|byte| *byte == b'>')?;
    value_of(&declaration[..end], b"encoding")
}

/// The charset that follows `key` and an equals sign, with or without quotes.
pub(crate) fn value_of(text: &[u8], key: &[u8]) -> Option<&'static Encoding> {
    let at = text.windows(key.len()).position(|window| window.eq_ignore_ascii_case(key))?;
    let value = text[at + key.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let end = value
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || b"\"';?".contains(byte))
        .unwrap_or(value.len());
    named(&value[..end])
}

fn encoding_of(content: &[u8], declared: Option<&'static Encoding>) -> &'static Encoding {
    let (mut valid, mut invalid) = (0_usize, 0_usize);
    for chunk in content.utf8_chunks() {
        valid += chunk.valid().bytes().filter(|byte| !byte.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    // A few broken characters do not make it another charset: logs mix what they are given, and
    // files get cut in the middle of one.
    if valid > 8 * invalid {
        return UTF_8;
    }
    if let Some(declared) = declared {
        return declared;
    }
    if invalid == 0 && !content.contains(&b'\x1b') {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(content, true);
    detector.guess(None, Utf8Detection::Allow)
}

/// Whether nothing in it but text is likely: it says its charset, or has no control characters.
pub(crate) fn is_clean(content: &[u8]) -> bool {
    let is_text = |byte: &u8| !byte.is_ascii_control() || b"\t\n\r\x0b\x0c".contains(byte);
    Encoding::for_bom(content).is_some() || content.iter().all(is_text)
}

fn is_binary(content: &[u8]) -> bool {
    MAGIC.iter().any(|magic| content.starts_with(magic))
        || content.iter().take(NUL_BYTES).any(|byte| *byte == 0)
}

/// Whether more than one character in twenty is a control character or the sign that one could
/// not be decoded.
fn is_mostly_control(text: &str) -> bool {
    let (mut all, mut control) = (0_usize, 0_usize);
    for character in text.chars() {
        all += 1;
        let layout = matches!(character, '\t' | '\n' | '\r' | '\u{8}' | '\u{c}' | '\u{1b}');
        let broken = character.is_control() || character == '\u{fffd}';
        control += usize::from(broken && !layout);
    }
    control > all / 20
}

#[cfg(test)]
mod tests {
    use super::{Binary, declared_by_xml, decode};

    fn check(content: &[u8], expected: &str) {
        let declared = declared_by_xml(content);
        assert_eq!(decode(content, declared).as_deref(), Ok(expected), "{content:?}");
    }

    #[test]
    fn charsets_are_recognised() {
        check("Grüße, 世界 🦀".as_bytes(), "Grüße, 世界 🦀");
        check(b"\xef\xbb\xbfa", "a");
        check(b"\xff\xfea\x00\xe4\x00", "aä");
        check(b"\xfe\xff\x00a\x00\xe4", "aä");
        check(
            b"Sch\xf6ne Gr\xfc\xdfe aus M\xfcnchen, f\xfcr \xd6sterreich",
            "Schöne Grüße aus München, für Österreich",
        );
        // "Hello, world; this is Japanese text" in Shift_JIS.
        let japanese = "こんにちは世界、これは日本語の文章です。漢字とかな。";
        let (shift_jis, _, _) = encoding_rs::SHIFT_JIS.encode(japanese);
        check(&shift_jis, japanese);
        let (iso_2022_jp, _, _) = encoding_rs::ISO_2022_JP.encode(japanese);
        check(&iso_2022_jp, japanese);
    }

    #[test]
    fn a_declaration_counts_unless_it_is_wrong() {
        check(
            b"<?xml version='1.0' encoding='ISO-8859-2'?>\xb1",
            "<?xml version='1.0' encoding='ISO-8859-2'?>ą",
        );
        let wrong = "<?xml version='1.0' encoding='ISO-8859-1'?>ąę";
        check(wrong.as_bytes(), wrong);
        check(b"<?xml encoding=\"utf-16\"?>a", "<?xml encoding=\"utf-16\"?>a");
    }

    #[test]
    fn a_broken_character_does_not_spoil_the_rest() {
        let mut log = "Grüße aus Köln, größer als üblich".as_bytes().to_vec();
        log.push(0xe4);
        check(&log, "Grüße aus Köln, größer als üblich\u{fffd}");
    }

    #[test]
    fn binary_data_is_refused() {
        for content in [
            b"a\0b".as_slice(),
            b"%PDF-1.7\n% fine so far",
            b"PK\x03\x04",
            b"\x01\x02\x03abc",
            b"\xff\xfe\x00\xd8\x00\xd8\x00\xd8",
        ] {
            assert_eq!(decode(content, None), Err(Binary), "{content:?}");
        }
    }

    #[test]
    fn a_hole_in_a_long_log_is_not_binary() {
        let mut log = "a line of the log\n".repeat(1000).into_bytes();
        log.extend([0; 100]);
        assert!(decode(&log, None).is_ok());
    }
}
