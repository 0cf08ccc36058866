//! A source that does what a test says, and when.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::watch;
use trove_domain::document::{Document, Section};
use trove_domain::id::DocumentId;
use trove_domain::port::{
    Checkpoint, FailedPart, ListingStep, ReadWindow, Source, SourceClass, SourceError,
    SourceFactory, SourceFailure, SourceKind, SourceSettings, SourceStep,
};
use trove_domain::source::DocumentSource;

/// What one call does.
#[derive(Clone, Debug)]
pub enum Play {
    /// Answers these documents.
    Documents(Vec<Document>),
    /// Answers this; where to go on is the script's to say.
    Step(Box<SourceStep>),
    /// Fails for good: [`SourceError::Failed`].
    Fails(String),
    /// Fails for now: [`SourceError::Unavailable`].
    Unavailable(Option<Duration>),
    /// Fails because of its configuration: [`SourceError::Invalid`].
    Invalid(String),
    /// Does nothing until it is dropped or [`ScriptedSource::release`]d, and then what comes with
    /// it.
    Hangs(Box<Play>),
    /// Panics.
    Panics,
}

impl Play {
    /// Documents with these ids, and texts that name them.
    #[must_use]
    pub fn documents(ids: &[&str]) -> Self {
        Self::Documents(ids.iter().map(|id| document(id)).collect())
    }

    /// Documents that could not be read.
    #[must_use]
    pub fn failures(ids: &[&str]) -> Self {
        let failure = |id: &&str| SourceFailure {
            part: FailedPart::Document { id: DocumentId::new(*id).unwrap(), link: None },
            message: format!("{id} could not be read"),
        };
        let failures = ids.iter().map(failure).collect();
        Self::Step(Box::new(SourceStep { failures, ..SourceStep::default() }))
    }

    /// The same, but not at once.
    #[must_use]
    pub fn hanging(self) -> Self {
        Self::Hangs(Box::new(self))
    }
}

/// A document of a scripted source.
#[must_use]
pub fn document(id: &str) -> Document {
    let section = Section { text: format!("Text of {id}"), link: None };
    let id = DocumentId::new(id).unwrap();
    let name = format!("Document {id}");
    Document::new(id, DocumentSource::MockConnector, name, vec![section])
}

/// A call that was made.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Of [`Source::check`].
    Check,
    /// Of [`Source::read`].
    Read(ReadWindow, Option<Checkpoint>),
    /// Of [`Source::list`].
    List(Option<Checkpoint>),
}

#[derive(Default)]
struct Script {
    steps: Vec<Play>,
    /// After the last step, and for ever.
    endless: Option<fn(usize) -> Play>,
    listing: Option<Vec<Play>>,
    check: Option<Play>,
    carry: Option<Value>,
    calls: Vec<Call>,
}

/// A source that plays a script, one element for each step. Clones are the same source.
///
/// Its checkpoints are `{"step": n}`, so any of them can be made by a test.
#[derive(Clone)]
pub struct ScriptedSource {
    script: Arc<Mutex<Script>>,
    hanging: Arc<watch::Sender<usize>>,
    released: Arc<watch::Sender<usize>>,
}

impl ScriptedSource {
    /// Plays these steps, and lists what is in them.
    #[must_use]
    pub fn new(steps: Vec<Play>) -> Self {
        let script = Arc::new(Mutex::new(Script { steps, ..Script::default() }));
        let hanging = Arc::new(watch::Sender::new(0));
        let released = Arc::new(watch::Sender::new(0));
        Self { script, hanging, released }
    }

    /// One step with documents of these ids.
    #[must_use]
    pub fn of(ids: &[&str]) -> Self {
        Self::new(vec![Play::documents(ids)])
    }

    /// Never ends: step number `n` is `play(n)`.
    #[must_use]
    pub fn endless(play: fn(usize) -> Play) -> Self {
        let source = Self::new(Vec::new());
        source.script.lock().unwrap().endless = Some(play);
        source
    }

    /// Plays other steps from now on.
    pub fn set_steps(&self, steps: Vec<Play>) {
        self.script.lock().unwrap().steps = steps;
    }

    /// Lists the documents of these plays instead of those of its steps.
    pub fn set_listing(&self, listing: Vec<Play>) {
        self.script.lock().unwrap().listing = Some(listing);
    }

    /// Checks like this from now on; without it every check succeeds.
    pub fn set_check(&self, check: Play) {
        self.script.lock().unwrap().check = Some(check);
    }

    /// Ends its runs with something for the next one.
    pub fn set_carry(&self, carry: Value) {
        self.script.lock().unwrap().carry = Some(carry);
    }

