//! Tries every row, and says what was wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use reqwest::Method;
use trove_domain::id::UserId;
use trove_http::inventory;

use super::database::Database;
use super::principals::{Principal, World};
use super::rules::{Expected, State, expected};
use super::table::{Named, Row, Sent};
use crate::server::Answer;

/// Checks all cells of `rows`; fails with a list of those that are wrong.
pub(super) async fn run(rows: Vec<Row>) {
    let shared = World::start().await;
    let mut wrong = Wrong::default();
    for row in &rows {
        if row.alone {
            Check { world: &World::start().await, row, wrong: &mut wrong }.all().await;
        } else {
            Check { world: &shared, row, wrong: &mut wrong }.all().await;
        }
    }
    assert!(wrong.count == 0, "{} of {} cells are wrong:\n{}", wrong.count, wrong.of, wrong.list);
}

#[derive(Default)]
struct Wrong {
    list: String,
    count: usize,
    of: usize,
}

struct Check<'a> {
    world: &'a World,
    row: &'a Row,
    wrong: &'a mut Wrong,
}

/// One request that is to be tried.
struct Attempt {
    state: State,
    expected: Expected,
    named: Named,
}

impl Check<'_> {
    async fn all(&mut self) {
        let (method, template) = self.row.route.split_once(' ').unwrap();
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let paths: Vec<&str> = inventory()
            .iter()
            .filter(|info| info.method == method.as_str())
            .filter(|info| info.path == template || info.companion_of == Some(template))
            .map(|info| info.path)
            .collect();
        let (world, mut any_change) = (self.world, false);
        let mut database = Database::of(&world.server);
        for path in paths {
            for principal in &world.principals {
                any_change |= self.one(&method, path, principal, &mut database).await;
            }
        }
        if !self.row.reads && self.row.about.is_some() && !any_change {
            self.note(&format!("{}: nobody changed anything by it", self.row.route));
        }
    }

    /// Whether something was changed that was to be.
    async fn one(
        &mut self,
        method: &Method,
        path: &str,
        principal: &Principal,
        database: &mut Database,
    ) -> bool {
        let (world, row) = (self.world, self.row);
        let who = principal.who.as_ref();
        let me = who.map_or(world.owner, |who| who.id);
        let states = row.about.map_or(&[State::Foreign][..], |(kind, _)| kind.states());
        let (mut still, mut doing) = (Vec::new(), Vec::new());
        for state in states.iter().copied() {
            let expected = expected(row, who, state);
            let changes = expected.done && !row.reads;
            let named = self.named(state, me, changes).await;
            let attempts = if changes { &mut doing } else { &mut still };
            attempts.push(Attempt { state, expected, named });
        }
        // What is refused, and what only reads.
        let before = database.version();
        let mut answers = BTreeMap::new();
        for attempt in still {
            let answer = self.send(method, path, principal, &attempt.named).await;
            self.compare(path, principal, &attempt, &answer);
            answers.insert(attempt.state, (attempt, answer));
        }
        if database.version() != before {
            let text = "something was written by what only reads, or is refused";
            self.note(&format!("{} as {}: {text}", row.route, principal.name));
        }
        self.alike(path, principal, &answers);
        let before = database.version();
        for attempt in doing {
            let answer = self.send(method, path, principal, &attempt.named).await;
            self.compare(path, principal, &attempt, &answer);
        }
        database.version() != before
    }

    async fn named(&self, state: State, me: UserId, fresh: bool) -> Named {
        let (world, row) = (self.world, self.row);
        let Some((kind, _)) = row.about else {
            return world.named(("1".to_owned(), "1".to_owned()), state);
        };
        let object = if fresh {
            world.make(kind, state, me).await
        } else {
            world.kept(kind, state, me).await
        };
        let mut named = world.named(object, state);
        if let Some(kind) = row.on {
            let on = if fresh {
                world.make(kind, State::Own, me).await
            } else {
                world.kept(kind, State::Own, me).await
            };
            named.on = Some(on.0);
        }
        named
    }

    async fn send(
        &self,
        method: &Method,
        template: &str,
        principal: &Principal,
        named: &Named,
    ) -> Answer {
        let in_path = named.on.as_ref().unwrap_or(&named.id);
        let mut path = String::from("/api");
        for (index, part) in template.split(['{', '}']).enumerate() {
            // Every second part is a parameter.
            path.push_str(if index % 2 == 0 { part } else { in_path });
        }
        let Sent { query, body, form } = (self.row.request)(named);
        path.push_str(&query);
        let client = principal.client(&self.world.server);
        match (body, form) {
            (Some(body), _) => {
                let client = client.with("content-type", "application/json");
                client.send(method.clone(), &path, Some(body.to_string().into_bytes())).await
            }
            (None, Some(form)) => client.form(&path, &form).await,
            (None, None) => client.send(method.clone(), &path, None).await,
        }
    }

    fn compare(&mut self, path: &str, principal: &Principal, attempt: &Attempt, answer: &Answer) {
        self.wrong.of += 1;
        if answer.status != attempt.expected.status {
            let text = format!(
                "{} as {}, {}: expected {}, was {} {}",
                self.cell(path),
                principal.name,
                self.object(attempt.state),
                attempt.expected.status,
                answer.status,
                answer.text.chars().take(200).collect::<String>()
            );
            self.note(&text);
        }
    }

    /// What is not there for the caller must be what never was; what is there must not be.
    fn alike(
        &mut self,
        path: &str,
        principal: &Principal,
        answers: &BTreeMap<State, (Attempt, Answer)>,
    ) {
        let Some((attempt, missing)) = answers.get(&State::Missing) else { return };
        let missing = outside(missing, &attempt.named);
        for (state, (attempt, answer)) in answers {
            let Expected { like_missing, done, status } = attempt.expected;
            let answer = outside(answer, &attempt.named);
            let told_apart_by_status = status != self.row.hidden || missing.0 != status;
            let wrong = if like_missing {
                answer != missing
            } else {
                done && self.row.about.is_some() && !told_apart_by_status && answer == missing
            };
            if wrong {
                let (cell, object) = (self.cell(path), self.object(*state));
                let alike = if like_missing { "is not like" } else { "is like" };
                let text = format!("{cell} as {}, {object}: {alike} missing", principal.name);
                let both =
                    format!("{} {}\n        {} {}", answer.0, answer.2, missing.0, missing.2);
                self.note(&format!("{text}\n        {both}"));
            }
        }
    }

    fn cell(&self, path: &str) -> String {
        let method = self.row.route.split(' ').next().unwrap();
        format!("{method} {path}")
    }

    fn object(&self, state: State) -> String {
        match self.row.about {
            Some((kind, _)) => format!("{state:?} {kind:?}"),
            None => "nothing".to_owned(),
        }
    }

    fn note(&mut self, text: &str) {
        self.wrong.count += 1;
        writeln!(self.wrong.list, "    {text}").unwrap();
    }
}

/// Differ from request to request. `connection` says whether the body had arrived when its sender
/// was refused, before anything was looked up.
const OWN_TO_A_REQUEST: [&str; 4] = ["x-request-id", "date", "content-length", "connection"];

/// What a client sees of an answer, with the object's own names taken out.
fn outside(answer: &Answer, named: &Named) -> (u16, Vec<(String, String)>, String) {
    let length = answer.text.len().to_string();
    assert!(answer.header("content-length").is_none_or(|stated| stated == length), "{answer:?}");
    let mut headers: Vec<(String, String)> = answer
        .headers
        .iter()
        .filter(|(name, _)| !OWN_TO_A_REQUEST.contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    // The one may be a part of the other.
    let mut own = [&named.id, &named.name];
    own.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let text = answer.text.replace(own[0], "ID").replace(own[1], "ID");
    (answer.status, headers, text)
}
