//! The threads for passages.

use std::collections::VecDeque;
use std::io;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use super::priority::Priority;
use super::{contained, keep_products_to, start};
use crate::encoder::{Encoder, Pooling, Scratch, WINDOW};
use crate::error::GaveUp;
use crate::word_pieces::WordPieces;

/// Batches that may wait; a caller beyond that waits for its turn to wait.
const QUEUE_MAX: usize = 2;
/// Batches that take turns; they are in memory as tokens.
const TURNS_MAX: usize = 16;
/// Tokens that one thread takes at a time. More would not be quicker, since the weights of a layer
/// are by then read once for many tokens; the buffers for that many take 13 MB per thread.
const PART_TOKENS: usize = 8 * WINDOW;

/// Computes vectors of passages on several threads, a part of a batch on each.
#[derive(Debug)]
pub(crate) struct Bulk {
    queue: Option<mpsc::Sender<Job>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

struct Job {
    texts: Vec<String>,
    reply: oneshot::Sender<Vec<Vec<f32>>>,
}

/// A batch in work.
struct Batch {
    /// Positions in the batch and ids of its texts, longest first.
    sequences: Vec<(usize, Vec<u32>)>,
    progress: Mutex<Progress>,
}

struct Progress {
    vectors: Vec<Vec<f32>>,
    left: usize,
    /// Absent once answered or given up.
    reply: Option<oneshot::Sender<Vec<Vec<f32>>>>,
}

/// A batch that has parts left to hand out.
struct Turn {
    batch: Arc<Batch>,
    ranges: std::vec::IntoIter<Range<usize>>,
}

struct Part {
    batch: Arc<Batch>,
    range: Range<usize>,
}

impl Bulk {
    pub(crate) fn start(
        encoder: &Arc<Encoder>,
        pieces: Arc<WordPieces>,
        priority: &Arc<Priority>,
        threads: NonZero<usize>,
    ) -> io::Result<Self> {
        let (queue, jobs) = mpsc::channel(QUEUE_MAX);
        let (to_parts, parts) = sync_channel(threads.get());
        let parts = Arc::new(Mutex::new(parts));
        let stop = Arc::new(AtomicBool::new(false));
        let mut bulk = Self { queue: Some(queue), stop, threads: Vec::new() };

        let stop = Arc::clone(&bulk.stop);
        bulk.threads.push(start("embed-split".to_owned(), move || {
            split(jobs, &to_parts, &pieces, threads, &stop);
        })?);
        for index in 0..threads.get() {
            let (encoder, priority) = (Arc::clone(encoder), Arc::clone(priority));
            let (parts, stop) = (Arc::clone(&parts), Arc::clone(&bulk.stop));
            bulk.threads.push(start(format!("embed-bulk-{index}"), move || {
                work(&parts, &encoder, &priority, &stop);
            })?);
        }
        Ok(bulk)
    }

    /// Waits for one vector per text, in order. Dropping the future gives up what is not begun.
    pub(crate) async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, GaveUp> {
        let (reply, vectors) = oneshot::channel();
        self.queue()?.send(Job { texts, reply }).await.map_err(|_| GaveUp)?;
        vectors.await.map_err(|_| GaveUp)
    }

