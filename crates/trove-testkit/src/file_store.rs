//! What every [`FileStore`] does.

#![expect(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a case fails by panicking")]

use bytes::Bytes;
use futures::future::{join_all, poll_immediate};
use futures::stream::{self, StreamExt, TryStreamExt};
use trove_domain::port::{FileKey, FileStore, FileStoreError, IncomingContent};

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option`: something that dereferences to an empty store (a `Box`, or
/// a guard that removes its directory), or `None` when the service that it needs is not there.
#[macro_export]
macro_rules! file_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            file_store,
            $start,
            [
                what_was_put_is_got,
                an_empty_file_is_a_file,
                every_byte_survives,
                a_large_file_survives,
                put_replaces_the_whole_content,
                keys_do_not_share_content,
                keys_of_every_allowed_shape_work,
                a_missing_file_is_none,
                get_takes_a_file_of_just_the_bound,
                get_refuses_a_file_beyond_the_bound,
                remove_removes,
                remove_of_a_missing_file_is_fine,
                a_removed_key_can_be_put_again,
                concurrent_puts_leave_one_of_the_contents,
                a_reader_sees_the_old_content_or_the_new,
                a_dropped_put_leaves_the_old_content_or_the_new,
                a_dropped_put_does_not_block_later_ones,
                what_was_streamed_in_is_streamed_out,
                a_stream_replaces_the_whole_content,
                a_stream_that_is_too_long_stores_nothing,
                a_stream_that_fails_stores_nothing,
                a_dropped_stream_stores_nothing,
                an_opened_file_is_one_version,
                parts_are_read,
            ]
        );
    };
}

const NO_BOUND: u64 = u64::MAX;

fn key(text: &str) -> FileKey {
    FileKey::new(text).unwrap()
}

fn filled(byte: u8, length: usize) -> Bytes {
    Bytes::from(vec![byte; length])
}

async fn content_of(store: &dyn FileStore, key: &FileKey) -> Option<Bytes> {
    let content = store.get(key, NO_BOUND).await.unwrap();
    let size = content.as_ref().map(|content| u64::try_from(content.len()).unwrap());
    assert_eq!(store.size(key).await.unwrap(), size);
    content
}

/// The point of a store.
pub async fn what_was_put_is_got(store: &dyn FileStore) {
    store.put(&key("a"), Bytes::from_static(b"content")).await.unwrap();
    assert_eq!(content_of(store, &key("a")).await.as_deref(), Some(b"content".as_slice()));
}

/// Nothing in it is not the same as nothing there.
pub async fn an_empty_file_is_a_file(store: &dyn FileStore) {
    store.put(&key("a"), Bytes::new()).await.unwrap();
    assert_eq!(content_of(store, &key("a")).await, Some(Bytes::new()));
    assert_eq!(store.get(&key("a"), 0).await.unwrap(), Some(Bytes::new()));
}

/// Content is bytes, not text.
pub async fn every_byte_survives(store: &dyn FileStore) {
    let content: Bytes = (0..=u8::MAX).chain(*b"\r\n\0\x1a\xff").collect();
    store.put(&key("a"), content.clone()).await.unwrap();
    assert_eq!(content_of(store, &key("a")).await, Some(content));
}

/// Larger than any buffer on the way.
pub async fn a_large_file_survives(store: &dyn FileStore) {
    let content: Bytes = (0..=250_u8).cycle().take(9_000_001).collect();
    store.put(&key("a"), content.clone()).await.unwrap();
    assert!(content_of(store, &key("a")).await == Some(content));
}

/// Nothing of a longer old content remains.
pub async fn put_replaces_the_whole_content(store: &dyn FileStore) {
    for content in ["the first, long content", "short", "the third, longest content of all"] {
        store.put(&key("a"), Bytes::from(content)).await.unwrap();
        assert_eq!(content_of(store, &key("a")).await, Some(Bytes::from(content)));
    }
}

/// Neither similar keys nor removals touch another file.
pub async fn keys_do_not_share_content(store: &dyn FileStore) {
    let keys = ["a", "aa", "a1", "a-1", "a_1", "1"];
    for name in keys {
        store.put(&key(name), Bytes::from(name)).await.unwrap();
    }
    for name in keys {
        assert_eq!(content_of(store, &key(name)).await, Some(Bytes::from(name)));
    }
    store.remove(&key("a")).await.unwrap();
    assert_eq!(content_of(store, &key("a")).await, None);
    assert_eq!(content_of(store, &key("aa")).await, Some(Bytes::from("aa")));
}

/// A key may be as long as its type allows, and look like an option or a device.
pub async fn keys_of_every_allowed_shape_work(store: &dyn FileStore) {
    let longest = "x".repeat(128);
    for name in [longest.as_str(), "-", "_", "--help", "0", "NUL", "con", "-rf"] {
        store.put(&key(name), Bytes::from(name.to_owned())).await.unwrap();
        assert_eq!(content_of(store, &key(name)).await, Some(Bytes::from(name.to_owned())));
    }
}

/// Not an error: callers ask.
pub async fn a_missing_file_is_none(store: &dyn FileStore) {
    assert_eq!(store.get(&key("missing"), 0).await.unwrap(), None);
    assert_eq!(store.get(&key("missing"), NO_BOUND).await.unwrap(), None);
    assert_eq!(store.size(&key("missing")).await.unwrap(), None);
}

/// The bound is inclusive.
pub async fn get_takes_a_file_of_just_the_bound(store: &dyn FileStore) {
    store.put(&key("a"), filled(1, 10)).await.unwrap();
    assert_eq!(store.get(&key("a"), 10).await.unwrap(), Some(filled(1, 10)));
}

/// The error tells both numbers.
pub async fn get_refuses_a_file_beyond_the_bound(store: &dyn FileStore) {
    store.put(&key("a"), filled(1, 10)).await.unwrap();
    for bound in [0, 9] {
        let refused = store.get(&key("a"), bound).await;
        assert!(
            matches!(refused, Err(FileStoreError::TooLarge { size: 10, max }) if max == bound),
            "{refused:?}"
        );
    }
}

/// Gone for every question.
pub async fn remove_removes(store: &dyn FileStore) {
    store.put(&key("a"), filled(1, 10)).await.unwrap();
    store.remove(&key("a")).await.unwrap();
    assert_eq!(content_of(store, &key("a")).await, None);
}

/// Twice as well as never there.
pub async fn remove_of_a_missing_file_is_fine(store: &dyn FileStore) {
    store.remove(&key("missing")).await.unwrap();
    store.put(&key("a"), filled(1, 10)).await.unwrap();
    store.remove(&key("a")).await.unwrap();
    store.remove(&key("a")).await.unwrap();
}

/// A removal leaves no mark.
pub async fn a_removed_key_can_be_put_again(store: &dyn FileStore) {
    store.put(&key("a"), filled(1, 10)).await.unwrap();
    store.remove(&key("a")).await.unwrap();
    store.put(&key("a"), filled(2, 5)).await.unwrap();
    assert_eq!(content_of(store, &key("a")).await, Some(filled(2, 5)));
}

/// Writers of one key do not mix.
pub async fn concurrent_puts_leave_one_of_the_contents(store: &dyn FileStore) {
    let (writers, a) = (16_u8, key("a"));
    let puts = (1..=writers).map(|n| store.put(&a, filled(n, 10_000 + usize::from(n))));
    for put in join_all(puts).await {
        put.unwrap();
    }
    let content = content_of(store, &key("a")).await.unwrap();
    let writer = content[0];
    assert!((1..=writers).contains(&writer));
    assert!(content == filled(writer, 10_000 + usize::from(writer)));
}

/// Never a part of one, never nothing.
pub async fn a_reader_sees_the_old_content_or_the_new(store: &dyn FileStore) {
    let length = 100_000;
    store.put(&key("a"), filled(0, length)).await.unwrap();
    let write = async {
        for byte in 1..=20 {
            store.put(&key("a"), filled(byte, length)).await.unwrap();
        }
    };
    let read = async {
        for _ in 0..60 {
            let content = store.get(&key("a"), NO_BOUND).await.unwrap().unwrap();
            assert_eq!(content.len(), length);
            assert!(content.iter().all(|byte| *byte == content[0]));
        }
    };
    tokio::join!(write, read);
}

/// A client that hangs up does no harm.
pub async fn a_dropped_put_leaves_the_old_content_or_the_new(store: &dyn FileStore) {
    let (old, new) = (filled(1, 1_000_000), filled(2, 2_000_000));
    store.put(&key("a"), old.clone()).await.unwrap();
    for _ in 0..10 {
        // Started, and dropped where it first waits.
        let _put = poll_immediate(store.put(&key("a"), new.clone())).await;
        let content = store.get(&key("a"), NO_BOUND).await.unwrap().unwrap();
        assert!(content == old || content == new, "{} bytes", content.len());
    }
}

/// Neither of the same key nor of another.
pub async fn a_dropped_put_does_not_block_later_ones(store: &dyn FileStore) {
    for _ in 0..10 {
        let _put = poll_immediate(store.put(&key("a"), filled(1, 1_000_000))).await;
    }
    store.put(&key("b"), filled(2, 10)).await.unwrap();
    assert_eq!(store.get(&key("b"), NO_BOUND).await.unwrap(), Some(filled(2, 10)));
    // A dropped one may still finish after a later one: only the end of both is certain.
    store.put(&key("a"), filled(3, 10)).await.unwrap();
    let content = store.get(&key("a"), NO_BOUND).await.unwrap().unwrap();
    assert!(content == filled(3, 10) || content == filled(1, 1_000_000));
}

/// Pieces that come one after the other.
fn incoming(pieces: Vec<Bytes>) -> IncomingContent {
    stream::iter(pieces.into_iter().map(Ok)).boxed()
}

async fn streamed(store: &dyn FileStore, key: &FileKey) -> Option<Bytes> {
    let file = store.open(key).await.unwrap()?;
    let pieces: Vec<Bytes> = file.content.try_collect().await.unwrap();
    let content = Bytes::from(pieces.concat());
    assert_eq!(file.size, u64::try_from(content.len()).unwrap());
    Some(content)
}

/// However it is cut into pieces.
pub async fn what_was_streamed_in_is_streamed_out(store: &dyn FileStore) {
    let a = key("a");
    assert!(store.open(&a).await.unwrap().is_none());
    let content: Bytes = (0..=250_u8).cycle().take(20_000_003).collect();
    for length in [1_000_000, 8 << 20, 20_000_003, 12_345_678] {
        let pieces = content.chunks(length).map(Bytes::copy_from_slice).collect();
        let size = store.put_stream(&a, incoming(pieces), 20_000_003).await.unwrap();
        assert_eq!(size, 20_000_003);
        assert!(streamed(store, &a).await.as_ref() == Some(&content), "pieces of {length}");
    }
    for pieces in [vec![], vec![Bytes::new(), Bytes::new()]] {
        assert_eq!(store.put_stream(&a, incoming(pieces), 0).await.unwrap(), 0);
        assert_eq!(content_of(store, &a).await, Some(Bytes::new()));
        assert_eq!(streamed(store, &a).await, Some(Bytes::new()));
    }
}

/// Nothing of a longer old content remains, and `put` and `put_stream` are the same to a reader.
pub async fn a_stream_replaces_the_whole_content(store: &dyn FileStore) {
    store.put(&key("a"), filled(1, 100)).await.unwrap();
    store.put_stream(&key("a"), incoming(vec![filled(2, 10)]), 10).await.unwrap();
    assert_eq!(content_of(store, &key("a")).await, Some(filled(2, 10)));
    store.put(&key("a"), filled(3, 5)).await.unwrap();
    assert_eq!(streamed(store, &key("a")).await, Some(filled(3, 5)));
}

/// Neither a part of it, nor less than what was there.
pub async fn a_stream_that_is_too_long_stores_nothing(store: &dyn FileStore) {
    for old in [None, Some(filled(1, 10))] {
        if let Some(old) = &old {
            store.put(&key("a"), old.clone()).await.unwrap();
        }
        let pieces = vec![filled(2, 9 << 20), filled(2, 9 << 20)];
        let refused = store.put_stream(&key("a"), incoming(pieces), 10 << 20).await;
        assert!(
            matches!(refused, Err(FileStoreError::TooLarge { max: 10_485_760, .. })),
            "{refused:?}"
        );
        assert_eq!(content_of(store, &key("a")).await, old);
    }
}

/// The same when whoever sends it breaks off.
pub async fn a_stream_that_fails_stores_nothing(store: &dyn FileStore) {
    for old in [None, Some(filled(1, 10))] {
        if let Some(old) = &old {
            store.put(&key("a"), old.clone()).await.unwrap();
        }
        let pieces = [Ok(filled(2, 9 << 20)), Err("it broke off".into())];
        let refused = store.put_stream(&key("a"), stream::iter(pieces).boxed(), NO_BOUND).await;
        assert!(matches!(refused, Err(FileStoreError::Interrupted { .. })), "{refused:?}");
        assert_eq!(content_of(store, &key("a")).await, old);
    }
}

/// The same when whoever stores it does.
pub async fn a_dropped_stream_stores_nothing(store: &dyn FileStore) {
    store.put(&key("a"), filled(1, 10)).await.unwrap();
    let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
    let first = stream::iter([Ok(filled(2, 9 << 20))]);
    // Asked for the second piece, it has taken the first.
    let never = stream::once(async move {
        sender.send(()).unwrap();
        std::future::pending().await
    });
    let (a, content) = (key("a"), first.chain(never).boxed());
    tokio::select! {
        stored = store.put_stream(&a, content, NO_BOUND) => panic!("{stored:?}"),
        asked = receiver => asked.unwrap(),
    }
    assert_eq!(content_of(store, &key("a")).await, Some(filled(1, 10)));
    store.put_stream(&key("a"), incoming(vec![filled(3, 10)]), NO_BOUND).await.unwrap();
    assert_eq!(content_of(store, &key("a")).await, Some(filled(3, 10)));
}

/// What is put meanwhile is another file.
pub async fn an_opened_file_is_one_version(store: &dyn FileStore) {
    let old = filled(1, 1_000_000);
    store.put(&key("a"), old.clone()).await.unwrap();
    let opened = store.open(&key("a")).await.unwrap().unwrap();
    store.put(&key("a"), filled(2, 2_000_000)).await.unwrap();
    let pieces: Vec<Bytes> = opened.content.try_collect().await.unwrap();
    assert!(pieces.concat() == old);
}

/// From anywhere, as far as the file goes.
pub async fn parts_are_read(store: &dyn FileStore) {
    store.put(&key("a"), Bytes::from_static(b"0123456789")).await.unwrap();
    for (range, expected) in [
        (0..10, "0123456789"),
        (0..1, "0"),
        (3..7, "3456"),
        (8..20, "89"),
        (0..NO_BOUND, "0123456789"),
        (10..20, ""),
        (100..NO_BOUND, ""),
        (5..5, ""),
    ] {
        let part = store.read(&key("a"), range.clone()).await.unwrap();
        assert_eq!(part, Some(Bytes::from(expected)), "{range:?}");
    }
    assert_eq!(store.read(&key("missing"), 0..1).await.unwrap(), None);
}
