//! What users set for themselves: `PATCH /user/…` and the routes beside them.

pub(crate) mod agents;
pub(crate) mod interface;
pub(crate) mod personalization;

use actix_web::HttpResponse;
use trove_domain::preferences::ProfileChange;
use trove_engine::Engine;

use super::users::null;
use crate::error::{ApiError, Refusal};
use crate::extract::Caller;

/// Makes a change of the caller's own profile.
async fn change(
    engine: &Engine,
    caller: &Caller,
    change: ProfileChange,
) -> Result<HttpResponse, ApiError> {
    if engine.change_profile(&caller.0, change).await? {
        Ok(null())
    } else {
        // Removed between the two looks.
        Err(Refusal::Unauthenticated.into())
    }
}
