//! PDF.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A document that is made object by object; the first one is number 1.
pub(crate) struct Pdf {
    objects: Vec<Vec<u8>>,
    trailer: String,
}

impl Pdf {
    pub(crate) fn new() -> Self {
        Self { objects: Vec::new(), trailer: String::new() }
    }

    /// Adds an object.
    pub(crate) fn object(&mut self, object: impl AsRef<[u8]>) -> &mut Self {
        self.objects.push(object.as_ref().to_vec());
        self
    }

    /// Adds a stream, with more entries for its dictionary.
    pub(crate) fn stream(&mut self, entries: &str, content: &[u8]) -> &mut Self {
        let mut object =
            format!("<< /Length {} {entries} >>\nstream\n", content.len()).into_bytes();
        object.extend(content);
        object.extend(b"\nendstream");
        self.object(object)
    }

    /// Adds a compressed stream.
    pub(crate) fn packed(&mut self, content: &[u8]) -> &mut Self {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).unwrap();
        self.stream("/Filter /FlateDecode", &encoder.finish().unwrap())
    }

    /// Adds entries to the trailer.
    pub(crate) fn trailer(&mut self, entries: &str) -> &mut Self {
        self.trailer.push_str(entries);
        self
    }

    pub(crate) fn finish(&self) -> Vec<u8> {
        let mut out = b"%PDF-1.7\n".to_vec();
        let mut places = Vec::new();
        for (number, object) in (1..).zip(&self.objects) {
            places.push(out.len());
            out.extend(format!("{number} 0 obj\n").bytes());
            out.extend(object);
            out.extend(b"\nendobj\n");
        }
        let table = out.len();
        out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).bytes());
        for place in &places {
            out.extend(format!("{place:010} 00000 n \n").bytes());
        }
        let size = places.len() + 1;
        let trailer = &self.trailer;
        out.extend(
            format!("trailer << /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF")
                .bytes(),
        );
        out
    }
}

/// Two pages: the first one with a title and a link, the second one with characters of another
/// script.
pub(crate) fn document() -> Pdf {
    let mut pdf = Pdf::new();
    let fonts = "/Resources << /Font << /F1 7 0 R /F2 8 0 R >> >> /MediaBox [0 0 612 792]";
    pdf.object("<< /Type /Catalog /Pages 2 0 R >>")
        .object("<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>")
        .object(format!(
            "<< /Type /Page /Parent 2 0 R {fonts} /Contents 5 0 R /Annots [<< /Subtype /Link /A << /S /URI /URI (https://example.com/page) >> >>] >>"
        ))
        .object(format!("<< /Type /Page /Parent 2 0 R {fonts} /Contents 6 0 R >>"))
        .packed(
            b"BT /F1 24 Tf 72 700 Td (Heading) Tj /F1 12 Tf 0 -40 Td (The first line of the text goes to the) Tj \
              0 -14 Td (exam-) Tj 0 -14 Td (ple.) Tj [( Gr\\374\\337e) -500 (again)] TJ ET",
        )
        .stream("", b"BT /F2 12 Tf 72 700 Td <00010002> Tj ET")
        .object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
        .object(
            "<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /Identity-H /ToUnicode 9 0 R \
             /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Some /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 1000 >>] >>",
        )
        .stream(
            "",
            b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def \
              1 begincodespacerange <0000> <ffff> endcodespacerange \
              2 beginbfchar <0001> <4e16> <0002> <754c> endbfchar endcmap end end",
        )
        .object("<< /Title (The title) /Author (Writer) /Keywords (one, two) /CreationDate (D:20240229100000+02'00') >>")
        .trailer("/Info 10 0 R");
    pdf
}

/// One page with this content.
pub(crate) fn page(content: &[u8]) -> Vec<u8> {
    let mut pdf = Pdf::new();
    pdf.object("<< /Type /Catalog /Pages 2 0 R >>")
        .object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
        .object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>")
        .packed(content)
        .object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
    pdf.finish()
}
