//! Files that somebody made to use up a server. What each costs is counted, not timed.

use trove_domain::port::{ExtractError, Resource};
use trove_extract::Budget;

use super::{make, read, read_within, texts};

fn out_of(
    resource: Resource,
    limit: u64,
) -> Result<trove_domain::port::ExtractedText, ExtractError> {
    Err(ExtractError::OutOfBudget { resource, limit })
}

/// Small enough that the files that exceed them are quickly made.
fn small() -> Budget {
    Budget { unpacked_bytes: 13_000_000, part_bytes: 9_000_000, ..Budget::default() }
}

#[test]
fn flat_bombs() {
    let zeros = vec![b'0'; 10_000_000];
    let archive = make::zip(&[("a.txt", &zeros)]);
    assert!(archive.len() < 20_000);
    assert_eq!(read_within(small(), "a.zip", &archive), out_of(Resource::Ratio, 250));
    let dull = Budget { ratio: 2000, ..small() };
    assert_eq!(read_within(dull, "a.zip", &archive), out_of(Resource::PartBytes, 9_000_000));
    let part = &zeros[..5_000_000];
    let many = make::zip(&[("a.bin.txt", part), ("b.txt", part), ("c.txt", part)]);
    let long = Budget { chars: 100_000_000, ..dull };
    assert_eq!(read_within(long, "a.zip", &many), out_of(Resource::UnpackedBytes, 13_000_000));
}

#[test]
fn bombs_in_documents() {
    let blanks = " ".repeat(10_000_000);
    let body = format!("<w:p>{blanks}</w:p>");
    assert_eq!(
        read_within(small(), "a.docx", &make::office::docx_of(&body)),
        out_of(Resource::Ratio, 250)
    );
    assert_eq!(
        read_within(small(), "a.xlsx", &make::office::xlsx_of(&blanks)),
        out_of(Resource::Ratio, 250)
    );
}

#[test]
fn nested_bombs() {
    let mut archive = make::zip(&[("a.txt", b"words")]);
    for _ in 0..10 {
        archive = make::zip(&[("a.zip", &archive)]);
    }
    assert_eq!(read("a.zip", &archive), out_of(Resource::Nesting, 4));
}

#[test]
fn mail_in_mail() {
    let mut message = "Subject: a\r\n\r\nwords".to_owned();
    for _ in 0..50 {
        message = format!("Content-Type: message/rfc822\r\n\r\n{message}");
    }
    let _answer = read("a.eml", message.as_bytes());
    let mut message = "Subject: a\r\n\r\nwords".to_owned();
    for depth in 0..200 {
        message = format!(
            "Content-Type: multipart/mixed; boundary=b{depth}\r\n\r\n--b{depth}\r\n{message}\r\n--b{depth}--\r\n"
        );
    }
    let _answer = read("a.eml", message.as_bytes());
}

/// An archive that contains itself, as far as a reader can tell: each level is taken from the same
/// bytes.
#[test]
fn quines() {
    // A stored part whose content is the whole archive before it cannot be made without the trick
    // of the quine; to the reader it is the same as an archive that is nested without end.
    let mut archive = make::zip(&[]);
    for _ in 0..20 {
        archive = make::zip(&[("r/r.zip", &archive), ("x.txt", b"x")]);
    }
    assert_eq!(read("r.zip", &archive), out_of(Resource::Nesting, 4));
}

#[test]
fn a_million_entries() {
    // The list of parts alone: 46 bytes and a name each, all of one part.
    let one = make::zip(&[("a.txt", b"words")]);
    let list = one.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let end = one.windows(4).position(|window| window == b"PK\x05\x06").unwrap();
    let mut archive = one[..list].to_vec();
    for _ in 0..1_000_000 {
        archive.extend(&one[list..end]);
    }
    let size = u32::try_from(archive.len() - list).unwrap();
    let mut tail = one[end..].to_vec();
    tail[12..16].copy_from_slice(&size.to_le_bytes());
    archive.extend(tail);
    assert_eq!(read("a.zip", &archive), out_of(Resource::Entries, 50_000));
}

#[test]
fn entities_do_not_expand() {
    let laugh = |n| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10));
    let laughs = (1..10).map(laugh).collect::<Vec<_>>().concat();
    let bomb = format!("<!DOCTYPE a [<!ENTITY l0 \"ha\">{laughs}]><a>x&l9;y</a>");
    assert_eq!(texts(&read("a.xml", bomb.as_bytes()).unwrap()), ["xy"]);
    let body = "<w:p><w:r><w:t>x&l9;y</w:t></w:r></w:p>";
    assert_eq!(texts(&read("a.docx", &make::office::docx_of(body)).unwrap())[0], "xy");
}

#[test]
fn deep_markup() {
    let deep = "<w:p>".repeat(100_000);
    assert_eq!(read("a.docx", &make::office::docx_of(&deep)), out_of(Resource::Depth, 500));
    let deep = "<a>".repeat(100_000);
    assert_eq!(read("a.xml", deep.as_bytes()), out_of(Resource::Depth, 500));
}

