//! From the states of a text's tokens to its vector.

use rten_simd::SimdOp;

use super::{HIDDEN, simd};

/// Tokens at the beginning of a passage that count once more: `[CLS]` and 24 word pieces, which
/// hold the title, or what the passage is about.
const OPENING: usize = 1 + 24;
/// How much they do.
const OPENING_WEIGHT: f32 = 0.2;

/// What a vector is made of. All have unit length and can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The mean of all states, as in the reference: for queries.
    Mean,
    /// The direction of that mean, and to a fifth that of the mean of the opening: for passages.
    ///
    /// A passage that is no longer than that has no opening, so its vector is that of a query.
    MeanAndOpening,
}

impl Pooling {
    /// The vector of a text with these states, [`HIDDEN`] elements for each token, the two special
    /// ones included.
    pub(super) fn vector(self, states: &[f32]) -> Vec<f32> {
        let mut vector = mean(states);
        if self == Self::MeanAndOpening && states.len() > (OPENING + 1) * HIDDEN {
            let opening = mean(&states[..OPENING * HIDDEN]);
            for (whole, opening) in vector.iter_mut().zip(opening) {
                *whole += OPENING_WEIGHT * opening;
            }
            // Of one row: its direction.
            vector = mean(&vector);
        }
        vector
    }
}

/// The mean of the states, scaled to unit length.
fn mean(states: &[f32]) -> Vec<f32> {
    simd::MeanUnit(states).dispatch()
}

#[cfg(test)]
mod tests {
    use super::{HIDDEN, Pooling};

    /// States of so many tokens, as different from each other as those of a text.
    fn states(tokens: usize) -> Vec<f32> {
        (0..tokens * HIDDEN)
            .map(|index| {
                let (token, element) = (index / HIDDEN, index % HIDDEN);
                let bits = u16::try_from((token * 7_919 + element * 104_729) % 1_009).unwrap();
                f32::from(bits) / 1_009.0 - 0.3
            })
            .collect()
    }

    fn unit(vector: Vec<f64>) -> Vec<f64> {
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        vector.into_iter().map(|x| x / length).collect()
    }

    /// The direction of the mean of the first tokens.
    fn direction(states: &[f32], tokens: usize) -> Vec<f64> {
        let mut sum = vec![0.0; HIDDEN];
        for row in states.chunks(HIDDEN).take(tokens) {
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += f64::from(*x));
        }
        unit(sum)
    }

    #[track_caller]
    fn assert_vector(vector: &[f32], expected: &[f64]) {
        assert_eq!(vector.len(), HIDDEN);
        for (got, want) in vector.iter().zip(expected) {
            assert!((f64::from(*got) - want).abs() < 1e-6, "{got} instead of {want}");
        }
    }

    #[test]
    fn the_opening_of_a_passage_counts_once_more() {
        for tokens in [27, 28, 100, 256] {
            let states = states(tokens);
            let (whole, opening) = (direction(&states, tokens), direction(&states, 25));
            let sum = whole.iter().zip(&opening).map(|(whole, opening)| whole + 0.2 * opening);
            assert_vector(&Pooling::MeanAndOpening.vector(&states), &unit(sum.collect()));
            assert_vector(&Pooling::Mean.vector(&states), &whole);
        }
    }

    #[test]
    fn a_passage_that_is_all_opening_has_the_vector_of_a_query() {
        for tokens in [2, 3, 25, 26] {
            let states = states(tokens);
            let vector = Pooling::MeanAndOpening.vector(&states);
            assert_vector(&vector, &direction(&states, tokens));
            assert_eq!(vector, Pooling::Mean.vector(&states));
        }
    }
}
