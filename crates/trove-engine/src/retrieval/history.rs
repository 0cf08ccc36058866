//! What a user searched for.

use chrono::TimeDelta;
use trove_domain::access::Caller;
use trove_domain::error::StoreError;
use trove_domain::search_history::RecordedSearch;

use crate::Engine;

impl Engine {
    /// The caller's own searches for documents, newest first, at most `limit`; of the last `days`
    /// days when given.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub async fn search_history(
        &self,
        caller: &Caller,
        limit: u32,
        days: Option<u32>,
    ) -> Result<Vec<RecordedSearch>, StoreError> {
        // A span that reaches beyond the calendar leaves nothing out.
        let now = self.backends().clock.now();
        let since = days.and_then(|days| now.checked_sub_signed(TimeDelta::days(days.into())));
        self.backends().search_history.list(caller.user, limit, since).await
    }

    pub(super) async fn record_search(
        &self,
        caller: &Caller,
        query: &str,
        expansions: &[String],
    ) -> Result<(), StoreError> {
        if caller.is_anonymous() {
            // Those who are nobody have nothing in common to remember.
            return Ok(());
        }
        let search = RecordedSearch {
            query: query.to_owned(),
            expansions: expansions.to_vec(),
            created_at: self.backends().clock.now(),
        };
        self.backends().search_history.record(caller.user, search).await
    }
}
