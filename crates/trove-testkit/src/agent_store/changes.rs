//! What is written of agents.

use std::collections::BTreeMap;

use futures::future::join_all;
use trove_domain::access::Role;
use trove_domain::agent::{
    Agent, AgentDefinition, ModelOverride, NamedUser, RetrievalScope, StarterMessage,
};
use trove_domain::id::{AgentId, GroupId, LabelId, ToolId};
use trove_domain::port::{AgentChange, AgentFlags, AgentReference, AgentSharing, AgentWrite};

use super::{
    agent, deleted, everything, find, flag, insert, member, named, names, only, public, remove_set,
    set,
};
use crate::builders::document_id;
use crate::stores::{Stores, at};
use trove_domain::port::Reach;

/// For everybody, with the search tool and without restrictions.
pub async fn the_default_agent_is_always_there(stores: &Stores) {
    let limited = member(stores, Role::Limited).await;
    let seen = find(stores, &limited, Agent::DEFAULT).await.unwrap();
    assert!(!seen.editable);
    let agent = seen.agent;
    assert!(agent.builtin && agent.public && agent.listed && !agent.deleted);
    assert_eq!((agent.id, agent.owner), (AgentId(0), None));
    assert_eq!(agent.definition.tools, only(ToolId(1)));
    let scope = stores.agents.retrieval_scope(&limited, Agent::DEFAULT).await.unwrap();
    assert_eq!(scope, Some(RetrievalScope::default()));
}

/// Not even by an administrator.
pub async fn the_default_agent_is_neither_edited_nor_deleted_nor_hidden(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let before = agent(stores, &admin, Agent::DEFAULT).await;
    let update = stores.agents.update(&admin, Agent::DEFAULT, named("x"), at(2)).await.unwrap();
    assert_eq!(update, AgentChange::NoSuchAgent);
    let private = AgentSharing { public: Some(false), ..AgentSharing::default() };
    let share = stores.agents.share(&admin, Agent::DEFAULT, private, at(2)).await.unwrap();
    assert_eq!(share, AgentChange::NoSuchAgent);
    let private = AgentFlags { public: Some(false), ..AgentFlags::default() };
    let unlisted = AgentFlags { listed: Some(false), ..AgentFlags::default() };
    for flags in [deleted(true), private, unlisted] {
        assert_eq!(flag(stores, &admin, Agent::DEFAULT, flags).await, AgentChange::NoSuchAgent);
    }
    assert_eq!(agent(stores, &admin, Agent::DEFAULT).await, before);
}

/// Everything that an editor can say.
pub async fn an_agent_is_stored_as_given(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    let bob = member(stores, Role::Basic).await;
    let group = stores.group("g", &[]).await;
    let (first, second) = (set(stores, "s").await, set(stores, "t").await);
    let label = stores.agents.insert_label("HR").await.unwrap().unwrap();
    let definition = AgentDefinition {
        name: "Отчёты O'Hara 100%".to_owned(),
        description: "of all".to_owned(),
        system_prompt: "be brief".to_owned(),
        task_prompt: "answer".to_owned(),
        replace_base_system_prompt: true,
        datetime_aware: true,
        scope: RetrievalScope {
            document_sets: [first, second].into(),
            documents: [document_id("b"), document_id("a")].into(),
            search_start_date: Some(at(-100)),
            model: ModelOverride {
                provider: Some("p".to_owned()),
                model: Some("m".to_owned()),
                configuration: Some(7),
            },
        },
        tools: only(ToolId(1)),
        starter_messages: Some(vec![
            StarterMessage { name: "z".to_owned(), message: "\"quoted\"\n".to_owned() },
            StarterMessage { name: "a".to_owned(), message: String::new() },
        ]),
        icon_name: Some("owl".to_owned()),
    };
    let write = AgentWrite {
        definition: definition.clone(),
        sharing: AgentSharing {
            public: Some(true),
            users: Some(only(bob.user)),
            groups: Some(only(group)),
        },
        labels: Some(only(label.id)),
        featured: Some(true),
        display_priority: Some(-5),
    };
    let id = insert(stores, &ann, write).await;
    let expected = Agent {
        id,
        definition: definition.clone(),
        labels: vec![label],
        owner: Some(NamedUser { id: ann.user, email: ann.email.clone() }),
        public: true,
        users: vec![NamedUser { id: bob.user, email: bob.email.clone() }],
        groups: only(group),
        listed: true,
        featured: true,
        builtin: false,
        deleted: false,
        display_priority: Some(-5),
        created_at: at(1),
        updated_at: at(1),
    };
    assert_eq!(agent(stores, &bob, id).await, expected);
    let scope = stores.agents.retrieval_scope(&bob, id).await.unwrap();
    assert_eq!(scope, Some(definition.scope));
}

