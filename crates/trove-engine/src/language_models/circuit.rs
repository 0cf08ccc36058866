//! Models that have just failed, which searches do without for a while.
//!
//! What a model adds to a search is not worth waiting for one that is down: a provider that hangs
//! would cost every search its whole allowance. After a failure nobody asks the model for some
//! seconds; then one question tries it out while all others still do without.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use trove_domain::port::LanguageModel;

/// How long a model is not asked after a failure. Doubled with each try that fails.
const REST: TimeDelta = TimeDelta::seconds(30);
/// Longest time that a model is not asked.
const REST_MAX: TimeDelta = TimeDelta::minutes(5);
/// Most models that are remembered. Forgetting one costs the search that asks it next.
const MODELS_MAX: usize = 256;

/// Name of a provider and of a model.
type Key = (String, String);

/// The models that have failed and not answered since. Made once for all searches.
#[derive(Default)]
pub(crate) struct Circuits(Mutex<HashMap<Key, Circuit>>);

/// One that has failed.
struct Circuit {
    /// The model with the settings that it had then: with others it is another one.
    model: Weak<dyn LanguageModel>,
    failed_at: DateTime<Utc>,
    rest: TimeDelta,
    /// Whether somebody is trying it out.
    tried: bool,
}

impl Circuit {
    fn is_about(&self, model: &Arc<dyn LanguageModel>) -> bool {
        self.model.ptr_eq(&Arc::downgrade(model))
    }

    /// Whether the model is still left alone. A clock that was set back ends it, too.
    fn rests(&self, now: DateTime<Utc>) -> bool {
        self.failed_at <= now && now < self.failed_at + self.rest
    }
}

