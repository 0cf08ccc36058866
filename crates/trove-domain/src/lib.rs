//! The vocabulary of Trove: what the words mean, and the seams between the parts.
//!
//! * **document**: one item of a source, with access and metadata ([`document`]).
//! * **chunk**: the indexed unit, a piece of a document with its own vector ([`chunk`]).
//! * **section**: adjacent chunks of one document, merged for display ([`section`]).
//! * **cc pair**: a connector together with a credential; access hangs on it ([`cc_pair`]).
//! * **agent**: prompts and a part of the knowledge, to search and talk with ([`agent`]).
//! * **scope**: what a caller may read, required by every index query ([`access`]).
//!
//! The traits in [`port`] are the seams; `ls src/port` lists them.
//!
//! **Purity.** Nothing here does I/O, knows a runtime, a client or a wire format, reads the clock
//! or draws randomness. A test holds the closure of this crate to that.
#![deny(missing_docs)]

pub mod access;
pub mod access_token;
pub mod agent;
pub mod api_key;
pub mod audit;
pub mod boost;
pub mod cc_pair;
pub mod chat;
pub mod chunk;
pub mod connector;
pub mod credential;
pub mod document;
pub mod document_set;
pub mod email;
pub mod error;
pub mod external_access;
pub mod fusion;
pub mod group;
pub mod hit;
pub mod id;
pub mod indexing;
pub mod job;
pub mod llm;
pub mod llm_provider;
pub mod outbound;
pub mod page;
pub mod passages;
pub mod password;
pub mod permission_sync;
pub mod port;
pub mod preferences;
pub mod query;
pub mod rank_fusion;
pub mod search_history;
pub mod secret;
pub mod section;
pub mod session;
pub mod source;
pub mod stored_file;
pub mod token_limit;
pub mod tool;
pub mod user;
pub mod workspace;
