//! Conversations with a language model: how their messages hang together, and how an answer cites
//! what it was made from.

pub mod citation;
pub mod tree;
