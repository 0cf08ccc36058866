//! What a row says.

use serde_json::Value;
pub(super) use trove_http::Policy;

use super::principals::Who;
use super::rules::{Kind, Need, State};

/// A route, and one thing that a request to it names.
pub(super) struct Row {
    /// Method and path.
    pub(super) route: &'static str,
    /// Who may call it, by the contract.
    pub(super) policy: Policy,
    /// What is named, and what the route does to it.
    pub(super) about: Option<(Kind, Need)>,
    /// What stands in the path when something else is named in the body: one of the caller's own.
    pub(super) on: Option<Kind>,
    /// Why a parameter of the path is no object.
    pub(super) reason: Option<&'static str>,
    /// The status when it is done.
    pub(super) done: u16,
    /// The status when the object is not there for the caller.
    pub(super) hidden: u16,
    /// The status when the caller sees the object and may not change it.
    pub(super) refused: u16,
    /// Whether nothing is changed when it is done.
    pub(super) reads: bool,
    /// Why a token that is restricted to searching gets in.
    pub(super) restricted: Option<&'static str>,
    /// Whether it does something to the caller, so that nobody else may be tried on its server.
    pub(super) alone: bool,
    /// What is sent.
    pub(super) request: Request,
    /// Statuses that follow from something else, and what that is.
    pub(super) exceptions: Vec<(&'static str, Exception)>,
}

/// What is sent for an object.
pub(super) type Request = fn(&Named) -> Sent;

/// The status for a caller and a state, where it is another than the rule's.
pub(super) type Exception = fn(Option<&Who>, State) -> Option<u16>;

/// What a request is made from.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// The object, as paths name it.
    pub(super) id: String,
    /// The object, as people name it.
    pub(super) name: String,
    /// In which relation to the caller it is.
    pub(super) state: State,
    /// The object in the path, where it is another one.
    pub(super) on: Option<String>,
    /// A group that the team's members are in, and one of others.
    pub(super) team: i32,
    pub(super) other: i32,
    /// A user that is in every group that is named, and one that is in none.
    pub(super) member: String,
    pub(super) stranger: String,
    /// Different for each request.
    pub(super) serial: usize,
}

impl Named {
    /// The object, as bodies name it.
    pub(super) fn number(&self) -> Value {
        self.id.parse::<i64>().unwrap().into()
    }

    /// A name that nothing has.
    pub(super) fn fresh(&self) -> String {
        format!("fresh-{}", self.serial)
    }

    /// The groups that the object is shared with.
    pub(super) fn groups(&self) -> Vec<i32> {
        match self.state {
            State::Team => vec![self.team],
            State::Both => vec![self.team, self.other],
            _ => Vec::new(),
        }
    }
}

/// A request, besides its method and path.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    pub(super) query: String,
    pub(super) body: Option<Value>,
    pub(super) form: Option<String>,
}

pub(super) fn body(body: Value) -> Sent {
    Sent { body: Some(body), ..Sent::default() }
}

pub(super) fn form(form: impl Into<String>) -> Sent {
    Sent { form: Some(form.into()), ..Sent::default() }
}

pub(super) fn query(query: impl Into<String>) -> Sent {
    Sent { query: query.into(), ..Sent::default() }
}

pub(super) fn row(route: &'static str, policy: Policy) -> Row {
    Row {
        route,
        policy,
        about: None,
        on: None,
        reason: None,
        done: 200,
        hidden: 404,
        refused: 403,
        reads: route.starts_with("GET "),
        restricted: None,
        alone: false,
        request: |_| Sent::default(),
        exceptions: Vec::new(),
    }
}

impl Row {
    /// A request to it names one of these, and does this to it.
    pub(super) fn names(self, kind: Kind, need: Need) -> Self {
        Self { about: Some((kind, need)), ..self }
    }

    /// The path names one of the caller's own; what is tried stands in the body.
    pub(super) fn on(self, kind: Kind) -> Self {
        Self { on: Some(kind), ..self }
    }

    /// It names nothing that belongs to anybody.
    pub(super) fn nothing(self, reason: &'static str) -> Self {
        Self { reason: Some(reason), ..self }
    }

    pub(super) fn sends(self, request: Request) -> Self {
        Self { request, ..self }
    }

    pub(super) fn done(self, done: u16) -> Self {
        Self { done, ..self }
    }

    pub(super) fn hidden(self, hidden: u16) -> Self {
        Self { hidden, ..self }
    }

    pub(super) fn refused(self, refused: u16) -> Self {
        Self { refused, ..self }
    }

    pub(super) fn reads(self) -> Self {
        Self { reads: true, ..self }
    }

    /// A token that is restricted to searching gets in.
    pub(super) fn restricted(self, why: &'static str) -> Self {
        Self { restricted: Some(why), ..self }
    }

    pub(super) fn alone(self) -> Self {
        Self { alone: true, ..self }
    }

    pub(super) fn but(mut self, why: &'static str, exception: Exception) -> Self {
        self.exceptions.push((why, exception));
        self
    }
}
