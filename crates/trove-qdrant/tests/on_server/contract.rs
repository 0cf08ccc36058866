//! The contract of the port, on a real server.

mod with_vectors {
    trove_testkit::document_index_contract!(crate::server::start(Some(8)));
}

mod lexical_only {
    trove_testkit::document_index_contract!(crate::server::start(None));
}
