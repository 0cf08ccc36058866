//! What every [`IdGenerator`] does.

#![expect(clippy::missing_panics_doc, reason = "a case fails by panicking")]
#![expect(clippy::unused_async, reason = "the cases of all suites have one shape")]

use std::collections::HashSet;
use std::thread;

use trove_domain::port::IdGenerator;

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option` of something that dereferences to a generator.
#[macro_export]
macro_rules! id_generator_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            ids,
            $start,
            [
                uuids_are_of_version_7,
                later_uuids_sort_after_earlier_ones,
                threads_never_get_the_same_uuid,
                secrets_are_filled_to_their_end,
                no_two_secrets_are_the_same,
                an_empty_secret_is_fine,
            ]
        );
    };
}

/// Stores and indexes rely on the order that the version promises.
pub async fn uuids_are_of_version_7(ids: &dyn IdGenerator) {
    for _ in 0..100 {
        let uuid = ids.uuid();
        assert_eq!(uuid.get_version_num(), 7, "{uuid}");
        assert_eq!(uuid.get_variant(), uuid::Variant::RFC4122, "{uuid}");
    }
}

/// Also within a millisecond.
pub async fn later_uuids_sort_after_earlier_ones(ids: &dyn IdGenerator) {
    let uuids: Vec<_> = (0..10_000).map(|_| ids.uuid()).collect();
    assert!(uuids.is_sorted_by(|earlier, later| earlier < later));
}

/// Workers make identifiers at the same time.
pub async fn threads_never_get_the_same_uuid(ids: &dyn IdGenerator) {
    const EACH: usize = 2_000;
    let mut seen = HashSet::new();
    let made: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..EACH).map(|_| ids.uuid()).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("the thread ends")).collect()
    });
    assert_eq!(made.len(), 4 * EACH);
    assert!(made.into_iter().all(|uuid| seen.insert(uuid)));
}

/// A zero that stays is a hole in a key.
pub async fn secrets_are_filled_to_their_end(ids: &dyn IdGenerator) {
    for length in [1_usize, 7, 8, 9, 16, 31, 32, 33, 100] {
        let mut seen = vec![0_u8; length];
        for _ in 0..64 {
            let mut secret = vec![0_u8; length];
            ids.fill_secret(&mut secret);
            seen.iter_mut().zip(&secret).for_each(|(seen, byte)| *seen |= byte);
        }
        // By chance a byte is zero 64 times once in 2^512.
        assert!(seen.iter().all(|byte| *byte != 0), "{length}: {seen:?}");
    }
}

/// Whatever was in the buffer before.
pub async fn no_two_secrets_are_the_same(ids: &dyn IdGenerator) {
    let secrets: HashSet<[u8; 32]> = (0..1_000)
        .map(|_| {
            let mut secret = [0xa5; 32];
            ids.fill_secret(&mut secret);
            secret
        })
        .collect();
    assert_eq!(secrets.len(), 1_000);
}

/// There is nothing to fill.
pub async fn an_empty_secret_is_fine(ids: &dyn IdGenerator) {
    ids.fill_secret(&mut []);
}
