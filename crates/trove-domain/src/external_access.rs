//! Who may read documents by what their source says of it.

use std::collections::BTreeSet;
use std::fmt;

use crate::access::{AclTag, DocumentAccess};
use crate::email::{EmailAddress, email_key};
use crate::id::CcPairId;
use crate::source::DocumentSource;

/// Most people and groups together that a source may name for one document.
pub const READERS_MAX: usize = 5_000;

/// Longest address and longest key of a group, in bytes.
pub const READER_BYTES_MAX: usize = 1_000;

/// A group of an external system, known by its source and its id there. Letter case does not matter.
///
/// What one pair calls a group is another group than what the next one does, even if source and id
/// are the same: who is in it and what it reads is for its own source to say. So a group opens
/// documents only together with the pair that told it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExternalGroup(String);

impl ExternalGroup {
    /// The group that `source` calls `id`.
    #[must_use]
    pub fn new(source: DocumentSource, id: &str) -> Self {
        // PostgreSQL has no text with NUL.
        Self(format!("{source}_{id}").to_lowercase().replace('\0', "\u{fffd}"))
    }

    /// Reads a group back from a database.
    #[must_use]
    pub fn from_stored(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// Source and id, as they are stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the members of the group share with its documents, both told by the source of `pair`.
    #[must_use]
    pub fn tag(&self, pair: CcPairId) -> AclTag {
        AclTag::external_group(pair, &self.0)
    }
}

impl fmt::Display for ExternalGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The addresses that a source names, in the form in which accounts are looked up; without blanks.
fn people<S: AsRef<str>>(addresses: impl IntoIterator<Item = S>) -> BTreeSet<String> {
    let key = |address: S| {
        let given = address.as_ref().trim();
        // The same domain in another spelling is the same address.
        let key = match EmailAddress::parse(given) {
            Ok(address) => email_key(address.as_str()),
            Err(_) => email_key(given).replace('\0', "\u{fffd}"),
        };
        (!key.is_empty()).then_some(key)
    };
    addresses.into_iter().filter_map(key).collect()
}

/// Why what a source says cannot be kept: nothing of it is, because a part would be another access.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooManyReaders {
    /// More entries than are kept.
    #[error(
        "its source names {count} people and groups who may read it, more than the {max} that are \
         kept; share it with a group there",
        max = READERS_MAX
    )]
    Count {
        /// How many it names.
        count: usize,
    },
    /// An entry that is no address and no group.
    #[error(
        "its source names a person or a group by {bytes} bytes, more than the {max} that are kept",
        max = READER_BYTES_MAX
    )]
    Length {
        /// How long it is.
        bytes: usize,
    },
}

fn bounded<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), TooManyReaders> {
    let mut count = 0;
    for name in names {
        count += 1;
        if name.len() > READER_BYTES_MAX {
            return Err(TooManyReaders::Length { bytes: name.len() });
        }
    }
    if count > READERS_MAX { Err(TooManyReaders::Count { count }) } else { Ok(()) }
}

/// Who may read a document by what its source says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalAccess {
    users: BTreeSet<String>,
    groups: BTreeSet<ExternalGroup>,
    is_public: bool,
}

impl ExternalAccess {
    /// Access for the people with these addresses and the members of these groups, or for everybody.
    #[must_use]
    pub fn new<S: AsRef<str>>(
        users: impl IntoIterator<Item = S>,
        groups: impl IntoIterator<Item = ExternalGroup>,
        is_public: bool,
    ) -> Self {
        Self { users: people(users), groups: groups.into_iter().collect(), is_public }
    }

    /// The people, by the keys of their addresses.
    #[must_use]
    pub const fn users(&self) -> &BTreeSet<String> {
        &self.users
    }

    /// The groups.
    #[must_use]
    pub const fn groups(&self) -> &BTreeSet<ExternalGroup> {
        &self.groups
    }

    /// Whether everybody may read it.
    #[must_use]
    pub const fn is_public(&self) -> bool {
        self.is_public
    }

