//! Document sets: `/manage/document-set` and what curators do with them.

pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod write;
