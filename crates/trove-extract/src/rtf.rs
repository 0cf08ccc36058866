//! RTF: a linear walk over its tokens with the state of the open groups. No crate reads all of what
//! is needed here: code pages of fonts, surrogates, hidden destinations, fields and facts.

mod token;

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use encoding_rs::{Encoding, WINDOWS_1252};
use trove_domain::port::{ExtractError, ExtractedText};

use self::token::{Token, Tokens};
use crate::budget::Meter;
use crate::charset::code_page;
use crate::found::Found;
use crate::writer::TextWriter;

/// Longest address, title and the like, in bytes.
const ASIDE_BYTES_MAX: usize = 4000;

/// Text of a document.
pub(crate) fn extract(content: &[u8], meter: &Meter) -> Result<ExtractedText, ExtractError> {
    let mut found = Found::new(meter);
    let mut reader = Reader::new(found.writer());
    for token in Tokens::new(content) {
        meter.take_event()?;
        match token {
            Token::Open => {
                reader.flush();
                reader.groups.push(reader.group.clone());
                meter.check_depth(reader.groups.len())?;
            }
            Token::Close => {
                reader.flush();
                reader.close(&mut found);
            }
            Token::Control { word, number } => reader.control(word, number),
            Token::Byte(byte) => reader.bytes.push(byte),
            Token::Text(text) => reader.text_bytes(text),
            Token::Binary => {}
        }
        if reader.writer.is_full() {
            break;
        }
    }
    reader.flush();
    let writer = reader.writer;
    found.section(writer, None)?;
    Ok(found.finish())
}

/// Where text goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Destination {
    #[default]
    Body,
    /// Fonts, colours, styles, pictures and whatever a program keeps for itself.
    Nowhere,
    Fonts,
    Title,
    Author,
    Subject,
    Keywords,
    Created,
    Revised,
    Instruction,
}

/// What a group inherits and gives back.
#[derive(Clone, Debug, Default)]
struct Group {
    destination: Destination,
    font: i32,
    hidden: bool,
    /// How many characters after a Unicode one stand for it in old programs.
    fallback: usize,
    /// A star was just read: what follows may be unknown.
    optional: bool,
}

struct Reader {
    writer: TextWriter,
    group: Group,
    groups: Vec<Group>,
    /// Characters that are not yet decoded.
    bytes: Vec<u8>,
    /// Characters after a Unicode one that are still to be left out.
    skip: usize,
    /// First half of a character.
    surrogate: Option<u16>,
    default_encoding: &'static Encoding,
    default_font: i32,
    fonts: HashMap<i32, &'static Encoding>,
    /// What stands in a destination that is not the body.
    aside: String,
    /// Year, month, day, hour and minute of a date.
    date: [Option<u32>; 5],
    in_row: bool,
}

impl Reader {
    fn new(writer: TextWriter) -> Self {
        Self {
            writer,
            group: Group { fallback: 1, ..Group::default() },
            groups: Vec::new(),
            bytes: Vec::new(),
            skip: 0,
            surrogate: None,
            default_encoding: WINDOWS_1252,
            default_font: 0,
            fonts: HashMap::new(),
            aside: String::new(),
            date: [None; 5],
            in_row: false,
        }
    }

    fn text_bytes(&mut self, text: &[u8]) {
        let skipped = self.skip.min(text.len());
        self.skip -= skipped;
        self.bytes.extend(&text[skipped..]);
    }

    /// Decodes what has come and writes it where it belongs.
    fn flush(&mut self) {
        self.surrogate = None;
        self.skip = 0;
        self.decode();
    }

    fn decode(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let encoding = self.fonts.get(&self.group.font).copied().unwrap_or(self.default_encoding);
        let text = encoding.decode_without_bom_handling(&bytes).0;
        self.put(&text);
    }

