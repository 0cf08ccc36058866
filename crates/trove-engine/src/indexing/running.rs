//! The runs of this process.

use std::collections::{BTreeSet, HashMap};

use tokio::task::{Id, JoinSet};
use trove_domain::source::DocumentSource;

/// Runs under way, with the systems that they read.
#[derive(Default)]
pub(super) struct Running {
    tasks: JoinSet<()>,
    sources: HashMap<Id, DocumentSource>,
}

impl Running {
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn add(
        &mut self,
        source: DocumentSource,
        run: impl Future<Output = ()> + Send + 'static,
    ) {
        self.sources.insert(self.tasks.spawn(run).id(), source);
    }

    /// Waits for one to end; `None` when there is none. Cancel-safe.
    pub(super) async fn ended(&mut self) -> Option<()> {
        let id = match self.tasks.join_next_with_id().await? {
            Ok((id, ())) => id,
            Err(panicked) => panicked.id(),
        };
        self.sources.remove(&id);
        Some(())
    }

    /// The systems that as many runs read as may.
    pub(super) fn busy(&self, most: usize) -> BTreeSet<DocumentSource> {
        let count = |source| self.sources.values().filter(|other| *other == source).count();
        self.sources.values().filter(|source| count(*source) >= most).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use trove_domain::source::DocumentSource::{File, Web};

    use super::Running;

    #[tokio::test]
    async fn a_system_is_busy_while_as_many_runs_read_it_as_may() {
        let mut running = Running::default();
        running.add(Web, std::future::pending());
        running.add(File, async {});
        assert_eq!(running.busy(1), [Web, File].into());
        assert_eq!(running.busy(2), [].into());
        running.ended().await.unwrap();
        assert_eq!((running.busy(1), running.len()), ([Web].into(), 1));
        running.add(Web, async { panic!("on purpose") });
        assert_eq!(running.busy(2), [Web].into());
        running.ended().await.unwrap();
        assert_eq!((running.busy(2), running.len()), ([].into(), 1));
    }
}
