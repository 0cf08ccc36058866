//! Reads `model.safetensors` once, in file order, hashing as it goes.
//!
//! The file is 90 MB. Mapping it would need `unsafe`, and reading it whole would hold every weight
//! twice while it is converted; a single pass over the tensors costs the memory of the tensors.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::Metadata;
use sha2::{Digest, Sha256};

use crate::model_files::hex;

/// A header longer than this is not one of a sentence encoder.
const HEADER_MAX_BYTES: u64 = 1 << 20;

/// What is wrong with the contents of a weights file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WeightsError {
    #[error("it cannot be read")]
    Read(#[from] io::Error),
    #[error("its header is not one of a safetensors file")]
    Header(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("tensor {name} is missing, or not of 32-bit floats")]
    Missing { name: String },
    #[error("tensor {name} has shape {got:?}, expected {want:?}")]
    Shape { name: String, got: Vec<usize>, want: Vec<usize> },
}

/// The 32-bit float tensors of one file, by name.
pub(crate) struct Weights {
    tensors: HashMap<String, (Vec<usize>, Vec<f32>)>,
    sha256: String,
}

impl Weights {
    /// Reads all tensors of `path`.
    ///
    /// A short file is a [`WeightsError::Read`] with [`io::ErrorKind::UnexpectedEof`].
    pub(crate) fn read(path: &Path) -> Result<Self, WeightsError> {
        let mut source = Hashing {
            inner: BufReader::with_capacity(1 << 18, File::open(path)?),
            hash: Sha256::new(),
        };
        let header = read_header(&mut source)?;

        let mut tensors = HashMap::new();
        // `offset_keys` is in file order, which `Metadata` has checked to be without gaps.
        for name in header.offset_keys() {
            let Some(info) = header.info(&name) else { continue };
            let size_bytes = info.data_offsets.1 - info.data_offsets.0;
            if info.dtype == Dtype::F32 {
                let values = read_floats(&mut source, size_bytes)?;
                tensors.insert(name, (info.shape.clone(), values));
            } else {
                // Not wanted (the index 0..512 as integers), but part of the hash.
                io::copy(&mut (&mut source).take(u64_from(size_bytes)), &mut io::sink())?;
            }
        }
        io::copy(&mut source, &mut io::sink())?;
        Ok(Self { tensors, sha256: hex(&source.hash.finalize()) })
    }

    /// SHA-256 of the whole file in hexadecimal.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Moves a tensor out, row-major.
    pub(crate) fn take(&mut self, name: &str, want: &[usize]) -> Result<Vec<f32>, WeightsError> {
        let (shape, values) = self
            .tensors
            .remove(name)
            .ok_or_else(|| WeightsError::Missing { name: name.to_owned() })?;
        if shape != want {
            return Err(WeightsError::Shape {
                name: name.to_owned(),
                got: shape,
                want: want.to_vec(),
            });
        }
        Ok(values)
    }
}

fn read_header(source: &mut impl Read) -> Result<Metadata, WeightsError> {
    let mut length = [0; 8];
    source.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > HEADER_MAX_BYTES {
        return Err(WeightsError::Header(format!("{length} bytes of header").into()));
    }
    let mut header = Vec::new();
    source.take(length).read_to_end(&mut header)?;
    serde_json::from_slice(&header).map_err(|err| WeightsError::Header(err.into()))
}

fn read_floats(source: &mut impl Read, size_bytes: usize) -> io::Result<Vec<f32>> {
    let mut values = Vec::with_capacity(size_bytes / size_of::<f32>());
    let mut block = [0; 1 << 14];
    let mut left = size_bytes;
    while left > 0 {
        let block = &mut block[..left.min(1 << 14)];
        source.read_exact(block)?;
        values.extend(block.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        left -= block.len();
    }
    Ok(values)
}

/// Lengths in memory always fit.
fn u64_from(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// A reader that hashes what passes through it.
struct Hashing<R> {
    inner: R,
    hash: Sha256,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buf)?;
        self.hash.update(&buf[..count]);
        Ok(count)
    }
}
