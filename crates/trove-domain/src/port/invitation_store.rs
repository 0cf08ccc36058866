use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::email::EmailAddress;
use crate::error::StoreError;

/// Most invitations at a time.
pub const INVITATIONS_MAX: u64 = 100_000;

/// What became of a list of invitations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invited {
    /// All are invited; how many are now, those who have registered since included.
    All(u64),
    /// The deployment has too few seats. Nobody was invited.
    NoSeat(super::Seats),
    /// There would be more than [`INVITATIONS_MAX`]. Nobody was invited.
    TooMany,
}

/// Addresses that may register.
///
/// # Contract
///
/// Addresses are told apart without regard to letter case, and are kept as first given.
#[async_trait]
pub trait InvitationStore: Send + Sync + 'static {
    /// Invites all of them or nobody. Who is invited already stays as it is.
    ///
    /// `seats` is how many active people there may be: there must be one for each of the addresses
    /// that is neither invited nor a user's yet.
    async fn invite(
        &self,
        addresses: &[EmailAddress],
        seats: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<Invited, StoreError>;

    /// Takes one invitation back, if there is one; answers how many are left.
    async fn withdraw(&self, address: &str) -> Result<u64, StoreError>;

    /// Addresses that are invited and whose owners have not registered, in their order without
    /// regard to letter case, at most `limit` after the first `offset`; with how many there are.
    ///
    /// Who is known by a permission sync only has not registered. With `text`, only addresses that
    /// hold it, in any letter case.
    async fn list_open(
        &self,
        text: Option<&str>,
        offset: u64,
        limit: u32,
    ) -> Result<crate::page::NumberedPage<String>, StoreError>;
}
