//! Files that were uploaded.

mod about;
mod config;
mod inline;
mod source;

pub(crate) use source::Files;
