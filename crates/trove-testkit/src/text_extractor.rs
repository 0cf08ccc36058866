//! What every [`TextExtractor`] does.

#![expect(clippy::missing_panics_doc, reason = "a case fails by panicking")]
#![expect(clippy::unused_async, reason = "the cases of all suites have one shape")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use trove_domain::port::{ExtractError, TextExtractor};

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option` of something that dereferences to an extractor.
#[macro_export]
macro_rules! text_extractor_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            text_extractor,
            $start,
            [
                extensions_are_in_lower_case_and_without_a_dot,
                each_extension_is_listed_once,
                the_case_of_an_extension_does_not_matter,
                only_the_extension_of_a_name_matters,
                another_extension_is_not_supported,
                a_name_without_an_extension_is_not_supported,
                a_wrong_extension_does_not_matter,
                text_under_the_name_of_a_document_is_text,
                a_file_gives_what_its_bytes_give,
                what_is_no_file_is_unreadable,
                no_bytes_at_all_are_answered,
                any_bytes_are_answered,
                the_same_bytes_give_the_same_text,
                a_title_is_one_line_and_not_blank,
                absurd_nesting_is_answered_in_linear_time,
            ]
        );
    };
}

/// The engine compares in lower case.
pub async fn extensions_are_in_lower_case_and_without_a_dot(extractor: &dyn TextExtractor) {
    assert!(!extractor.extensions().is_empty());
    for extension in extractor.extensions() {
        assert!(!extension.is_empty());
        assert_eq!(extension.to_lowercase(), *extension);
        assert!(!extension.contains('.'), "{extension}");
    }
}

/// The list is shown to people.
pub async fn each_extension_is_listed_once(extractor: &dyn TextExtractor) {
    let extensions: BTreeSet<_> = extractor.extensions().iter().collect();
    assert_eq!(extensions.len(), extractor.extensions().len());
}

/// Old cameras and Windows write `README.TXT`.
pub async fn the_case_of_an_extension_does_not_matter(extractor: &dyn TextExtractor) {
    for extension in extractor.extensions() {
        let upper = format!("file.{}", extension.to_uppercase());
        let lower = format!("file.{extension}");
        assert_eq!(extractor.extract(&upper, b"text"), extractor.extract(&lower, b"text"));
    }
}

/// Neither folders nor dots nor odd characters before the extension decide anything.
pub async fn only_the_extension_of_a_name_matters(extractor: &dyn TextExtractor) {
    for extension in extractor.extensions() {
        let expected = extractor.extract(&format!("file.{extension}"), b"text");
        for name in ["a.b", "dir.pdf/file", "../..", "世界 🦀", "a b\n\"'"] {
            assert_eq!(extractor.extract(&format!("{name}.{extension}"), b"text"), expected);
        }
    }
}

/// The error names the extension.
pub async fn another_extension_is_not_supported(extractor: &dyn TextExtractor) {
    let expected = ExtractError::UnsupportedFormat { extension: "no-such-format".to_owned() };
    assert_eq!(extractor.extract("a.no-such-format", b"text"), Err(expected.clone()));
    assert_eq!(extractor.extract("a.txt.no-such-format", b"text"), Err(expected));
}

/// Text has no first bytes that tell, so of text the name must say that it is some.
pub async fn a_name_without_an_extension_is_not_supported(extractor: &dyn TextExtractor) {
    for name in ["", "file", ".", "..", "dir.d/file"] {
        assert_eq!(
            extractor.extract(name, b"text"),
            Err(ExtractError::UnsupportedFormat { extension: String::new() }),
            "{name:?}"
        );
    }
}

/// What the first bytes say counts, under any name.
pub async fn a_wrong_extension_does_not_matter(extractor: &dyn TextExtractor) {
    let document = b"{\\rtf1\\ansi some {\\b words}}";
    if !extractor.extensions().contains(&"rtf") {
        return;
    }
    for name in ["a.rtf", "a.txt", "a.pdf", "a.html", "a.no-such-format", "a"] {
        let extracted = extractor.extract(name, document).unwrap();
        let texts: Vec<_> = extracted.sections.iter().map(|section| &*section.text).collect();
        assert_eq!(texts, ["some words"], "{name}");
    }
}

/// The error page that was saved instead of a document is not lost, and not taken for it.
pub async fn text_under_the_name_of_a_document_is_text(extractor: &dyn TextExtractor) {
    for extension in ["pdf", "docx", "xls", "zip"] {
        if !extractor.extensions().contains(&extension) {
            continue;
        }
        let name = format!("a.{extension}");
        let extracted = extractor.extract(&name, b"<!DOCTYPE html><p>some <b>words</b>").unwrap();
        let texts: Vec<_> = extracted.sections.iter().map(|section| &*section.text).collect();
        assert_eq!(texts, ["some words"], "{name}");
        assert_eq!(extracted.warnings.len(), 1, "{name}");
    }
}

/// It makes no difference where the bytes are.
pub async fn a_file_gives_what_its_bytes_give(extractor: &dyn TextExtractor) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (number, content) in samples().into_iter().enumerate() {
        std::fs::write(&path, &content).unwrap();
        for extension in extractor.extensions() {
            let name = format!("{number}.{extension}");
            assert_eq!(
                extractor.extract_file(&name, &path),
                extractor.extract(&name, &content),
                "{name}"
            );
        }
    }
}

/// Neither what is not there nor what is a folder is read.
pub async fn what_is_no_file_is_unreadable(extractor: &dyn TextExtractor) {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), &folder.path().join("missing")] {
        let answer = extractor.extract_file("a.txt", path);
        assert!(matches!(answer, Err(ExtractError::Unreadable { .. })), "{answer:?}");
    }
}

/// An empty file is an answer, not an accident.
pub async fn no_bytes_at_all_are_answered(extractor: &dyn TextExtractor) {
    for extension in extractor.extensions() {
        if let Ok(extracted) = extractor.extract(&format!("file.{extension}"), b"") {
            assert!(extracted.sections.iter().all(|section| section.text.trim().is_empty()));
        }
    }
}

/// Nothing panics and nothing hangs.
pub async fn any_bytes_are_answered(extractor: &dyn TextExtractor) {
    for extension in extractor.extensions() {
        for content in samples() {
            let _answer = extractor.extract(&format!("file.{extension}"), &content);
        }
    }
}

/// A document that is indexed again must not seem changed.
pub async fn the_same_bytes_give_the_same_text(extractor: &dyn TextExtractor) {
    for extension in extractor.extensions() {
        for content in samples() {
            let name = format!("file.{extension}");
            assert_eq!(extractor.extract(&name, &content), extractor.extract(&name, &content));
        }
    }
}

/// A title is shown in lists.
pub async fn a_title_is_one_line_and_not_blank(extractor: &dyn TextExtractor) {
    let documents =
        ["# A\n\nb", "---\ntitle: A\n---\nb", "<title> A\nb </title>c", "<h1>\n</h1>a", "A\n===\n"];
    for extension in extractor.extensions() {
        for content in documents {
            let extracted = extractor.extract(&format!("file.{extension}"), content.as_bytes());
            if let Ok(Some(title)) = extracted.map(|extracted| extracted.title) {
                assert!(!title.trim().is_empty(), "{extension} {content:?}");
                assert!(!title.contains(['\n', '\r']), "{extension} {title:?}");
            }
        }
    }
}

/// Neither the stack nor the patience of others is used up by a small file.
pub async fn absurd_nesting_is_answered_in_linear_time(extractor: &dyn TextExtractor) {
    for extension in extractor.extensions() {
        let name = format!("file.{extension}");
        for (opening, then) in [("<div>", "</div>"), ("[", "]"), ("- ", "\na"), ("{\"a\":", "}")] {
            let time = |count: usize| {
                let content = opening.repeat(count) + &then.repeat(count);
                let start = Instant::now();
                let _answer = extractor.extract(&name, content.as_bytes());
                start.elapsed()
            };
            let (small, large) = (time(2_000), time(20_000));
            // Ten times the input; quadratic work would take a hundred times as long. The rest is
            // for other work on the machine.
            assert!(
                large < small * 30 + Duration::from_secs(1),
                "{extension} {opening}: {small:?}, then {large:?}"
            );
        }
    }
}

fn samples() -> Vec<Vec<u8>> {
    let mut samples: Vec<Vec<u8>> = [
        b"".as_slice(),
        b"\0",
        b"\n",
        b"\xff",
        b"\xff\xfe",
        b"\xfe\xff\0",
        b"\xef\xbb\xbf",
        b"\xc3",
        b"\xe4\xb8\x96\xe7",
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj<<",
        b"PK\x03\x04\x14\0",
        b"\x1f\x8b\x08",
        b"<",
        b"<!--",
        b"<![CDATA[",
        b"<script>",
        b"&#xffffffffffffffff;",
        b"---\n",
        b"[](",
        b"```",
        b"|-",
        b"\x1b[",
        b"\"",
        b"{",
    ]
    .into_iter()
    .map(<[u8]>::to_vec)
    .collect();
    samples.push((0..=u8::MAX).collect());
    // Noise of a linear congruential generator (Numerical Recipes): the same in every run.
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    samples.push((0..4096).map(|_| noise()).collect());
    samples.push((0..4096).map(|_| noise() & 0x7f | 0x20).collect());
    samples
}
