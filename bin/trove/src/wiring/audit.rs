//! The audit log.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use anyhow::Context;
use trove_audit::{AuditConfig, FileAuditLog, Sync};
use trove_domain::audit::{Actor, AuditAction, AuditEntry, AuditOutcome};
use trove_domain::port::{AuditLog, Clock};
use trove_engine::SystemClock;

use crate::config::{AuditSync, Config};

/// Opens the log, which is made when it is not there.
pub(super) fn open(config: &Config) -> anyhow::Result<Arc<dyn AuditLog>> {
    let sync = match config.audit.sync {
        AuditSync::Always => Sync::Always,
        AuditSync::Required => Sync::Required,
    };
    let folder = config.audit_dir();
    let log = AuditConfig { folder, rotate_bytes: config.audit.rotate_bytes, sync };
    Ok(Arc::new(FileAuditLog::open(log)?))
}

/// What an operator does without the engine, with a record before it and one after it.
pub(super) async fn recorded<T>(
    config: &Config,
    action: AuditAction,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let log = open(config)?;
    let entry = |outcome, begun| AuditEntry {
        at: SystemClock.now(),
        actor: Actor::Operator,
        action,
        subject: None,
        outcome,
        begun,
        details: BTreeMap::new(),
        request_id: None,
    };
    let begun = log.append(entry(AuditOutcome::Begun, None)).await;
    let begun = begun.context("nothing was changed, because it could not be recorded")?;
    let result = work.await;
    let outcome = if result.is_ok() { AuditOutcome::Done } else { AuditOutcome::Failed };
    if let Err(error) = log.append(entry(outcome, Some(begun))).await {
        let error: &dyn std::error::Error = &error;
        tracing::error!(error, "what came of it could not be recorded in the audit log");
    }
    result
}
