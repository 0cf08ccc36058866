//! What every [`DocumentStore`](trove_domain::port::DocumentStore) does.

mod access;
mod external;
mod indexing;
mod lists;
mod registering;
mod removal;

use trove_domain::id::CcPairId;
use trove_domain::port::{DocumentRecord, PendingState};

use crate::builders::document_id;
use crate::stores::Stores;

pub use access::*;
pub use external::*;
pub use indexing::*;
pub use lists::*;
pub use registering::*;
pub use removal::*;

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! document_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            document_store,
            $start,
            [
                // registering
                a_registered_document_reads_back,
                who_has_a_document_indexed_is_known,
                documents_are_answered_in_input_order,
                an_empty_batch_is_fine,
                a_batch_of_thousands_is_one_step,
                of_a_document_twice_in_a_batch_the_last_counts,
                registering_for_an_unknown_pair_changes_nothing,
                registering_again_replaces_everything_and_grows_the_revision,
                registering_for_another_pair_keeps_the_first_link,
                unchanged_content_keeps_its_hash,
                changed_content_forgets_its_hash,
                concurrent_registrations_of_the_same_documents_all_count,
                // indexing
                an_indexed_document_has_no_work_left,
                a_mark_of_an_old_revision_leaves_the_attributes_pending,
                a_late_mark_does_not_make_old_content_look_current,
                a_late_mark_leaves_newer_attributes_to_be_written,
                marks_of_unknown_documents_are_ignored,
                each_pair_has_a_document_indexed_for_itself,
                a_document_without_vectors_or_chunks_is_indexed,
                a_document_is_marked_again_with_the_same_revision,
                thousands_of_marks_are_one_step,
                a_synced_document_has_no_work_left,
                forgotten_content_counts_as_changed,
                a_sync_of_an_old_revision_is_ignored,
                syncing_keeps_what_indexing_recorded,
                // access
                attributes_are_what_was_registered,
                attributes_have_the_revision_of_the_document,
                attributes_are_answered_in_input_order,
                documents_of_a_public_pair_are_public,
                documents_of_a_private_pair_are_for_its_groups,
                documents_of_a_sync_pair_are_for_nobody_yet,
                access_is_the_union_over_the_pairs,
                access_follows_the_pairs_that_hold_the_document,
                thousands_of_attributes_are_answered,
                // external
                documents_of_a_sync_pair_are_for_whom_their_source_names,
                a_registration_that_says_nothing_of_access_keeps_it,
                a_pair_that_does_not_leave_access_to_its_source_keeps_none,
                external_access_goes_with_the_link,
                groups_of_a_document_are_those_of_its_pairs,
                external_access_ends_when_the_source_is_asked_no_more,
                external_access_of_many_documents_is_kept,
                // removal
                an_orphan_is_to_be_removed,
                a_document_that_others_hold_stays,
                unlinking_what_a_pair_does_not_hold_changes_nothing,
                unlinking_answers_in_input_order,
                of_concurrent_unlinks_the_last_one_orphans,
                a_document_to_be_removed_is_gone,
                beginning_removal_twice_answers_once,
                a_finished_removal_forgets_the_document,
                finishing_leaves_other_documents_alone,
                a_removal_is_finished_at_its_revision_only,
                revisions_go_on_after_a_document_was_forgotten,
                registering_again_cancels_a_removal,
                registering_again_after_a_removal_holds_the_new_pair_only,
                marks_do_not_bring_back_what_is_to_be_removed,
                a_mark_from_before_a_removal_does_not_count_after_it,
                thousands_of_documents_are_removed,
                concurrent_registrations_and_removals_leave_a_consistent_document,
                // lists
                unfinished_work_is_listed_by_rising_id,
                unfinished_work_is_read_in_pages,
                a_pair_lists_its_indexed_documents_by_rising_id,
                a_list_of_a_pair_is_read_in_pages,
                the_last_page_says_so,
                posted_documents_are_listed_by_rising_id,
                a_list_of_posted_documents_is_read_in_pages,
                a_list_shows_name_and_link_of_now,
                posted_documents_are_listed_for_those_who_see_a_pair_of_theirs,
            ]
        );
    };
}

/// Ids that sort differently in most languages than by their bytes, in the order of their bytes.
const IN_BYTE_ORDER: [&str; 12] =
    ["%", "'", "A", "Z", "\\", "_", "a", "a b", "a-b", "ab", "é", "日本"];

async fn record(stores: &Stores, id: &str) -> Option<DocumentRecord> {
    stores.documents.get(&[document_id(id)]).await.unwrap().pop().unwrap()
}

async fn pending(stores: &Stores, id: &str) -> Option<PendingState> {
    record(stores, id).await.unwrap().pending
}

async fn hash(stores: &Stores, id: &str) -> Option<String> {
    record(stores, id).await.unwrap().content_hash
}

/// What a pair lists, in one page.
async fn listed(stores: &Stores, pair: CcPairId) -> Vec<String> {
    let page = stores.documents.list_by_pair(pair, None, 10_000).await.unwrap();
    assert_eq!(page.next, None);
    page.items.into_iter().map(|document| document.id.into_string()).collect()
}
