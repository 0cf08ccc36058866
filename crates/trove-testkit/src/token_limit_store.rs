//! What every [`TokenLimitStore`](trove_domain::port::TokenLimitStore) does.

use chrono::{DateTime, TimeDelta, Utc};
use trove_domain::access::Role;
use trove_domain::id::{GroupId, TokenLimitId, UserId};
use trove_domain::port::{NewUser, UsageOf, UserChange};
use trove_domain::token_limit::{LimitScope, TokenAllowance, TokenLimit};
use trove_domain::user::AccountKind;

use crate::stores::{Stores, new_job, start_of_time};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! token_limit_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            token_limit_store,
            $start,
            [
                limits_are_kept_by_scope,
                a_limit_is_changed_and_removed,
                a_group_without_members_has_limits_too,
                limits_go_with_their_group,
                the_limits_that_count_for_a_user,
                limits_of_users_and_groups_are_for_people,
                usage_is_summed_by_whoever_used_it,
                usage_counts_from_its_minute_on,
                usage_outlasts_its_user_and_not_the_longest_period,
            ]
        );
    };
}

const SMALL: TokenAllowance =
    TokenAllowance { enabled: true, budget_thousands: 1, period_hours: 24 };
const LARGE: TokenAllowance = TokenAllowance {
    enabled: false,
    budget_thousands: TokenAllowance::BUDGET_MAX,
    period_hours: TokenAllowance::HOURS_MAX,
};

async fn add(stores: &Stores, scope: LimitScope, allowance: TokenAllowance) -> TokenLimit {
    stores.token_limits.insert_limit(scope, allowance).await.unwrap().unwrap()
}

async fn of(stores: &Stores, scope: LimitScope) -> Option<Vec<TokenLimit>> {
    stores.token_limits.limits_of(scope).await.unwrap()
}

async fn used(stores: &Stores, of: UsageOf, since: DateTime<Utc>) -> u64 {
    stores.token_limits.used_since(of, since).await.unwrap()
}

fn minutes(minutes: i64) -> DateTime<Utc> {
    start_of_time() + TimeDelta::minutes(minutes)
}

/// By rising id, several of one scope too.
pub async fn limits_are_kept_by_scope(stores: &Stores) {
    let (a, b) = (stores.group("a", &[]).await, stores.group("b", &[]).await);
    let global = add(stores, LimitScope::Global, LARGE).await;
    let user = add(stores, LimitScope::User, SMALL).await;
    let second = add(stores, LimitScope::Group(b), LARGE).await;
    let first = add(stores, LimitScope::Group(a), SMALL).await;
    let third = add(stores, LimitScope::Group(b), SMALL).await;
    assert_eq!(global.allowance, LARGE);
    assert_eq!(of(stores, LimitScope::Global).await, Some(vec![global]));
    assert_eq!(of(stores, LimitScope::User).await, Some(vec![user]));
    assert_eq!(of(stores, LimitScope::Group(b)).await, Some(vec![second, third]));
    let listed = stores.token_limits.limits_of_groups().await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|(group, limit)| (group.name, limit)).collect();
    let name = str::to_owned;
    assert_eq!(listed, [(name("a"), first), (name("b"), second), (name("b"), third)]);
}

/// Or is not there.
pub async fn a_limit_is_changed_and_removed(stores: &Stores) {
    let limit = add(stores, LimitScope::Global, SMALL).await;
    let changed = stores.token_limits.update_limit(limit.id, LARGE).await.unwrap();
    assert_eq!(changed, Some(TokenLimit { allowance: LARGE, ..limit }));
    assert!(stores.token_limits.remove_limit(limit.id).await.unwrap());
    assert!(!stores.token_limits.remove_limit(limit.id).await.unwrap());
    assert_eq!(stores.token_limits.update_limit(limit.id, SMALL).await.unwrap(), None);
    assert_eq!(stores.token_limits.update_limit(TokenLimitId(4711), SMALL).await.unwrap(), None);
    assert_eq!(of(stores, LimitScope::Global).await, Some(vec![]));
}

/// A missing one has not.
pub async fn a_group_without_members_has_limits_too(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    assert_eq!(of(stores, LimitScope::Group(group)).await, Some(vec![]));
    let missing = LimitScope::Group(GroupId(4711));
    assert_eq!(of(stores, missing).await, None);
    assert_eq!(stores.token_limits.insert_limit(missing, SMALL).await.unwrap(), None);
}

