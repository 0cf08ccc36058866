//! Limits of tokens: who sets which, and who may use more.

use chrono::TimeDelta;
use serde_json::{Value, json};
use trove_domain::access::{Caller, Role};
use trove_domain::error::Classify;
use trove_domain::port::Clock;
use trove_engine::administration::{SpentBudget, TokenBudgetError};

use crate::server::{Client, Server};

const LIMITS: &str = "/api/admin/token-rate-limits";

fn limit(budget: u32, hours: u32) -> Value {
    json!({"enabled": true, "token_budget": budget, "period_hours": hours})
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_are_set_listed_changed_and_removed() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let group = server.group("Engineering", &[]).await;
    let of_group = format!("{LIMITS}/user-group/{group}");
    let mut ids = Vec::new();
    for path in [&format!("{LIMITS}/global"), &format!("{LIMITS}/users"), &of_group] {
        let made = admin.post(path, limit(500, 24)).await.ok();
        let expected = json!({"token_id": made["token_id"], "enabled": true, "token_budget": 500,
            "period_hours": 24, "cost_budget_cents": null});
        assert_eq!(made, expected);
        assert_eq!(admin.get(path).await.ok(), json!([expected]));
        ids.push(made["token_id"].clone());
    }
    let by_name = admin.get(&format!("{LIMITS}/user-groups")).await.ok();
    assert_eq!(by_name["Engineering"][0]["token_id"], ids[2]);
    let one = format!("{LIMITS}/rate-limit/{}", ids[0]);
    let changed = json!({"enabled": false, "token_budget": 1, "period_hours": 1});
    let changed = admin.put(&one, changed).await.ok();
    assert_eq!((&changed["enabled"], &changed["token_budget"]), (&json!(false), &json!(1)));
    let gone = admin.delete(&one).await;
    assert_eq!((gone.status, gone.text.as_str()), (200, "null"));
    admin.delete(&one).await.refused(404, "NOT_FOUND");
    admin.put(&one, limit(1, 1)).await.refused(404, "NOT_FOUND");
    let missing = format!("{LIMITS}/user-group/4711");
    admin.post(&missing, limit(1, 1)).await.refused(404, "NOT_FOUND");
    admin.get(&missing).await.refused(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_limit_is_told_at_once() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let path = format!("{LIMITS}/global");
    let body = json!({"token_budget": 0, "period_hours": 8785});
    admin.post(&path, body).await.invalid(&[
        "body/enabled missing",
        "body/token_budget greater_than_equal",
        "body/period_hours less_than_equal",
    ]);
    let mut costs = limit(1, 24);
    costs["cost_budget_cents"] = json!(5.5);
    admin.post(&path, costs.clone()).await.refused(501, "NOT_IMPLEMENTED");
    costs["cost_budget_cents"] = Value::Null;
    admin.post(&path, costs).await.ok();
}

/// Of a group that is not its own it learns nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_curator_sees_the_limits_of_its_groups_and_sets_none() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let curator = server.user("curator@example.com", Role::Curator).await;
    let own = server.group("own", &[("curator@example.com", true)]).await;
    let joined = server.group("joined", &[("curator@example.com", false)]).await;
    let path = |group: &dyn std::fmt::Display| format!("{LIMITS}/user-group/{group}");
    admin.post(&path(&joined), limit(1, 1)).await.ok();
    assert_eq!(curator.get(&path(&own)).await.ok(), json!([]));
    let foreign = curator.get(&path(&joined)).await.refused(404, "NOT_FOUND");
    let missing = curator.get(&path(&4711)).await.refused(404, "NOT_FOUND");
    assert_eq!(foreign, missing.replace("4711", &joined.to_string()));
    curator.post(&path(&own), limit(1, 1)).await.refused(403, "INSUFFICIENT_PERMISSIONS");
}

struct Spender<'a> {
    server: &'a Server,
    caller: Caller,
}

impl<'a> Spender<'a> {
    async fn new(server: &'a Server, email: &str) -> Self {
        let key = server.key(email, Role::Basic).await;
        let caller = server.engine.authenticate(&key.into()).await.unwrap().unwrap();
        Self { server, caller }
    }

