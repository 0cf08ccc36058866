//! The extractor that lets workers do it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

use trove_domain::port::{ExtractError, ExtractedText, TextExtractor};

use super::process::Worker;
use super::protocol;
use crate::archive::Source;
use crate::budget::Budget;
use crate::detect::{HEAD_BYTES, detect};
use crate::extensions::EXTENSIONS;
use crate::extractor::{InProcessExtractor, check_length, head_of, open, unreadable};

/// Text of up to so many bytes is read in this process: that is quicker than asking another one, and
/// the memory for it is no matter.
const SIMPLE_BYTES_MAX: u64 = 1024 * 1024;

/// A worker reads so many files; whatever it has kept of them then ends with it.
const FILES_PER_WORKER: usize = 200;

/// A worker that has read a larger file is not kept, for the sake of its memory.
const KEPT_AFTER_BYTES: u64 = 16 * 1024 * 1024;

/// How a worker is started: a program that calls [`crate::serve_worker`].
#[derive(Clone, Debug)]
pub struct WorkerProgram {
    /// The program.
    pub path: PathBuf,
    /// What it is called with.
    pub arguments: Vec<OsString>,
}

/// Understands all formats. What is not plain text is read by workers, of which there are only so
/// many; callers wait for one.
pub struct IsolatedExtractor {
    program: WorkerProgram,
    budget: Budget,
    workers_max: usize,
    workers: Mutex<Workers>,
    freed: Condvar,
}

#[derive(Default)]
struct Workers {
    idle: Vec<Worker>,
    busy: usize,
}

impl IsolatedExtractor {
    /// An extractor with up to `workers_max` workers, which are started as they are needed.
    #[must_use]
    pub fn new(program: WorkerProgram, budget: Budget, workers_max: usize) -> Self {
        Self {
            program,
            budget,
            workers_max: workers_max.max(1),
            workers: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    fn in_process(&self) -> InProcessExtractor {
        InProcessExtractor::new(self.budget)
    }

    /// Whether a file is read here.
    fn is_simple(&self, file_name: &str, head: &[u8], length: u64) -> Result<bool, ExtractError> {
        check_length(length, &self.budget)?;
        Ok(detect(file_name, head)?.is_simple() && length <= SIMPLE_BYTES_MAX)
    }

    fn ask(
        &self,
        length: u64,
        send: impl FnOnce(&mut std::process::ChildStdin) -> std::io::Result<()>,
    ) -> Result<ExtractedText, ExtractError> {
        let place = Place::wait_for(self);
        let idle = self.lock().idle.pop();
        let mut worker = match idle {
            Some(worker) => worker,
            None => Worker::start(&self.program)?,
        };
        let answer = worker.read(&self.budget, length, send)?;
        if worker.files() < FILES_PER_WORKER && length <= KEPT_AFTER_BYTES {
            self.lock().idle.push(worker);
        }
        drop(place);
        answer
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Workers> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to one of the workers.
struct Place<'e>(&'e IsolatedExtractor);

impl<'e> Place<'e> {
    fn wait_for(extractor: &'e IsolatedExtractor) -> Self {
        let workers = extractor.lock();
        let is_full = |workers: &mut Workers| workers.busy >= extractor.workers_max;
        let workers = extractor.freed.wait_while(workers, is_full);
        workers.unwrap_or_else(PoisonError::into_inner).busy += 1;
        Self(extractor)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.lock().busy -= 1;
        self.0.freed.notify_one();
    }
}

impl TextExtractor for IsolatedExtractor {
    fn extensions(&self) -> &'static [&'static str] {
        EXTENSIONS
    }

    fn extract(&self, file_name: &str, content: &[u8]) -> Result<ExtractedText, ExtractError> {
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let head = content.get(..HEAD_BYTES).unwrap_or(content);
        if self.is_simple(file_name, head, length)? {
            return self.in_process().extract(file_name, content);
        }
        self.ask(length, |input| protocol::write_bytes(input, file_name, self.budget, content))
    }

    fn extract_file(&self, file_name: &str, path: &Path) -> Result<ExtractedText, ExtractError> {
        let (file, length) = open(path)?;
        let head = head_of(Source::File(&file, length))?;
        drop(file);
        if self.is_simple(file_name, &head, length)? {
            return self.in_process().extract_file(file_name, path);
        }
        // A worker is in another folder.
        let path = std::path::absolute(path).map_err(unreadable)?;
        self.ask(length, |input| protocol::write_path(input, file_name, self.budget, &path))
    }
}
