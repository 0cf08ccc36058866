//! The contract of the port, in a folder.

use std::ops::Deref;

use tempfile::TempDir;
use trove_audit::{AuditConfig, FileAuditLog, Sync};
use trove_domain::port::AuditLog;

/// A log whose folder goes with it.
struct InFolder {
    log: FileAuditLog,
    _folder: TempDir,
}

impl Deref for InFolder {
    type Target = dyn AuditLog;

    fn deref(&self) -> &Self::Target {
        &self.log
    }
}

fn start(rotate_bytes: u64, sync: Sync) -> InFolder {
    let folder = tempfile::tempdir().expect("a folder");
    let config = AuditConfig { folder: folder.path().join("audit"), rotate_bytes, sync };
    InFolder { log: FileAuditLog::open(config).expect("a log"), _folder: folder }
}

mod one_file {
    trove_testkit::audit_log_contract!(async {
        Some(super::start(u64::MAX, trove_audit::Sync::Always))
    });
}

mod many_files {
    trove_testkit::audit_log_contract!(async {
        Some(super::start(700, trove_audit::Sync::Required))
    });
}
