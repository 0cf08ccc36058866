//! How much a file may use up, and what it has used up.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use trove_domain::port::{ExtractError, Resource};

/// Longest text that is taken from one file unless configured otherwise: some 3 000 book pages.
pub const DEFAULT_MAX_CHARS: usize = 10_000_000;

const MIB: u64 = 1024 * 1024;

/// What the extraction of one file may use up, all files inside it included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Most characters of text.
    pub chars: usize,
    /// Most bytes of the file.
    pub file_bytes: u64,
    /// Most bytes that come out of compressed parts, all together.
    pub unpacked_bytes: u64,
    /// Most bytes that come out of one compressed part.
    pub part_bytes: u64,
    /// Most bytes that come out of one compressed byte, once a part is larger than 8 MiB: no text
    /// that somebody wrote is that dull.
    pub ratio: u64,
    /// Most parts, of all archives together.
    pub entries: u64,
    /// Most files in one another: a message in an archive in an archive.
    pub nesting: u64,
    /// Most elements in one another.
    pub depth: u64,
    /// Most pieces of markup.
    pub events: u64,
    /// Most pages, slides or sheets.
    pub pages: u64,
    /// Longest time.
    pub time: Duration,
    /// Longest time of a processor for a small file; each 2 MiB of a file give it another second,
    /// up to `time`. Other work on the machine does not count. Only a worker can keep to it.
    pub small_file_time: Duration,
    /// Most bytes of memory, above what a process has that reads nothing. Only a worker can keep
    /// to it.
    pub memory: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            chars: DEFAULT_MAX_CHARS,
            file_bytes: 250 * MIB,
            unpacked_bytes: 256 * MIB,
            part_bytes: 128 * MIB,
            ratio: 250,
            entries: 50_000,
            nesting: 4,
            depth: 500,
            events: 20_000_000,
            pages: 20_000,
            time: Duration::from_secs(30),
            small_file_time: Duration::from_secs(2),
            memory: 768 * MIB,
        }
    }
}

impl Budget {
    /// Time of a processor for a file of so many bytes.
    #[must_use]
    pub fn processor_time(&self, file_bytes: u64) -> Duration {
        let more = Duration::from_secs(file_bytes / (2 * MIB));
        self.small_file_time.saturating_add(more).min(self.time)
    }
}

/// Most warnings of one file; more say nothing new.
const WARNINGS_MAX: usize = 20;

/// Clocks are read once for so many events.
const EVENTS_PER_LOOK: u64 = 4096;

/// What one extraction has used up.
///
/// Readers deep inside other crates can only fail with an I/O error; what went wrong is kept here,
/// and [`Meter::failure`] gets it out.
#[derive(Debug)]
pub(crate) struct Meter {
    budget: Budget,
    deadline: Option<Instant>,
    chars: Cell<usize>,
    unpacked: Cell<u64>,
    entries: Cell<u64>,
    nesting: Cell<u64>,
    events: Cell<u64>,
    /// Names of the files that the present one is in.
    path: RefCell<Vec<String>>,
    failed: RefCell<Option<ExtractError>>,
    warnings: RefCell<Vec<String>>,
}

impl Meter {
    pub(crate) fn new(budget: Budget) -> Self {
        Self {
            budget,
            deadline: Instant::now().checked_add(budget.time),
            chars: Cell::new(0),
            unpacked: Cell::new(0),
            entries: Cell::new(0),
            nesting: Cell::new(0),
            events: Cell::new(0),
            path: RefCell::new(Vec::new()),
            failed: RefCell::new(None),
            warnings: RefCell::new(Vec::new()),
        }
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Characters that may still come.
    pub(crate) fn chars_left(&self) -> usize {
        self.budget.chars - self.chars.get().min(self.budget.chars)
    }

    pub(crate) fn take_chars(&self, count: usize) -> Result<(), ExtractError> {
        if count > self.chars_left() {
            return Err(self.too_long());
        }
        self.chars.set(self.chars.get() + count);
        Ok(())
    }

    pub(crate) fn too_long(&self) -> ExtractError {
        ExtractError::TooLong { max_chars: self.budget.chars }
    }

    pub(crate) fn take_unpacked(&self, bytes: u64) -> Result<(), ExtractError> {
        let limit = self.budget.unpacked_bytes;
        take(&self.unpacked, bytes, Resource::UnpackedBytes, limit)?;
        self.look_at_the_clock()
    }

    pub(crate) fn take_entry(&self) -> Result<(), ExtractError> {
        take(&self.entries, 1, Resource::Entries, self.budget.entries)
    }

    pub(crate) fn take_event(&self) -> Result<(), ExtractError> {
        take(&self.events, 1, Resource::Events, self.budget.events)?;
        if self.events.get().is_multiple_of(EVENTS_PER_LOOK) {
            self.look_at_the_clock()?;
        }
        Ok(())
    }

    /// Counts pages from 1.
    pub(crate) fn check_pages(&self, pages: usize) -> Result<(), ExtractError> {
        let limit = self.budget.pages;
        if u64::try_from(pages).is_ok_and(|pages| pages <= limit) {
            return Ok(());
        }
        Err(ExtractError::OutOfBudget { resource: Resource::Pages, limit })
    }

    pub(crate) fn check_depth(&self, depth: usize) -> Result<(), ExtractError> {
        let limit = self.budget.depth;
        if u64::try_from(depth).is_ok_and(|depth| depth <= limit) {
            return Ok(());
        }
        Err(ExtractError::OutOfBudget { resource: Resource::Depth, limit })
    }

    pub(crate) fn look_at_the_clock(&self) -> Result<(), ExtractError> {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(ExtractError::TimedOut { after: self.budget.time });
        }
        Ok(())
    }

