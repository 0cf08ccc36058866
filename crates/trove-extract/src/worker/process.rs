//! One worker, seen from outside.

use std::io::{self, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use trove_domain::port::{ExtractError, ExtractedText, Resource};

use super::isolated::WorkerProgram;
use super::protocol;
use crate::budget::Budget;

/// A worker ends itself in time; this is how long it may take about that.
const GRACE: Duration = Duration::from_secs(1);

/// So much of what a worker complains about is looked at.
const COMPLAINT_BYTES: u64 = 4096;

/// A running worker.
pub(super) struct Worker {
    child: Mutex<Child>,
    /// Closed to end the worker.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    complaints: ChildStderr,
    files: usize,
}

impl Worker {
    pub(super) fn start(program: &WorkerProgram) -> Result<Self, ExtractError> {
        let unavailable = |error: io::Error| ExtractError::Unavailable {
            detail: format!("{} cannot be started: {error}", program.path.display()),
        };
        let mut command = Command::new(&program.path);
        // What operators see in a list of processes.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::arg0(&mut command, "trove-extract-worker");
        let mut child = command
            .args(&program.arguments)
            // Whatever is in the environment is none of a worker's business.
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(unavailable)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(complaints)) = pipes else {
            let _ = child.kill();
            return Err(unavailable(io::ErrorKind::BrokenPipe.into()));
        };
        let output = BufReader::new(output);
        Ok(Self { child: Mutex::new(child), input: Some(input), output, complaints, files: 0 })
    }

    /// Files that it was given.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    /// Lets the worker read a file. After an `Err` on the outside it is of no more use.
    pub(super) fn read(
        &mut self,
        budget: &Budget,
        length: u64,
        send: impl FnOnce(&mut ChildStdin) -> io::Result<()>,
    ) -> Result<Result<ExtractedText, ExtractError>, ExtractError> {
        self.files += 1;
        let Self { child, input, output, .. } = self;
        let child = &*child;
        let timeout = budget.time.saturating_add(GRACE);
        let (done, watched) = mpsc::channel::<()>();
        let (answer, timed_out) = std::thread::scope(|scope| {
            let watchdog = std::thread::Builder::new().name("extraction-watchdog".to_owned());
            let watchdog = watchdog.spawn_scoped(scope, move || {
                let late = watched.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout);
                if late {
                    // It may be gone already.
                    let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
                }
                late
            });
            let answer = match (&watchdog, input) {
                // Without a watchdog nothing would end a worker that does not answer.
                (Err(_), _) | (_, None) => Err(io::ErrorKind::Other.into()),
                (Ok(_), Some(input)) => {
                    send(input).and_then(|()| protocol::read_answer(output, budget.chars))
                }
            };
            drop(done);
            let late = watchdog.ok().and_then(|watchdog| watchdog.join().ok());
            (answer, late.unwrap_or(false))
        });
        match answer {
            Ok(answer) => Ok(answer),
            Err(_) if timed_out => Err(ExtractError::TimedOut { after: budget.time }),
            Err(error) => Err(self.end_of(&error, budget, length)),
        }
    }

    /// Why a worker did not answer.
    fn end_of(&mut self, error: &io::Error, budget: &Budget, length: u64) -> ExtractError {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        // One that still runs has said something that is no answer.
        let _ = child.kill();
        let status = child.wait();
        let mut complaint = Vec::new();
        let _ = (&mut self.complaints).take(COMPLAINT_BYTES).read_to_end(&mut complaint);
        let complaint = String::from_utf8_lossy(&complaint);
        if complaint.contains("memory allocation of") {
            return ExtractError::OutOfBudget { resource: Resource::Memory, limit: budget.memory };
        }
        if status.as_ref().is_ok_and(used_up_its_time) {
            return ExtractError::TimedOut { after: budget.processor_time(length) };
        }
        let what = if complaint.contains("overflowed its stack") {
            "its reader used up the stack".to_owned()
        } else {
            match status {
                Ok(status) => format!("its reader ended ({status}; {error})"),
                Err(error) => format!("its reader was lost ({error})"),
            }
        };
        ExtractError::Crashed { detail: what }
    }
}

#[cfg(unix)]
fn used_up_its_time(status: &ExitStatus) -> bool {
    let signal = std::os::unix::process::ExitStatusExt::signal(status);
    signal == Some(rustix::process::Signal::XCPU.as_raw())
}

#[cfg(not(unix))]
fn used_up_its_time(_: &ExitStatus) -> bool {
    false
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.input.take());
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }
}
