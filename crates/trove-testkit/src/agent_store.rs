//! What every [`AgentStore`](trove_domain::port::AgentStore) does.

mod changes;
mod lists;
mod rights;

use std::collections::BTreeSet;

use trove_domain::access::{Caller, Role};
use trove_domain::agent::{Agent, AgentDefinition};
use trove_domain::id::{AgentId, DocumentSetId};
use trove_domain::port::{
    AgentChange, AgentFilter, AgentFlags, AgentSharing, AgentWrite, Reach, SeenAgent, SetChange,
};

pub use changes::*;
pub use lists::*;
pub use rights::*;

use crate::stores::{Stores, at, caller, new_job, new_set};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! agent_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            agent_store,
            $start,
            [
                the_default_agent_is_always_there,
                the_default_agent_is_neither_edited_nor_deleted_nor_hidden,
                an_agent_is_stored_as_given,
                an_update_replaces_what_is_written_and_keeps_what_is_not_said,
                a_name_that_the_caller_sees_is_taken,
                a_name_that_the_caller_does_not_see_is_free,
                of_concurrent_agents_with_one_name_one_is_inserted,
                an_unknown_user_group_or_label_is_named_and_nothing_changes,
                sharing_changes_what_is_said,
                a_deleted_agent_is_gone_and_can_come_back,
                a_deleted_agent_comes_back_under_a_free_name_only,
                document_sets_that_are_gone_are_left_out_when_an_agent_is_written,
                an_agent_whose_set_is_deleted_stays_restricted,
                places_are_changed_together_or_not_at_all,
                labels_have_unique_names,
                agents_come_by_place_and_those_without_one_last,
                pages_join_to_the_list,
                numbered_pages_count_the_list,
                lists_leave_out_what_is_not_asked_for,
                unlisted_agents_are_listed_for_those_they_are_shared_with,
                an_agent_is_visible_to_whom_it_should_be,
                an_agent_may_be_changed_by_whom_it_should_be,
                what_may_not_be_changed_is_as_good_as_none,
                a_retrieval_scope_is_for_those_who_see_the_agent,
                existing_agents_are_told_whoever_sees_them,
            ]
        );
    };
}

pub(crate) async fn member(stores: &Stores, role: Role) -> Caller {
    let email = format!("{role}-{}@example.com", stores.next());
    let user = stores.new_user(&email, role);
    let id = user.id;
    assert!(stores.users.insert(user).await.unwrap());
    caller(id, &email, role)
}

fn named(name: &str) -> AgentWrite {
    AgentWrite {
        definition: AgentDefinition { name: name.to_owned(), ..AgentDefinition::default() },
        ..AgentWrite::default()
    }
}

fn public(name: &str) -> AgentWrite {
    let sharing = AgentSharing { public: Some(true), ..AgentSharing::default() };
    AgentWrite { sharing, ..named(name) }
}

async fn insert(stores: &Stores, caller: &Caller, agent: AgentWrite) -> AgentId {
    let change = stores.agents.insert(caller, agent, at(1)).await.unwrap();
    let AgentChange::Done(id) = change else { panic!("{change:?}") };
    id
}

/// Inserts an agent of this name; answers its id.
pub(crate) async fn insert_named(stores: &Stores, caller: &Caller, name: &str) -> AgentId {
    insert(stores, caller, named(name)).await
}

async fn find(stores: &Stores, caller: &Caller, id: AgentId) -> Option<SeenAgent> {
    stores.agents.find(caller, id, false).await.unwrap()
}

async fn agent(stores: &Stores, caller: &Caller, id: AgentId) -> Agent {
    find(stores, caller, id).await.unwrap().agent
}

async fn flag(stores: &Stores, caller: &Caller, id: AgentId, flags: AgentFlags) -> AgentChange {
    stores.agents.set_flags(caller, id, flags, at(3)).await.unwrap()
}

fn deleted(deleted: bool) -> AgentFlags {
    AgentFlags { deleted: Some(deleted), ..AgentFlags::default() }
}

fn everything(reach: Reach) -> AgentFilter {
    AgentFilter { reach, deleted: false, builtin: true, unlisted: true, ids: None }
}

/// Names in a list that is read at once.
async fn names(stores: &Stores, caller: &Caller, filter: &AgentFilter) -> Vec<String> {
    let page = stores.agents.list(caller, filter, None, 1000).await.unwrap();
    assert_eq!(page.next, None);
    page.items.into_iter().map(|seen| seen.agent.definition.name).collect()
}

/// A set over no pair that anybody sees, and that the index knows of.
async fn set(stores: &Stores, name: &str) -> DocumentSetId {
    let new = new_set(name, &[]);
    let change = stores.sets.insert(new, None, at(1), new_job("sync", "sync")).await.unwrap();
    let SetChange::Done(id) = change else { panic!("{change:?}") };
    settle(stores).await;
    id
}

async fn settle(stores: &Stores) {
    let sets = stores.sets.unsynced().await.unwrap();
    stores.sets.finish_sync(&sets).await.unwrap();
}

async fn remove_set(stores: &Stores, admin: &Caller, id: DocumentSetId) {
    let job = new_job("sync", "sync");
    let change = stores.sets.begin_removal(admin, id, at(2), job).await.unwrap();
    assert_eq!(change, SetChange::Done(id));
    settle(stores).await;
}

fn only<T: Ord>(item: T) -> BTreeSet<T> {
    BTreeSet::from([item])
}
