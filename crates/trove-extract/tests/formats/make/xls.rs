//! The older spreadsheets: records of two bytes of kind, two of length, and their content.

use super::compound;

fn record(kind: u16, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap();
    [&kind.to_le_bytes()[..], &length.to_le_bytes(), content].concat()
}

fn start(kind: u16) -> Vec<u8> {
    let fields = [0x0600_u16, kind, 0x0dbb, 0x07cc, 0, 0, 0x0006, 0];
    record(0x0809, &fields.iter().flat_map(|field| field.to_le_bytes()).collect::<Vec<_>>())
}

/// A cell: row, column and format, then its value.
fn cell(kind: u16, row: u16, column: u16, format: u16, value: &[u8]) -> Vec<u8> {
    let place: Vec<u8> =
        [row, column, format].iter().flat_map(|field| field.to_le_bytes()).collect();
    record(kind, &[&place[..], value].concat())
}

fn wide(text: &str) -> Vec<u8> {
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let length = u16::try_from(units.len() / 2).unwrap();
    [&length.to_le_bytes()[..], &[1], &units].concat()
}

/// A workbook with texts, a number and a date.
pub(crate) fn xls() -> Vec<u8> {
    let format = |number: u16| {
        let mut fields = vec![0; 20];
        fields[2..4].copy_from_slice(&number.to_le_bytes());
        record(0x00e0, &fields)
    };
    let strings = [wide("Name"), wide("世界")].concat();
    let strings =
        record(0x00fc, &[&2_u32.to_le_bytes()[..], &2_u32.to_le_bytes(), &strings].concat());
    let sheet_record =
        |place: u32| record(0x0085, &[&place.to_le_bytes()[..], &[0, 0, 3, 0], b"One"].concat());
    let before = [start(0x0005), format(0), format(14)].concat();
    let place = before.len() + sheet_record(0).len() + strings.len() + 4;
    let place = u32::try_from(place).unwrap();
    let sheet = [
        start(0x0010),
        cell(0x00fd, 0, 0, 0, &0_u32.to_le_bytes()),
        cell(0x00fd, 1, 0, 0, &1_u32.to_le_bytes()),
        cell(0x0203, 1, 1, 0, &1.5_f64.to_le_bytes()),
        cell(0x0203, 1, 2, 1, &45_351_f64.to_le_bytes()),
        record(0x000a, &[]),
    ];
    let workbook =
        [before, sheet_record(place), strings, record(0x000a, &[]), sheet.concat()].concat();
    compound(&[("/Workbook", &workbook)])
}
