//! The thread for queries.

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use super::priority::{InFlight, Priority};
use super::{contained, keep_products_to, start};
use crate::encoder::{Encoder, Pooling, Scratch};
use crate::error::GaveUp;
use crate::word_pieces::WordPieces;

/// Queries that may wait; a caller beyond that waits for its turn to wait.
const QUEUE_MAX: usize = 64;
/// Queries answered in one go when several wait: all together read the weights once.
const TOGETHER_MAX: usize = 8;

/// Computes vectors of queries, in the order of arrival.
#[derive(Debug)]
pub(crate) struct Query {
    queue: Option<mpsc::Sender<Task>>,
    priority: Arc<Priority>,
    thread: Option<JoinHandle<()>>,
}

struct Task {
    text: String,
    reply: oneshot::Sender<Vec<f32>>,
    _in_flight: InFlight,
}

impl Query {
    pub(crate) fn start(
        encoder: Arc<Encoder>,
        pieces: Arc<WordPieces>,
        priority: Arc<Priority>,
        threads: NonZero<usize>,
    ) -> io::Result<Self> {
        let (queue, tasks) = mpsc::channel(QUEUE_MAX);
        let thread =
            start("embed-query".to_owned(), move || serve(tasks, &encoder, &pieces, threads))?;
        Ok(Self { queue: Some(queue), priority, thread: Some(thread) })
    }

    /// Waits for the vector of `text`. Dropping the future takes the query out of the queue.
    pub(crate) async fn embed(&self, text: &str) -> Result<Vec<f32>, GaveUp> {
        let (task, vector) = self.task(text);
        self.queue()?.send(task).await.map_err(|_| GaveUp)?;
        vector.await.map_err(|_| GaveUp)
    }

    /// Same, blocking.
    pub(crate) fn embed_blocking(&self, text: &str) -> Result<Vec<f32>, GaveUp> {
        let (task, vector) = self.task(text);
        self.queue()?.blocking_send(task).map_err(|_| GaveUp)?;
        vector.blocking_recv().map_err(|_| GaveUp)
    }

    fn task(&self, text: &str) -> (Task, oneshot::Receiver<Vec<f32>>) {
        let (reply, vector) = oneshot::channel();
        (Task { text: text.to_owned(), reply, _in_flight: self.priority.query() }, vector)
    }

    fn queue(&self) -> Result<&mpsc::Sender<Task>, GaveUp> {
        self.queue.as_ref().ok_or(GaveUp)
    }
}

impl Drop for Query {
    fn drop(&mut self) {
        // The thread ends when the queue does.
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    mut tasks: mpsc::Receiver<Task>,
    encoder: &Encoder,
    pieces: &WordPieces,
    threads: NonZero<usize>,
) {
    let _pool = keep_products_to(threads);
    let mut scratch = Scratch::default();
    while let Some(first) = tasks.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < TOGETHER_MAX
            && let Ok(next) = tasks.try_recv()
        {
            batch.push(next);
        }
        batch.retain(|task| !task.reply.is_closed());
        let vectors = contained(|| {
            let ids: Vec<_> = batch.iter().map(|task| pieces.window(&task.text)).collect();
            let ids: Vec<_> = ids.iter().map(Vec::as_slice).collect();
            encoder.encode(&ids, Pooling::Mean, &mut scratch, &|| ())
        });
        // After a panic the tasks are dropped, and with them the ends their callers wait for.
        for (task, vector) in batch.into_iter().zip(vectors.unwrap_or_default()) {
            let _ = task.reply.send(vector);
        }
    }
}
