//! What every [`DocumentIndex`] does.
//!
//! Cases that need vectors ask [`DocumentIndex::capabilities`] for their length and check the
//! lexical half only when there are none.

mod access;
mod filters;
mod neighbours;
mod ranking;
mod words;
mod writes;

use std::collections::BTreeSet;

use trove_domain::hit::ScoredChunk;
use trove_domain::port::{DocumentIndex, WriteOutcome};

use crate::builders::{DocumentBuilder, QueryBuilder, document_id};

pub use access::*;
pub use filters::*;
pub use neighbours::*;
pub use ranking::*;
pub use words::*;
pub use writes::*;

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option`: something that dereferences to an empty index (a `Box`, or
/// a guard that removes its directory), or `None` when the service that it needs is not there.
#[macro_export]
macro_rules! document_index_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            document_index,
            $start,
            [
                // access
                search_hides_what_the_scope_hides,
                a_public_document_is_found_by_anyone,
                a_document_without_tags_is_found_by_nobody,
                the_unrestricted_scope_finds_everything_that_is_not_hidden,
                a_hidden_document_is_never_found,
                a_forbidden_chunk_takes_no_place_among_the_hits,
                access_tags_are_compared_whole,
                granting_access_shows_a_document_at_once,
                revoking_access_hides_a_document_at_once,
                hiding_and_showing_take_effect_at_once,
                // filters
                sources_are_alternatives,
                document_sets_are_alternatives,
                all_tags_are_required,
                a_tag_matches_key_and_value_exactly,
                an_overlong_tag_matches_exactly,
                time_ranges_include_their_ends,
                undated_documents_pass_no_time_filter,
                knowledge_is_sets_and_documents_together,
                instants_before_1970_and_far_ahead_are_compared,
                kinds_of_filters_are_combined,
                updated_attributes_are_filtered_by,
                // ranking
                a_hit_carries_all_that_was_written,
                a_hit_carries_updated_attributes,
                words_of_the_title_are_matched,
                words_of_metadata_are_matched,
                a_chunk_with_more_of_the_words_is_better,
                hybrid_at_alpha_zero_ranks_like_lexical,
                hybrid_at_alpha_one_ranks_by_vectors,
                between_them_both_halves_count,
                without_a_vector_search_is_lexical,
                chunks_without_vectors_are_found_by_words,
                a_query_vector_of_another_length_is_refused,
                no_hits_are_returned_for_limit_zero,
                at_most_limit_hits_are_returned,
                hits_come_best_first_with_ties_by_chunk_id,
                an_empty_index_finds_nothing,
                // neighbours
                a_range_holds_the_chunks_between_its_ends,
                a_range_beyond_the_document_holds_what_there_is,
                a_range_of_what_the_scope_hides_is_empty,
                ranges_see_the_latest_version,
                // words
                case_and_inflection_do_not_matter,
                accents_case_and_width_do_not_matter,
                words_of_scripts_without_spaces_are_found,
                inflection_does_not_matter_in_other_languages,
                words_are_found_whatever_the_language_around_them,
                a_long_word_is_found,
                a_query_of_function_words_finds_them,
                function_words_beside_others_find_nothing,
                a_query_without_words_finds_nothing_lexically,
                query_syntax_is_plain_text,
                any_text_is_accepted,
                // writes
                an_empty_batch_is_fine,
                a_batch_at_the_limit_is_written,
                a_batch_beyond_the_limit_is_refused,
                a_vector_of_another_length_is_refused_before_anything_is_written,
                replace_is_idempotent,
                replace_changes_the_whole_document,
                replace_with_fewer_chunks_removes_the_surplus,
                a_lower_revision_is_superseded_and_changes_nothing,
                outcomes_come_in_input_order,
                updating_an_absent_document_is_absent,
                updated_attributes_keep_chunks_and_vectors,
                remove_is_immediate_and_ignores_absent_documents,
                a_late_removal_leaves_a_later_revision,
                a_removed_document_can_come_back_with_any_revision,
                a_document_of_many_chunks_is_found_whole,
                concurrent_writers_of_different_documents_all_succeed,
                concurrent_writers_of_one_document_leave_the_latest_revision,
                mixed_concurrent_writes_of_one_document_leave_one_version,
                searches_during_a_replace_see_one_version,
                a_dropped_replace_leaves_old_or_new,
                statistics_count_documents_and_chunks,
                flush_changes_nothing,
            ]
        );
    };
}

/// Writes documents and expects each to be written.
async fn write(index: &dyn DocumentIndex, documents: impl IntoIterator<Item = DocumentBuilder>) {
    let documents: Vec<_> = documents.into_iter().map(DocumentBuilder::build).collect();
    let count = documents.len();
    let outcomes = index.replace(documents).await.unwrap();
    assert_eq!(outcomes, vec![WriteOutcome::Written; count]);
}

/// Removes documents that were written at revision 1.
async fn remove(index: &dyn DocumentIndex, ids: &[&str]) {
    let documents: Vec<_> = ids.iter().map(|id| (document_id(id), 1)).collect();
    index.remove(&documents).await.unwrap();
}

/// Updates the attributes of one document and expects it to be written.
async fn update(index: &dyn DocumentIndex, document: DocumentBuilder) {
    let outcomes = index.update_attributes(vec![document.into_update()]).await.unwrap();
    assert_eq!(outcomes, [WriteOutcome::Written]);
}

async fn search(index: &dyn DocumentIndex, query: QueryBuilder) -> Vec<ScoredChunk> {
    index.search(&query.build()).await.unwrap()
}

/// Ids of the documents of the hits, best first, each once.
async fn found(index: &dyn DocumentIndex, query: QueryBuilder) -> Vec<String> {
    let mut seen = BTreeSet::new();
    search(index, query)
        .await
        .into_iter()
        .map(|hit| hit.chunk.id.document.into_string())
        .filter(|id| seen.insert(id.clone()))
        .collect()
}

/// The same in the order of their ids, for cases in which the ranking does not matter.
async fn found_in_any_order(index: &dyn DocumentIndex, query: QueryBuilder) -> Vec<String> {
    let mut ids = found(index, query).await;
    ids.sort_unstable();
    ids
}

/// Expects the same documents from a search by words, by vectors and by both.
async fn expect_found(index: &dyn DocumentIndex, query: QueryBuilder, expected: &[&str]) {
    let dimensions = index.capabilities().dimensions;
    let mut alphas = vec![0.0];
    if dimensions.is_some() {
        alphas.extend([0.5, 1.0]);
    }
    for alpha in alphas {
        let query = query.clone().near(dimensions, 0.0).alpha(alpha);
        assert_eq!(found_in_any_order(index, query).await, expected, "alpha {alpha}");
    }
}
