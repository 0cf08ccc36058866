use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{LlmProviderDetails, ModelConfiguration, ModelPurpose, ProviderUse};
use crate::access::Role;
use crate::id::{AgentId, GroupId};

fn provider(public: bool, agents: &[i32], groups: &[i32]) -> LlmProviderDetails {
    LlmProviderDetails {
        name: "p".to_owned(),
        kind: "openai".to_owned(),
        api_base: None,
        api_version: None,
        deployment: None,
        api_key: None,
        custom_config: None,
        default_models: BTreeMap::new(),
        public,
        auto_mode: false,
        groups: groups.iter().copied().map(GroupId).collect(),
        agents: agents.iter().copied().map(AgentId).collect(),
        models: Vec::new(),
    }
}

/// The table of the interface, row by row, for: a stranger, a member, an administrator, each
/// without an agent, with an agent that is not listed, and with one that is.
#[test]
fn access_follows_the_table() {
    const S: &str = "stranger";
    const M: &str = "member";
    const A: &str = "admin";
    type Row<'a> = (bool, &'a [i32], &'a [i32], &'a [&'a str], &'a [&'a str]);
    let table: [Row<'_>; 8] = [
        // public, agents, groups; who may without a listed agent, who with one
        (true, &[], &[], &[S, M, A], &[S, M, A]),
        (true, &[], &[7], &[S, M, A], &[S, M, A]),
        (true, &[5], &[], &[], &[S, M, A]),
        (true, &[5], &[7], &[], &[S, M, A]),
        (false, &[], &[7], &[M, A], &[M, A]),
        (false, &[5], &[7], &[], &[M, A]),
        (false, &[5], &[], &[], &[S, M, A]),
        (false, &[], &[], &[A], &[A]),
    ];
    let member = BTreeSet::from([GroupId(1), GroupId(7)]);
    let stranger = BTreeSet::from([GroupId(1)]);
    for (public, agents, groups, without, with) in table {
        let provider = provider(public, agents, groups);
        let people = [
            (S, Role::Basic, &stranger),
            (M, Role::Basic, &member),
            (A, Role::Admin, &stranger),
            // Whoever administers groups administers no providers.
            (S, Role::GlobalCurator, &stranger),
        ];
        for (who, role, groups_of_user) in people {
            for (agent, allowed) in
                [(None, without), (Some(AgentId(6)), without), (Some(AgentId(5)), with)]
            {
                let wanted = ProviderUse { role, groups: groups_of_user, agent };
                assert_eq!(
                    provider.may_be_used(wanted),
                    allowed.contains(&who),
                    "public {public}, agents {agents:?}, groups {groups:?}: {who} with {agent:?}"
                );
            }
        }
    }
}

proptest! {
    /// Membership and the role of an administrator never take anything away.
    #[test]
    fn more_rights_are_never_less(
        public: bool,
        agents in proptest::collection::vec(0..3, 0..3),
        groups in proptest::collection::vec(0..3, 0..3),
        member_of in proptest::collection::btree_set((0..3).prop_map(GroupId), 0..3),
        agent in proptest::option::of((0..3).prop_map(AgentId)),
    ) {
        let provider = provider(public, &agents, &groups);
        let none = BTreeSet::new();
        let may = |role, groups| provider.may_be_used(ProviderUse { role, groups, agent });
        prop_assert!(may(Role::Basic, &member_of) || !may(Role::Basic, &none));
        prop_assert!(may(Role::Admin, &none) || !may(Role::Basic, &member_of));
        // Without a listed agent not even an administrator.
        let listed = agents.is_empty() || agent.is_some_and(|agent| agents.contains(&agent.0));
        prop_assert!(listed || !may(Role::Admin, &member_of));
    }
}

#[test]
fn default_models_are_listed_and_visible() {
    let hidden = ModelConfiguration { visible: false, ..ModelConfiguration::new("b".to_owned()) };
    let mut details = LlmProviderDetails {
        models: vec![ModelConfiguration::new("a".to_owned()), hidden],
        default_models: [
            (ModelPurpose::Text, "c".to_owned()),
            (ModelPurpose::Vision, "b".to_owned()),
            (ModelPurpose::ChatNaming, "c".to_owned()),
        ]
        .into(),
        ..provider(true, &[], &[])
    };
    details.list_default_models();
    let listed: Vec<(&str, bool)> =
        details.models.iter().map(|model| (model.name.as_str(), model.visible)).collect();
    assert_eq!(listed, [("a", true), ("b", true), ("c", true)]);
}
