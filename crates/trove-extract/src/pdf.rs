//! PDF. The pages are drawn on nothing; what is drawn as letters is text, in the order of drawing.
//! A page is a section with a link to it.

mod layout;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, FixedOffset, TimeZone, Utc};
use hayro_interpret::font::GlyphRun;
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::hayro_syntax::object::{self, Array, Dict};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, BezPath, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    InterpreterCache, InterpreterSettings, InterpreterWarning, SoftMask, interpret_page,
};
use trove_domain::port::{ExtractError, ExtractedText};

use self::layout::{Glyph, Layout};
use crate::budget::{Meter, malformed};
use crate::found::Found;

const FORMAT: &str = "PDF";

/// Most annotations of a page that are looked at for links.
const ANNOTATIONS_MAX: usize = 2000;

/// Text of a document.
pub(crate) fn extract(
    content: Cow<'_, [u8]>,
    meter: &Meter,
) -> Result<ExtractedText, ExtractError> {
    let pdf = Pdf::new(content.into_owned()).map_err(|error| match error {
        LoadPdfError::Decryption(_) => ExtractError::Encrypted,
        LoadPdfError::Invalid => malformed(FORMAT, &"it is broken"),
    })?;
    let mut found = Found::new(meter);
    read_facts(&pdf, &mut found);
    meter.check_pages(pdf.pages().len())?;
    let unreadable_fonts = Arc::new(AtomicBool::new(false));
    let settings = InterpreterSettings {
        warning_sink: Arc::new({
            let unreadable_fonts = Arc::clone(&unreadable_fonts);
            move |warning| {
                if matches!(warning, InterpreterWarning::UnsupportedFont) {
                    unreadable_fonts.store(true, Ordering::Relaxed);
                }
            }
        }),
        ..InterpreterSettings::default()
    };
    let cache = InterpreterCache::new();
    for (number, page) in (1..).zip(pdf.pages().iter()) {
        meter.look_at_the_clock()?;
        let mut context = Context::new(
            Affine::IDENTITY,
            Rect::new(0.0, 0.0, 1.0, 1.0),
            &cache,
            pdf.xref(),
            settings.clone(),
        );
        let mut scribe = Scribe { layout: Layout::new(found.writer()), unknown: 0, known: 0 };
        interpret_page(page, &mut context, &mut scribe);
        if scribe.unknown > scribe.known / 4 {
            meter
                .warn(format!("page {number}: nobody says which characters its letters stand for"));
        }
        if unreadable_fonts.swap(false, Ordering::Relaxed) {
            meter.warn(format!("page {number}: a font cannot be read"));
        }
        found.section(scribe.layout.finish(), Some(format!("#page={number}")))?;
        read_links(page, &mut found);
    }
    let found = found.finish();
    if found.sections.is_empty() && !pdf.pages().is_empty() {
        meter.warn("there is no text on its pages; they may be pictures");
    }
    Ok(found)
}

fn read_facts(pdf: &Pdf, found: &mut Found<'_>) {
    let facts = pdf.metadata();
    let text = |bytes: &Option<Box<[u8]>>| bytes.as_deref().map(text_string);
    if let Some(title) = text(&facts.title) {
        found.title(&title);
    }
    if let Some(author) = text(&facts.author) {
        found.author(&author);
    }
    if let Some(subject) = text(&facts.subject) {
        found.property("subject", &subject);
    }
    if let Some(keywords) = text(&facts.keywords) {
        found.properties("keywords", &keywords);
    }
    found.created(facts.creation_date.as_ref().and_then(date));
    found.modified(facts.modification_date.as_ref().and_then(date));
}

/// Text outside of pages: UTF-16, UTF-8 or what is nearly Latin-1.
fn text_string(bytes: &[u8]) -> String {
    if let Some((encoding, length)) = encoding_rs::Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[length..]).0.into_owned();
    }
    encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned()
}

fn date(at: &object::DateTime) -> Option<DateTime<Utc>> {
    let hours = i32::from(at.utc_offset_hour);
    let minutes = i32::from(at.utc_offset_minute);
    let offset = hours * 3600 + if hours < 0 { -minutes } else { minutes } * 60;
    let zone = FixedOffset::east_opt(offset)?;
    let local = zone.with_ymd_and_hms(
        i32::from(at.year),
        u32::from(at.month),
        u32::from(at.day),
        u32::from(at.hour),
        u32::from(at.minute),
        u32::from(at.second),
    );
    local.single().map(|at| at.to_utc())
}

fn read_links(page: &Page<'_>, found: &mut Found<'_>) {
    let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else { return };
    for annotation in annotations.iter::<Dict<'_>>().take(ANNOTATIONS_MAX) {
        let address = annotation
            .get::<Dict<'_>>(b"A")
            .and_then(|action| action.get::<object::String<'_>>(b"URI"));
        if let Some(address) = address {
            found.link(&text_string(address.as_bytes()));
        }
    }
}

/// Draws letters into a layout, and nothing else.
struct Scribe {
    layout: Layout,
    /// Letters of which nobody knows the character, and the others.
    unknown: usize,
    known: usize,
}

impl Device<'_> for Scribe {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        let vertical = run.writing_mode() == WritingMode::Vertical;
        let mut glyphs = Vec::with_capacity(run.glyphs().len());
        for glyph in run.glyphs() {
            let advance = match &**glyph {
                hayro_interpret::font::Glyph::Outline(glyph) => glyph.advance_width(),
                hayro_interpret::font::Glyph::Type3(glyph) => glyph.advance_width(),
            };
            let text = match glyph.as_unicode() {
                Some(BfString::Char(character)) => character.to_string(),
                Some(BfString::String(text)) => text,
                None => {
                    self.unknown += 1;
                    continue;
                }
            };
            self.known += 1;
            let transform = props.transform * glyph.transform();
            glyphs.push(Glyph::new(text, transform, advance, vertical));
        }
        self.layout.run(&glyphs);
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::text_string;

    #[test]
    fn strings_say_how_they_are_encoded() {
        assert_eq!(text_string(b"Gr\xfc\xdfe"), "Grüße");
        assert_eq!(text_string(b"\xfe\xff\x4e\x16\x75\x4c"), "世界");
        assert_eq!(text_string("\u{feff}世界".as_bytes()), "世界");
    }
}
