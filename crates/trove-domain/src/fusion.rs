//! Merging the lexical and the dense ranking of one query.

use std::collections::HashMap;
use std::hash::Hash;

use crate::query::HybridAlpha;

/// Merges a lexical and a dense result list by a convex combination of normalised scores, best
/// first.
///
/// Normalising makes BM25 and cosine comparable. BM25 has a natural zero, so lexical scores are
/// divided by the best one; cosines have none that means anything, so the span from the worst to
/// the best of the list becomes 0 to 1 (all 1 when they are equal). An item that a list does not
/// hold gets 0 there. The fused score is `(1 - alpha) * lexical + alpha * dense`.
///
/// An item must occur at most once per list; scores must be finite, lexical ones not negative.
/// Ties are broken by the key, so the result does not depend on the order of the input.
/// O(n log n) in the total number of entries.
///
/// Source: Bruch, Gai, Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS
/// 2023, where the lexical minimum is called the theoretical one.
pub fn convex_fusion<K: Clone + Eq + Hash + Ord>(
    lexical: &[(K, f32)],
    dense: &[(K, f32)],
    alpha: HybridAlpha,
) -> Vec<(K, f32)> {
    let mut scores: HashMap<K, f32> = HashMap::with_capacity(lexical.len() + dense.len());
    let halves = [
        (lexical, 0.0, 1.0 - alpha.get()),
        (dense, dense.iter().map(|(_, score)| *score).fold(f32::INFINITY, f32::min), alpha.get()),
    ];
    for (list, min, weight) in halves {
        let max = list.iter().map(|(_, score)| *score).fold(f32::NEG_INFINITY, f32::max);
        for (key, score) in list {
            let normalised = if max > min { (score - min) / (max - min) } else { 1.0 };
            *scores.entry(key.clone()).or_insert(0.0) += weight * normalised;
        }
    }
    let mut fused: Vec<(K, f32)> = scores.into_iter().collect();
    sort_best_first(&mut fused);
    fused
}

/// Sorts by falling score, ties by rising key.
pub fn sort_best_first<K: Ord>(entries: &mut [(K, f32)]) {
    entries.sort_unstable_by(|(key_a, score_a), (key_b, score_b)| {
        score_b.total_cmp(score_a).then_with(|| key_a.cmp(key_b))
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::convex_fusion;
    use crate::query::HybridAlpha;

    fn keys(list: &[(u32, f32)]) -> Vec<u32> {
        list.iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn both_halves_count_by_their_weight() {
        let lexical = [(1, 10.0), (2, 5.0), (3, 2.0)];
        let dense = [(3, 0.9), (2, 0.8), (4, 0.5)];
        let alpha = |a| HybridAlpha::new(a).unwrap();
        let half = convex_fusion(&lexical, &dense, alpha(0.5));
        assert_eq!(keys(&half), [2, 3, 1, 4]);
        assert!((half[0].1 - (0.25 + 0.375)).abs() < 1e-6);
        assert!((half[1].1 - (0.1 + 0.5)).abs() < 1e-6);
        assert_eq!(keys(&convex_fusion(&lexical, &dense, alpha(0.1))), [1, 2, 3, 4]);
    }

    fn list(scores: std::ops::Range<f32>) -> impl Strategy<Value = Vec<(u32, f32)>> {
        proptest::collection::hash_map(0u32..50, scores, 0..40)
            .prop_map(|map| map.into_iter().collect())
    }

    proptest! {
        #[test]
        fn input_order_does_not_matter(mut a in list(0.0..9.0), mut b in list(-1.0..1.0), alpha in 0.0f32..=1.0) {
            let alpha = HybridAlpha::new(alpha).unwrap();
            let fused = convex_fusion(&a, &b, alpha);
            a.reverse();
            b.reverse();
            prop_assert_eq!(fused, convex_fusion(&a, &b, alpha));
        }

        #[test]
        fn every_item_comes_out_once_with_a_score_between_0_and_1(a in list(0.0..9.0), b in list(-1.0..1.0)) {
            let fused = convex_fusion(&a, &b, HybridAlpha::BALANCED);
            let mut expected: Vec<u32> = keys(&a);
            expected.extend(keys(&b));
            expected.sort_unstable();
            expected.dedup();
            let mut got = keys(&fused);
            got.sort_unstable();
            prop_assert_eq!(got, expected);
            prop_assert!(fused.iter().all(|(_, score)| (0.0..=1.0).contains(score)));
        }
    }
}