/// At its end.
pub async fn limits_go_with_their_group(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    let limit = add(stores, LimitScope::Group(group), SMALL).await;
    stores.groups.begin_removal(group, start_of_time(), new_job("sync", "sync")).await.unwrap();
    let added = stores.token_limits.insert_limit(LimitScope::Group(group), SMALL).await.unwrap();
    assert_eq!(added, None, "nothing new for a group that goes");
    let gone = stores.groups.unsynced().await.unwrap();
    stores.groups.finish_sync(&gone).await.unwrap();
    assert_eq!(stores.token_limits.update_limit(limit.id, SMALL).await.unwrap(), None);
}

/// The enabled ones of everybody, of each user, and of the groups that it is in.
pub async fn the_limits_that_count_for_a_user(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let own = stores.group("own", &[ann]).await;
    let other = stores.group("other", &[]).await;
    let disabled = TokenAllowance { enabled: false, ..SMALL };
    let mut counting = Vec::new();
    for scope in [LimitScope::Global, LimitScope::User, LimitScope::Group(own)] {
        counting.push(add(stores, scope, SMALL).await);
        add(stores, scope, disabled).await;
    }
    add(stores, LimitScope::Group(other), SMALL).await;
    assert_eq!(stores.token_limits.limits_for(ann).await.unwrap(), counting);
}

/// Programs are bound by what binds everybody.
pub async fn limits_of_users_and_groups_are_for_people(stores: &Stores) {
    let robot = stores.new_user("robot@example.com", Role::Basic);
    let robot = NewUser { kind: AccountKind::Service, ..robot };
    let id = robot.id;
    assert!(stores.users.insert(robot).await.unwrap());
    let group = stores.group("g", &[id]).await;
    let global = add(stores, LimitScope::Global, SMALL).await;
    add(stores, LimitScope::User, SMALL).await;
    add(stores, LimitScope::Group(group), SMALL).await;
    assert_eq!(stores.token_limits.limits_for(id).await.unwrap(), [global]);
}

/// Alone, with the members of a group of now, and with everybody.
pub async fn usage_is_summed_by_whoever_used_it(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let eve = stores.user("eve@example.com").await;
    let group = stores.group("g", &[ann, bob]).await;
    for (user, tokens) in [(ann, 1), (bob, 10), (eve, 100), (ann, 1000)] {
        stores.token_limits.add_usage(user, tokens, minutes(5)).await.unwrap();
    }
    let since = minutes(0);
    assert_eq!(used(stores, UsageOf::User(ann), since).await, 1001);
    assert_eq!(used(stores, UsageOf::Group(group), since).await, 1011);
    assert_eq!(used(stores, UsageOf::Everybody, since).await, 1111);
    stores.members(group, &[eve]).await;
    assert_eq!(used(stores, UsageOf::Group(group), since).await, 100);
    let nobody = UserId(uuid::Uuid::from_u128(7));
    assert_eq!(used(stores, UsageOf::User(nobody), since).await, 0);
}

/// Minute by minute.
pub async fn usage_counts_from_its_minute_on(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    for (user, seconds, tokens) in [(ann, 0, 1), (ann, 59, 2), (bob, 61, 4), (ann, 62, 8)] {
        let at = start_of_time() + TimeDelta::seconds(seconds);
        stores.token_limits.add_usage(user, tokens, at).await.unwrap();
    }
    let everybody = UsageOf::Everybody;
    let all = stores.token_limits.usage_since(everybody, minutes(0)).await.unwrap();
    assert_eq!(all, [(minutes(0), 3), (minutes(1), 12)]);
    let half = minutes(0) + TimeDelta::seconds(30);
    assert_eq!(used(stores, everybody, half).await, 15, "the whole minute counts");
    assert_eq!(used(stores, everybody, minutes(1)).await, 12);
    assert_eq!(used(stores, everybody, minutes(2)).await, 0);
}

/// What nobody counts any more is forgotten.
pub async fn usage_outlasts_its_user_and_not_the_longest_period(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    stores.token_limits.add_usage(ann, 7, minutes(0)).await.unwrap();
    assert!(stores.set_active(ann, false, minutes(1)).await.unwrap());
    let removed = stores.users.remove(ann, minutes(2), new_job("sync", "sync")).await.unwrap();
    assert_eq!(removed, UserChange::Done);
    assert_eq!(used(stores, UsageOf::Everybody, minutes(0)).await, 7);
    let year = TimeDelta::hours(i64::from(TokenAllowance::HOURS_MAX));
    stores.token_limits.add_usage(bob, 1, minutes(0) + year).await.unwrap();
    assert_eq!(used(stores, UsageOf::Everybody, minutes(0)).await, 8);
    stores.token_limits.add_usage(bob, 1, minutes(120) + year).await.unwrap();
    assert_eq!(used(stores, UsageOf::Everybody, minutes(0)).await, 2);
}
