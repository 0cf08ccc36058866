//! One table.

use serde_json::{Value, json};

use super::metrics::Figures;

/// What was measured.
pub(super) struct Report {
    /// Documents in the collection.
    pub(super) documents: usize,
    /// Queries with a relevant document.
    pub(super) queries: usize,
    /// Those among them that the collection does not hold; they count as unanswered.
    pub(super) unasked: usize,
    /// Name of the embedding model.
    pub(super) model: Option<String>,
    pub(super) lexical: Option<Figures>,
    pub(super) dense: Option<Figures>,
    pub(super) hybrid: Option<Figures>,
    /// The same three of every query, by rising id.
    pub(super) per_query: Vec<(String, [Option<Figures>; 3])>,
}

impl Report {
    pub(super) fn as_text(&self) -> String {
        let row = |name: &str, figures: &Option<Figures>| match figures {
            Some(Figures { ndcg_at_10, recall_at_100, mrr_at_10 }) => {
                format!("{name:<9}{ndcg_at_10:>9.4}{recall_at_100:>13.4}{mrr_at_10:>10.4}\n")
            }
            None => format!("{name:<9}{:>9}{:>13}{:>10}\n", "-", "-", "-"),
        };
        let mut text = format!("{} documents, {} queries\n\n", self.documents, self.queries);
        text.push_str(&format!("{:<9}{:>9}{:>13}{:>10}\n", "", "nDCG@10", "Recall@100", "MRR@10"));
        text.push_str(&row("lexical", &self.lexical));
        text.push_str(&row("dense", &self.dense));
        text.push_str(&row("hybrid", &self.hybrid));
        if self.model.is_none() {
            text.push_str(
                "\nThere is no embedding model, so dense and hybrid are absent; `trove model pull` \
                 fetches it.\n",
            );
        }
        if self.unasked > 0 {
            text.push_str(&format!(
                "\n{} judged queries are not in queries.jsonl and count as unanswered.\n",
                self.unasked
            ));
        }
        text
    }

    /// With the figures of every query if `per_query` says so.
    pub(super) fn as_json(&self, per_query: bool) -> Value {
        let figures = |figures: &Option<Figures>| {
            figures.as_ref().map(|Figures { ndcg_at_10, recall_at_100, mrr_at_10 }| {
                json!({
                    "ndcg_at_10": ndcg_at_10,
                    "recall_at_100": recall_at_100,
                    "mrr_at_10": mrr_at_10,
                })
            })
        };
        let halves = |[lexical, dense, hybrid]: [&Option<Figures>; 3]| {
            json!({
                "lexical": figures(lexical),
                "dense": figures(dense),
                "hybrid": figures(hybrid),
            })
        };
        let mut report = halves([&self.lexical, &self.dense, &self.hybrid]);
        if per_query {
            report["queries"] = self
                .per_query
                .iter()
                .map(|(query, figures)| (query.clone(), halves(figures.each_ref())))
                .collect();
        }
        report
    }
}