    /// The calls so far.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.script.lock().unwrap().calls.clone()
    }

    /// The calls of [`Source::read`] so far.
    #[must_use]
    pub fn reads(&self) -> Vec<(ReadWindow, Option<Checkpoint>)> {
        let read = |call| match call {
            Call::Read(window, from) => Some((window, from)),
            Call::Check | Call::List(_) => None,
        };
        self.calls().into_iter().filter_map(read).collect()
    }

    /// Waits until so many calls hang.
    pub async fn hanging(&self, count: usize) {
        let mut hanging = self.hanging.subscribe();
        hanging.wait_for(|now| *now >= count).await.unwrap();
    }

    /// Waits until so few calls hang.
    pub async fn not_hanging(&self, count: usize) {
        let mut hanging = self.hanging.subscribe();
        hanging.wait_for(|now| *now <= count).await.unwrap();
    }

    /// Lets every call that hangs now go on.
    pub fn release(&self) {
        self.released.send_modify(|times| *times += 1);
    }

    /// Does what the play says.
    async fn play(&self, play: Play) -> Result<SourceStep, SourceError> {
        let mut play = play;
        while let Play::Hangs(then) = play {
            let mut released = self.released.subscribe();
            let before = *released.borrow_and_update();
            self.hanging.send_modify(|count| *count += 1);
            let _hangs = Hangs(Arc::clone(&self.hanging));
            released.wait_for(|times| *times > before).await.unwrap();
            play = *then;
        }
        match play {
            Play::Documents(documents) => Ok(SourceStep { documents, ..SourceStep::default() }),
            Play::Step(step) => Ok(*step),
            Play::Fails(message) => Err(SourceError::Failed { message, source: None }),
            Play::Unavailable(retry_after) => {
                let message = "the scripted source is not there".to_owned();
                Err(SourceError::Unavailable { message, retry_after, source: None })
            }
            Play::Invalid(message) => Err(SourceError::Invalid(message)),
            Play::Panics => panic!("the script says so"),
            Play::Hangs(_) => unreachable!("it was released"),
        }
    }
}

/// A call that hangs, until it goes on or is dropped.
struct Hangs(Arc<watch::Sender<usize>>);

impl Drop for Hangs {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// The step that a checkpoint names; any other is the beginning.
fn step_of(from: Option<&Checkpoint>) -> usize {
    let step = from.and_then(|from| from.0.get("step")?.as_u64());
    step.and_then(|step| usize::try_from(step).ok()).unwrap_or(0)
}

fn checkpoint(step: usize) -> Checkpoint {
    Checkpoint(json!({ "step": step }))
}

#[async_trait]
impl Source for ScriptedSource {
    async fn check(&self) -> Result<(), SourceError> {
        let play = {
            let mut script = self.script.lock().unwrap();
            script.calls.push(Call::Check);
            script.check.clone()
        };
        match play {
            Some(play) => self.play(play).await.map(drop),
            None => Ok(()),
        }
    }

    async fn read(
        &self,
        window: ReadWindow,
        from: Option<&Checkpoint>,
    ) -> Result<SourceStep, SourceError> {
        let at = step_of(from);
        let (play, more, carry) = {
            let mut script = self.script.lock().unwrap();
            script.calls.push(Call::Read(window, from.cloned()));
            let play = script.steps.get(at).cloned();
            let play = play.or_else(|| script.endless.map(|play| play(at)));
            let more = script.endless.is_some() || at + 1 < script.steps.len();
            (play.unwrap_or(Play::Documents(Vec::new())), more, script.carry.clone())
        };
        let mut step = self.play(play).await?;
        step.next = more.then(|| checkpoint(at + 1));
        step.carry = carry.filter(|_| !more).map(Checkpoint);
        Ok(step)
    }

    async fn list(&self, from: Option<&Checkpoint>) -> Result<ListingStep, SourceError> {
        let at = step_of(from);
        let (play, more) = {
            let mut script = self.script.lock().unwrap();
            script.calls.push(Call::List(from.cloned()));
            let listing = script.listing.as_ref().unwrap_or(&script.steps);
            let play = listing.get(at).cloned();
            (play.unwrap_or(Play::Documents(Vec::new())), at + 1 < listing.len())
        };
        let step = self.play(play).await?;
        let failed = step.failures.into_iter().filter_map(|failure| match failure.part {
            FailedPart::Document { id, .. } => Some(id),
            FailedPart::Entity { .. } => None,
        });
        let ids = step.documents.into_iter().map(|document| document.id);
        let ids = ids.chain(step.unchanged).chain(failed).collect();
        Ok(ListingStep { ids, next: more.then(|| checkpoint(at + 1)) })
    }
}

/// Opens scripted sources, by the kind of source.
#[derive(Default)]
pub struct ScriptedSources {
    sources: Mutex<BTreeMap<DocumentSource, (SourceKind, ScriptedSource)>>,
    opened: Mutex<Vec<SourceSettings>>,
}

impl ScriptedSources {
    /// Opens `source` for this kind from now on.
    pub fn set(&self, kind: DocumentSource, class: SourceClass, source: ScriptedSource) {
        let about = SourceKind { class, tells_permissions: false, offered: true };
        self.sources.lock().unwrap().insert(kind, (about, source));
    }

    /// What sources were opened with so far.
    #[must_use]
    pub fn opened(&self) -> Vec<SourceSettings> {
        self.opened.lock().unwrap().clone()
    }
}

#[async_trait]
impl SourceFactory for ScriptedSources {
    fn kinds(&self) -> Vec<(DocumentSource, SourceKind)> {
        let sources = self.sources.lock().unwrap();
        sources.iter().map(|(kind, (about, _))| (*kind, *about)).collect()
    }

    /// [`SourceError::Invalid`] also when the configuration has the key `invalid`.
    async fn open(&self, settings: SourceSettings) -> Result<Arc<dyn Source>, SourceError> {
        let kind = settings.source;
        if settings.config.contains_key("invalid") {
            return Err(SourceError::Invalid("`invalid` is no setting of this source".to_owned()));
        }
        self.opened.lock().unwrap().push(settings);
        match self.sources.lock().unwrap().get(&kind) {
            Some((_, source)) => Ok(Arc::new(source.clone())),
            None => Err(SourceError::Invalid(format!("there is no source {kind}"))),
        }
    }
}