    /// Same, blocking.
    pub(crate) fn embed_blocking(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, GaveUp> {
        let (reply, vectors) = oneshot::channel();
        self.queue()?.blocking_send(Job { texts, reply }).map_err(|_| GaveUp)?;
        vectors.blocking_recv().map_err(|_| GaveUp)
    }

    fn queue(&self) -> Result<&mpsc::Sender<Job>, GaveUp> {
        self.queue.as_ref().ok_or(GaveUp)
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        // Parts that are queued are passed over; the threads end when the queues do.
        self.stop.store(true, Ordering::Relaxed);
        self.queue = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Cuts batches into tokens and into parts, and hands these out: one of each batch in turn, so that
/// a short batch does not wait for a long one.
fn split(
    mut jobs: mpsc::Receiver<Job>,
    parts: &SyncSender<Part>,
    pieces: &WordPieces,
    threads: NonZero<usize>,
    stop: &AtomicBool,
) {
    let mut turns: VecDeque<Turn> = VecDeque::new();
    loop {
        // Whoever waits gets a first turn before anybody gets another.
        if turns.len() < TURNS_MAX {
            let job = if turns.is_empty() { jobs.blocking_recv() } else { jobs.try_recv().ok() };
            match job {
                Some(job) if !job.reply.is_closed() && !stop.load(Ordering::Relaxed) => {
                    turns.extend(Turn::begin(job, pieces, threads));
                    continue;
                }
                Some(_) => continue,
                None if turns.is_empty() => return,
                None => {}
            }
        }
        let Some(mut turn) = turns.pop_front() else { continue };
        let Some(range) = turn.ranges.next().filter(|_| !turn.batch.is_given_up()) else {
            continue;
        };
        if parts.send(Part { batch: Arc::clone(&turn.batch), range }).is_err() {
            return;
        }
        turns.push_back(turn);
    }
}

impl Turn {
    /// `None` when there is nothing to do, which is then answered.
    fn begin(job: Job, pieces: &WordPieces, threads: NonZero<usize>) -> Option<Self> {
        let Job { texts, reply } = job;
        let mut sequences = contained(|| {
            texts.iter().map(|text| pieces.window(text)).enumerate().collect::<Vec<_>>()
        })?;
        // Longest first, so that threads become idle at about the same time.
        sequences.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
        let ranges = part_ranges(&sequences, threads);
        let vectors = vec![Vec::new(); sequences.len()];
        let progress = Progress { vectors, left: ranges.len(), reply: Some(reply) };
        let batch = Arc::new(Batch { sequences, progress: Mutex::new(progress) });
        if ranges.is_empty() {
            batch.progress().answer();
            return None;
        }
        Some(Self { batch, ranges: ranges.into_iter() })
    }
}

/// Parts of up to [`PART_TOKENS`], less if some threads would get none otherwise.
fn part_ranges(sequences: &[(usize, Vec<u32>)], threads: NonZero<usize>) -> Vec<Range<usize>> {
    let total: usize = sequences.iter().map(|(_, ids)| ids.len()).sum();
    let limit = total.div_ceil(threads.get()).min(PART_TOKENS);
    let mut ranges = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (index, (_, ids)) in sequences.iter().enumerate() {
        if index > start && tokens + ids.len() > limit {
            ranges.push(start..index);
            (start, tokens) = (index, 0);
        }
        tokens += ids.len();
    }
    if start < sequences.len() {
        ranges.push(start..sequences.len());
    }
    ranges
}

fn work(parts: &Mutex<Receiver<Part>>, encoder: &Encoder, priority: &Priority, stop: &AtomicBool) {
    let _pool = keep_products_to(NonZero::<usize>::MIN);
    let mut scratch = Scratch::default();
    loop {
        // The lock is held while waiting: whoever has it gets the next part.
        let part = parts.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Part { batch, range }) = part else { return };
        if stop.load(Ordering::Relaxed) || batch.is_given_up() {
            batch.progress().reply = None;
            continue;
        }
        let sequences = &batch.sequences[range];
        let ids: Vec<_> = sequences.iter().map(|(_, ids)| ids.as_slice()).collect();
        let pause = || priority.let_queries_pass();
        let vectors =
            contained(|| encoder.encode(&ids, Pooling::MeanAndOpening, &mut scratch, &pause));
        let mut progress = batch.progress();
        let Some(vectors) = vectors else {
            progress.reply = None;
            continue;
        };
        for ((position, _), vector) in sequences.iter().zip(vectors) {
            progress.vectors[*position] = vector;
        }
        progress.left -= 1;
        if progress.left == 0 {
            progress.answer();
        }
    }
}

impl Batch {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody waits for the vectors any more.
    fn is_given_up(&self) -> bool {
        self.progress().reply.as_ref().is_none_or(oneshot::Sender::is_closed)
    }
}

impl Progress {
    fn answer(&mut self) {
        if let Some(reply) = self.reply.take() {
            let _ = reply.send(std::mem::take(&mut self.vectors));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::part_ranges;

    fn check(lengths: &[usize], threads: usize, expected: &[std::ops::Range<usize>]) {
        let sequences: Vec<_> = lengths.iter().map(|length| vec![0; *length]).enumerate().collect();
        assert_eq!(part_ranges(&sequences, NonZero::new(threads).unwrap()), expected);
    }

    #[test]
    fn parts_are_bounded_and_spread_over_the_threads() {
        check(&[], 2, &[]);
        check(&[5, 3], 2, &[0..1, 1..2]);
        check(&[256; 4], 2, &[0..2, 2..4]);
        check(&[256; 16], 1, &[0..8, 8..16]);
        check(&[200, 100, 100], 2, &[0..1, 1..3]);
    }
}
