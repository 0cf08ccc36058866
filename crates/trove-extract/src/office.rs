//! Documents of offices: OOXML (`docx`, `pptx`, `xlsx`), OpenDocument (`odt`, `ods`, `odp`) and the
//! older spreadsheets in binary (`xls`).

mod docx;
mod odf;
mod package;
mod pptx;
mod xls;
mod xlsx;

use trove_domain::port::{ExtractError, ExtractedText};

use self::package::Package;
use crate::archive::Archive;
use crate::budget::Meter;

pub(crate) use self::odf::extract as extract_odf;
pub(crate) use self::xls::extract as extract_xls;

/// Text of a package of OOXML; `None` when its main part is of a kind that has none.
pub(crate) fn extract_ooxml(
    archive: &Archive<'_>,
    meter: &Meter,
) -> Result<Option<ExtractedText>, ExtractError> {
    let package = Package::open(archive, meter)?;
    let main = package.main().to_owned();
    match main.split('/').next() {
        Some("word") => docx::extract(&package).map(Some),
        Some("ppt") => pptx::extract(&package).map(Some),
        // The same in binary.
        Some("xl") if !main.ends_with("workbook.bin") => xlsx::extract(&package).map(Some),
        _ => Ok(None),
    }
}