/// `None` means as before.
pub async fn an_update_replaces_what_is_written_and_keeps_what_is_not_said(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    let group = stores.group("g", &[]).await;
    let sharing = AgentSharing { groups: Some(only(group)), ..AgentSharing::default() };
    let mut write = AgentWrite { sharing, display_priority: Some(3), ..named("a") };
    write.definition.tools = only(ToolId(1));
    write.definition.scope.documents = only(document_id("d"));
    write.definition.icon_name = Some("owl".to_owned());
    let id = insert(stores, &ann, write).await;
    let change = stores.agents.update(&ann, id, named("b"), at(2)).await.unwrap();
    assert_eq!(change, AgentChange::Done(id));
    let agent = agent(stores, &ann, id).await;
    assert_eq!(agent.definition, named("b").definition);
    assert_eq!((agent.groups, agent.display_priority), (only(group), Some(3)));
    assert_eq!((agent.created_at, agent.updated_at), (at(1), at(2)));
}

/// An agent's own name is not taken.
pub async fn a_name_that_the_caller_sees_is_taken(stores: &Stores) {
    let (ann, bob) = (member(stores, Role::Basic).await, member(stores, Role::Basic).await);
    let id = insert(stores, &ann, public("a")).await;
    let other = insert(stores, &bob, named("b")).await;
    let again = stores.agents.insert(&bob, named("a"), at(2)).await.unwrap();
    assert_eq!(again, AgentChange::NameTaken);
    let renamed = stores.agents.update(&bob, other, named("a"), at(2)).await.unwrap();
    assert_eq!(renamed, AgentChange::NameTaken);
    assert_eq!(agent(stores, &bob, other).await.definition.name, "b");
    let same = stores.agents.update(&ann, id, named("a"), at(2)).await.unwrap();
    assert_eq!(same, AgentChange::Done(id));
}

/// Otherwise names would tell what others have.
pub async fn a_name_that_the_caller_does_not_see_is_free(stores: &Stores) {
    let (ann, bob) = (member(stores, Role::Basic).await, member(stores, Role::Basic).await);
    insert(stores, &ann, named("a")).await;
    insert(stores, &bob, named("a")).await;
}

/// Also under concurrency.
pub async fn of_concurrent_agents_with_one_name_one_is_inserted(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    let insert = |_| stores.agents.insert(&ann, named("a"), at(1));
    let changes = join_all((0..8).map(insert)).await;
    let done = changes.into_iter().filter(|c| matches!(c, Ok(AgentChange::Done(_)))).count();
    assert_eq!(done, 1);
}

/// In an insertion, an update and a change of shares.
pub async fn an_unknown_user_group_or_label_is_named_and_nothing_changes(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    let id = insert(stores, &ann, named("a")).await;
    let before = agent(stores, &ann, id).await;
    let nobody = stores.new_user("", Role::Basic).id;
    let users = AgentSharing { users: Some([ann.user, nobody].into()), ..AgentSharing::default() };
    let groups = AgentSharing { groups: Some(only(GroupId(4711))), ..AgentSharing::default() };
    let labels = AgentWrite { labels: Some(only(LabelId(4711))), ..named("b") };
    for (sharing, reference) in [(users, AgentReference::User), (groups, AgentReference::Group)] {
        let expected = AgentChange::Unknown(reference);
        let write = AgentWrite { sharing: sharing.clone(), ..named("b") };
        assert_eq!(stores.agents.insert(&ann, write.clone(), at(2)).await.unwrap(), expected);
        assert_eq!(stores.agents.update(&ann, id, write, at(2)).await.unwrap(), expected);
        assert_eq!(stores.agents.share(&ann, id, sharing, at(2)).await.unwrap(), expected);
    }
    let expected = AgentChange::Unknown(AgentReference::Label);
    assert_eq!(stores.agents.insert(&ann, labels.clone(), at(2)).await.unwrap(), expected);
    assert_eq!(stores.agents.update(&ann, id, labels, at(2)).await.unwrap(), expected);
    assert_eq!(agent(stores, &ann, id).await, before);
    assert_eq!(names(stores, &ann, &everything(Reach::Editable)).await, ["a"]);
}

