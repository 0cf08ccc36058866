//! Who calls.

use chrono::TimeDelta;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::api_key::ListedKey;
use trove_domain::id::{GroupId, UserId};
use trove_domain::port::{Clock, UserChange};
use trove_engine::accounts::AccountConfig;

use super::objects::Cache;
use crate::http::people;
use crate::server::{Client, Server};

/// A group that is there from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Team {
    /// The one that things are shared with.
    Ours,
    Others,
}

/// Somebody that the server knows.
#[derive(Clone, Debug)]
pub(super) struct Who {
    pub(super) id: UserId,
    pub(super) role: Role,
    /// With whether the group is curated.
    groups: &'static [(Team, bool)],
    pub(super) by_session: bool,
    /// Whether that is restricted to searching.
    pub(super) is_restricted: bool,
}

impl Who {
    pub(super) fn is_member(&self, group: Team) -> bool {
        self.groups.iter().any(|(of, _)| *of == group)
    }

    pub(super) fn controls(&self, group: Team) -> bool {
        let flag_counts = match self.role {
            Role::GlobalCurator => false,
            Role::Curator => true,
            _ => return false,
        };
        self.groups.iter().any(|(of, curates)| *of == group && (*curates || !flag_counts))
    }
}

/// Those with a valid credential: name, role, groups.
type Declared = (&'static str, Role, &'static [(Team, bool)]);
const KNOWN: [Declared; 15] = [
    ("limited", Role::Limited, &[(Team::Ours, false)]),
    ("slack-user", Role::SlackUser, &[(Team::Ours, false)]),
    ("ext-perm-user", Role::ExtPermUser, &[(Team::Ours, false)]),
    ("basic", Role::Basic, &[]),
    ("basic-of-the-team", Role::Basic, &[(Team::Ours, false)]),
    ("session-of-the-team", Role::Basic, &[(Team::Ours, false)]),
    ("token-of-the-team", Role::Basic, &[(Team::Ours, false)]),
    ("search-token-of-the-team", Role::Basic, &[(Team::Ours, false)]),
    ("curator-of-others", Role::Curator, &[(Team::Others, true)]),
    ("curator-in-the-team", Role::Curator, &[(Team::Others, true), (Team::Ours, false)]),
    ("curator-of-the-team", Role::Curator, &[(Team::Ours, true)]),
    ("global-curator-of-others", Role::GlobalCurator, &[(Team::Others, false)]),
    ("global-curator-of-the-team", Role::GlobalCurator, &[(Team::Ours, false)]),
    ("admin", Role::Admin, &[]),
    ("admin-with-search-token", Role::Admin, &[]),
];

/// Who uses a session in place of a key.
const BY_SESSION: &str = "session-of-the-team";

pub(super) struct Principal {
    pub(super) name: &'static str,
    /// Nobody, for a credential that is not valid (any more).
    pub(super) who: Option<Who>,
    header: Option<(&'static str, String)>,
}

impl Principal {
    pub(super) fn client<'a>(&self, server: &'a Server) -> Client<'a> {
        match &self.header {
            Some((name, value)) => server.nobody().with(name, value),
            None => server.nobody(),
        }
    }
}

/// A server with everybody on it.
pub(super) struct World {
    pub(super) server: Server,
    pub(super) principals: Vec<Principal>,
    pub(super) team: GroupId,
    pub(super) other: GroupId,
    /// To whom belongs what is somebody else's.
    pub(super) owner: UserId,
    /// In every group that is made.
    pub(super) member: UserId,
    /// An administrator who is nobody of the table.
    root: String,
    pub(super) cache: Cache,
}

