//! What one client asked for, and what therefore must be found.

use std::collections::BTreeSet;

use rand::Rng;
use rand::rngs::StdRng;

use crate::child::Service;

/// Sections of a document; each becomes a chunk of its own.
const PARTS: usize = 3;
/// Words of filling that make a section too long to share a chunk.
const FILLING: usize = 180;

/// State of a document: its version, or `None` when it is not there.
type State = Option<u32>;

/// A request.
pub(super) enum Step {
    Write { id: String, texts: Vec<String> },
    Remove { id: String },
}

/// The documents of one client.
pub(super) struct History {
    client: usize,
    acknowledged: Vec<State>,
    /// What was asked for and not acknowledged: it may have happened.
    pending: Option<(usize, State)>,
    /// Removals that were not acknowledged and had not happened when last seen: the service
    /// finishes what it has begun, so they still may, until the document is written again.
    removals: BTreeSet<usize>,
    next_version: u32,
    touched: BTreeSet<usize>,
}

impl History {
    pub(super) fn new(client: usize, documents: usize) -> Self {
        Self {
            client,
            acknowledged: vec![None; documents],
            pending: None,
            removals: BTreeSet::new(),
            next_version: 0,
            touched: BTreeSet::new(),
        }
    }

    /// A word that occurs in this document alone.
    fn name(&self, document: usize) -> String {
        format!("zq{}x{document}", self.client)
    }

    pub(super) fn all(&self) -> std::ops::Range<usize> {
        0..self.acknowledged.len()
    }

    pub(super) fn take_touched(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.touched)
    }

    /// Draws what to do next.
    pub(super) fn begin(&mut self, random: &mut StdRng) -> Step {
        let document = random.random_range(self.all());
        self.touched.insert(document);
        let id = self.name(document);
        if self.acknowledged[document].is_some() && random.random_bool(0.2) {
            self.pending = Some((document, None));
            return Step::Remove { id };
        }
        self.next_version += 1;
        let version = self.next_version;
        self.pending = Some((document, Some(version)));
        let filling = "filling ".repeat(FILLING);
        let texts =
            (0..PARTS).map(|part| format!("{id} version{version} part{part} {filling}")).collect();
        Step::Write { id, texts }
    }

    /// The last step was acknowledged.
    pub(super) fn acknowledge(&mut self) {
        let (document, state) = self.pending.take().expect("a step was begun");
        self.acknowledged[document] = state;
        self.removals.remove(&document);
    }

    /// Searches for a document and compares what is found with what was asked for.
    pub(super) async fn verify(&mut self, service: &Service, document: usize, label: &str) {
        let name = self.name(document);
        let results = service.search(&name).await;
        let state = match results.as_slice() {
            [] => None,
            [one] => Some(whole_version(&name, one["content"].as_str().unwrap(), label)),
            several => panic!("{label}: {name} is found {} times", several.len()),
        };
        let may_be_pending = self.pending.is_some_and(|pending| pending == (document, state))
            || (state.is_none() && self.removals.contains(&document));
        let acknowledged = self.acknowledged[document];
        assert!(
            state == acknowledged || may_be_pending,
            "{label}: {name} is {state:?}, acknowledged was {acknowledged:?}, pending {:?}",
            self.pending
        );
        // Whatever happened to it has been seen by a client, so it must stay that way.
        self.acknowledged[document] = state;
        if let Some((_, wanted)) = self.pending.take_if(|(pending, _)| *pending == document)
            && wanted.is_none()
            && state.is_some()
        {
            self.removals.insert(document);
        }
    }
}

/// The version of a text that holds every part of it, and nothing of another.
fn whole_version(name: &str, content: &str, label: &str) -> u32 {
    let words = |prefix: &'static str| {
        content.split_whitespace().filter_map(move |word| word.strip_prefix(prefix))
    };
    let versions: Vec<u32> = words("version").map(|number| number.parse().unwrap()).collect();
    let parts: Vec<usize> = words("part").map(|number| number.parse().unwrap()).collect();
    assert_eq!(parts, (0..PARTS).collect::<Vec<_>>(), "{label}: {name} is not whole");
    assert!(versions.iter().all(|version| *version == versions[0]), "{label}: {name} is mixed");
    versions[0]
}
