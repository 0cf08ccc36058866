//! What every [`AuditLog`] does.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures::future::join_all;
use trove_domain::audit::{
    Actor, ActorToken, AuditAction, AuditEntry, AuditOutcome, NumberedEntry,
};
use trove_domain::id::{AccessTokenId, ApiKeyId, UserId};
use trove_domain::port::{AuditLog, AuditLogError};
use uuid::Uuid;

use crate::builders::instant;

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option` of something that dereferences to a log.
#[macro_export]
macro_rules! audit_log_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            audit_log,
            $start,
            [
                entries_are_numbered_from_one,
                an_entry_reads_back_as_it_was,
                entries_are_listed_in_pages,
                of_concurrent_entries_each_has_its_number,
                a_dropped_call_leaves_an_entry_whole_or_not_at_all,
            ]
        );
    };
}

/// An entry about an action of the program.
#[must_use]
pub fn entry(action: AuditAction) -> AuditEntry {
    AuditEntry {
        at: instant(1_767_225_600),
        actor: Actor::System,
        action,
        subject: None,
        outcome: AuditOutcome::Done,
        begun: None,
        details: BTreeMap::new(),
        request_id: None,
    }
}

/// Also the first one.
pub async fn entries_are_numbered_from_one(log: &dyn AuditLog) {
    assert_eq!(log.list(0, 10).await.unwrap(), []);
    for number in 1..=3 {
        assert_eq!(log.append(entry(AuditAction::SignIn)).await.unwrap(), number);
    }
}

/// Whoever acts, and whatever people call things.
pub async fn an_entry_reads_back_as_it_was(log: &dyn AuditLog) {
    let id = UserId(Uuid::from_u128(7));
    let email = "o'hara\"\u{1}\n@example.com".to_owned();
    let user = |token| Actor::User { id, email: email.clone(), token };
    let actors = [
        user(Some(ActorToken::ApiKey(ApiKeyId(3)))),
        user(Some(ActorToken::AccessToken(AccessTokenId(3)))),
        user(None),
        Actor::Operator,
        Actor::System,
        Actor::Nobody,
    ];
    let mut written = Vec::new();
    for (actor, action) in actors.into_iter().cycle().zip(AuditAction::ALL) {
        let details = [("имя", "строка\r\n\u{2028}"), ("", ""), ("n", "{\"a\":1}")];
        let entry = AuditEntry {
            actor,
            subject: Some("group 7 \\ 'x'".to_owned()),
            outcome: AuditOutcome::Refused,
            begun: Some(4711),
            details: details.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
            request_id: Some("r-1".to_owned()),
            ..entry(*action)
        };
        let number = log.append(entry.clone()).await.unwrap();
        written.push(NumberedEntry { number, entry });
    }
    assert_eq!(log.list(0, 1000).await.unwrap(), written);
}

/// After any number, also beyond the end.
pub async fn entries_are_listed_in_pages(log: &dyn AuditLog) {
    for action in AuditAction::ALL.iter().take(7) {
        log.append(entry(*action)).await.unwrap();
    }
    for limit in [1, 2, 3, 7, 100] {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let page = log.list(after, limit).await.unwrap();
            assert!(page.len() <= usize::try_from(limit).unwrap());
            let Some(last) = page.last() else { break };
            after = last.number;
            all.extend(page.into_iter().map(|entry| (entry.number, entry.entry.action)));
        }
        let expected: Vec<_> = (1..).zip(AuditAction::ALL.iter().copied().take(7)).collect();
        assert_eq!(all, expected, "{limit}");
    }
    assert_eq!(log.list(4711, 10).await.unwrap(), []);
    assert_eq!(log.list(0, 0).await.unwrap(), []);
}

/// Without a gap.
pub async fn of_concurrent_entries_each_has_its_number(log: &dyn AuditLog) {
    let calls = (0..30).map(|_| log.append(entry(AuditAction::SetRole)));
    let mut numbers: Vec<u64> =
        join_all(calls).await.into_iter().map(|number| number.unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=30).collect::<Vec<u64>>());
    assert_eq!(log.list(0, 100).await.unwrap().len(), 30);
}

/// And the log goes on.
pub async fn a_dropped_call_leaves_an_entry_whole_or_not_at_all(log: &dyn AuditLog) {
    for _ in 0..5 {
        let mut call = log.append(entry(AuditAction::SetRole));
        let _ = futures::poll!(&mut call);
        drop(call);
    }
    let number = log.append(entry(AuditAction::SignIn)).await.unwrap();
    let all = log.list(0, 100).await.unwrap();
    let position = all.iter().position(|e| e.entry.action == AuditAction::SignIn).unwrap();
    assert_eq!(u64::try_from(position).unwrap() + 1, number);
    assert!(all.iter().zip(1..).all(|(entry, number)| entry.number == number));
}

/// A log in memory, which can be made to fail.
#[derive(Debug, Default)]
pub struct MemoryAuditLog {
    entries: Mutex<Vec<AuditEntry>>,
    broken: AtomicBool,
}

impl MemoryAuditLog {
    /// Whether it refuses everything from now on.
    pub fn set_broken(&self, broken: bool) {
        self.broken.store(broken, Ordering::SeqCst);
    }

    /// Everything that it holds.
    #[must_use]
    pub fn entries(&self) -> Vec<AuditEntry> {
        self.entries.lock().unwrap().clone()
    }
}

#[async_trait]
impl AuditLog for MemoryAuditLog {
    async fn append(&self, entry: AuditEntry) -> Result<u64, AuditLogError> {
        if self.broken.load(Ordering::SeqCst) {
            let source = "No space left on device".into();
            return Err(AuditLogError::Unavailable { done: "written", source });
        }
        let mut entries = self.entries.lock().unwrap();
        entries.push(entry);
        Ok(u64::try_from(entries.len()).unwrap())
    }

    async fn list(&self, after: u64, limit: u32) -> Result<Vec<NumberedEntry>, AuditLogError> {
        let entries = self.entries();
        let numbered = (1..).zip(entries).map(|(number, entry)| NumberedEntry { number, entry });
        let limit = usize::try_from(limit).unwrap();
        Ok(numbered.filter(|entry| entry.number > after).take(limit).collect())
    }
}
