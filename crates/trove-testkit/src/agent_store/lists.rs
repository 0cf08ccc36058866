//! What lists of agents hold.

use trove_domain::access::Role;
use trove_domain::agent::Agent;
use trove_domain::port::{AgentFilter, AgentFlags, AgentSharing, AgentWrite, Reach};

use super::{deleted, everything, flag, insert, member, named, names, only, public};
use crate::stores::{Stores, at};

fn placed(name: &str, place: Option<i32>) -> AgentWrite {
    AgentWrite { display_priority: place, ..named(name) }
}

fn own() -> AgentFilter {
    AgentFilter { builtin: false, ..everything(Reach::Visible) }
}

const PLACES: [(&str, Option<i32>); 7] = [
    ("none 1", None),
    ("two", Some(2)),
    ("one", Some(1)),
    ("none 2", None),
    ("two again", Some(2)),
    ("zero", Some(0)),
    ("minus", Some(-1)),
];

const IN_ORDER: [&str; 7] = ["minus", "zero", "one", "two", "two again", "none 1", "none 2"];

/// And by rising id where places are the same.
pub async fn agents_come_by_place_and_those_without_one_last(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    for (name, place) in PLACES {
        insert(stores, &ann, placed(name, place)).await;
    }
    assert_eq!(names(stores, &ann, &own()).await, IN_ORDER);
}

/// Whatever their size, also across the first agent without a place.
pub async fn pages_join_to_the_list(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    for (name, place) in PLACES {
        insert(stores, &ann, placed(name, place)).await;
    }
    for limit in 1..=8 {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = stores.agents.list(&ann, &own(), after, limit).await.unwrap();
            assert!(page.items.len() <= usize::try_from(limit).unwrap());
            all.extend(page.items.into_iter().map(|seen| seen.agent.definition.name));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(all, IN_ORDER, "{limit}");
    }
}

/// Beyond its end, too.
pub async fn numbered_pages_count_the_list(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    for (name, place) in PLACES {
        insert(stores, &ann, placed(name, place)).await;
    }
    for (offset, expected) in [(0, &IN_ORDER[..3]), (3, &IN_ORDER[3..6]), (6, &IN_ORDER[6..])] {
        let page = stores.agents.list_numbered(&ann, &own(), offset, 3).await.unwrap();
        let names: Vec<_> = page.items.into_iter().map(|seen| seen.agent.definition.name).collect();
        assert_eq!((page.total, names), (7, expected.iter().map(ToString::to_string).collect()));
    }
    for offset in [7, u64::MAX] {
        let page = stores.agents.list_numbered(&ann, &own(), offset, 3).await.unwrap();
        assert_eq!((page.total, page.items.len()), (7, 0));
    }
}

/// Deleted ones, built-in ones, others than those that are named.
pub async fn lists_leave_out_what_is_not_asked_for(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    let a = insert(stores, &ann, named("a")).await;
    let gone = insert(stores, &ann, named("gone")).await;
    flag(stores, &ann, gone, deleted(true)).await;
    let all = everything(Reach::Visible);
    assert_eq!(names(stores, &ann, &all).await.len(), 2);
    assert_eq!(names(stores, &ann, &own()).await, ["a"]);
    let with_deleted = AgentFilter { deleted: true, ..own() };
    assert_eq!(names(stores, &ann, &with_deleted).await, ["a", "gone"]);
    // Who only saw it does not see that it is gone.
    flag(stores, &ann, gone, deleted(false)).await;
    let published = AgentFlags { public: Some(true), ..AgentFlags::default() };
    flag(stores, &ann, gone, published).await;
    let bob = member(stores, Role::Basic).await;
    let for_bob = AgentFilter { deleted: true, ..everything(Reach::Visible) };
    assert!(names(stores, &bob, &for_bob).await.contains(&"gone".to_owned()));
    flag(stores, &ann, gone, deleted(true)).await;
    assert!(!names(stores, &bob, &for_bob).await.contains(&"gone".to_owned()));
    let ids = Some([a, gone].into());
    assert_eq!(names(stores, &ann, &AgentFilter { ids, ..all.clone() }).await, ["a"]);
    let ids = Some(only(Agent::DEFAULT));
    assert!(names(stores, &ann, &AgentFilter { ids, ..own() }).await.is_empty());
    let ids = Some([].into());
    assert!(names(stores, &ann, &AgentFilter { ids, ..all }).await.is_empty());
}

/// And for their owners; others see them when they ask for unlisted ones.
pub async fn unlisted_agents_are_listed_for_those_they_are_shared_with(stores: &Stores) {
    let (ann, bob) = (member(stores, Role::Basic).await, member(stores, Role::Basic).await);
    let (cid, dan) = (member(stores, Role::Basic).await, member(stores, Role::Admin).await);
    let group = stores.group("g", &[cid.user]).await;
    let id = insert(stores, &ann, public("a")).await;
    let unlisted = AgentFlags { listed: Some(false), ..AgentFlags::default() };
    flag(stores, &ann, id, unlisted).await;
    let sharing =
        AgentSharing { public: None, users: Some(only(bob.user)), groups: Some(only(group)) };
    stores.agents.share(&ann, id, sharing, at(2)).await.unwrap();
    let listed = AgentFilter { unlisted: false, ..own() };
    for (caller, shown) in [(&ann, 1), (&bob, 1), (&cid, 1), (&dan, 0)] {
        assert_eq!(names(stores, caller, &listed).await.len(), shown, "{}", caller.email);
        assert_eq!(names(stores, caller, &own()).await, ["a"]);
    }
}
