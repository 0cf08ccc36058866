//! Users as administrators see and change them.

pub(crate) mod change;
pub(crate) mod invite;
pub(crate) mod list;
pub(crate) mod me;
pub(crate) mod permissions;
pub(crate) mod records;
pub(crate) mod report;

use actix_web::HttpResponse;
use utoipa::ToSchema;

use crate::validation::{Fields, Read, Record, text};

/// One user.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"user_email": "reader@example.com"}))]
pub(crate) struct UserByEmail {
    /// Address of the user, in any letter case.
    user_email: String,
}

impl UserByEmail {
    /// The address.
    pub(super) fn address(&self) -> &str {
        &self.user_email
    }
}

impl Record for UserByEmail {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { user_email: fields.required("user_email", text)? })
    }
}

/// The answer of a change that has nothing to say.
pub(super) fn null() -> HttpResponse {
    HttpResponse::Ok().json(())
}