impl World {
    pub(super) async fn start() -> Self {
        // Each of them signs in as the same user.
        let accounts = AccountConfig { attempts_per_address: 1000, ..people::cheap() };
        let server = people::with(accounts).await;
        let root = format!("Bearer {}", server.key("root@example.com", Role::Admin).await);
        server.key("owner@example.com", Role::Basic).await;
        server.key("member@example.com", Role::Basic).await;
        let mut principals = unknown(&server).await;
        for (name, role, groups) in KNOWN {
            let email = format!("{name}@example.com");
            let by_session = name == BY_SESSION;
            let (by_token, is_restricted) = (name.contains("token"), name.contains("search-token"));
            let header = if by_session {
                ("cookie", session(&server, &email).await)
            } else {
                let key = bearer(&server.key(&email, role).await);
                if by_token { token(&server, &key, is_restricted).await.0 } else { key }
            };
            let id = id(&server, &email).await;
            let who = Who { id, role, groups, by_session, is_restricted };
            principals.push(Principal { name, who: Some(who), header: Some(header) });
        }
        let mut ids = Vec::new();
        for group in [Team::Ours, Team::Others] {
            let members: Vec<(String, bool)> = KNOWN
                .iter()
                .flat_map(|(name, _, groups)| groups.iter().map(move |of| (name, of)))
                .filter(|(_, (of, _))| *of == group)
                .map(|(name, (_, curates))| (format!("{name}@example.com"), *curates))
                .collect();
            let members: Vec<(&str, bool)> =
                members.iter().map(|(email, curates)| (email.as_str(), *curates)).collect();
            ids.push(server.group(&format!("{group:?}"), &members).await);
        }
        let (owner, member) =
            (id(&server, "owner@example.com").await, id(&server, "member@example.com").await);
        let (team, other) = (ids[0], ids[1]);
        for principal in &principals {
            // That a key was used is written once, and is no change that a route makes.
            principal.client(&server).me().await;
        }
        let cache = Cache::default();
        Self { server, principals, team, other, owner, member, root, cache }
    }

    pub(super) fn admin(&self) -> Client<'_> {
        self.server.nobody().with("authorization", &self.root)
    }
}

/// Those whom nobody knows, or nobody knows any more.
async fn unknown(server: &Server) -> Vec<Principal> {
    let backends = server.engine.backends();
    let expired = session(server, "expired@example.com").await;
    server.stack.clock.advance(TimeDelta::days(30));
    let revoked = server.key("revoked@example.com", Role::Admin).await;
    let keys = server.engine.list_keys(None, 1000).await.unwrap();
    let of_user = |listed: &&ListedKey| listed.holder.user.email == "revoked@example.com";
    let key = &keys.iter().find(of_user).unwrap().key;
    assert!(server.engine.revoke_key(key.id).await.unwrap());
    let inactive = server.key("inactive@example.com", Role::Admin).await;
    let kept_out = id(server, "inactive@example.com").await;
    let now = server.stack.clock.now();
    assert_eq!(backends.users.deactivate(kept_out, now).await.unwrap(), UserChange::Done);
    let key = bearer(&server.key("tokens@example.com", Role::Admin).await);
    let (expired_token, _) = token(server, &key, false).await;
    server.stack.clock.advance(TimeDelta::days(2));
    let (revoked_token, revoked_path) = token(server, &key, false).await;
    let owner = server.nobody().with(key.0, &key.1);
    owner.delete(&revoked_path).await.ok();
    let unknown = |name, header| Principal { name, who: None, header };
    vec![
        unknown("nobody", None),
        unknown("expired-session", Some(("cookie", expired))),
        unknown("revoked-key", Some(bearer(&revoked))),
        unknown("key-of-a-deactivated-user", Some(bearer(&inactive))),
        unknown("expired-token", Some(expired_token)),
        unknown("revoked-token", Some(revoked_token)),
    ]
}

fn bearer(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}

/// A personal access token of whoever has the key, for a day, and where it is deleted.
async fn token(
    server: &Server,
    key: &(&'static str, String),
    is_restricted: bool,
) -> ((&'static str, String), String) {
    let scopes = if is_restricted { json!(["read:search"]) } else { Value::Null };
    let body = json!({"name": "token", "expiration_days": 1, "scopes": scopes});
    let made = server.nobody().with(key.0, &key.1).post("/api/user/pats", body).await.ok();
    (bearer(made["token"].as_str().unwrap()), format!("/api/user/pats/{}", made["id"]))
}

/// The cookie of somebody who registers and signs in.
async fn session(server: &Server, email: &str) -> String {
    assert_eq!(people::register(server, email).await.status, 201);
    people::cookie(&people::login(server, email, people::PASSWORD).await)
}

async fn id(server: &Server, email: &str) -> UserId {
    server.engine.backends().users.get_by_email(email).await.unwrap().unwrap().id
}
