//! What each format says: text in its order, title, links, dates.

use chrono::DateTime;

use super::{make, read, texts};

fn at(text: &str) -> Option<DateTime<chrono::Utc>> {
    text.parse().ok()
}

#[test]
fn docx() {
    let text = read("a.docx", &make::office::docx()).unwrap();
    assert_eq!(
        texts(&text),
        ["Heading\n\nGrüße 世界\nline & two\n\n- item\n\na | b\nc\n\nnew", "A note."]
    );
    assert_eq!(text.title.as_deref(), Some("The title 世界"));
    assert_eq!(text.about.authors, ["Writer", "Other writer"]);
    assert_eq!(text.about.created_at, at("2024-02-29T10:00:00Z"));
    assert_eq!(text.about.modified_at, at("2024-03-01T10:00:00Z"));
    assert_eq!(text.about.language.as_deref(), Some("de-AT"));
    assert_eq!(text.about.links, ["https://example.com/page"]);
    assert_eq!(text.about.properties["keywords"], ["one", "two"]);
    assert_eq!(text.warnings, [""; 0]);
}

#[test]
fn pptx() {
    let text = read("a.pptx", &make::office::pptx()).unwrap();
    assert_eq!(texts(&text), ["First\n\nwords\n\nsay this", "Last\n\n世界"]);
    assert_eq!(text.title.as_deref(), Some("The title 世界"));
    assert_eq!(text.warnings, [""; 0]);
}

#[test]
fn xlsx() {
    let text = read("a.xlsx", &make::office::xlsx()).unwrap();
    assert_eq!(
        texts(&text),
        ["Übersicht\n\nName | In place\n世界 | 2024-02-29 | 2 | TRUE | #N/A\n0.5"]
    );
    assert_eq!(text.warnings, [""; 0]);
}

#[test]
fn xls() {
    let text = read("a.xls", &make::xls::xls()).unwrap();
    assert_eq!(texts(&text), ["One\n\nName\n世界 | 1.5 | 2024-02-29"]);
}

#[test]
fn odt() {
    let text = read("a.odt", &make::office::odt()).unwrap();
    assert_eq!(texts(&text), ["Heading\n\nGrüße 世界\nline\n\n- item\n\na | b"]);
    assert_eq!(text.title.as_deref(), Some("The title 世界"));
    assert_eq!(text.about.authors, ["Writer"]);
    assert_eq!(text.about.created_at, at("2024-02-29T10:00:00Z"));
    assert_eq!(text.about.modified_at, at("2024-03-01T10:00:00Z"));
    assert_eq!(text.about.links, ["https://example.com/page"]);
}

#[test]
fn ods() {
    let text = read("a.ods", &make::office::ods()).unwrap();
    assert_eq!(texts(&text), ["One\n\na | b", "Two\n\n世界"]);
}

#[test]
fn pdf() {
    let text = read("a.pdf", &make::pdf::document().finish()).unwrap();
    assert_eq!(
        texts(&text),
        ["Heading\n\nThe first line of the text goes to the example. Grüße again", "世界"]
    );
    let links: Vec<_> = text.sections.iter().map(|section| section.link.as_deref()).collect();
    assert_eq!(links, [Some("#page=1"), Some("#page=2")]);
    assert_eq!(text.title.as_deref(), Some("The title"));
    assert_eq!(text.about.authors, ["Writer"]);
    assert_eq!(text.about.created_at, at("2024-02-29T08:00:00Z"));
    assert_eq!(text.about.links, ["https://example.com/page"]);
    assert_eq!(text.about.properties["keywords"], ["one", "two"]);
}

#[test]
fn a_pdf_of_pictures_says_so() {
    let text = read("a.pdf", &make::pdf::page(b"0 0 10 10 re f")).unwrap();
    assert_eq!(texts(&text), [""; 0]);
    assert_eq!(text.warnings, ["there is no text on its pages; they may be pictures"]);
}

#[test]
fn eml() {
    let text = read("a.eml", &make::eml()).unwrap();
    assert_eq!(
        texts(&text),
        ["The first line.\n\nGrüße", "page.html\n\nattached words", "inner\n\nforwarded words"]
    );
    assert_eq!(text.title.as_deref(), Some("世界 report"));
    assert_eq!(text.about.authors, ["Grüße <sender@example.com>"]);
    assert_eq!(text.about.properties["to"], ["Reader <reader@example.com>", "other@example.com"]);
    assert_eq!(text.about.properties["cc"], ["copy@example.com"]);
    assert_eq!(text.about.created_at, at("2024-02-29T08:00:00Z"));
}

#[test]
fn msg() {
    let text = read("a.msg", &make::msg()).unwrap();
    assert_eq!(texts(&text), ["The first line.\n\nGrüße", "notes.txt\n\nattached words"]);
    assert_eq!(text.title.as_deref(), Some("Report 世界"));
    assert_eq!(text.about.authors, ["Sender <sender@example.com>"]);
    assert_eq!(text.about.properties["to"], ["Reader", "Other reader"]);
    assert_eq!(text.about.created_at, at("2024-02-29T10:00:00Z"));
}

#[test]
fn epub() {
    let text = read("a.epub", &make::epub()).unwrap();
    assert_eq!(texts(&text), ["One\n\nwords", "世界"]);
    assert_eq!(text.title.as_deref(), Some("The book"));
    assert_eq!(text.about.authors, ["Writer"]);
    assert_eq!(text.about.language.as_deref(), Some("de"));
    assert_eq!(text.about.created_at, at("2024-02-29T00:00:00Z"));
}

#[test]
fn rtf() {
    let text = read("a.rtf", &make::rtf()).unwrap();
    assert_eq!(texts(&text), ["Grüße 世界\n\nsecond"]);
    assert_eq!(text.title.as_deref(), Some("The title"));
}

#[test]
fn the_name_does_not_matter() {
    for (extension, content) in make::all() {
        if extension == "eml" {
            continue;
        }
        let expected = read(&format!("a.{extension}"), &content).unwrap();
        for name in ["a.txt", "a.pdf", "a.docx", "a", "a.bin"] {
            assert_eq!(read(name, &content).as_ref(), Ok(&expected), "{extension} as {name}");
        }
    }
}
