//! Records who does what.
//!
//! An action is recorded twice: before it begins, durably, and after it has ended, with what came of
//! it. So nothing that gives roles or touches secrets can happen without a record: when the first
//! one cannot be written such an action is refused. If only one were written after the change, a
//! crash, a full disk or a client that goes away in the right moment would leave a change that
//! nobody finds. The price is that an entry may say that something began that never happened.
//!
//! Other actions are recorded in the same way, but go on when that fails.

mod origin;

use std::collections::BTreeMap;
use std::sync::Arc;

use trove_domain::audit::{AuditAction, AuditEntry, AuditOutcome, Recording, audit_text};
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::port::{AuditLog, AuditLogError};

use crate::{Engine, log};

pub use origin::{Origin, on_behalf_of};

/// Ids of one kind in an entry; of more, it tells how many there are.
const IDS_MAX: usize = 400;

/// Most characters of a list of ids.
const ID_LIST_CHARS_MAX: usize = 16_000;

/// More about an action.
pub(crate) type Details = BTreeMap<String, String>;

/// What goes to the log of the program, and why an action is refused then.
#[derive(Debug, thiserror::Error)]
#[error("what was asked for could not be recorded in the audit log, so it was not done")]
struct Unrecorded;

/// An action that has begun.
#[derive(Debug)]
struct Begun {
    action: AuditAction,
    subject: Option<String>,
    number: Option<u64>,
}

impl Engine {
    /// Does `work`, with a record of it.
    pub(crate) async fn recorded<T, E>(
        &self,
        action: AuditAction,
        subject: impl Into<String>,
        details: Details,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E>
    where
        E: Classify + From<StoreError>,
    {
        self.recorded_as(action, Some(subject.into()), details, work, |_| Details::new()).await
    }

    /// The same, with more to tell afterwards.
    pub(crate) async fn recorded_as<T, E>(
        &self,
        action: AuditAction,
        subject: Option<String>,
        details: Details,
        work: impl Future<Output = Result<T, E>>,
        tell: impl FnOnce(&T) -> Details,
    ) -> Result<T, E>
    where
        E: Classify + From<StoreError>,
    {
        let begun = self.begin(action, subject, details).await?;
        let result = work.await;
        self.end(begun, &result, tell).await;
        result
    }

    /// Records what came of an attempt that changes nothing by itself.
    pub(crate) async fn record_attempt<T, E: Classify>(
        &self,
        action: AuditAction,
        subject: Option<String>,
        result: &Result<T, E>,
    ) {
        let begun = Begun { action, subject, number: None };
        self.end(begun, result, |_| Details::new()).await;
    }

    async fn begin(
        &self,
        action: AuditAction,
        subject: Option<String>,
        details: Details,
    ) -> Result<Begun, StoreError> {
        let mut begun = Begun { action, subject, number: None };
        let Some(audit) = self.backends().audit.clone() else { return Ok(begun) };
        let entry = self.entry(&begun, AuditOutcome::Begun, details);
        match append(&audit, entry).await {
            Ok(number) => begun.number = Some(number),
            Err(error) => {
                log::error(&error, "an action could not be recorded in the audit log");
                if action.recording() == Recording::Required {
                    let (operation, source) = ("audit_log.append", Box::new(Unrecorded));
                    return Err(StoreError::Unavailable { operation, source });
                }
            }
        }
        Ok(begun)
    }

    async fn end<T, E: Classify>(
        &self,
        begun: Begun,
        result: &Result<T, E>,
        tell: impl FnOnce(&T) -> Details,
    ) {
        let Some(audit) = self.backends().audit.clone() else { return };
        let (outcome, details) = match result {
            Ok(value) => (AuditOutcome::Done, tell(value)),
            Err(error) => {
                let outcome = if is_refusal(error.kind()) {
                    AuditOutcome::Refused
                } else {
                    AuditOutcome::Failed
                };
                // The kind alone: what an error says may repeat what was sent.
                let why = format!("{:?}", error.kind());
                (outcome, Details::from([("why".to_owned(), why)]))
            }
        };
        let entry = self.entry(&begun, outcome, details);
        if let Err(error) = append(&audit, entry).await {
            log::error(&error, "what came of an action could not be recorded in the audit log");
        }
    }

    fn entry(&self, begun: &Begun, outcome: AuditOutcome, mut details: Details) -> AuditEntry {
        let origin = Origin::current();
        if let Some(source) = origin.source {
            details.insert("source".to_owned(), source);
        }
        for text in details.values_mut() {
            if !is_id_list(text) {
                *text = audit_text(text);
            }
        }
        AuditEntry {
            at: self.backends().clock.now(),
            actor: origin.actor,
            action: begun.action,
            subject: begun.subject.as_deref().map(audit_text),
            outcome,
            begun: begun.number,
            details,
            request_id: origin.request_id.as_deref().map(audit_text),
        }
    }
}

async fn append(audit: &Arc<dyn AuditLog>, entry: AuditEntry) -> Result<u64, AuditLogError> {
    audit.append(entry).await
}

/// Whether a rule has forbidden what failed in this way, and nothing has changed.
fn is_refusal(kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::Invalid
        | ErrorKind::TooLarge
        | ErrorKind::Unauthenticated
        | ErrorKind::Forbidden
        | ErrorKind::NotFound
        | ErrorKind::Conflict
        | ErrorKind::RateLimited
        | ErrorKind::SeatLimit
        | ErrorKind::Unsupported => true,
        ErrorKind::Unavailable
        | ErrorKind::StorageFull
        | ErrorKind::DeadlineExceeded
        | ErrorKind::Internal => false,
    }
}

/// Details by name.
pub(crate) fn details<const N: usize>(pairs: [(&str, String); N]) -> Details {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Whether a text lists ids and nothing else, which is longer than what people write: whom something
/// concerned must not be cut off.
fn is_id_list(text: &str) -> bool {
    let ids = text.strip_suffix(" …").unwrap_or(text);
    let ids = ids.split_once(" in all: ").map_or(ids, |(_, ids)| ids);
    let of_ids = |c: char| c.is_ascii_hexdigit() || c == '-' || c == ' ';
    text.len() <= ID_LIST_CHARS_MAX && ids.chars().all(of_ids)
}

/// Ids as text, the first ones of very many.
pub(crate) fn ids<T: std::fmt::Display>(ids: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = ids.into_iter().map(|id| id.to_string()).collect();
    let shown = all.iter().take(IDS_MAX).map(String::as_str).collect::<Vec<_>>().join(" ");
    if all.len() > IDS_MAX { format!("{} in all: {shown} …", all.len()) } else { shown }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{ids, is_id_list};

    #[test]
    fn long_lists_of_ids_are_counted() {
        assert_eq!(ids([1, 2]), "1 2");
        assert_eq!(ids([0_u8; 0]), "");
        let all: Vec<Uuid> = (0..500).map(Uuid::from_u128).collect();
        let (some, many) = (ids(&all[..400]), ids(&all));
        assert_eq!(some.split(' ').count(), 400);
        assert!(many.starts_with("500 in all: 00000000-0000") && many.ends_with(" …"), "{many}");
        assert!(is_id_list(&some) && is_id_list(&many) && is_id_list("7 8"));
        // What people write is cut.
        assert!(!is_id_list("a@example.com") && !is_id_list(&format!("{some} {some}")));
    }
}
