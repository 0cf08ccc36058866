//! No forbidden hit, none missing: random users, groups, pairs, document sets, agents, documents,
//! edits and queries on the real store and index, against a plain oracle.

mod oracle;
mod world;

use proptest::bool::weighted;
use proptest::option;
use proptest::prelude::*;

use world::{Asked, Says, Shares, Step, World};

fn step() -> impl Strategy<Value = Step> {
    let n = 0_usize..12;
    let shares = (any::<bool>(), 0_u8..8).prop_map(|(public, users)| Shares { public, users });
    let says = (0_u8..8, 0_u8..4, weighted(0.1)).prop_map(|(users, groups, public)| Says {
        users,
        groups,
        public,
    });
    let asked = (
        (n.clone(), n.clone()),
        option::of(n.clone()),
        option::of(n.clone()),
        option::weighted(0.3, n.clone()),
        option::weighted(0.3, n.clone()),
    );
    prop_oneof![
        4 => (n.clone(), n.clone(), 1_u8..16, n.clone(), n.clone(), option::of(says.clone()))
            .prop_map(|(document, pair, words, source, tag, says)| {
                Step::Ingest { document, pair, words, source, tag, says }
            }),
        2 => (n.clone(), n.clone(), 0_u8..8)
            .prop_map(|(pair, kind, groups)| Step::SetAccess { pair, kind, groups }),
        3 => (n.clone(), n.clone(), says, [shares.clone(), shares.clone()], weighted(0.2))
            .prop_map(|(pair, document, says, groups, fails)| {
                Step::Tell { pair, document, says, groups, fails }
            }),
        2 => (n.clone(), 0_u8..8).prop_map(|(group, users)| Step::SetMembers { group, users }),
        2 => (n.clone(), 0_u8..8, shares.clone())
            .prop_map(|(set, pairs, shares)| Step::WriteSet { set, pairs, shares }),
        1 => n.clone().prop_map(|set| Step::RemoveSet { set }),
        2 => (n.clone(), 0_u8..4, any::<u8>(), shares).prop_map(
            |(agent, sets, documents, shares)| Step::WriteAgent { agent, sets, documents, shares }
        ),
        1 => (n.clone(), n.clone())
            .prop_map(|(document, pair)| Step::RemoveFromPair { document, pair }),
        1 => n.prop_map(|document| Step::Remove { document }),
        5 => asked.prop_map(|((user, word), source, tag, set, agent)| {
            Step::Search(Asked { user, word, source, tag, set, agent })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn everybody_finds_what_they_may_read_and_nothing_else(
        steps in proptest::collection::vec(step(), 1..48)
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let mut world = World::new().await;
            for step in steps {
                world.take(step).await;
            }
        });
    }
}
