//! What belongs to the model, and how its files are recognised.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// A file of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModelFile {
    pub(crate) name: &'static str,
    /// In lower-case hexadecimal.
    pub(crate) sha256: &'static str,
    pub(crate) size_bytes: u64,
}

/// The weights, 32-bit floats.
pub(crate) const WEIGHTS: ModelFile = ModelFile {
    name: "model.safetensors",
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    size_bytes: 90_868_376,
};

/// The vocabulary and the rules for cutting text into its pieces.
pub(crate) const TOKENIZER: ModelFile = ModelFile {
    name: "tokenizer.json",
    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    size_bytes: 466_247,
};

/// Bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| DIGITS[usize::from(digit)])
        .collect()
}

/// SHA-256 of a file in hexadecimal. Blocks.
pub(crate) fn sha256_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 18];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hex(&hash.finalize())),
            count => hash.update(&block[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn hexadecimal_is_lower_case_and_padded() {
        assert_eq!(hex(&[0, 0xab, 0x1f]), "00ab1f");
    }
}
