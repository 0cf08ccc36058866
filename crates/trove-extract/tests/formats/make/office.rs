//! Documents of offices.

use super::zip;

const TYPES: (&str, &[u8]) = ("[Content_Types].xml", b"<Types/>");

/// Relations of a part: id, kind and target; a target with a colon is elsewhere.
pub(crate) fn relations(relations: &[(&str, &str, &str)]) -> Vec<u8> {
    let mut xml = "<Relationships>".to_owned();
    for (id, kind, target) in relations {
        let mode = if target.contains(':') { " TargetMode=\"External\"" } else { "" };
        xml.push_str(&format!(
            "<Relationship Id=\"{id}\" Type=\"http://example.com/{kind}\" Target=\"{target}\"{mode}/>"
        ));
    }
    (xml + "</Relationships>").into_bytes()
}

const FACTS: &[u8] =
    "<cp:coreProperties xmlns:cp='x' xmlns:dc='y'><dc:title>The title 世界</dc:title>\
    <dc:creator>Writer; Other writer</dc:creator><cp:keywords>one, two</cp:keywords>\
    <dcterms:created>2024-02-29T10:00:00Z</dcterms:created>\
    <dcterms:modified>2024-03-01T10:00:00Z</dcterms:modified><dc:language>de-AT</dc:language>\
    </cp:coreProperties>"
        .as_bytes();

fn package(main: &str, parts: &[(&str, &[u8])]) -> Vec<u8> {
    let top = relations(&[
        ("r1", "officeDocument", main),
        ("r2", "core-properties", "docProps/core.xml"),
    ]);
    let mut all = vec![TYPES, ("_rels/.rels", &top), ("docProps/core.xml", FACTS)];
    all.extend(parts);
    zip(&all)
}

/// A text with this body.
pub(crate) fn docx_of(body: &str) -> Vec<u8> {
    let body = format!("<w:document xmlns:w='x' xmlns:r='y'><w:body>{body}</w:body></w:document>");
    let links = relations(&[
        ("r1", "hyperlink", "https://example.com/page"),
        ("r2", "footnotes", "footnotes.xml"),
    ]);
    let notes = b"<w:footnotes xmlns:w='x'><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnotes>";
    package(
        "word/document.xml",
        &[
            ("word/document.xml", body.as_bytes()),
            ("word/_rels/document.xml.rels", &links),
            ("word/footnotes.xml", notes),
        ],
    )
}

/// A text with all that texts have.
pub(crate) fn docx() -> Vec<u8> {
    docx_of(
        "<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>Head</w:t></w:r><w:r><w:t>ing</w:t></w:r></w:p>\
         <w:p><w:r><w:t xml:space='preserve'>Grüße </w:t></w:r><w:hyperlink r:id='r1'><w:r><w:t>世界</w:t></w:r></w:hyperlink>\
         <w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:br/><w:t>line &amp; two</w:t></w:r></w:p>\
         <w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>item</w:t></w:r></w:p>\
         <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr>\
         <w:tr><w:tc><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>\
         <w:p><mc:AlternateContent><mc:Choice><w:r><w:t>new</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>old</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>",
    )
}

/// Two slides, listed in another order than they are named in.
pub(crate) fn pptx() -> Vec<u8> {
    let slide = |title: &str, text: &str| {
        format!(
            "<p:sld xmlns:p='x' xmlns:a='y'><p:sp><p:nvPr><p:ph type='title'/></p:nvPr><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:sp>\
             <p:sp><a:p><a:r><a:t>{text}</a:t></a:r></a:p><a:p><a:fld type='slidenum'><a:t>7</a:t></a:fld></a:p></p:sp></p:sld>"
        )
    };
    let main =
        relations(&[("r8", "slide", "slides/slide1.xml"), ("r9", "slide", "slides/slide2.xml")]);
    let notes = relations(&[("r1", "notesSlide", "../notesSlides/n.xml")]);
    package(
        "ppt/presentation.xml",
        &[
            (
                "ppt/presentation.xml",
                b"<p:presentation xmlns:p='x' xmlns:r='y'><p:sldIdLst><p:sldId id='1' r:id='r9'/><p:sldId id='2' r:id='r8'/></p:sldIdLst></p:presentation>",
            ),
            ("ppt/_rels/presentation.xml.rels", &main),
            ("ppt/slides/slide1.xml", slide("Last", "世界").as_bytes()),
            ("ppt/slides/slide2.xml", slide("First", "words").as_bytes()),
            ("ppt/slides/_rels/slide2.xml.rels", &notes),
            ("ppt/notesSlides/n.xml", b"<p:notes xmlns:a='y'><a:p><a:r><a:t>say this</a:t></a:r></a:p></p:notes>"),
        ],
    )
}

