//! The contract of the port, on a real server.

mod server;

mod with_vectors {
    trove_testkit::document_index_contract!(super::server::start(Some(8)));
}

mod lexical_only {
    trove_testkit::document_index_contract!(super::server::start(None));
}