/// And nothing else.
pub async fn sharing_changes_what_is_said(stores: &Stores) {
    let (ann, bob) = (member(stores, Role::Basic).await, member(stores, Role::Basic).await);
    let group = stores.group("g", &[]).await;
    let id = insert(stores, &ann, named("a")).await;
    let share = async |sharing| {
        let change = stores.agents.share(&ann, id, sharing, at(2)).await.unwrap();
        assert_eq!(change, AgentChange::Done(id));
        let agent = agent(stores, &ann, id).await;
        (agent.public, agent.users.len(), agent.groups.len())
    };
    let users = AgentSharing { users: Some(only(bob.user)), ..AgentSharing::default() };
    assert_eq!(share(users).await, (false, 1, 0));
    let groups = AgentSharing { groups: Some(only(group)), ..AgentSharing::default() };
    assert_eq!(share(groups).await, (false, 1, 1));
    let public = AgentSharing { public: Some(true), ..AgentSharing::default() };
    assert_eq!(share(public).await, (true, 1, 1));
    let none = AgentSharing { users: Some([].into()), ..AgentSharing::default() };
    assert_eq!(share(none).await, (true, 0, 1));
}

/// As it was.
pub async fn a_deleted_agent_is_gone_and_can_come_back(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    let id = insert(stores, &ann, public("a")).await;
    assert_eq!(flag(stores, &ann, id, deleted(true)).await, AgentChange::Done(id));
    assert_eq!(find(stores, &ann, id).await, None);
    assert!(stores.agents.find(&ann, id, true).await.unwrap().unwrap().agent.deleted);
    assert_eq!(stores.agents.retrieval_scope(&ann, id).await.unwrap(), None);
    assert!(stores.agents.existing(&only(id)).await.unwrap().is_empty());
    let update = stores.agents.update(&ann, id, named("b"), at(2)).await.unwrap();
    assert_eq!(update, AgentChange::NoSuchAgent);
    let listed = AgentFlags { listed: Some(false), ..AgentFlags::default() };
    assert_eq!(flag(stores, &ann, id, listed).await, AgentChange::NoSuchAgent);
    assert_eq!(flag(stores, &ann, id, deleted(false)).await, AgentChange::Done(id));
    let agent = agent(stores, &ann, id).await;
    assert!(agent.public && agent.listed && agent.definition.name == "a");
}

/// Its name was free in the meantime.
pub async fn a_deleted_agent_comes_back_under_a_free_name_only(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    let first = insert(stores, &ann, named("a")).await;
    flag(stores, &ann, first, deleted(true)).await;
    let second = insert(stores, &ann, named("a")).await;
    assert_eq!(flag(stores, &ann, first, deleted(false)).await, AgentChange::NameTaken);
    flag(stores, &ann, second, deleted(true)).await;
    assert_eq!(flag(stores, &ann, first, deleted(false)).await, AgentChange::Done(first));
}

/// Whoever writes an agent says anew what it searches in.
pub async fn document_sets_that_are_gone_are_left_out_when_an_agent_is_written(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let (stays, goes) = (set(stores, "s").await, set(stores, "t").await);
    let mut write = named("a");
    write.definition.scope.document_sets = [stays, goes].into();
    let id = insert(stores, &admin, write.clone()).await;
    remove_set(stores, &admin, goes).await;
    stores.agents.update(&admin, id, write, at(2)).await.unwrap();
    assert_eq!(agent(stores, &admin, id).await.definition.scope.document_sets, only(stays));
}

/// It finds nothing then, instead of everything.
pub async fn an_agent_whose_set_is_deleted_stays_restricted(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let goes = set(stores, "s").await;
    let mut write = named("a");
    write.definition.scope.document_sets = only(goes);
    let id = insert(stores, &admin, write).await;
    remove_set(stores, &admin, goes).await;
    let scope = stores.agents.retrieval_scope(&admin, id).await.unwrap().unwrap();
    assert!(scope.restricts_knowledge());
    assert_eq!(scope.document_sets, only(goes));
}

/// Deleted ones have places, too.
pub async fn places_are_changed_together_or_not_at_all(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    let (a, b) = (insert(stores, &ann, named("a")).await, insert(stores, &ann, named("b")).await);
    flag(stores, &ann, b, deleted(true)).await;
    let both = BTreeMap::from([(a, Some(2)), (b, Some(1))]);
    assert!(stores.agents.set_display_priorities(&both, at(2)).await.unwrap());
    let unknown = BTreeMap::from([(a, None), (AgentId(4711), Some(1))]);
    assert!(!stores.agents.set_display_priorities(&unknown, at(2)).await.unwrap());
    assert_eq!(agent(stores, &ann, a).await.display_priority, Some(2));
    let none = BTreeMap::from([(a, None)]);
    assert!(stores.agents.set_display_priorities(&none, at(2)).await.unwrap());
    assert_eq!(agent(stores, &ann, a).await.display_priority, None);
}

/// And come by rising id.
pub async fn labels_have_unique_names(stores: &Stores) {
    let first = stores.agents.insert_label("b").await.unwrap().unwrap();
    let second = stores.agents.insert_label("a").await.unwrap().unwrap();
    assert_eq!(stores.agents.insert_label("b").await.unwrap(), None);
    assert_eq!(stores.agents.labels().await.unwrap(), [first, second]);
}