    async fn spend(&self, tokens: u64) {
        let (store, now) =
            (&self.server.engine.backends().token_limits, self.server.stack.clock.now());
        store.add_usage(self.caller.user, tokens, now).await.unwrap();
    }

    /// Whose budget is used up, and for how many minutes from now.
    async fn refused(&self) -> Option<(SpentBudget, i64)> {
        match self.server.engine.check_token_budget(&self.caller).await {
            Ok(()) => None,
            Err(error @ TokenBudgetError::Spent { scope, reset_at, .. }) => {
                let left = reset_at - self.server.stack.clock.now();
                assert_eq!(error.retry_after(), Some(left.to_std().unwrap()));
                Some((scope, left.num_minutes()))
            }
            Err(error) => panic!("{error}"),
        }
    }
}

async fn set(admin: &Client<'_>, path: &str, body: Value) {
    admin.post(&format!("{LIMITS}/{path}"), body).await.ok();
}

/// Until enough of it has left the period.
#[tokio::test(flavor = "multi_thread")]
async fn who_has_used_up_a_budget_waits_until_the_period_has_gone_on() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let (ann, bob) = (
        Spender::new(&server, "ann@example.com").await,
        Spender::new(&server, "bob@example.com").await,
    );
    set(&admin, "users", limit(1, 2)).await;
    set(&admin, "global", limit(3, 1)).await;
    ann.spend(600).await;
    server.stack.clock.advance(TimeDelta::minutes(30));
    ann.spend(399).await;
    assert_eq!(ann.refused().await, None, "one token is left");
    ann.spend(1).await;
    // The first 600 leave two hours and their minute after they were used.
    assert_eq!(ann.refused().await, Some((SpentBudget::User, 91)));
    assert_eq!(bob.refused().await, None);
    bob.spend(2000).await;
    // Everybody's budget counts first. What was used first leaves it first.
    assert_eq!(bob.refused().await, Some((SpentBudget::Global, 31)));
    server.stack.clock.advance(TimeDelta::minutes(31));
    assert_eq!(ann.refused().await, Some((SpentBudget::User, 60)));
    server.stack.clock.advance(TimeDelta::minutes(60));
    assert_eq!(ann.refused().await, None);
}

/// Several limits bind together, several groups do not.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_is_kept_out_when_all_its_groups_with_limits_are() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let ann = Spender::new(&server, "ann@example.com").await;
    let bob = Spender::new(&server, "bob@example.com").await;
    let members = [("ann@example.com", false), ("bob@example.com", false)];
    let both = server.group("both", &members).await;
    let alone = server.group("alone", &[("ann@example.com", false)]).await;
    server.group("without limits", &[("ann@example.com", false)]).await;
    set(&admin, &format!("user-group/{both}"), limit(1, 24)).await;
    set(&admin, &format!("user-group/{both}"), limit(1000, 1)).await;
    set(&admin, &format!("user-group/{alone}"), limit(2, 1)).await;
    bob.spend(1000).await;
    assert_eq!(bob.refused().await, Some((SpentBudget::Groups, 24 * 60 + 1)));
    assert_eq!(ann.refused().await, None, "one of its groups has something left");
    ann.spend(2000).await;
    // The first group that has something again is enough.
    assert_eq!(ann.refused().await, Some((SpentBudget::Groups, 61)));
    let disabled = json!({"enabled": false, "token_budget": 1, "period_hours": 1});
    set(&admin, "global", disabled).await;
    server.stack.clock.advance(TimeDelta::minutes(61));
    assert_eq!(ann.refused().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_so_many_limits_and_no_more() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let path = format!("{LIMITS}/global");
    for _ in 0..100 {
        admin.post(&path, limit(1, 1)).await.ok();
    }
    admin.post(&path, limit(1, 1)).await.refused(400, "INVALID_INPUT");
    admin.post(&format!("{LIMITS}/users"), limit(1, 1)).await.ok();
}
