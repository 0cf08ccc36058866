//! Files that were cut off or changed on their way.

use proptest::prelude::*;

use super::{make, read};

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
