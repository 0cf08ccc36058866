//! Archives of files.

use trove_domain::port::ExtractError;

use super::{make, read, texts};

#[test]
fn files_are_read_in_their_order_under_their_names() {
    let inner = make::zip(&[("deep.txt", b"deep words")]);
    let archive = make::zip(&[
        ("b.txt", b"second"),
        ("dir/a.docx", &make::office::docx_of("<w:p><w:r><w:t>first</w:t></w:r></w:p>")),
        ("picture.png", b"\x89PNG\r\n"),
        ("inner.zip", &inner),
    ]);
    let text = read("a.zip", &archive).unwrap();
    assert_eq!(
        texts(&text),
        [
            "b.txt\n\nsecond",
            "dir/a.docx\n\nfirst",
            "A note.",
            "inner.zip\n\ndeep.txt\n\ndeep words"
        ]
    );
    assert_eq!(text.title, None);
    assert_eq!(text.warnings, ["1 of 4 files in it are of other types"]);
}

#[test]
fn names_that_lead_elsewhere_are_not_read() {
    let archive = make::zip(&[
        ("../../etc/passwd.txt", b"a"),
        ("/etc/passwd.txt", b"b"),
        ("C:\\a.txt", b"c"),
        ("a\0.txt", b"d"),
        ("good.txt", b"good"),
        ("good.txt", b"twice"),
    ]);
    let text = read("a.zip", &archive).unwrap();
    assert_eq!(texts(&text), ["good.txt\n\ngood"]);
    assert_eq!(text.warnings.len(), 5, "{:?}", text.warnings);
}

#[test]
fn a_broken_file_does_not_spoil_the_others() {
    let mut broken = make::office::docx();
    broken.truncate(broken.len() / 2);
    let archive = make::zip(&[("a.docx", &broken), ("b.txt", b"words")]);
    let text = read("a.zip", &archive).unwrap();
    assert_eq!(texts(&text), ["b.txt\n\nwords"]);
    assert!(text.warnings[0].starts_with("a.docx: the file is no readable"), "{:?}", text.warnings);
}

/// Sets the flag of encryption of all parts.
fn encrypted(mut archive: Vec<u8>) -> Vec<u8> {
    for (signature, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let places: Vec<usize> =
            (0..archive.len() - 4).filter(|at| archive[*at..].starts_with(signature)).collect();
        for place in places {
            archive[place + flags] |= 1;
        }
    }
    archive
}

#[test]
fn what_is_encrypted_says_so() {
    let archive = encrypted(make::zip(&[("a.txt", b"words")]));
    assert_eq!(read("a.zip", &archive), Err(ExtractError::Encrypted));
    assert_eq!(read("a.docx", &encrypted(make::office::docx())), Err(ExtractError::Encrypted));
    let office = make::compound(&[("/EncryptedPackage", b"x"), ("/EncryptionInfo", b"x")]);
    assert_eq!(read("a.docx", &office), Err(ExtractError::Encrypted));
    let odt = make::zip(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", b"\x00\x01"),
        (
            "META-INF/manifest.xml",
            b"<manifest><file-entry><encryption-data/></file-entry></manifest>",
        ),
    ]);
    assert_eq!(read("a.odt", &odt), Err(ExtractError::Encrypted));
    let mut pdf = make::pdf::document();
    pdf.trailer(
        "/Encrypt << /Filter /Standard /V 1 /R 2 /P -1 /O <00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff> \
         /U <00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff> >> /ID [<00> <00>]",
    );
    assert_eq!(read("a.pdf", &pdf.finish()), Err(ExtractError::Encrypted));
}

#[test]
fn older_documents_are_told_from_broken_ones() {
    let document = make::compound(&[("/WordDocument", b"x")]);
    let expected = ExtractError::UnsupportedFormat { extension: "doc".to_owned() };
    assert_eq!(read("a.docx", &document), Err(expected));
}