impl Circuits {
    /// Leave to ask `model` now; `None` when it has failed a short while ago, or is being tried
    /// out.
    pub(crate) fn admit(
        self: &Arc<Self>,
        model: &Arc<dyn LanguageModel>,
        now: DateTime<Utc>,
    ) -> Option<Admission> {
        let key = key(model);
        let mut is_trial = false;
        let mut circuits = self.lock();
        if let Some(circuit) = circuits.get_mut(&key)
            && circuit.is_about(model)
        {
            if circuit.tried || circuit.rests(now) {
                return None;
            }
            circuit.tried = true;
            is_trial = true;
        }
        drop(circuits);
        Some(Admission { circuits: Arc::clone(self), model: Arc::clone(model), key, is_trial })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Circuit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leave to ask a model once. Dropped without a verdict, it leaves things as they were.
pub(crate) struct Admission {
    circuits: Arc<Circuits>,
    model: Arc<dyn LanguageModel>,
    key: Key,
    is_trial: bool,
}

impl Admission {
    /// The model has answered: everybody may ask it.
    pub(crate) fn answered(mut self) {
        self.is_trial = false;
        self.circuits.lock().remove(&self.key);
    }

    /// The model has failed in a way that the next question would, too. `wait` is how long it wants
    /// to be left alone, if it said so.
    pub(crate) fn failed(mut self, wait: Option<Duration>, now: DateTime<Utc>) {
        let was_trial = std::mem::take(&mut self.is_trial);
        let mut circuits = self.circuits.lock();
        let known = circuits.get(&self.key).filter(|circuit| circuit.is_about(&self.model));
        let rest = match known {
            // Another question of the same moment has said so already.
            Some(circuit) if !was_trial && circuit.rests(now) => return,
            Some(circuit) => (circuit.rest * 2).min(REST_MAX),
            None => REST,
        };
        let asked = wait.and_then(|wait| TimeDelta::from_std(wait).ok());
        let rest = asked.map_or(rest, |asked| rest.max(asked.min(REST_MAX)));
        let (provider, model) = &self.key;
        tracing::warn!(
            provider,
            model,
            seconds = rest.num_seconds(),
            "a language model failed; searches do without it for a while"
        );
        if circuits.len() >= MODELS_MAX && !circuits.contains_key(&self.key) {
            make_room(&mut circuits);
        }
        let model = Arc::downgrade(&self.model);
        let circuit = Circuit { model, failed_at: now, rest, tried: false };
        circuits.insert(self.key.clone(), circuit);
    }
}

impl Drop for Admission {
    /// Whoever tried the model out and went away leaves it to the next one.
    fn drop(&mut self) {
        if !self.is_trial {
            return;
        }
        if let Some(circuit) = self.circuits.lock().get_mut(&self.key)
            && circuit.is_about(&self.model)
        {
            circuit.tried = false;
        }
    }
}

fn key(model: &Arc<dyn LanguageModel>) -> Key {
    let info = model.info();
    (info.provider.clone(), info.model.clone())
}

/// Forgets models that nobody has any more, or the one that failed first.
fn make_room(circuits: &mut HashMap<Key, Circuit>) {
    circuits.retain(|_, circuit| circuit.model.strong_count() > 0);
    if circuits.len() >= MODELS_MAX {
        let oldest = circuits.iter().min_by_key(|(_, circuit)| circuit.failed_at);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            circuits.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use trove_testkit::scripted_model::ScriptedLanguageModel;

    use super::*;

    fn model(name: &str) -> Arc<dyn LanguageModel> {
        Arc::new(ScriptedLanguageModel::unavailable().named("p", name))
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_767_225_600 + seconds, 0).unwrap()
    }

    fn fail(circuits: &Arc<Circuits>, model: &Arc<dyn LanguageModel>, second: i64) {
        circuits.admit(model, at(second)).unwrap().failed(None, at(second));
    }

    #[test]
    fn a_model_that_failed_is_left_alone_and_then_tried_by_one() {
        let circuits = Arc::new(Circuits::default());
        let model = model("m");
        let two = [circuits.admit(&model, at(0)), circuits.admit(&model, at(0))];
        for admission in two {
            admission.unwrap().failed(None, at(0));
        }
        assert!(circuits.admit(&model, at(29)).is_none());

        let trial = circuits.admit(&model, at(30)).unwrap();
        assert!(circuits.admit(&model, at(30)).is_none());
        trial.answered();

        assert!(circuits.admit(&model, at(30)).is_some());
        assert!(circuits.admit(&model, at(30)).is_some());
        assert!(circuits.lock().is_empty());
    }

    #[test]
    fn each_try_that_fails_makes_the_rest_longer_up_to_a_bound() {
        let circuits = Arc::new(Circuits::default());
        let model = model("m");
        let mut now = 0;
        for rest in [30, 60, 120, 240, 300, 300] {
            fail(&circuits, &model, now);
            assert!(circuits.admit(&model, at(now + rest - 1)).is_none(), "{rest}");
            now += rest;
        }
        assert!(circuits.admit(&model, at(now)).is_some());
    }

    #[test]
    fn a_provider_may_ask_for_a_longer_rest_within_the_bound() {
        let circuits = Arc::new(Circuits::default());
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (name, asked, rest) in
            [("a", seconds(5), 30), ("b", seconds(90), 90), ("c", seconds(u64::MAX), 30)]
        {
            let model = model(name);
            circuits.admit(&model, at(0)).unwrap().failed(asked, at(0));
            assert!(circuits.admit(&model, at(rest - 1)).is_none(), "{name}");
            assert!(circuits.admit(&model, at(rest)).is_some(), "{name}");
        }
    }

    #[test]
    fn a_try_that_is_given_up_is_left_to_the_next() {
        let circuits = Arc::new(Circuits::default());
        let model = model("m");
        fail(&circuits, &model, 0);
        drop(circuits.admit(&model, at(30)));
        assert!(circuits.admit(&model, at(30)).is_some());
    }

    #[test]
    fn other_models_and_other_settings_are_asked() {
        let circuits = Arc::new(Circuits::default());
        let before = model("m");
        fail(&circuits, &before, 0);
        assert!(circuits.admit(&model("other"), at(0)).is_some());
        // The same names, opened again because its settings changed.
        assert!(circuits.admit(&model("m"), at(0)).is_some());
        assert!(circuits.admit(&before, at(0)).is_none());
    }

    #[test]
    fn a_clock_that_was_set_back_keeps_nobody_out() {
        let circuits = Arc::new(Circuits::default());
        let model = model("m");
        fail(&circuits, &model, 0);
        assert!(circuits.admit(&model, at(-10)).is_some());
    }

    #[test]
    fn as_many_models_are_remembered_as_there_is_room_for() {
        let circuits = Arc::new(Circuits::default());
        let models: Vec<_> = (0..=MODELS_MAX).map(|number| model(&number.to_string())).collect();
        for (second, model) in (0..).zip(&models) {
            circuits
                .admit(model, at(second))
                .unwrap()
                .failed(Some(Duration::from_mins(5)), at(second));
        }
        assert_eq!(circuits.lock().len(), MODELS_MAX);
        let last = i64::try_from(MODELS_MAX).unwrap();
        assert!(circuits.admit(&models[0], at(last)).is_some(), "the first is forgotten");
        assert!(circuits.admit(&models[1], at(last)).is_none());
        drop(models);
        fail(&circuits, &model("one more"), last);
        assert!(circuits.lock().len() <= 2, "what nobody has is forgotten");
    }
}
