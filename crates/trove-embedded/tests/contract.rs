//! The contract of the port, with and without vectors.

mod fixture;

mod with_vectors {
    trove_testkit::document_index_contract!(async { Some(super::fixture::start(Some(8))) });
}

mod lexical_only {
    trove_testkit::document_index_contract!(async { Some(super::fixture::start(None)) });
}