    /// Whether it is small enough to be kept.
    ///
    /// # Errors
    ///
    /// [`TooManyReaders`] says what is too much.
    pub fn check(&self) -> Result<(), TooManyReaders> {
        let groups = self.groups.iter().map(ExternalGroup::as_str);
        bounded(self.users.iter().map(String::as_str).chain(groups))
    }

    /// Adds what it gives, told by the source of `pair`, to what a document has otherwise.
    pub fn widen(&self, pair: CcPairId, access: &mut DocumentAccess) {
        access.public |= self.is_public;
        access.tags.extend(self.users.iter().map(|user| AclTag::user_email(user)));
        access.tags.extend(self.groups.iter().map(|group| group.tag(pair)));
    }
}

/// Who is in a group of an external system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalMembers {
    group: ExternalGroup,
    users: BTreeSet<String>,
    everybody: bool,
}

impl ExternalMembers {
    /// The people with these addresses, or everybody.
    #[must_use]
    pub fn new<S: AsRef<str>>(
        group: ExternalGroup,
        users: impl IntoIterator<Item = S>,
        everybody: bool,
    ) -> Self {
        Self { group, users: people(users), everybody }
    }

    /// The group.
    #[must_use]
    pub const fn group(&self) -> &ExternalGroup {
        &self.group
    }

    /// Its members, by the keys of their addresses.
    #[must_use]
    pub const fn users(&self) -> &BTreeSet<String> {
        &self.users
    }

    /// Whether everybody counts as a member.
    #[must_use]
    pub const fn everybody(&self) -> bool {
        self.everybody
    }

    /// Whether its names are short enough to be kept. How many members it has is not bounded here: a
    /// group may be everybody in a company.
    ///
    /// # Errors
    ///
    /// [`TooManyReaders::Length`] for one that is not.
    pub fn check(&self) -> Result<(), TooManyReaders> {
        let names = self.users.iter().map(String::as_str).chain([self.group.as_str()]);
        names
            .map(str::len)
            .find(|bytes| *bytes > READER_BYTES_MAX)
            .map_or(Ok(()), |bytes| Err(TooManyReaders::Length { bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::{ExternalAccess, ExternalGroup, READER_BYTES_MAX, READERS_MAX, TooManyReaders};
    use crate::access::{AccessScope, AclTag, DocumentAccess};
    use crate::id::CcPairId;
    use crate::source::DocumentSource;

    /// Row 87.
    #[test]
    fn row_87_a_group_is_named_by_pair_and_source_in_lower_case() {
        let group = ExternalGroup::new(DocumentSource::Jira, "Engineering");
        assert_eq!(group.tag(CcPairId(7)).as_str(), "external_group:7:jira_engineering");
        assert_ne!(group.tag(CcPairId(7)), group.tag(CcPairId(8)));
        assert_eq!(ExternalGroup::from_stored(group.as_str()), group);
    }

    #[test]
    fn addresses_are_compared_like_those_of_accounts() {
        let told = ExternalAccess::new([" Ann@EXAMPLE.com", "ann@example.com", " ", ""], [], false);
        assert_eq!(told.users().iter().collect::<Vec<_>>(), ["ann@example.com"]);
        let mut access = DocumentAccess::restricted_to([]);
        told.widen(CcPairId(7), &mut access);
        assert!(!access.public);
        let ann = AccessScope::public_and([AclTag::user_email("ann@example.com")]);
        assert!(access.is_readable_in(&ann));
    }

    #[test]
    fn what_is_too_much_is_said() {
        let users = |count: usize| (0..count).map(|n| format!("{n}@example.com"));
        assert_eq!(ExternalAccess::new(users(READERS_MAX), [], false).check(), Ok(()));
        let group = ExternalGroup::new(DocumentSource::Jira, "g");
        let told = ExternalAccess::new(users(READERS_MAX), [group], false);
        assert_eq!(told.check(), Err(TooManyReaders::Count { count: READERS_MAX + 1 }));
        let long = ExternalAccess::new(["x".repeat(READER_BYTES_MAX + 1)], [], false);
        assert!(matches!(long.check(), Err(TooManyReaders::Length { .. })));
    }
}
