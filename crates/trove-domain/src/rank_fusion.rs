//! Merging the rankings of several queries.

use std::collections::HashMap;
use std::hash::Hash;

/// Rank at which an item counts half of what the first one does, nearly.
const K: f64 = 50.0;

/// Merges result lists by weighted reciprocal-rank fusion, best first.
///
/// An item scores the sum over all lists that hold it of `weight / (50 + rank)`, ranks from 1. Of
/// two items with the same score the one with the smaller rank in the first list that holds it is
/// better, then the one of the earlier list. The item that comes out is that of the first list. An
/// item must occur at most once per list.
/// O(n log n) in the total number of entries.
///
/// Source: Cormack, Clarke, Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual
/// Rank Learning Methods", SIGIR 2009.
pub fn reciprocal_rank_fusion<T, K: Eq + Hash>(
    lists: impl IntoIterator<Item = (Vec<T>, f64)>,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut fused: Vec<Fused<T>> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for (items, weight) in lists {
        let mut rank = 0.0;
        for (position, item) in items.into_iter().enumerate() {
            rank += 1.0;
            let gain = weight / (self::K + rank);
            match places.entry(key(&item)) {
                std::collections::hash_map::Entry::Occupied(place) => {
                    fused[*place.get()].score += gain;
                }
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(fused.len());
                    fused.push(Fused { item, score: gain, position });
                }
            }
        }
    }
    // Stable: what is still equal stays in the order of the lists.
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
    fused.into_iter().map(|fused| fused.item).collect()
}

struct Fused<T> {
    item: T,
    score: f64,
    /// In the first list that holds it.
    position: usize,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::reciprocal_rank_fusion;

    fn fused(lists: &[(&str, f64)]) -> String {
        let lists = lists.iter().map(|(items, weight)| (items.split(' ').collect(), *weight));
        reciprocal_rank_fusion(lists, |item: &&str| *item).join(" ")
    }

    #[test]
    fn section_3_6_of_the_contract() {
        assert_eq!(fused(&[("a b c", 2.0), ("c d", 1.0)]), "c a b d");
        assert_eq!(fused(&[("a b", 2.0), ("x y", 1.0), ("x z", 1.0)]), "a x b y z");
        assert_eq!(fused(&[("a b", 1.0), ("c d", 1.0)]), "a c b d");
    }

    #[test]
    fn the_item_of_the_first_list_is_kept() {
        let lists = [(vec![(1, "first")], 1.0), (vec![(2, "other"), (1, "second")], 9.0)];
        let items = reciprocal_rank_fusion(lists, |(id, _)| *id);
        assert_eq!(items, [(1, "first"), (2, "other")]);
    }

    fn ranking() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::hash_set(0u8..20, 0..12).prop_map(|set| set.into_iter().collect())
    }

    proptest! {
        #[test]
        fn one_list_keeps_its_order(list in ranking(), weight in 0.1f64..9.0) {
            prop_assert_eq!(reciprocal_rank_fusion([(list.clone(), weight)], |id| *id), list);
        }

        #[test]
        fn nothing_is_lost_and_nothing_comes_twice(a in ranking(), b in ranking()) {
            let mut out = reciprocal_rank_fusion([(a.clone(), 2.0), (b.clone(), 1.0)], |id| *id);
            out.sort_unstable();
            let mut expected = a;
            expected.extend(b);
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(out, expected);
        }
    }
}
