//! How the process lives and ends: signals, tracked tasks, a deadline.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Exit codes of a process that a signal ended begin here.
const SIGNALLED: i32 = 128;

/// Everything that runs beside the main task, and the wish to stop.
#[derive(Clone, Debug)]
pub struct Lifecycle {
    /// Cancelled by the first signal, and by the death of a task.
    stop: CancellationToken,
    tasks: TaskTracker,
    /// The first task that died, and why.
    death: Arc<Mutex<Option<anyhow::Error>>>,
}

impl Lifecycle {
    /// Starts to listen for SIGTERM, SIGINT and SIGHUP. The first asks to stop; a second SIGTERM or
    /// SIGINT ends the process at once with 128 plus the number of the signal. (A terminal that is
    /// closed may send SIGHUP twice.)
    ///
    /// SIGHUP stays ignored where `nohup` has it ignored, and keeps its default where that cannot be
    /// known.
    ///
    /// # Errors
    ///
    /// When signals cannot be listened for.
    pub fn start() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("signals cannot be listened for");
        let terminate = listen(SignalKind::terminate())?;
        let interrupt = listen(SignalKind::interrupt())?;
        let hangup = if ignores_hangup() { None } else { Some(listen(SignalKind::hangup())?) };
        let lifecycle = Self {
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            death: Arc::default(),
        };
        // Not tracked: it waits for a second signal for as long as the process lives.
        let stop = lifecycle.stop.clone();
        TaskTracker::new().spawn(obey(Signals { terminate, interrupt }, hangup, stop));
        Ok(lifecycle)
    }

    /// Cancelled when the process is to stop.
    #[must_use]
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Runs `task` until it ends. One that ends before it was asked to, whether with an error, by
    /// a panic or without a word, stops the process.
    pub fn spawn(
        &self,
        name: &'static str,
        task: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    ) {
        let lifecycle = self.clone();
        let running = self.tasks.spawn(task);
        self.tasks.spawn(async move {
            let died = match running.await {
                Ok(Ok(())) if lifecycle.stop.is_cancelled() => return,
                Ok(Ok(())) => anyhow!("{name} ended by itself"),
                Ok(Err(error)) => error.context(format!("{name} failed")),
                Err(panic) => anyhow!("{name} failed: {panic}"),
            };
            lifecycle.death.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(died);
            lifecycle.stop.cancel();
        });
    }

    /// Waits for all tasks; they have to watch [`Lifecycle::stop`].
    pub async fn join(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Runs `finish`, which ends everything in order, for at most `deadline`.
    ///
    /// # Errors
    ///
    /// When the time was too short, or a task had died.
    pub async fn end(
        &self,
        deadline: Duration,
        finish: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<()> {
        let finished = tokio::time::timeout(deadline, finish).await;
        if let Some(death) = self.death.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(death);
        }
        finished.unwrap_or_else(|_| {
            Err(anyhow!(
                "stopping took longer than {} s (shutdown.deadline_ms) and was given up; what was \
                 acknowledged is safe",
                deadline.as_secs()
            ))
        })
    }
}

/// Whether SIGHUP is ignored, or that cannot be known: `nohup` starts a process so, and listening
/// would undo it.
fn ignores_hangup() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return true };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is signal 1.
    mask.is_none_or(|mask| mask & 1 == 1)
}

/// What ends the process in order, then at once.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    async fn next(&mut self) -> (&'static str, i32) {
        tokio::select! {
            _ = self.terminate.recv() => ("SIGTERM", SignalKind::terminate().as_raw_value()),
            _ = self.interrupt.recv() => ("SIGINT", SignalKind::interrupt().as_raw_value()),
        }
    }
}

async fn obey(mut signals: Signals, hangup: Option<Signal>, stop: CancellationToken) {
    let first = async {
        match hangup {
            Some(mut hangup) => {
                tokio::select! {
                    signal = signals.next() => signal.0,
                    _ = hangup.recv() => "SIGHUP",
                }
            }
            None => signals.next().await.0,
        }
    };
    let signal = first.await;
    tracing::info!(signal, "stopping; a second signal stops at once");
    stop.cancel();
    let (signal, number) = signals.next().await;
    tracing::warn!(signal, "stopped at once by a second signal");
    std::process::exit(SIGNALLED + number);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Lifecycle;

    #[tokio::test]
    async fn a_task_that_dies_stops_the_process_with_its_error() {
        let lifecycle = Lifecycle::start().unwrap();
        lifecycle.spawn("the worker", async { anyhow::bail!("out of luck") });
        lifecycle.stop().cancelled().await;
        let ended = lifecycle.end(Duration::from_secs(5), async {
            lifecycle.join().await;
            Ok(())
        });
        let error = format!("{:#}", ended.await.unwrap_err());
        assert_eq!(error, "the worker failed: out of luck");
    }

    #[tokio::test]
    async fn a_task_that_ends_when_asked_is_no_failure() {
        let lifecycle = Lifecycle::start().unwrap();
        let stop = lifecycle.stop().clone();
        lifecycle.spawn("the worker", async move {
            stop.cancelled().await;
            Ok(())
        });
        lifecycle.stop().cancel();
        let ended = lifecycle.end(Duration::from_secs(5), async {
            lifecycle.join().await;
            Ok(())
        });
        ended.await.unwrap();
    }

    #[tokio::test]
    async fn stopping_has_a_deadline() {
        let lifecycle = Lifecycle::start().unwrap();
        let ended = lifecycle.end(Duration::from_millis(1), std::future::pending());
        assert!(ended.await.unwrap_err().to_string().contains("was given up"));
    }
}
