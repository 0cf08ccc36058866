//! Documents whose files are gone.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::Context;
use trove_domain::id::{CcPairId, DocumentId};
use trove_engine::Engine;

use super::read::{directory_url, file_url};

/// Documents that are read or removed at a time.
const PAGE: u32 = 500;

/// What a run knows.
pub(super) struct Scope<'a> {
    /// What was walked.
    pub(super) roots: &'a [PathBuf],
    /// Folders below that could not be read.
    pub(super) blind: &'a [PathBuf],
    /// Documents that are there.
    pub(super) kept: &'a HashSet<DocumentId>,
}

impl Scope<'_> {
    /// Whether the document's place was looked at, and it was not there.
    fn has_vanished(&self, id: &DocumentId) -> bool {
        !self.kept.contains(id) && is_below(id, self.roots) && !is_below(id, self.blind)
    }
}

fn is_below(id: &DocumentId, paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| {
        file_url(path).is_some_and(|url| url == id.as_str())
            || directory_url(path).is_some_and(|prefix| id.as_str().starts_with(&prefix))
    })
}

/// Takes documents out of the pair that are not there any more; answers how many.
pub(super) async fn vanished(
    engine: &Engine,
    pair: CcPairId,
    scope: &Scope<'_>,
) -> anyhow::Result<usize> {
    let documents = &engine.backends().documents;
    let mut after = None;
    let mut removed = 0;
    loop {
        let page = documents
            .list_by_pair(pair, after.as_ref(), PAGE)
            .await
            .context("the indexed documents cannot be listed")?;
        let gone: Vec<DocumentId> = page
            .items
            .into_iter()
            .map(|item| item.id)
            .filter(|id| scope.has_vanished(id))
            .collect();
        engine.remove_from_pair(pair, &gone).await.context("vanished files cannot be removed")?;
        removed += gone.len();
        after = page.next;
        if after.is_none() {
            return Ok(removed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use trove_domain::id::DocumentId;

    use super::Scope;

    #[test]
    fn only_what_was_looked_at_can_have_vanished() {
        let id = |text: &str| DocumentId::new(text).unwrap();
        let kept = HashSet::from([id("file:///docs/there.md")]);
        let roots = ["/docs".into(), "/single.md".into()];
        let blind = ["/docs/locked".into()];
        let scope = Scope { roots: &roots, blind: &blind, kept: &kept };
        for (document, gone) in [
            ("file:///docs/there.md", false),
            ("file:///docs/gone.md", true),
            ("file:///docs/a%20b/gone.md", true),
            ("file:///docs/locked/unknown.md", false),
            ("file:///docs/locked.md", true),
            ("file:///docs-of-others/x.md", false),
            ("file:///single.md", true),
        ] {
            assert_eq!(scope.has_vanished(&id(document)), gone, "{document}");
        }
    }
}
