//! The compression of RTF in messages: runs out of a window of 4096 bytes, which begins with what
//! most documents begin with.

use trove_domain::port::{ExtractError, Resource};

use crate::budget::malformed;

const FORMAT: &str = "compressed text";
const WINDOW: usize = 4096;
const START: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \
\\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\
\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

const COMPRESSED: &[u8] = b"LZFu";
const UNCOMPRESSED: &[u8] = b"MELA";

/// Unpacks a text of at most `limit` bytes. A text that is cut off is what is left of it.
pub(super) fn unpack(packed: &[u8], limit: u64) -> Result<Vec<u8>, ExtractError> {
    let kind = packed.get(8..12).unwrap_or_default();
    let content = packed.get(16..).unwrap_or_default();
    if kind == UNCOMPRESSED {
        return Ok(content.to_vec());
    }
    if kind != COMPRESSED {
        return Err(malformed(FORMAT, &"it is packed in an unknown way"));
    }
    let mut window = [b' '; WINDOW];
    window[..START.len()].copy_from_slice(START);
    let mut at = START.len();
    let mut out = Vec::new();
    let mut bytes = content.iter().copied();
    'groups: while let Some(flags) = bytes.next() {
        if u64::try_from(out.len()).is_ok_and(|length| length > limit) {
            return Err(ExtractError::OutOfBudget { resource: Resource::PartBytes, limit });
        }
        for bit in 0..8 {
            let Some(first) = bytes.next() else { break 'groups };
            let mut put = |byte| {
                out.push(byte);
                window[at] = byte;
                at = (at + 1) % WINDOW;
                byte
            };
            if flags >> bit & 1 == 0 {
                put(first);
                continue;
            }
            let Some(second) = bytes.next() else { break 'groups };
            let reference = usize::from(u16::from_be_bytes([first, second]));
            let (from, length) = (reference >> 4, (reference & 0xf) + 2);
            if from == at {
                break 'groups;
            }
            for step in 0..length {
                let byte = window[(from + step) % WINDOW];
                out.push(byte);
                window[at] = byte;
                at = (at + 1) % WINDOW;
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::unpack;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut packed = vec![0; 8];
        packed.extend(b"LZFu\0\0\0\0");
        packed.extend(content);
        packed
    }

    #[test]
    fn runs_come_out_of_the_window() {
        // The example of the specification: a text, a run from the start, a text, the end.
        let example: &[u8] = &[
            0x03, 0x00, 0x0a, 0x00, 0x72, 0x63, 0x70, 0x67, 0x31, 0x32, 0x35, 0x42, 0x32, 0x0a,
            0xf3, 0x20, 0x68, 0x65, 0x6c, 0x09, 0x00, 0x20, 0x62, 0x77, 0x05, 0xb0, 0x6c, 0x64,
            0x7d, 0x0a, 0x80, 0x0f, 0xa0,
        ];
        let rtf = unpack(&packed(example), 1000).unwrap();
        assert_eq!(rtf, b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n");
    }

    #[test]
    fn what_is_cut_off_is_what_is_left_of_it() {
        assert_eq!(unpack(&packed(&[0, b'a']), 10).unwrap(), b"a");
        assert_eq!(unpack(&packed(&[1, 0]), 10).unwrap(), b"");
        assert!(unpack(b"", 10).is_err());
        assert!(unpack(&packed(&[0; 1000]), 10).is_err());
    }
}
