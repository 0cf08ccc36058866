//! One line: an entry with its number and its place in the chain.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use trove_domain::audit::{Actor, ActorToken, AuditEntry, NumberedEntry};
use trove_domain::id::{AccessTokenId, ApiKeyId, UserId};
use uuid::Uuid;

/// Longest line in bytes. Entries are far shorter: their texts are bounded.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024;

/// SHA-256 of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash(pub(crate) [u8; 32]);

impl Hash {
    /// What the first line follows.
    pub(crate) const BEGINNING: Self = Self([0; 32]);

    /// Reads 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).ok()?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a line says, in the order in which it says it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    number: u64,
    at: String,
    actor: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access_token: Option<i32>,
    action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    begun: Option<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    details: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    prev: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

/// A line that has been read, with its place.
pub(crate) struct Line {
    pub(crate) entry: NumberedEntry,
    pub(crate) prev: Hash,
    pub(crate) hash: Hash,
}

impl Content {
    fn of(number: u64, entry: AuditEntry, prev: Hash) -> Self {
        let (actor, user, email, token) = match entry.actor {
            Actor::User { id, email, token } => ("user", Some(id.0), Some(email), token),
            Actor::Operator => ("operator", None, None, None),
            Actor::System => ("system", None, None, None),
            Actor::Nobody => ("nobody", None, None, None),
        };
        let (api_key, access_token) = match token {
            None => (None, None),
            Some(ActorToken::ApiKey(key)) => (Some(key.0), None),
            Some(ActorToken::AccessToken(token)) => (None, Some(token.0)),
        };
        Self {
            number,
            at: entry.at.to_rfc3339_opts(SecondsFormat::Micros, true),
            actor: actor.to_owned(),
            user,
            email,
            api_key,
            access_token,
            action: entry.action.as_str().to_owned(),
            subject: entry.subject,
            outcome: entry.outcome.as_str().to_owned(),
            begun: entry.begun,
            details: entry.details,
            request_id: entry.request_id,
            prev: prev.to_string(),
            hash: None,
        }
    }

    fn hash(&mut self, prev: Hash) -> Result<Hash, String> {
        self.hash = None;
        let text = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        let hash = Sha256::new().chain_update(prev.0).chain_update(text).finalize();
        let hash = Hash(hash.into());
        self.hash = Some(hash.to_string());
        Ok(hash)
    }

    fn entry(self) -> Result<AuditEntry, String> {
        let actor = match (self.actor.as_str(), self.user, self.email) {
            ("user", Some(id), Some(email)) => {
                let token = match (self.api_key, self.access_token) {
                    (None, None) => None,
                    (Some(key), None) => Some(ActorToken::ApiKey(ApiKeyId(key))),
                    (None, Some(token)) => Some(ActorToken::AccessToken(AccessTokenId(token))),
                    (Some(_), Some(_)) => return Err("the actor has two tokens".to_owned()),
                };
                Actor::User { id: UserId(id), email, token }
            }
            ("operator", None, None) => Actor::Operator,
            ("system", None, None) => Actor::System,
            ("nobody", None, None) => Actor::Nobody,
            _ => return Err("the actor is none".to_owned()),
        };
        let at = DateTime::parse_from_rfc3339(&self.at).map_err(|_| "the time is none")?;
        let text = |error: trove_domain::audit::UnknownAuditValue| error.to_string();
        Ok(AuditEntry {
            at: at.with_timezone(&Utc),
            actor,
            action: self.action.parse().map_err(text)?,
            subject: self.subject,
            outcome: self.outcome.parse().map_err(text)?,
            begun: self.begun,
            details: self.details,
            request_id: self.request_id,
        })
    }
}

/// The line of an entry, with its end, and its hash.
pub(crate) fn write(number: u64, entry: AuditEntry, prev: Hash) -> Result<(Vec<u8>, Hash), String> {
    let mut content = Content::of(number, entry, prev);
    let hash = content.hash(prev)?;
    let mut line = serde_json::to_vec(&content).map_err(|error| error.to_string())?;
    line.push(b'\n');
    Ok((line, hash))
}

/// Reads a line without its end, and checks its hash; the sentence says what is wrong with it.
pub(crate) fn read(bytes: &[u8]) -> Result<Line, String> {
    let mut content: Content =
        serde_json::from_slice(bytes).map_err(|_| "the line is no entry".to_owned())?;
    let prev = Hash::parse(&content.prev).ok_or("`prev` is no hash")?;
    let said = content.hash.take().as_deref().and_then(Hash::parse).ok_or("`hash` is no hash")?;
    let hash = content.hash(prev)?;
    if hash != said {
        return Err("the line was changed: its hash does not fit".to_owned());
    }
    // Blanks, other orders and double names would not show in the hash.
    let canonical = serde_json::to_vec(&content).map_err(|error| error.to_string())?;
    if canonical != bytes {
        return Err("the line was changed: it is not written as this program does".to_owned());
    }
    let number = content.number;
    let entry = NumberedEntry { number, entry: content.entry()? };
    Ok(Line { entry, prev, hash })
}
