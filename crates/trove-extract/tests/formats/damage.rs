//! Files that were cut off or changed on their way.

use proptest::prelude::*;

use trove_domain::port::ExtractError;

use super::{make, read, texts};

/// Bytes that say nothing, the same in each run.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let step = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(step).collect()
}

#[test]
fn a_file_that_is_cut_off_is_an_answer() {
    for (extension, content) in make::all() {
        for part in 0..20 {
            let cut = &content[..content.len() * part / 20];
            // Neither panics nor hangs; what is left of it may be text.
            if let Err(error) = read(&format!("a.{extension}"), cut) {
                assert!(!error.to_string().is_empty() && !error.remedy().is_empty());
            }
        }
    }
}

#[test]
fn an_empty_file_has_no_text() {
    for (extension, _) in make::all() {
        if let Ok(text) = read(&format!("a.{extension}"), b"") {
            assert!(text.sections.is_empty(), "{extension}");
        }
    }
}

/// Nobody finds it by what its bytes look like.
#[test]
fn a_document_without_its_beginning_is_no_text() {
    for (extension, content) in make::all() {
        if extension == "eml" {
            continue;
        }
        let name = format!("a.{extension}");
        for (what, broken) in [
            ("it has lost its first bytes", content[8..].to_vec()),
            ("it is noise", noise(4000)),
            ("it is a little noise", noise(40)),
            ("it is noise without NUL", noise(4000).into_iter().filter(|b| *b != 0).collect()),
        ] {
            let answer = read(&name, &broken);
            assert!(
                matches!(answer, Err(ExtractError::Malformed { .. })),
                "{name} {what}: {answer:?}"
            );
            let told = answer.unwrap_err().to_string();
            let expected = format!("the file is no readable {}: ", extension.to_uppercase());
            assert!(told.starts_with(&expected), "{told}");
        }
    }
}

#[test]
fn a_beginning_alone_makes_no_document() {
    for (name, beginning) in [
        ("a.pdf", b"%PDF-1.7\n".as_slice()),
        ("a.docx", b"PK\x03\x04"),
        ("a.epub", b"PK\x03\x04"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        ("a.msg", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    ] {
        let broken = [beginning, &noise(4000)].concat();
        let answer = read(name, &broken);
        assert!(matches!(answer, Err(ExtractError::Malformed { .. })), "{name}: {answer:?}");
    }
}

/// The archive is whole, and what should be the text is noise.
#[test]
fn noise_inside_a_document_is_no_text() {
    let noise = noise(4000);
    let types = ("[Content_Types].xml", b"<Types/>".as_slice());
    let mimetype = |of: &'static str| ("mimetype", of.as_bytes());
    for (name, parts) in [
        ("a.docx", vec![types, ("word/document.xml", &noise)]),
        ("a.pptx", vec![types, ("ppt/presentation.xml", &noise)]),
        ("a.xlsx", vec![types, ("xl/workbook.xml", &noise)]),
        (
            "a.odt",
            vec![mimetype("application/vnd.oasis.opendocument.text"), ("content.xml", &noise)],
        ),
        ("a.epub", vec![mimetype("application/epub+zip"), ("META-INF/container.xml", &noise)]),
    ] {
        match read(name, &make::zip(&parts)) {
            Err(error) => assert!(error.to_string().contains("no readable"), "{name}: {error}"),
            Ok(text) => assert_eq!(texts(&text).concat(), "", "{name}: {text:?}"),
        }
    }
}

/// Programs export tables so, and an error page is saved in place of a document.
#[test]
fn text_that_programs_save_under_another_name_is_read() {
    for (name, content) in [
        ("a.xls", b"Name\tValue\r\nGr\xfc\xdfe\t1".as_slice()),
        ("a.pdf", b"<!DOCTYPE html><p>Sign in first"),
    ] {
        let text = read(name, content).unwrap();
        assert!(!texts(&text).is_empty(), "{name}");
        assert!(text.warnings[0].contains("not what its name says"), "{:?}", text.warnings);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_bytes_are_answered(
        file in 0..make::all().len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let (extension, mut content) = make::all().swap_remove(file);
        for (at, byte) in changes {
            let at = at.index(content.len());
            content[at] = byte;
        }
        let _answer = read(&format!("a.{extension}"), &content);
    }

    #[test]
    fn changed_markup_is_answered(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<w:p>", "</w:p>", "<w:t>", "</w:t>", "<w:tbl>", "</w:tbl>", "<w:tr>", "</w:tr>",
            "<w:tc>", "</w:tc>", "text", "&amp;", "&#0;", "&#xd800;", "<!--", "-->", "<![CDATA[",
            "]]>", "<w:br/>", "\u{0}", "<mc:Fallback>", "</mc:Fallback>",
        ]), 0..40),
    ) {
        let _answer = read("a.docx", &make::office::docx_of(&pieces.concat()));
    }

    #[test]
    fn any_rtf_is_answered(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "\\", "\\par ", "\\u", "-10179", "\\'", "e4", "\\*", "\\bin", "9", " ", "a",
            "\\fonttbl", "\\f1", "\\fcharset128", "\\info", "\\title", "\\cell", "\\row", "\\trowd",
            "\\uc0", "\\v", "\\pict", "\\fldinst", "HYPERLINK", "\u{0}", "ä",
        ]), 0..60),
    ) {
        let rtf = format!("{{\\rtf1{}", pieces.concat());
        let text = read("a.rtf", rtf.as_bytes()).unwrap();
        for section in text.sections {
            prop_assert_eq!(section.text.trim_end(), section.text.as_str());
        }
    }
}
