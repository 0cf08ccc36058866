//! Sources, and the one way in which they reach the network.
//!
#![deny(missing_docs)]

pub mod dialer;
