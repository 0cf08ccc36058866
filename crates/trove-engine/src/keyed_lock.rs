//! One holder per key at a time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// Locks by key; a key costs memory only while somebody holds it or waits for it.
pub(crate) struct KeyedLock<K> {
    locks: Mutex<HashMap<K, Arc<tokio::sync::Mutex<()>>>>,
}

/// Holds keys until dropped.
pub(crate) struct KeyedGuard<'a, K: Eq + Hash> {
    lock: &'a KeyedLock<K>,
    held: Vec<(K, Option<OwnedMutexGuard<()>>)>,
}

impl<K: Clone + Eq + Hash + Ord> KeyedLock<K> {
    pub(crate) fn new() -> Self {
        Self { locks: Mutex::new(HashMap::new()) }
    }

    /// Waits until nobody else holds any of `keys`.
    ///
    /// Keys are taken in order, so that two callers with overlapping keys cannot block each other
    /// for ever.
    pub(crate) async fn lock(&self, keys: impl IntoIterator<Item = K>) -> KeyedGuard<'_, K> {
        let mut keys: Vec<K> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        let mut guard = KeyedGuard { lock: self, held: Vec::with_capacity(keys.len()) };
        for key in keys {
            let mutex = Arc::clone(self.table().entry(key.clone()).or_default());
            // Registered before waiting: a cancelled wait must clean up after itself, too.
            guard.held.push((key, None));
            let held = mutex.lock_owned().await;
            if let Some(last) = guard.held.last_mut() {
                last.1 = Some(held);
            }
        }
        guard
    }

    fn table(&self) -> std::sync::MutexGuard<'_, HashMap<K, Arc<tokio::sync::Mutex<()>>>> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Drop for KeyedGuard<'_, K> {
    fn drop(&mut self) {
        let mut table = self.lock.locks.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, held) in self.held.drain(..) {
            drop(held);
            // Waiters hold a clone; with the table's own it makes two.
            if table.get(&key).is_some_and(|mutex| Arc::strong_count(mutex) == 1) {
                table.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::KeyedLock;

    #[tokio::test]
    async fn a_key_has_one_holder_and_leaves_nothing_behind() {
        let lock = KeyedLock::new();
        let first = lock.lock(["a", "b"]).await;
        assert!(lock.lock(["b", "c"]).now_or_never().is_none());
        assert!(lock.lock(["c"]).now_or_never().is_some());
        drop(first);
        assert!(lock.lock(["b", "b"]).now_or_never().is_some());
        assert!(lock.table().is_empty());
    }
}
