//! How much a document weighs that people have decided about.

use crate::hit::ScoredChunk;

/// What the score of a document with this boost is multiplied with: 1 for 0, at most 2, at least
/// one half. A logistic function, less steep below.
#[must_use]
pub fn boost_factor(boost: i32) -> f32 {
    let boost = f64::from(boost);
    let logistic = 1.0 / (1.0 + (-boost / 3.0).exp());
    let factor = if boost < 0.0 { 0.5 + logistic } else { 2.0 * logistic };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::as_conversions,
        reason = "scores are single floats"
    )]
    let factor = factor as f32;
    factor
}

/// Weighs what was found, and orders it anew where that changes anything; what scores the same keeps
/// its order.
pub fn weigh(hits: &mut [ScoredChunk]) {
    let boost = |hit: &ScoredChunk| hit.chunk.attributes.boost;
    if hits.iter().all(|hit| boost(hit) == 0) {
        return;
    }
    for hit in &mut *hits {
        hit.score *= boost_factor(boost(hit));
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
}

#[cfg(test)]
mod tests {
    use super::boost_factor;

    #[test]
    fn row_108_a_boost_doubles_or_halves_at_most() {
        for (boost, factor) in [(3, 1.462), (0, 1.0), (-3, 0.769), (i32::MAX, 2.0), (i32::MIN, 0.5)]
        {
            let found = boost_factor(boost);
            assert!((found - factor).abs() < 0.000_5, "{boost}: {found}");
        }
        // Beyond that, single floats do not tell them apart.
        assert!((-40..40).all(|boost| boost_factor(boost) < boost_factor(boost + 1)));
        assert!((-99..99).all(|boost| boost_factor(boost) <= boost_factor(boost + 1)));
    }
}