    /// Does `work` on a file of this name inside the present one.
    pub(crate) fn inside<T>(
        &self,
        name: &str,
        work: impl FnOnce() -> Result<T, ExtractError>,
    ) -> Result<T, ExtractError> {
        let limit = self.budget.nesting;
        take(&self.nesting, 1, Resource::Nesting, limit)?;
        self.path.borrow_mut().push(name.to_owned());
        let answer = work();
        self.path.borrow_mut().pop();
        self.nesting.set(self.nesting.get() - 1);
        answer
    }

    /// Remembers why a reader fails.
    pub(crate) fn fail(&self, error: ExtractError) -> std::io::Error {
        let message = std::io::Error::other(error.to_string());
        self.failed.borrow_mut().get_or_insert(error);
        message
    }

    /// Why something failed: what [`Self::fail`] was told, else that the file is broken.
    pub(crate) fn failure(
        &self,
        format: &'static str,
        detail: &dyn std::fmt::Display,
    ) -> ExtractError {
        self.failed.borrow_mut().take().unwrap_or_else(|| malformed(format, detail))
    }

    /// Says that something could not be read.
    pub(crate) fn warn(&self, warning: impl Into<String>) {
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < WARNINGS_MAX {
            let mut place = self.path.borrow().join(": ");
            if !place.is_empty() {
                place.push_str(": ");
            }
            let warning = crate::writer::title(&(place + &warning.into()));
            if let Some(warning) = warning.filter(|warning| !warnings.contains(warning)) {
                warnings.push(warning);
            }
        }
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    /// Turns the failure of one part into a warning, unless the whole file is to blame: what is
    /// used up is used up for every part.
    pub(crate) fn part<T>(
        &self,
        name: &str,
        answer: Result<T, ExtractError>,
    ) -> Result<Option<T>, ExtractError> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(
                error @ (ExtractError::TooLong { .. }
                | ExtractError::OutOfBudget { .. }
                | ExtractError::TimedOut { .. }),
            ) => Err(error),
            Err(error) => {
                self.warn(format!("{name}: {error}"));
                Ok(None)
            }
        }
    }
}

fn take(used: &Cell<u64>, count: u64, resource: Resource, limit: u64) -> Result<(), ExtractError> {
    let sum = used.get().saturating_add(count);
    if sum > limit {
        return Err(ExtractError::OutOfBudget { resource, limit });
    }
    used.set(sum);
    Ok(())
}

/// The file is not what it looks like.
pub(crate) fn malformed(format: &'static str, detail: &dyn std::fmt::Display) -> ExtractError {
    let detail = crate::writer::title(&detail.to_string()).unwrap_or_default();
    ExtractError::Malformed { format: format.to_owned(), detail }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Meter};
    use trove_domain::port::{ExtractError, Resource};

    #[test]
    fn what_is_used_up_is_used_up() {
        let meter = Meter::new(Budget { entries: 2, chars: 3, ..Budget::default() });
        assert_eq!(meter.take_entry(), Ok(()));
        assert_eq!(meter.take_entry(), Ok(()));
        let error = ExtractError::OutOfBudget { resource: Resource::Entries, limit: 2 };
        assert_eq!(meter.take_entry(), Err(error.clone()));
        assert_eq!(meter.part("a", Err::<(), _>(error.clone())), Err(error));
        assert_eq!(meter.take_chars(3), Ok(()));
        assert_eq!(meter.take_chars(1), Err(ExtractError::TooLong { max_chars: 3 }));
    }

    #[test]
    fn a_larger_file_may_take_longer() {
        let budget = Budget::default();
        let seconds = |mib: u64| budget.processor_time(mib * 1024 * 1024).as_secs();
        assert_eq!([seconds(0), seconds(1), seconds(20), seconds(250)], [2, 2, 12, 30]);
    }

    #[test]
    fn nesting_is_left_again() {
        let meter = Meter::new(Budget { nesting: 1, ..Budget::default() });
        for _ in 0..3 {
            assert_eq!(meter.inside("a", || Ok(1)), Ok(1));
        }
        let error = ExtractError::OutOfBudget { resource: Resource::Nesting, limit: 1 };
        assert_eq!(meter.inside("a", || meter.inside("a", || Ok(1))), Err(error));
    }

    #[test]
    fn a_broken_part_is_a_warning_and_few_of_them_are_kept() {
        let meter = Meter::new(Budget::default());
        for number in 0..100 {
            let broken = Err::<(), _>(ExtractError::Encrypted);
            assert_eq!(meter.part(&format!("{number}"), broken), Ok(None));
        }
        let warnings = meter.warnings();
        assert_eq!(warnings.len(), 20);
        assert_eq!(warnings[0], "0: the file is encrypted");
    }
}
