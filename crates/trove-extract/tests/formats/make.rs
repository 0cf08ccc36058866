//! Files of all formats, made from their parts.

pub(crate) mod office;
pub(crate) mod pdf;
pub(crate) mod xls;

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::{CompressionMethod, ZipArchiveWriter};

/// A ZIP archive of these parts.
pub(crate) fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut out);
    for (name, content) in parts {
        let name = rawzip::path::EntryPath::verbatim(name.as_bytes());
        let file = archive.new_file(name).compression_method(CompressionMethod::DEFLATE);
        let (mut entry, config) = file.start().unwrap();
        let encoder = DeflateEncoder::new(&mut entry, Compression::best());
        let mut writer = config.wrap(encoder);
        writer.write_all(content).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}

/// A compound file of these streams; folders are made as they are needed.
pub(crate) fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let out = Cursor::new(Vec::new());
    let mut file = cfb::CompoundFile::create_with_version(cfb::Version::V3, out).unwrap();
    for (path, content) in streams {
        if let Some((folder, _)) = path.rsplit_once('/').filter(|(folder, _)| !folder.is_empty()) {
            file.create_storage_all(folder).unwrap();
        }
        file.create_stream(path).unwrap().write_all(content).unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}

/// Text in UTF-16, as Windows has it.
pub(crate) fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A message of Outlook with an attachment.
pub(crate) fn msg() -> Vec<u8> {
    let mut properties = vec![0; 32];
    // Sent on 29 February 2024 at 10:00, in tenths of a microsecond since 1601.
    let sent: i64 = (1_709_200_800 + 11_644_473_600) * 10_000_000;
    properties.extend(0x0039_0040_u32.to_le_bytes());
    properties.extend([0; 4]);
    properties.extend(sent.to_le_bytes());
    let attachment = "/__attach_version1.0_#00000000";
    compound(&[
        ("/__properties_version1.0", &properties),
        ("/__substg1.0_0037001F", &wide("Report 世界")),
        ("/__substg1.0_0C1A001F", &wide("Sender")),
        ("/__substg1.0_5D01001F", &wide("sender@example.com")),
        ("/__substg1.0_0E04001F", &wide("Reader; Other reader")),
        ("/__substg1.0_1000001F", &wide("The first line.\r\n\r\nGrüße")),
        (&format!("{attachment}/__substg1.0_3707001F"), &wide("notes.txt")),
        (&format!("{attachment}/__substg1.0_37010102"), b"attached words"),
    ])
}

/// A message with two forms of its text and two attachments.
pub(crate) fn eml() -> Vec<u8> {
    "From: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?= <sender@example.com>\r\n\
     To: Reader <reader@example.com>, other@example.com\r\n\
     Cc: copy@example.com\r\n\
     Subject: =?UTF-8?B?5LiW55WM?= report\r\n\
     Date: Thu, 29 Feb 2024 10:00:00 +0200\r\n\
     MIME-Version: 1.0\r\n\
     Content-Type: multipart/mixed; boundary=outer\r\n\
     \r\n\
     --outer\r\n\
     Content-Type: multipart/alternative; boundary=inner\r\n\
     \r\n\
     --inner\r\n\
     Content-Type: text/plain; charset=iso-8859-1\r\n\
     Content-Transfer-Encoding: quoted-printable\r\n\
     \r\n\
     The first line.\r\n\r\nGr=FC=DFe\r\n\
     --inner\r\n\
     Content-Type: text/html\r\n\
     \r\n\
     <p>The same again</p>\r\n\
     --inner--\r\n\
     --outer\r\n\
     Content-Type: text/html; name=\"page.html\"\r\n\
     Content-Disposition: attachment; filename=\"page.html\"\r\n\
     \r\n\
     <p>attached <b>words</b></p>\r\n\
     --outer\r\n\
     Content-Type: message/rfc822\r\n\
     \r\n\
     Subject: inner\r\n\
     Content-Type: text/plain\r\n\
     \r\n\
     forwarded words\r\n\
     --outer--\r\n"
        .as_bytes()
        .to_vec()
}

/// A book of two chapters.
pub(crate) fn epub() -> Vec<u8> {
    zip(&[
        ("mimetype", b"application/epub+zip"),
        (
            "META-INF/container.xml",
            b"<container><rootfiles><rootfile full-path='OEBPS/book.opf'/></rootfiles></container>",
        ),
        (
            "OEBPS/book.opf",
            "<package xmlns:dc='x'><metadata><dc:title>The book</dc:title>\
             <dc:creator>Writer</dc:creator><dc:language>de</dc:language>\
             <dc:date>2024-02-29</dc:date></metadata><manifest>\
             <item id='b' href='second%20part.xhtml'/><item id='a' href='a.xhtml'/></manifest>\
             <spine><itemref idref='a'/><itemref idref='b'/></spine></package>"
                .as_bytes(),
        ),
        ("OEBPS/second part.xhtml", "<html><body><p>世界</p></body></html>".as_bytes()),
        (
            "OEBPS/a.xhtml",
            b"<html><head><title>One</title></head><body><h1>One</h1><p>words</p></body></html>",
        ),
    ])
}

/// A text with a title, an author and a link.
pub(crate) fn rtf() -> Vec<u8> {
    b"{\\rtf1\\ansi\\ansicpg1252{\\info{\\title The title}{\\author Writer}}\
      Gr\\'fc\\'dfe \\u19990?\\u30028?\\par second}"
        .to_vec()
}

/// One file of each format that has an inside, by its extension.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("docx", office::docx()),
        ("pptx", office::pptx()),
        ("xlsx", office::xlsx()),
        ("odt", office::odt()),
        ("ods", office::ods()),
        ("xls", xls::xls()),
        ("pdf", pdf::document().finish()),
        ("eml", eml()),
        ("msg", msg()),
        ("epub", epub()),
        ("rtf", rtf()),
        ("zip", zip(&[("a.txt", b"one"), ("b/c.docx", &office::docx())])),
    ]
}