    fn put(&mut self, text: &str) {
        match self.group.destination {
            Destination::Body if self.group.hidden => {}
            Destination::Body => self.writer.text(text),
            Destination::Nowhere
            | Destination::Fonts
            | Destination::Created
            | Destination::Revised => {}
            Destination::Title
            | Destination::Author
            | Destination::Subject
            | Destination::Keywords
            | Destination::Instruction => {
                if self.aside.len() < ASIDE_BYTES_MAX {
                    self.aside.push_str(text);
                }
            }
        }
    }

    fn close(&mut self, found: &mut Found<'_>) {
        let Some(outer) = self.groups.pop() else { return };
        let closed = std::mem::replace(&mut self.group, outer);
        if closed.destination == self.group.destination {
            return;
        }
        let aside = std::mem::take(&mut self.aside);
        match closed.destination {
            Destination::Body | Destination::Nowhere | Destination::Fonts => {}
            Destination::Title => found.title(&aside),
            Destination::Author => found.author(&aside),
            Destination::Subject => found.property("subject", &aside),
            Destination::Keywords => found.properties("keywords", &aside),
            Destination::Created => found.created(self.take_date()),
            Destination::Revised => found.modified(self.take_date()),
            Destination::Instruction => {
                if let Some(target) = aside.trim().strip_prefix("HYPERLINK") {
                    found.link(target.trim().trim_matches('"'));
                }
            }
        }
    }

    fn take_date(&mut self) -> Option<DateTime<Utc>> {
        let [year, month, day, hour, minute] = std::mem::take(&mut self.date);
        let day = NaiveDate::from_ymd_opt(i32::try_from(year?).ok()?, month?, day?)?;
        Some(day.and_hms_opt(hour.unwrap_or(0), minute.unwrap_or(0), 0)?.and_utc())
    }

    fn control(&mut self, word: &[u8], number: Option<i32>) {
        match word {
            b"u" => return self.unicode(number),
            b"'" => {
                let byte = number.and_then(|number| u8::try_from(number).ok());
                if self.skip > 0 {
                    self.skip -= 1;
                } else if let Some(byte) = byte {
                    self.bytes.push(byte);
                }
                return;
            }
            _ => self.flush(),
        }
        let optional = std::mem::take(&mut self.group.optional);
        if let Some(destination) = destination_of(word, optional) {
            if self.group.destination != Destination::Nowhere {
                self.group.destination = destination;
            }
            return;
        }
        match word {
            b"*" => self.group.optional = true,
            b"ansicpg" => {
                let page = number.and_then(|number| u32::try_from(number).ok());
                self.default_encoding = page.and_then(code_page).unwrap_or(WINDOWS_1252);
            }
            b"mac" => self.default_encoding = encoding_rs::MACINTOSH,
            b"deff" => {
                self.default_font = number.unwrap_or(0);
                self.group.font = self.default_font;
            }
            b"f" => self.group.font = number.unwrap_or(0),
            b"fcharset" if self.group.destination == Destination::Fonts => {
                if let Some(encoding) = number.and_then(charset_of) {
                    self.fonts.insert(self.group.font, encoding);
                }
            }
            b"plain" => {
                self.group.hidden = false;
                self.group.font = self.default_font;
            }
            b"v" => self.group.hidden = number != Some(0),
            b"uc" => {
                self.group.fallback = number.and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
            }
            b"yr" | b"mo" | b"dy" | b"hr" | b"min" => {
                let parts: [&[u8]; 5] = [b"yr", b"mo", b"dy", b"hr", b"min"];
                if let Some(at) = parts.iter().position(|part| *part == word) {
                    self.date[at] = number.and_then(|number| u32::try_from(number).ok());
                }
            }
            _ if self.group.destination == Destination::Body && !self.group.hidden => {
                self.layout(word);
            }
            _ => {
                if let Some(text) = character_of(word) {
                    self.put(text);
                }
            }
        }
    }

