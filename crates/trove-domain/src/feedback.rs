//! What the best hits of a query tell about what is meant.

use std::hash::Hash;

use crate::fusion::{convex_fusion, sort_best_first};
use crate::query::HybridAlpha;

/// Hits that are taken for what was meant.
const HITS: usize = 10;

/// How far the query moves towards them; it counts 1 itself.
const WEIGHT: f32 = 0.3;

/// [`convex_fusion`], done a second time after the vector of the query was moved towards the best
/// hits of the first: words find what a vector alone misses, and hits that are like them rise.
///
/// `query` is the vector of the query, `vectors` are those of the items of both lists, as far as
/// they have any, each once. Items beyond the length of `dense` count as not near, so that the
/// scores mean what they meant. The result holds the items of both lists. Without vectors it is
/// that of [`convex_fusion`].
///
/// Source: Rocchio, "Relevance Feedback in Information Retrieval", 1971, with the best hits in
/// place of judged ones. `docs/adr` has the figures behind the constants.
pub fn feedback_fusion<K: Clone + Eq + Hash + Ord>(
    lexical: &[(K, f32)],
    dense: &[(K, f32)],
    alpha: HybridAlpha,
    query: &[f32],
    vectors: &[(K, Vec<f32>)],
) -> Vec<(K, f32)> {
    let fused = convex_fusion(lexical, dense, alpha);
    let Some(moved) = moved(query, &fused, vectors) else { return fused };
    let mut near: Vec<(K, f32)> =
        vectors.iter().map(|(key, vector)| (key.clone(), product(&moved, vector))).collect();
    sort_best_first(&mut near);
    let Some((_, least)) = near.get(dense.len().saturating_sub(1)).or(near.last()).cloned() else {
        return fused;
    };
    for (_, score) in &mut near {
        *score = score.max(least);
    }
    convex_fusion(lexical, &near, alpha)
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

    fn unit(degrees: f32) -> Vec<f32> {
        vec![degrees.to_radians().cos(), degrees.to_radians().sin()]
    }

    fn keys(list: &[(u32, f32)]) -> Vec<u32> {
        list.iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn what_is_like_the_best_hits_rises() {
        let query = unit(0.0);
        // 1 is best by words and vector; 2 and 3 are as near to the query, on either side of it.
        let vectors = [(1, unit(20.0)), (2, unit(-30.0)), (3, unit(30.0)), (4, unit(90.0))];
        let lexical = [(1, 9.0)];
        let dense: Vec<(u32, f32)> = vectors.iter().map(|(key, v)| (*key, v[0])).collect();
        assert_eq!(keys(&convex_fusion(&lexical, &dense, HybridAlpha::BALANCED)), [1, 2, 3, 4]);
        let fused = feedback_fusion(&lexical, &dense, HybridAlpha::BALANCED, &query, &vectors);
        assert_eq!(keys(&fused), [1, 3, 2, 4]);
    }

    #[test]
    fn a_hit_by_words_alone_counts_as_near_only_among_the_nearest() {
        let vectors = [(1, unit(0.0)), (2, unit(10.0)), (3, unit(80.0))];
        let (lexical, dense) = ([(3, 1.0)], [(1, 1.0), (2, 0.9)]);
        let fused = feedback_fusion(&lexical, &dense, HybridAlpha::BALANCED, &unit(0.0), &vectors);
        let far = fused.iter().find(|(key, _)| *key == 3).unwrap();
        assert!((far.1 - 0.5).abs() < 1e-6, "{fused:?}");
    }

    #[test]
    fn without_vectors_nothing_changes() {
        let (lexical, dense) = ([(1, 2.0), (2, 1.0)], [(2, 0.5), (3, 0.1)]);
        let plain = convex_fusion(&lexical, &dense, HybridAlpha::BALANCED);
        let fused = feedback_fusion(&lexical, &dense, HybridAlpha::BALANCED, &unit(0.0), &[]);
        assert_eq!(fused, plain);
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
            let fused =
                feedback_fusion(&lexical, &dense, HybridAlpha::BALANCED, &unit(0.0), &vectors);
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
