//! Sources, and the one way in which they reach the network.
//!
//! [`Sources`] opens them; [`dialer`] is the way out.
#![deny(missing_docs)]

mod config;
pub mod dialer;
mod factory;
mod file;
mod metadata;
mod mock;
mod scripted;
mod web;

pub use factory::Sources;
pub use web::CrawlLimits;
