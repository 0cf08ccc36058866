//! What a directory does beyond the contract.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use bytes::Bytes;
use trove_domain::error::{Classify, ErrorKind};
use trove_domain::port::{FileKey, FileStore, FileStoreError};
use trove_files::ObjectFileStore;

fn key(text: &str) -> FileKey {
    FileKey::new(text).unwrap()
}

fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn content_survives_a_restart_and_half_written_files_do_not() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("not/yet/there");
    let store = ObjectFileStore::local(&directory).unwrap();
    store.put(&key("a"), Bytes::from_static(b"content")).await.unwrap();
    drop(store);
    assert_eq!(names_in(&directory), ["a"]);

    for leftover in ["a#1", "b#27"] {
        fs::write(directory.join(leftover), "half").unwrap();
    }
    for other in ["a#", "a#x", "README.txt"] {
        fs::write(directory.join(other), "not ours").unwrap();
    }
    fs::create_dir(directory.join("d#1")).unwrap();

    let store = ObjectFileStore::local(&directory).unwrap();
    assert_eq!(names_in(&directory), ["README.txt", "a", "a#", "a#x", "d#1"]);
    let content = store.get(&key("a"), 100).await.unwrap();
    assert_eq!(content.as_deref(), Some(b"content".as_slice()));
}

#[tokio::test]
async fn a_folder_in_the_place_of_a_file_is_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let store = ObjectFileStore::local(directory.path()).unwrap();
    fs::create_dir(directory.path().join("a")).unwrap();
    assert_eq!(store.get(&key("a"), 100).await.unwrap(), None);
    let refused = store.put(&key("a"), Bytes::new()).await;
    assert!(matches!(refused, Err(FileStoreError::Backend { .. })), "{refused:?}");
    // Nothing is left aside after a failure.
    assert_eq!(names_in(directory.path()), ["a"]);
}

#[test]
fn a_file_in_the_place_of_the_directory_is_an_error() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("file");
    fs::write(&path, "in the way").unwrap();
    for directory in [path.clone(), path.join("below")] {
        let error = ObjectFileStore::local(&directory).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
    }
}

#[cfg(unix)]
#[test]
fn the_directory_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("files");
    ObjectFileStore::local(&directory).unwrap();
    assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn nothing_is_left_aside_by_streams_that_end_early() {
    use futures::StreamExt;

    let directory = tempfile::tempdir().unwrap();
    let store = ObjectFileStore::local(directory.path()).unwrap();
    let piece = || Ok(Bytes::from(vec![1; 9 << 20]));
    let failing = futures::stream::iter([piece(), Err("it broke off".into())]).boxed();
    store.put_stream(&key("a"), failing, u64::MAX).await.unwrap_err();
    let long = futures::stream::iter([piece(), piece()]).boxed();
    store.put_stream(&key("a"), long, 10 << 20).await.unwrap_err();
    assert_eq!(names_in(directory.path()), [""; 0]);
}
