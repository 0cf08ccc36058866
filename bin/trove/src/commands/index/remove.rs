//! Documents whose files are gone.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::Context;
use tokio_util::sync::CancellationToken;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::page::Page;
use trove_domain::port::DocumentSummary;
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
    /// Roots whose documents are to be kept because none of their files are left.
    pub(super) empty: &'a [PathBuf],
    /// Documents that are there.
    pub(super) kept: &'a HashSet<DocumentId>,
}

impl Scope<'_> {
    /// Whether the document's place was looked at, and it was not there.
    fn has_vanished(&self, id: &DocumentId) -> bool {
        !self.kept.contains(id) && is_below(id, self.roots) && !is_below(id, self.blind)
    }
}

/// Whether the document is one of `paths` or below one.
pub(super) fn is_below(id: &DocumentId, paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| {
        file_url(path).is_some_and(|url| url == id.as_str())
            || directory_url(path).is_some_and(|prefix| id.as_str().starts_with(&prefix))
    })
}

/// Those of `roots` that gave no document.
pub(super) fn without_documents(roots: &[PathBuf], kept: &HashSet<DocumentId>) -> Vec<PathBuf> {
    let gave_none = |root: &&PathBuf| {
        let root = std::slice::from_ref(*root);
        !kept.iter().any(|id| is_below(id, root))
    };
    roots.iter().filter(gave_none).cloned().collect()
}

/// What became of documents whose files are gone.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Vanished {
    /// Taken out of the pair.
    pub(super) removed: usize,
    /// Kept, because nothing is left of their root.
    pub(super) held: usize,
    /// Whether the rest was not looked at.
    pub(super) interrupted: bool,
}

/// Takes documents out of the pair that are not there any more, until `stop` is cancelled.
pub(super) async fn vanished(
    engine: &Engine,
    pair: CcPairId,
    scope: &Scope<'_>,
    stop: &CancellationToken,
) -> anyhow::Result<Vanished> {
    let mut vanished = Vanished::default();
    let mut after = None;
    loop {
        if stop.is_cancelled() {
            return Ok(Vanished { interrupted: true, ..vanished });
        }
        let page = page(engine, pair, after.as_ref()).await?;
        let ids = page.items.into_iter().map(|item| item.id);
        let (held, gone): (Vec<DocumentId>, Vec<DocumentId>) =
            ids.filter(|id| scope.has_vanished(id)).partition(|id| is_below(id, scope.empty));
        engine.remove_from_pair(pair, &gone).await.context("vanished files cannot be removed")?;
        vanished.removed += gone.len();
        vanished.held += held.len();
        after = page.next;
        if after.is_none() {
            return Ok(vanished);
        }
    }
}

/// The documents of the pair that are `wanted`.
pub(super) async fn below(
    engine: &Engine,
    pair: CcPairId,
    wanted: impl Fn(&DocumentId) -> bool,
) -> anyhow::Result<Vec<DocumentId>> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = page(engine, pair, after.as_ref()).await?;
        found.extend(page.items.into_iter().map(|item| item.id).filter(&wanted));
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}

async fn page(
    engine: &Engine,
    pair: CcPairId,
    after: Option<&DocumentId>,
) -> anyhow::Result<Page<DocumentSummary, DocumentId>> {
    let page = engine.backends().documents.list_by_pair(pair, after, PAGE).await;
    page.context("the indexed documents cannot be listed")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use trove_domain::id::DocumentId;

    use super::{Scope, without_documents};

    #[test]
    fn only_what_was_looked_at_can_have_vanished() {
        let id = |text: &str| DocumentId::new(text).unwrap();
        let kept = HashSet::from([id("file:///docs/there.md")]);
        let roots = ["/docs".into(), "/single.md".into()];
        let blind = ["/docs/locked".into()];
        let scope = Scope { roots: &roots, blind: &blind, empty: &[], kept: &kept };
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

    #[test]
    fn a_root_is_empty_when_no_document_is_below_it() {
        let kept = HashSet::from([DocumentId::new("file:///docs/a/there.md").unwrap()]);
        let roots = ["/docs".into(), "/docs/b".into(), "/doc".into()];
        let empty = without_documents(&roots, &kept);
        assert_eq!(empty, [std::path::PathBuf::from("/docs/b"), "/doc".into()]);
    }
}