    fn layout(&mut self, word: &[u8]) {
        match word {
            b"par" | b"sect" | b"page" => {
                if self.in_row {
                    // The end of a table is known only by what comes after it.
                    self.writer.close_frame();
                    self.in_row = false;
                }
                self.writer.paragraph();
            }
            b"line" | b"softline" | b"column" => self.writer.line(),
            b"trowd" => {
                if !self.in_row {
                    self.writer.open_frame();
                    self.in_row = true;
                }
            }
            b"row" => self.writer.row(),
            b"cell" | b"nestcell" => self.writer.cell(),
            b"tab" => self.writer.text(" "),
            _ => {
                if let Some(text) = character_of(word) {
                    self.writer.text(text);
                }
            }
        }
    }

    /// A character of Unicode, or half of one.
    fn unicode(&mut self, number: Option<i32>) {
        if !self.bytes.is_empty() {
            // Halves with something between them are none.
            self.surrogate = None;
            self.decode();
        }
        self.skip = self.group.fallback;
        // Numbers are signed and of sixteen bits; some programs write larger ones.
        let unit = number.unwrap_or(0).rem_euclid(0x1_0000);
        let Ok(unit) = u16::try_from(unit) else { return };
        let first = self.surrogate.take();
        if (0xd800..0xdc00).contains(&unit) {
            self.surrogate = Some(unit);
            return;
        }
        let units: Vec<u16> = first.into_iter().chain([unit]).collect();
        self.put(&String::from_utf16_lossy(&units));
    }
}

/// The characters that have a word of their own.
fn character_of(word: &[u8]) -> Option<&'static str> {
    Some(match word {
        b"~" => "\u{a0}",
        b"_" => "-",
        b"\\" => "\\",
        b"{" => "{",
        b"}" => "}",
        b"emdash" => "\u{2014}",
        b"endash" => "\u{2013}",
        b"lquote" => "\u{2018}",
        b"rquote" => "\u{2019}",
        b"ldblquote" => "\u{201c}",
        b"rdblquote" => "\u{201d}",
        b"bullet" => "\u{2022}",
        b"emspace" | b"enspace" | b"qmspace" | b"tab" | b"par" | b"line" => " ",
        _ => return None,
    })
}

fn destination_of(word: &[u8], optional: bool) -> Option<Destination> {
    Some(match word {
        b"title" => Destination::Title,
        b"author" => Destination::Author,
        b"subject" => Destination::Subject,
        b"keywords" => Destination::Keywords,
        b"creatim" => Destination::Created,
        b"revtim" => Destination::Revised,
        b"fonttbl" => Destination::Fonts,
        b"fldinst" => Destination::Instruction,
        b"colortbl"
        | b"stylesheet"
        | b"listtable"
        | b"listoverridetable"
        | b"rsidtbl"
        | b"pict"
        | b"objdata"
        | b"themedata"
        | b"colorschememapping"
        | b"datastore"
        | b"latentstyles"
        | b"header"
        | b"headerl"
        | b"headerr"
        | b"headerf"
        | b"footer"
        | b"footerl"
        | b"footerr"
        | b"footerf"
        | b"xmlnstbl"
        | b"filetbl"
        | b"revtbl"
        | b"operator"
        | b"company"
        | b"doccomm"
        | b"hlinkbase"
        | b"printim"
        | b"buptim"
        | b"comment"
        | b"category"
        | b"manager"
        | b"falt"
        | b"panose"
        | b"fontemb"
        | b"bkmkstart"
        | b"bkmkend"
        | b"xe"
        | b"tc"
        | b"nonshppict"
        | b"ftnsep"
        | b"ftnsepc"
        | b"aftnsep"
        | b"aftnsepc"
        | b"private" => Destination::Nowhere,
        // What shows text although old programs need not know it.
        b"shptxt" | b"shpinst" | b"annotation" | b"atnauthor" | b"footnote" if optional => {
            return None;
        }
        _ if optional && word != b"*" => Destination::Nowhere,
        _ => return None,
    })
}

/// The charset of a font.
fn charset_of(number: i32) -> Option<&'static Encoding> {
    let page = match number {
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    };
    code_page(page)
}

#[cfg(test)]
mod tests;
