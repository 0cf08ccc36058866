//! `cargo +nightly fuzz run office` in `crates/trove-extract`: markup as the main part of each kind
//! of document, in an archive that is made around it.

#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use rawzip::path::EntryPath;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use trove_domain::port::TextExtractor;
use trove_extract::{Budget, InProcessExtractor};

const PARTS: [&[(&str, Option<&str>)]; 5] = [
    &[("[Content_Types].xml", Some("")), ("word/document.xml", None)],
    &[
        ("[Content_Types].xml", Some("")),
        (
            "xl/workbook.xml",
            Some("<workbook xmlns:r='r'><sheet name='a' r:id='a'/></workbook>"),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            Some("<a><Relationship Id='a' Type='/worksheet' Target='a.xml'/></a>"),
        ),
        ("xl/a.xml", None),
    ],
    &[
        ("[Content_Types].xml", Some("")),
        ("ppt/presentation.xml", Some("<a xmlns:r='r'><sldId r:id='a'/></a>")),
        (
            "ppt/_rels/presentation.xml.rels",
            Some("<a><Relationship Id='a' Type='/slide' Target='a.xml'/></a>"),
        ),
        ("ppt/a.xml", None),
    ],
    &[("mimetype", Some("application/vnd.oasis.opendocument.text")), ("content.xml", None)],
    &[
        ("META-INF/container.xml", Some("<a><rootfile full-path='a.opf'/></a>")),
        ("a.opf", None),
        ("a.xhtml", Some("<p>a</p>")),
    ],
];

fuzz_target!(|content: &[u8]| {
    let budget = Budget { chars: 100_000, unpacked_bytes: 10_000_000, ..Budget::default() };
    let extractor = InProcessExtractor::new(budget);
    for parts in PARTS {
        let mut out = Vec::new();
        let mut archive = ZipArchiveWriter::new(&mut out);
        for (name, part) in parts {
            let file = archive.new_file(EntryPath::verbatim(name.as_bytes()));
            let Ok((mut entry, config)) = file.compression_method(CompressionMethod::STORE).start()
            else {
                return;
            };
            let mut writer = config.wrap(&mut entry);
            let written = writer.write_all(part.map_or(content, str::as_bytes));
            let Ok((_, descriptor)) = writer.finish() else { return };
            if written.is_err() || entry.finish(descriptor).is_err() {
                return;
            }
        }
        if archive.finish().is_ok() {
            let _answer = extractor.extract("a.zip", &out);
        }
    }
});
