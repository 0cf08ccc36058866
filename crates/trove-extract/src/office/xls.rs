//! The older spreadsheets in binary: `xls`. A sheet is a section, as in `xlsx`.

use std::io::Cursor;

use calamine::{Data, Reader, Xls, XlsError};
use trove_domain::port::{ExtractError, ExtractedText};

use crate::budget::{Meter, malformed};
use crate::dates::Serial;
use crate::found::Found;

const FORMAT: &str = "spreadsheet";

/// Text of a workbook.
pub(crate) fn extract(content: &[u8], meter: &Meter) -> Result<ExtractedText, ExtractError> {
    let mut workbook: Xls<_> = Xls::new(Cursor::new(content)).map_err(|error| match error {
        XlsError::Password => ExtractError::Encrypted,
        error => malformed(FORMAT, &error),
    })?;
    let mut found = Found::new(meter);
    let names = workbook.sheet_names();
    meter.check_pages(names.len())?;
    for name in names {
        let read = read_sheet(&mut workbook, &name, &mut found, meter);
        meter.part(&format!("sheet {name}"), read)?;
    }
    Ok(found.finish())
}

fn read_sheet(
    workbook: &mut Xls<Cursor<&[u8]>>,
    name: &str,
    found: &mut Found<'_>,
    meter: &Meter,
) -> Result<(), ExtractError> {
    let range = workbook.worksheet_range(name).map_err(|error| malformed(FORMAT, &error))?;
    let mut writer = found.writer();
    writer.text(name);
    writer.open_frame();
    let begun = writer.position();
    for row in range.rows() {
        writer.row();
        for cell in row.iter().filter(|cell| !matches!(cell, Data::Empty)) {
            meter.take_event()?;
            writer.cell();
            match cell {
                Data::DateTime(at) => {
                    let date = at.as_datetime().filter(|_| at.is_datetime());
                    match date.map(|date| Serial::of(date, at.as_f64() >= 1.0)) {
                        Some(serial) => writer.text(&serial.to_string()),
                        None => writer.text(&cell.to_string()),
                    }
                }
                other => writer.text(&other.to_string()),
            }
        }
        if writer.is_full() {
            break;
        }
    }
    if writer.position() > begun || writer.is_full() {
        writer.close_frame();
        found.section(writer, None)?;
    }
    Ok(())
}
