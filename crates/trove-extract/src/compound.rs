//! Compound files: what is in one decides what it is.

use std::io::{Cursor, Read};

use cfb::CompoundFile;
use trove_domain::port::{ExtractError, ExtractedText};

use crate::budget::{Meter, malformed};
use crate::{msg, office};

pub(crate) const FORMAT: &str = "compound file";

/// An open compound file.
pub(crate) type Compound<'a> = CompoundFile<Cursor<&'a [u8]>>;

/// Text of a compound file.
pub(crate) fn extract(
    file_name: &str,
    content: &[u8],
    meter: &Meter,
) -> Result<ExtractedText, ExtractError> {
    let mut file =
        CompoundFile::open(Cursor::new(content)).map_err(|error| malformed(FORMAT, &error))?;
    if file.exists("/EncryptedPackage") {
        return Err(ExtractError::Encrypted);
    }
    if file.exists("/Workbook") || file.exists("/Book") {
        return office::extract_xls(content, meter);
    }
    if file.exists("/__properties_version1.0") {
        return msg::extract(&mut file, meter);
    }
    let extension = crate::detect::extension(file_name);
    Err(ExtractError::UnsupportedFormat {
        extension: if file.exists("/WordDocument") {
            "doc".to_owned()
        } else if file.exists("/PowerPoint Document") {
            "ppt".to_owned()
        } else {
            extension
        },
    })
}

/// All bytes of a stream; `None` when there is none of this name.
pub(crate) fn stream(
    file: &mut Compound<'_>,
    path: &str,
    meter: &Meter,
) -> Result<Option<Vec<u8>>, ExtractError> {
    if !file.is_stream(path) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let stream = file.open_stream(path).map_err(|error| malformed(FORMAT, &error))?;
    let limit = meter.budget().part_bytes;
    stream.take(limit).read_to_end(&mut bytes).map_err(|error| malformed(FORMAT, &error))?;
    // Two streams may share their bytes, so that many of them are more than the file.
    meter.take_unpacked(u64::try_from(bytes.len()).unwrap_or(u64::MAX))?;
    Ok(Some(bytes))
}
