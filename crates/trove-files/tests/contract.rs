//! The contract of the port, in a directory.

use std::ops::Deref;

use tempfile::TempDir;
use trove_domain::port::FileStore;
use trove_files::ObjectFileStore;

/// A store whose directory goes with it.
struct InDirectory {
    store: ObjectFileStore,
    _directory: TempDir,
}

impl Deref for InDirectory {
    type Target = dyn FileStore;

    fn deref(&self) -> &Self::Target {
        &self.store
    }
}

fn start() -> InDirectory {
    let directory = tempfile::tempdir().expect("a directory");
    let store = ObjectFileStore::local(directory.path()).expect("a store");
    InDirectory { store, _directory: directory }
}

trove_testkit::file_store_contract!(async { Some(start()) });
