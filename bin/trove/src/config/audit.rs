use serde::{Deserialize, Serialize};

use super::rule::Rule;

/// `[audit]`: the audit log, in the folder `audit` of the data directory.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct AuditSection {
    /// A file that is as long as this is followed by the next one, in bytes. Default 64 MiB: some
    /// hundred thousand entries, which `trove audit verify` reads in seconds.
    pub rotate_bytes: u64,
    /// Which entries are on the disk before they are answered for: `always` all of them, `required`
    /// those about roles and secrets. Default `always`: administration is rare, and a sign-in costs
    /// more than a write.
    pub sync: AuditSync,
}

/// Which entries wait for the disk.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditSync {
    /// All of them.
    Always,
    /// Those about roles and secrets.
    Required,
}

impl Default for AuditSection {
    fn default() -> Self {
        Self { rotate_bytes: 64 * 1024 * 1024, sync: AuditSync::Always }
    }
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        key: "audit.rotate_bytes",
        accepted: "a whole number of bytes from 65536 (64 KiB) to 1099511627776 (1 TiB)",
        holds: |config| (1 << 16..=1 << 40).contains(&config.audit.rotate_bytes),
    },
    Rule { key: "audit.sync", accepted: "`always` or `required`", holds: |_| true },
];
