//! ZIP archives by what is in them: a document that is an archive, or files.

use std::io::Read;

use trove_domain::port::{ExtractError, ExtractedText};

use crate::archive::{Archive, Source};
use crate::budget::Meter;
use crate::detect::{HEAD_BYTES, Kind, detect};
use crate::extractor;
use crate::found::Found;
use crate::{epub, office};

/// Text of an archive.
pub(crate) fn extract(source: Source<'_>, meter: &Meter) -> Result<ExtractedText, ExtractError> {
    let archive = Archive::open(source, meter)?;
    if archive.contains("[Content_Types].xml") {
        let document = office::extract_ooxml(&archive, meter)?;
        return document
            .ok_or_else(|| ExtractError::UnsupportedFormat { extension: "xlsb".to_owned() });
    }
    let kind = if archive.contains("mimetype") { archive.bytes("mimetype")? } else { None };
    let kind = kind.unwrap_or_default();
    if kind.starts_with(b"application/vnd.oasis.opendocument.") {
        return office::extract_odf(&archive, meter);
    }
    if kind.starts_with(b"application/epub+zip") || archive.contains("META-INF/container.xml") {
        return epub::extract(&archive, meter);
    }
    extract_files(&archive, meter)
}

/// Text of all files in an archive that are understood, each under its name.
fn extract_files(archive: &Archive<'_>, meter: &Meter) -> Result<ExtractedText, ExtractError> {
    let mut found = Found::new(meter);
    let (mut all, mut encrypted, mut not_understood) = (0_usize, 0_usize, 0_usize);
    for name in archive.names() {
        all += 1;
        let read = meter.inside(name, || extract_file(archive, name, meter));
        match read {
            Ok(text) => found.inner(Some(name), text)?,
            Err(ExtractError::UnsupportedFormat { .. } | ExtractError::Binary) => {
                not_understood += 1;
            }
            Err(ExtractError::Encrypted) => {
                encrypted += 1;
                meter.warn(format!("{name}: {}", ExtractError::Encrypted));
            }
            other => {
                meter.part(name, other)?;
            }
        }
    }
    if all > 0 && encrypted == all {
        return Err(ExtractError::Encrypted);
    }
    if not_understood > 0 {
        meter.warn(format!("{not_understood} of {all} files in it are of other types"));
    }
    Ok(found.finish())
}

fn extract_file(
    archive: &Archive<'_>,
    name: &str,
    meter: &Meter,
) -> Result<ExtractedText, ExtractError> {
    // Pictures and programs are not unpacked to find out that they are none of ours.
    let mut head = Vec::new();
    if let Some(part) = archive.part(name)? {
        let length = u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX);
        part.take(length)
            .read_to_end(&mut head)
            .map_err(|error| meter.failure("ZIP archive", &error))?;
    }
    let _known: Kind = detect(name, &head)?;
    let content = archive.bytes(name)?.unwrap_or_default();
    extractor::read(name, Source::Bytes(&content), meter)
}
