//! Measures of retrieval quality, as `trec_eval` defines them.

use std::collections::BTreeMap;

/// Relevance of documents for one query, by document id. 1 and more is relevant.
pub(super) type Grades = BTreeMap<String, i64>;

/// The three figures, of one query or as a mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    /// Normalised discounted cumulative gain of the first 10; the gain is the grade itself.
    pub(super) ndcg_at_10: f64,
    /// Share of the relevant documents among the first 100.
    pub(super) recall_at_100: f64,
    /// One over the rank of the first relevant document, 0 if it is not among the first 10.
    pub(super) mrr_at_10: f64,
}

impl Figures {
    /// The figures of a ranking, best first and each document once.
    pub(super) fn of(ranked: &[String], grades: &Grades) -> Self {
        let grade = |id: &String| grades.get(id).copied().unwrap_or(0);
        let is_relevant = |id: &&String| grade(id) >= 1;
        let gain = dcg(ranked.iter().map(grade));
        let mut best: Vec<i64> = grades.values().copied().collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        let ideal = dcg(best);
        let relevant = count(grades.values().filter(|grade| **grade >= 1));
        let found = count(ranked.iter().take(100).filter(is_relevant));
        let first = ranked.iter().take(10).position(|id| grade(id) >= 1);
        Self {
            ndcg_at_10: if ideal > 0.0 { gain / ideal } else { 0.0 },
            recall_at_100: if relevant > 0.0 { found / relevant } else { 0.0 },
            mrr_at_10: first.map_or(0.0, |position| 1.0 / (from(position) + 1.0)),
        }
    }
}

/// The mean over queries; `None` of none.
pub(super) fn mean(figures: &[Figures]) -> Option<Figures> {
    if figures.is_empty() {
        return None;
    }
    let number = from(figures.len());
    let mean = |pick: fn(&Figures) -> f64| figures.iter().map(pick).sum::<f64>() / number;
    Some(Figures {
        ndcg_at_10: mean(|figures| figures.ndcg_at_10),
        recall_at_100: mean(|figures| figures.recall_at_100),
        mrr_at_10: mean(|figures| figures.mrr_at_10),
    })
}

/// Discounted cumulative gain of the first 10; negative grades count as nothing.
fn dcg(grades: impl IntoIterator<Item = i64>) -> f64 {
    let discounted = |(position, grade): (usize, i64)| match u32::try_from(grade) {
        Ok(grade) => f64::from(grade) / (from(position) + 2.0).log2(),
        Err(_) => 0.0,
    };
    grades.into_iter().take(10).enumerate().map(discounted).sum()
}

fn count<T>(items: impl Iterator<Item = T>) -> f64 {
    from(items.count())
}

fn from(number: usize) -> f64 {
    // Ranks and numbers of judgments are far below 2^32.
    u32::try_from(number).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::{Figures, Grades, mean};

    fn grades(judged: &[(&str, i64)]) -> Grades {
        judged.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect()
    }

    fn check(ranked: &[&str], judged: &[(&str, i64)], wanted: [f64; 3]) {
        let ranked: Vec<String> = ranked.iter().map(|id| (*id).to_owned()).collect();
        let got = Figures::of(&ranked, &grades(judged));
        let got = [got.ndcg_at_10, got.recall_at_100, got.mrr_at_10];
        for (got, wanted) in got.iter().zip(wanted) {
            assert!((got - wanted).abs() < 1e-9, "{ranked:?}: {got} is not {wanted}");
        }
    }

    #[test]
    fn figures_agree_with_values_by_hand() {
        check(&["a"], &[("a", 1)], [1.0, 1.0, 1.0]);
        check(&["x", "a"], &[("a", 1)], [1.0 / 3f64.log2(), 1.0, 0.5]);
        check(&[], &[("a", 1)], [0.0, 0.0, 0.0]);
        // Gains 1 and 3 at ranks 1 and 3, ideally 3, 1 at ranks 1, 2.
        let ideal = 3.0 + 1.0 / 3f64.log2();
        check(&["b", "x", "a"], &[("a", 3), ("b", 1), ("c", 0)], [2.5 / ideal, 1.0, 1.0]);
        // A negative grade neither gains nor is relevant.
        check(&["n", "a"], &[("a", 2), ("n", -1)], [1.0 / 3f64.log2(), 1.0, 0.5]);
    }

    #[test]
    fn figures_look_no_deeper_than_they_say() {
        let ranked: Vec<String> = (0..120).map(|n| format!("d{n}")).collect();
        let eleventh = Figures::of(&ranked, &grades(&[("d10", 1), ("d99", 1), ("d100", 1)]));
        assert_eq!(eleventh.ndcg_at_10, 0.0);
        assert_eq!(eleventh.mrr_at_10, 0.0);
        assert!((eleventh.recall_at_100 - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn the_mean_counts_every_query_the_same() {
        let one = Figures { ndcg_at_10: 1.0, recall_at_100: 0.5, mrr_at_10: 1.0 };
        let mean_of_two = mean(&[one, Figures::default()]).unwrap();
        assert_eq!(mean_of_two, Figures { ndcg_at_10: 0.5, recall_at_100: 0.25, mrr_at_10: 0.5 });
        assert_eq!(mean(&[]), None);
    }
}
