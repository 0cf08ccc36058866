//! What the best hits of a query tell about what is meant.

use std::collections::HashSet;
use std::hash::Hash;

use crate::fusion::{convex_fusion, sort_best_first};
use crate::query::HybridAlpha;

/// Hits that are taken for what was meant.
const HITS: usize = 10;

/// How far the query moves towards them; it counts 1 itself.
const WEIGHT: f32 = 0.3;

/// Items that are looked at again at least, so that small limits cut the same ranking.
const DEPTH_MIN: usize = 100;

/// How many of the fused items are worth another look for a query that wants `limit` hits.
#[must_use]
pub fn feedback_depth(limit: usize) -> usize {
    limit.saturating_mul(2).max(DEPTH_MIN)
}

/// Fuses the best items of `fused` a second time, after the vector of the query was moved towards
/// the best of them: words find what a vector alone misses, and hits that are like them rise.
///
/// `fused` is the [`convex_fusion`] of `lexical` and a dense list of `nearest` items at `alpha`;
/// the first `depth` of it are ranked anew, the others follow in the order that they have.
/// `query` is the vector of the query, `vectors` are those of the first `depth`, as far as they
/// have any, each once. Items that are not among the `nearest` to the moved vector count as not
/// near, as they do in the first fusion. Without vectors nothing changes.
///
/// Source: Rocchio, "Relevance Feedback in Information Retrieval", 1971, with the best hits in
/// place of judged ones. `docs/adr` has the figures behind the constants.
pub fn feedback_fusion<K: Clone + Eq + Hash + Ord>(
    mut fused: Vec<(K, f32)>,
    depth: usize,
    (lexical, nearest, alpha): (&[(K, f32)], usize, HybridAlpha),
    query: &[f32],
    vectors: &[(K, Vec<f32>)],
) -> Vec<(K, f32)> {
    let Some(moved) = moved(query, &fused, vectors) else { return fused };
    let rest = fused.split_off(depth.min(fused.len()));
    let mut near: Vec<(K, f32)> =
        vectors.iter().map(|(key, vector)| (key.clone(), product(&moved, vector))).collect();
    sort_best_first(&mut near);
    if let Some((_, least)) = near.get(nearest.saturating_sub(1)).or(near.last()).cloned() {
        for (_, score) in &mut near {
            *score = score.max(least);
        }
    }
    let best: HashSet<&K> = fused.iter().map(|(key, _)| key).collect();
    let lexical: Vec<(K, f32)> =
        lexical.iter().filter(|(key, _)| best.contains(key)).cloned().collect();
    let mut refined = convex_fusion(&lexical, &near, alpha);
    // What comes after keeps its order below the last of them.
    let lowest = refined.last().map_or(0.0, |(_, score)| *score);
    let first = rest.first().map_or(0.0, |(_, score)| *score);
    let below = |score: f32| if first > 0.0 { lowest * score / first } else { 0.0 };
    refined.extend(rest.into_iter().map(|(key, score)| (key, below(score))));
    refined
}

