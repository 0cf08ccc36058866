//! Bodies, unpacked within bounds.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};

/// Buffer of the decoder.
const BROTLI_BUFFER_BYTES: usize = 16 << 10;

/// Why a body was not read.
#[derive(Debug)]
pub(super) enum BodyError {
    TooLarge,
    Broken(io::Error),
    Encoding,
}

/// Keeps so many bytes and fails beyond them.
struct Bounded {
    bytes: Vec<u8>,
    max: usize,
}

/// The error of a [`Bounded`] that is full.
#[derive(Debug, thiserror::Error)]
#[error("the body is longer than allowed")]
struct Full;

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.max - self.bytes.len() {
            return Err(io::Error::other(Full));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Decoder {
    Plain(Bounded),
    Gzip(Box<GzDecoder<Bounded>>),
    Zlib(Box<ZlibDecoder<Bounded>>),
    Deflate(Box<DeflateDecoder<Bounded>>),
    /// Which of the two things that are called `deflate` it is, its first bytes say.
    SomeDeflate(Bounded, Vec<u8>),
    Brotli(Box<DecompressorWriter<Bounded>>),
}

/// A body while it arrives.
pub(super) struct Body {
    decoder: Decoder,
    packed_left: usize,
}

impl Body {
    /// A body with this `Content-Encoding`.
    pub(super) fn new(encoding: &str, packed_max: usize, max: usize) -> Result<Self, BodyError> {
        let sink = Bounded { bytes: Vec::new(), max };
        let decoder = match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Decoder::Plain(sink),
            "gzip" | "x-gzip" => Decoder::Gzip(Box::new(GzDecoder::new(sink))),
            "deflate" => Decoder::SomeDeflate(sink, Vec::new()),
            "br" => Decoder::Brotli(Box::new(DecompressorWriter::new(sink, BROTLI_BUFFER_BYTES))),
            // Also more than one: nobody does that in good faith.
            _ => return Err(BodyError::Encoding),
        };
        Ok(Self { decoder, packed_left: packed_max })
    }

    pub(super) fn push(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        self.packed_left = self.packed_left.checked_sub(piece.len()).ok_or(BodyError::TooLarge)?;
        if let Decoder::SomeDeflate(sink, head) = &mut self.decoder {
            head.extend_from_slice(piece);
            let &[first, second, ..] = head.as_slice() else { return Ok(()) };
            let head = std::mem::take(head);
            let sink = Bounded { bytes: Vec::new(), max: sink.max };
            // RFC 1950, section 2.2.
            let is_zlib = first & 0x0f == 8 && u16::from_be_bytes([first, second]) % 31 == 0;
            self.decoder = if is_zlib {
                Decoder::Zlib(Box::new(ZlibDecoder::new(sink)))
            } else {
                Decoder::Deflate(Box::new(DeflateDecoder::new(sink)))
            };
            return self.write(&head);
        }
        self.write(piece)
    }

    fn write(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        match &mut self.decoder {
            Decoder::Plain(sink) => sink.write_all(piece),
            Decoder::Gzip(decoder) => decoder.write_all(piece),
            Decoder::Zlib(decoder) => decoder.write_all(piece),
            Decoder::Deflate(decoder) => decoder.write_all(piece),
            Decoder::Brotli(decoder) => decoder.write_all(piece),
            Decoder::SomeDeflate(..) => Ok(()),
        }
        .map_err(sorted)
    }

    /// The whole body.
    pub(super) fn finish(self) -> Result<Vec<u8>, BodyError> {
        let sink = match self.decoder {
            Decoder::Plain(sink) => Ok(sink),
            Decoder::Gzip(decoder) => decoder.finish(),
            Decoder::Zlib(decoder) => decoder.finish(),
            Decoder::Deflate(decoder) => decoder.finish(),
            Decoder::Brotli(mut decoder) => decoder.close().and_then(|()| {
                decoder.into_inner().map_err(|_| io::ErrorKind::UnexpectedEof.into())
            }),
            Decoder::SomeDeflate(sink, head) if head.is_empty() => Ok(sink),
            Decoder::SomeDeflate(..) => Err(io::ErrorKind::UnexpectedEof.into()),
        };
        sink.map(|sink| sink.bytes).map_err(sorted)
    }
}

fn sorted(error: io::Error) -> BodyError {
    let full = error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Full>);
    if full { BodyError::TooLarge } else { BodyError::Broken(error) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::{Body, BodyError};

    fn packed(encoding: &str, content: &[u8]) -> Vec<u8> {
        let level = Compression::best();
        match encoding {
            "gzip" => {
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            "zlib" => {
                let mut encoder = ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            _ => {
                let mut encoder = DeflateEncoder::new(Vec::new(), level);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    fn unpack(encoding: &str, packed: &[u8], max: usize) -> Result<Vec<u8>, BodyError> {
        let mut body = Body::new(encoding, 1 << 20, max)?;
        for piece in packed.chunks(7) {
            body.push(piece)?;
        }
        body.finish()
    }

    /// Brotli of a mebibyte of zeros.
    const BROTLI_BOMB: &[u8] = b"\x5b\xff\xff\x8f\x7f\x02\x20\x1e\x0b\x04\x72\xef\x1f\x00";
    /// Brotli of `text that is sent`.
    const BROTLI_TEXT: &[u8] =
        b"\x1b\x10\x00\xf8\x25\xe9\xca\xf0\x4a\x90\x52\xea\x96\x7d\x6a\x2f\x38";

    #[test]
    fn bodies_are_unpacked() {
        let text = b"text that is sent";
        assert_eq!(unpack("", text, 100).unwrap(), text);
        for (encoding, made) in [("gzip", "gzip"), ("deflate", "zlib"), ("deflate", "deflate")] {
            assert_eq!(unpack(encoding, &packed(made, text), 100).unwrap(), text, "{made}");
        }
        // The other two do not tell; HTTP itself says where a body ends.
        let cut = packed("gzip", text);
        assert!(unpack("gzip", &cut[..cut.len() - 5], 100).is_err());
        assert_eq!(unpack("br", BROTLI_TEXT, 100).unwrap(), text);
        assert!(unpack("br", &BROTLI_TEXT[..BROTLI_TEXT.len() - 3], 100).is_err());
        assert_eq!(unpack("deflate", b"", 100).unwrap(), b"");
    }

    #[test]
    fn bombs_do_not_go_off() {
        let zeros = vec![0; 10 << 20];
        for (encoding, made) in [("gzip", "gzip"), ("deflate", "zlib"), ("deflate", "deflate")] {
            let bomb = packed(made, &zeros);
            assert!(bomb.len() < 1 << 20);
            assert!(matches!(unpack(encoding, &bomb, 1 << 16), Err(BodyError::TooLarge)), "{made}");
        }
        assert_eq!(unpack("br", BROTLI_BOMB, 1 << 20).unwrap().len(), 1 << 20);
        assert!(matches!(unpack("br", BROTLI_BOMB, 1 << 19), Err(BodyError::TooLarge)));
        let packed_max = Body::new("", 10, 100).unwrap().push(&[0; 11]);
        assert!(matches!(packed_max, Err(BodyError::TooLarge)));
        assert!(matches!(Body::new("gzip, gzip", 10, 10), Err(BodyError::Encoding)));
    }
}
