//! Reading requests, and the one place where a 422 comes from.
//!
//! Serde stops at the first thing it does not like; clients of this interface are told everything
//! that is wrong with a request at once. Therefore a request is read by hand, with readers that
//! note a failure and carry on:
//!
//! ```
//! use trove_http::validation::{Fields, Read, Record, boolean, list, text, text_between};
//!
//! struct Note {
//!     title: String,
//!     labels: Option<Vec<String>>,
//!     pinned: bool,
//! }
//!
//! impl Record for Note {
//!     fn read(fields: &mut Fields<'_>) -> Read<Self> {
//!         // Read everything first, in the order of the document ...
//!         let title = fields.required("title", text_between(1, 100));
//!         let labels = fields.nullable("labels", list(text));
//!         let pinned = fields.or("pinned", false, boolean);
//!         // ... and only then give up.
//!         Ok(Self { title: title?, labels: labels?, pinned: pinned? })
//!     }
//! }
//! ```
//!
//! The `?` cannot lose a failure: an `Err` is the token [`Rejected`], which exists only once a
//! [`FieldError`] has been recorded. Handlers take a record as [`ValidJson`](crate::extract::ValidJson),
//! and whatever else a request holds through an [`Input`](crate::extract::Input).

mod fields;
mod json;
mod readers;
mod timestamp;

use std::cell::RefCell;

use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use fields::root;
pub use fields::{Field, Fields, Place, Record};
pub use json::Json;
pub(crate) use json::{JsonError, VALUES_MAX};
pub use readers::{
    boolean, entries, float_between, integer, integer_between, integer_id, list, list_of_at_most,
    one_of, record, text, text_between, timestamp, uuid,
};

/// Most failures that one answer lists: a body can hold a million of them.
const FAILURES_MAX: usize = 100;

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// Where: `body`, `query` or `path`, then field names and list indexes.
    #[schema(example = json!(["body", "query"]))]
    pub loc: Vec<String>,
    /// What, for people.
    #[schema(example = "Field required")]
    pub msg: String,
    /// What, for programs.
    #[serde(rename = "type")]
    #[schema(example = "missing", value_type = String)]
    pub kind: &'static str,
}

/// Everything that is wrong with a request: the body of a 422.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HTTPValidationError)]
pub struct HttpValidationError<'a> {
    /// Path and query first, then the body in the order of its documentation.
    #[schema(value_type = Vec<FieldError>)]
    pub detail: &'a [FieldError],
}

/// A reader gave up after recording why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejected(());

/// What a reader answers.
pub type Read<T> = Result<T, Rejected>;

/// The failures of one request so far.
#[derive(Debug, Default)]
pub struct Failures(RefCell<Vec<FieldError>>);

impl Failures {
    /// Records one.
    pub(crate) fn add(
        &self,
        loc: Vec<String>,
        kind: &'static str,
        msg: impl Into<String>,
    ) -> Rejected {
        let mut failures = self.0.borrow_mut();
        if failures.len() < FAILURES_MAX {
            failures.push(FieldError { loc, msg: msg.into(), kind });
        }
        Rejected(())
    }

    /// All of them.
    pub(crate) fn into_vec(self) -> Vec<FieldError> {
        self.0.into_inner()
    }
}

#[cfg(test)]
mod tests;