/// A workbook whose only sheet has these rows.
pub(crate) fn xlsx_of(rows: &str) -> Vec<u8> {
    let main = relations(&[
        ("r1", "worksheet", "worksheets/sheet1.xml"),
        ("r2", "sharedStrings", "sharedStrings.xml"),
        ("r3", "styles", "styles.xml"),
    ]);
    let sheet = format!(
        "<worksheet><dimension ref='A1:XFD1048576'/><sheetData>{rows}</sheetData></worksheet>"
    );
    package(
        "xl/workbook.xml",
        &[
            (
                "xl/workbook.xml",
                "<workbook xmlns:r='y'><sheets><sheet name='Übersicht' sheetId='1' r:id='r1'/></sheets></workbook>".as_bytes(),
            ),
            ("xl/_rels/workbook.xml.rels", &main),
            (
                "xl/sharedStrings.xml",
                "<sst><si><t>Name</t></si><si><r><t>世</t></r><r><t>界</t></r><rPh><t>no</t></rPh></si></sst>".as_bytes(),
            ),
            (
                "xl/styles.xml",
                b"<styleSheet><numFmts><numFmt numFmtId='164' formatCode='dd/mm/yyyy'/></numFmts><cellStyleXfs><xf numFmtId='14'/></cellStyleXfs>\
                  <cellXfs><xf numFmtId='0'/><xf numFmtId='164'/></cellXfs></styleSheet>",
            ),
            ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ],
    )
}

/// A workbook with all kinds of cells.
pub(crate) fn xlsx() -> Vec<u8> {
    xlsx_of(
        "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' t='inlineStr'><is><t>In place</t></is></c></row>\
         <row r='2'><c r='A2' t='s'><v>1</v></c><c r='B2' s='1'><v>45351</v></c><c r='C2'><f>1+1</f><v>2</v></c>\
         <c r='D2' t='b'><v>1</v></c><c r='E2' t='e'><v>#N/A</v></c><c r='F2' t='s'><v>99</v></c></row>\
         <row r='1048576'><c r='XFD1048576'><v>0.5</v></c></row>",
    )
}

fn odf(kind: &str, content: &str) -> Vec<u8> {
    let kind = format!("application/vnd.oasis.opendocument.{kind}");
    let content = format!(
        "<office:document-content xmlns:office='o' xmlns:text='t' xmlns:table='b'><office:body>{content}</office:body></office:document-content>"
    );
    let facts = "<office:document-meta><office:meta><dc:title>The title 世界</dc:title><dc:creator>Writer</dc:creator>\
         <meta:creation-date>2024-02-29T10:00:00</meta:creation-date><dc:date>2024-03-01T10:00:00</dc:date>\
         <meta:keyword>one</meta:keyword></office:meta></office:document-meta>";
    zip(&[
        ("mimetype", kind.as_bytes()),
        ("content.xml", content.as_bytes()),
        ("meta.xml", facts.as_bytes()),
        ("META-INF/manifest.xml", b"<manifest/>"),
    ])
}

/// A text of OpenDocument.
pub(crate) fn odt() -> Vec<u8> {
    odf(
        "text",
        "<office:text><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>\
         <text:h text:outline-level='1'>Heading</text:h>\
         <text:p>Grüße<text:s text:c='3'/><text:a xlink:href='https://example.com/page'>世界</text:a><text:line-break/>line</text:p>\
         <text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>\
         <table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>\
         </office:text>",
    )
}

/// A spreadsheet of OpenDocument with two tables.
pub(crate) fn ods() -> Vec<u8> {
    odf(
        "spreadsheet",
        "<office:spreadsheet><table:table table:name='One'><table:table-row>\
         <table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell table:number-columns-repeated='16384'/>\
         <table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>\
         <table:table table:name='Two'><table:table-row table:number-rows-repeated='1048576'><table:table-cell><text:p>世界</text:p></table:table-cell></table:table-row></table:table>\
         </office:spreadsheet>",
    )
}