/// `query` moved towards the mean of the best of `fused`, weighted by score; `None` when none of
/// them has a vector.
fn moved<K: Eq>(query: &[f32], fused: &[(K, f32)], vectors: &[(K, Vec<f32>)]) -> Option<Vec<f32>> {
    let mut sum = vec![0.0; query.len()];
    let mut weights = 0.0;
    for (key, score) in fused.iter().take(HITS) {
        if let Some((_, vector)) = vectors.iter().find(|(other, _)| other == key) {
            for (sum, value) in sum.iter_mut().zip(vector) {
                *sum += score * value;
            }
            weights += score;
        }
    }
    (weights > 0.0)
        .then(|| query.iter().zip(sum).map(|(value, sum)| value + WEIGHT * sum / weights).collect())
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::feedback_fusion;
    use crate::fusion::convex_fusion;
    use crate::query::HybridAlpha;

    type List = Vec<(u32, f32)>;

    fn fused(lexical: &[(u32, f32)], dense: &[(u32, f32)], vectors: &[(u32, Vec<f32>)]) -> List {
        fused_to(usize::MAX, lexical, dense, vectors)
    }

    fn fused_to(
        depth: usize,
        lexical: &[(u32, f32)],
        dense: &[(u32, f32)],
        vectors: &[(u32, Vec<f32>)],
    ) -> List {
        let alpha = HybridAlpha::BALANCED;
        let fused = convex_fusion(lexical, dense, alpha);
        feedback_fusion(fused, depth, (lexical, dense.len(), alpha), &unit(0.0), vectors)
    }

    fn unit(degrees: f32) -> Vec<f32> {
        vec![degrees.to_radians().cos(), degrees.to_radians().sin()]
    }

    fn keys(list: &[(u32, f32)]) -> Vec<u32> {
        list.iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn what_is_like_the_best_hits_rises() {
        // 1 is best by words and vector; 2 and 3 are as near to the query, on either side of it.
        let vectors = [(1, unit(20.0)), (2, unit(-30.0)), (3, unit(30.0)), (4, unit(90.0))];
        let lexical = [(1, 9.0)];
        let dense: Vec<(u32, f32)> = vectors.iter().map(|(key, v)| (*key, v[0])).collect();
        assert_eq!(keys(&convex_fusion(&lexical, &dense, HybridAlpha::BALANCED)), [1, 2, 3, 4]);
        let fused = fused(&lexical, &dense, &vectors);
        assert_eq!(keys(&fused), [1, 3, 2, 4]);
    }

    #[test]
    fn a_hit_by_words_alone_counts_as_near_only_among_the_nearest() {
        let vectors = [(1, unit(0.0)), (2, unit(10.0)), (3, unit(80.0))];
        let (lexical, dense) = ([(3, 1.0)], [(1, 1.0), (2, 0.9)]);
        let fused = fused(&lexical, &dense, &vectors);
        let far = fused.iter().find(|(key, _)| *key == 3).unwrap();
        assert!((far.1 - 0.5).abs() < 1e-6, "{fused:?}");
    }

    #[test]
    fn without_vectors_nothing_changes() {
        let (lexical, dense) = ([(1, 2.0), (2, 1.0)], [(2, 0.5), (3, 0.1)]);
        let plain = convex_fusion(&lexical, &dense, HybridAlpha::BALANCED);
        let fused = fused(&lexical, &dense, &[]);
        assert_eq!(fused, plain);
    }

    #[test]
    fn only_the_best_are_ranked_anew_and_the_others_follow_in_their_order() {
        let vectors = [(1, unit(20.0)), (2, unit(-30.0)), (3, unit(30.0))];
        let lexical = [(1, 9.0), (5, 1.0)];
        let dense = [(1, 0.94), (2, 0.87), (3, 0.87), (4, 0.5), (6, 0.1)];
        let before = convex_fusion(&lexical, &dense, HybridAlpha::BALANCED);
        assert_eq!(keys(&before), [1, 2, 3, 4, 5, 6]);
        let after = fused_to(3, &lexical, &dense, &vectors);
        assert_eq!(keys(&after), [1, 3, 2, 4, 5, 6]);
        assert!(after.is_sorted_by(|a, b| a.1 >= b.1), "{after:?}");
    }

    proptest! {
        #[test]
        fn every_item_comes_out_once_with_a_score_between_0_and_1(
            lexical in proptest::collection::btree_map(0u32..30, 0.0f32..9.0, 0..20),
            dense in proptest::collection::btree_map(0u32..30, 0.0f32..360.0, 0..20),
        ) {
            let vectors: Vec<(u32, Vec<f32>)> =
                dense.iter().map(|(key, degrees)| (*key, unit(*degrees))).collect();
            let lexical: Vec<(u32, f32)> = lexical.into_iter().collect();
            let dense: Vec<(u32, f32)> = vectors.iter().map(|(key, v)| (*key, v[0])).collect();
            let fused = fused(&lexical, &dense, &vectors);
            let mut got = keys(&fused);
            let mut expected = keys(&lexical);
            expected.extend(keys(&dense));
            got.sort_unstable();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(got, expected);
            prop_assert!(fused.iter().all(|(_, score)| (0.0..=1.0).contains(score)));
        }
    }
}