#[test]
fn much_markup() {
    let many = "<w:r/>".repeat(20_000);
    let few = Budget { events: 10_000, ..Budget::default() };
    assert_eq!(
        read_within(few, "a.docx", &make::office::docx_of(&many)),
        out_of(Resource::Events, 10_000)
    );
}

#[test]
fn a_text_that_cells_repeat() {
    let cells = "<c t='s'><v>1</v></c>".repeat(10_000);
    let budget = Budget { chars: 5_000, ..Budget::default() };
    assert_eq!(
        read_within(budget, "a.xlsx", &make::office::xlsx_of(&format!("<row>{cells}</row>"))),
        Err(ExtractError::TooLong { max_chars: 5_000 })
    );
}

#[test]
fn deep_pdfs() {
    for open in ["[", "<<", "<< /A "] {
        let mut pdf = make::pdf::Pdf::new();
        pdf.object(format!("<< /Type /Catalog /Pages 2 0 R /X {}", open.repeat(20_000)));
        pdf.object("<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000000 >>");
        let _answer = read("a.pdf", &pdf.finish());
    }
    let deep = "q [".repeat(2_000);
    assert!(read("a.pdf", &make::pdf::page(deep.as_bytes())).is_ok());
}

#[test]
fn forms_that_draw_themselves() {
    let mut pdf = make::pdf::Pdf::new();
    pdf.object("<< /Type /Catalog /Pages 2 0 R >>")
        .object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
        .object("<< /Type /Page /Parent 2 0 R /Resources << /XObject << /X 5 0 R >> >> /Contents 4 0 R >>")
        .stream("", b"/X Do")
        .stream(
            "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>",
            b"/X Do",
        );
    assert!(read("a.pdf", &pdf.finish()).is_ok());
}

#[test]
fn pages_are_counted() {
    let kids = "4 0 R ".repeat(3);
    let mut pdf = make::pdf::Pdf::new();
    pdf.object("<< /Type /Catalog /Pages 2 0 R >>")
        .object(format!("<< /Type /Pages /Kids [3 0 R {kids}] /Count 4 >>"))
        .object("<< /Type /Page /Parent 2 0 R >>")
        .object("<< /Type /Page /Parent 2 0 R >>");
    let few = Budget { pages: 1, ..Budget::default() };
    assert_eq!(read_within(few, "a.pdf", &pdf.finish()), out_of(Resource::Pages, 1));
}

#[test]
fn lying_lengths() {
    // Sizes in the list of an archive say four gigabytes, or nothing.
    for lie in [u32::MAX - 1, 0] {
        let mut archive = make::zip(&[("a.txt", b"some words, and more words")]);
        let list = archive.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
        archive[list + 24..list + 28].copy_from_slice(&lie.to_le_bytes());
        let text = read("a.zip", &archive).unwrap();
        assert!(text.sections.is_empty() && !text.warnings.is_empty(), "{text:?}");
    }
    let mut pdf = make::pdf::Pdf::new();
    pdf.object("<< /Type /Catalog /Pages 2 0 R >>").object("<< /Length 99999999999 >>\nstream\nx");
    let _answer = read("a.pdf", &pdf.finish());
}

#[test]
fn odd_characters() {
    assert_eq!(read("a.txt", b"a\0b"), Err(ExtractError::Binary));
    let text = read("a.json", br#"{"a": "\ud800", "b": "\u0000x"}"#).unwrap();
    assert_eq!(texts(&text), [r#"{"a": "\ud800", "b": "\u0000x"}"#]);
    let body = "<w:p><w:r><w:t>a&#xd800;&#0;b\u{fffe}</w:t></w:r></w:p>";
    assert_eq!(texts(&read("a.docx", &make::office::docx_of(body)).unwrap())[0], "ab\u{fffe}");
    let unpaired = make::compound(&[
        ("/__properties_version1.0", &[0; 32]),
        ("/__substg1.0_1000001F", &[0x00, 0xd8, 0x41, 0x00]),
    ]);
    assert_eq!(texts(&read("a.msg", &unpaired).unwrap()), ["\u{fffd}A"]);
}

#[test]
fn the_time_is_bounded() {
    let none = Budget { time: std::time::Duration::ZERO, ..Budget::default() };
    let error = ExtractError::TimedOut { after: std::time::Duration::ZERO };
    for (name, content) in
        [("a.docx", make::office::docx()), ("a.pdf", make::pdf::document().finish())]
    {
        assert_eq!(read_within(none, name, &content), Err(error.clone()), "{name}");
    }
}

#[test]
fn a_file_that_is_too_large_is_not_looked_at() {
    let budget = Budget { file_bytes: 10, ..Budget::default() };
    assert_eq!(read_within(budget, "a.pdf", &[0; 11]), out_of(Resource::FileBytes, 10));
}
