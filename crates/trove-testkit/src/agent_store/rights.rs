//! Who sees and changes which agents.

use trove_domain::access::{Caller, Role};
use trove_domain::agent::Agent;
use trove_domain::id::AgentId;
use trove_domain::port::{AgentChange, AgentSharing, AgentWrite, Reach};

use super::{agent, deleted, everything, find, flag, insert, member, named, names, only, public};
use crate::stores::{Stores, at};

/// Owner, users, members of groups of now, everybody when it is public, administrators.
pub async fn an_agent_is_visible_to_whom_it_should_be(stores: &Stores) {
    let (ann, bob) = (member(stores, Role::Basic).await, member(stores, Role::Limited).await);
    let (cid, dan) = (member(stores, Role::Basic).await, member(stores, Role::GlobalCurator).await);
    let admin = member(stores, Role::Admin).await;
    let group = stores.group("g", &[cid.user]).await;
    let sharing =
        AgentSharing { public: None, users: Some(only(bob.user)), groups: Some(only(group)) };
    let private = insert(stores, &ann, named("private")).await;
    let shared = insert(stores, &ann, AgentWrite { sharing, ..named("shared") }).await;
    let open = insert(stores, &ann, public("open")).await;
    let check = async |caller: &Caller, expected: [bool; 3]| {
        let mut listed = Vec::new();
        for (id, expected) in [private, shared, open].into_iter().zip(expected) {
            let seen = find(stores, caller, id).await;
            assert_eq!(seen.is_some(), expected, "{} {id}", caller.email);
            listed.extend(seen.map(|seen| seen.agent.definition.name));
        }
        let mut list = names(stores, caller, &everything(Reach::Visible)).await;
        list.retain(|name| ["private", "shared", "open"].contains(&name.as_str()));
        assert_eq!(list, listed);
    };
    check(&ann, [true, true, true]).await;
    check(&bob, [false, true, true]).await;
    check(&cid, [false, true, true]).await;
    check(&dan, [false, false, true]).await;
    check(&admin, [true, true, true]).await;
    stores.members(group, &[dan.user]).await;
    check(&cid, [false, false, true]).await;
    check(&dan, [false, true, true]).await;
}

/// The owner, administrators, and curators of all of its groups.
pub async fn an_agent_may_be_changed_by_whom_it_should_be(stores: &Stores) {
    let owner = member(stores, Role::Basic).await;
    let (curator, global) =
        (member(stores, Role::Curator).await, member(stores, Role::GlobalCurator).await);
    let (admin, reader) = (member(stores, Role::Admin).await, member(stores, Role::Basic).await);
    let both = stores.group("both", &[]).await;
    let members = [(curator.user, true), (global.user, false), (reader.user, true)];
    stores.groups.set_members(both, &members).await.unwrap();
    let joined = stores.group("joined", &[curator.user]).await;
    let shared = |groups: &[trove_domain::id::GroupId]| AgentSharing {
        public: Some(true),
        users: Some(only(reader.user)),
        groups: Some(groups.iter().copied().collect()),
    };
    let without = insert(stores, &owner, AgentWrite { sharing: shared(&[]), ..named("a") }).await;
    let one = insert(stores, &owner, AgentWrite { sharing: shared(&[both]), ..named("b") }).await;
    let two =
        insert(stores, &owner, AgentWrite { sharing: shared(&[both, joined]), ..named("c") }).await;
    let check = async |caller: &Caller, expected: [bool; 3]| {
        for (id, expected) in [without, one, two].into_iter().zip(expected) {
            let editable = find(stores, caller, id).await.unwrap().editable;
            assert_eq!(editable, expected, "{} {id}", caller.email);
        }
        let listed = names(stores, caller, &everything(Reach::Editable)).await;
        let default = usize::from(caller.role == Role::Admin);
        assert_eq!(listed.len(), default + expected.into_iter().filter(|yes| *yes).count());
    };
    check(&owner, [true, true, true]).await;
    check(&admin, [true, true, true]).await;
    check(&curator, [false, true, false]).await;
    check(&global, [false, true, false]).await;
    check(&reader, [false, false, false]).await;
}

/// Foreign, visible or missing: the store does not tell.
pub async fn what_may_not_be_changed_is_as_good_as_none(stores: &Stores) {
    let (ann, bob) = (member(stores, Role::Basic).await, member(stores, Role::Basic).await);
    let hidden = insert(stores, &ann, named("a")).await;
    let open = insert(stores, &ann, public("b")).await;
    let before = (agent(stores, &ann, hidden).await, agent(stores, &ann, open).await);
    for id in [hidden, open, AgentId(4711)] {
        let update = stores.agents.update(&bob, id, named("x"), at(2)).await.unwrap();
        assert_eq!(update, AgentChange::NoSuchAgent);
        let sharing = AgentSharing { users: Some(only(bob.user)), ..AgentSharing::default() };
        let share = stores.agents.share(&bob, id, sharing, at(2)).await.unwrap();
        assert_eq!(share, AgentChange::NoSuchAgent);
        assert_eq!(flag(stores, &bob, id, deleted(true)).await, AgentChange::NoSuchAgent);
    }
    let after = (agent(stores, &ann, hidden).await, agent(stores, &ann, open).await);
    assert_eq!(after, before);
}

/// Foreign, deleted and missing ones have none.
pub async fn a_retrieval_scope_is_for_those_who_see_the_agent(stores: &Stores) {
    let (ann, bob) = (member(stores, Role::Basic).await, member(stores, Role::Basic).await);
    let admin = member(stores, Role::Admin).await;
    let id = insert(stores, &ann, named("a")).await;
    let seen = async |caller: &Caller, id| {
        stores.agents.retrieval_scope(caller, id).await.unwrap().is_some()
    };
    assert!(seen(&ann, id).await && seen(&admin, id).await);
    assert!(!seen(&bob, id).await && !seen(&ann, AgentId(4711)).await);
    flag(stores, &ann, id, deleted(true)).await;
    assert!(!seen(&ann, id).await && !seen(&admin, id).await);
}

/// For what keeps ids of agents.
pub async fn existing_agents_are_told_whoever_sees_them(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    let id = insert(stores, &ann, named("a")).await;
    let asked = [Agent::DEFAULT, id, AgentId(4711)].into();
    let existing = stores.agents.existing(&asked).await.unwrap();
    assert_eq!(existing, [Agent::DEFAULT, id].into());
    let many = (0..3000).map(AgentId).collect();
    assert_eq!(stores.agents.existing(&many).await.unwrap().len(), 2);
}
