//! Extraction in processes of their own: a file that crashes its reader, fills the memory or keeps a
//! processor busy costs an error and not the service.
//!
//! A worker is this program, or another one that calls [`serve`]. It answers request after request
//! on its standard input, under limits that it sets on itself ([`limits`]). [`IsolatedExtractor`]
//! keeps a few of them.

mod isolated;
mod limits;
mod process;
mod protocol;

use std::io::{self, BufReader, BufWriter, Read, Write};

use trove_domain::port::TextExtractor;

use self::protocol::{Content, Request};
use crate::extractor::InProcessExtractor;

pub use self::isolated::{IsolatedExtractor, WorkerProgram};

/// Answers requests until the input ends: the whole life of a worker.
///
/// # Errors
///
/// When a request cannot be read or an answer cannot be written, as when the other side has gone.
pub fn serve(input: impl Read, output: impl Write) -> io::Result<()> {
    // What a parser panics with may be what is in the file, and is nothing that an operator wants.
    std::panic::set_hook(Box::new(|_| {}));
    let mut input = BufReader::new(input);
    let mut output = BufWriter::new(output);
    let mut is_limited = false;
    while let Some(Request { file_name, budget, content }) = protocol::read_request(&mut input)? {
        if !is_limited {
            limits::set_once(budget.memory);
            is_limited = true;
        }
        limits::allow_processor_time(budget.processor_time(content.len()));
        let extractor = InProcessExtractor::new(budget);
        let answer = match content {
            Content::Bytes(bytes) => extractor.extract(&file_name, &bytes),
            Content::File(path) => extractor.extract_file(&file_name, &path),
        };
        protocol::write_answer(&mut output, &answer)?;
    }
    Ok(())
}
