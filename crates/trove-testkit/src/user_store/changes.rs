//! What is changed of users.

use futures::future::join_all;
use trove_domain::access::Role;
use trove_domain::id::UserId;
use trove_domain::job::NewJob;
use trove_domain::port::{Seats, UserChange};
use trove_domain::preferences::{Profile, ProfileChange};
use trove_domain::search_history::RecordedSearch;
use trove_domain::user::{AccountKind, PasswordHash};

use crate::session_store::{begin, holder};
use crate::stores::{Stores, at, caller, new_job, new_set, token_hash};

/// The job that follows a removal.
fn job() -> NewJob {
    new_job("sync", "sync")
}

async fn role(stores: &Stores, id: UserId) -> Role {
    stores.users.get(id).await.unwrap().unwrap().role
}

async fn is_active(stores: &Stores, id: UserId) -> bool {
    stores.users.get(id).await.unwrap().unwrap().active
}

/// The kind reads back.
pub async fn a_service_account_is_told_apart(stores: &Stores) {
    let mut robot = stores.new_user("robot@example.com", Role::Basic);
    robot.kind = AccountKind::Service;
    let id = robot.id;
    assert!(stores.users.insert(robot).await.unwrap());
    assert_eq!(stores.users.get(id).await.unwrap().unwrap().kind, AccountKind::Service);
}

/// The change is dated; what is no change is not.
pub async fn a_user_is_kept_out_and_let_in(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    for (active, now, dated) in
        [(false, at(1), at(1)), (false, at(2), at(1)), (true, at(3), at(3)), (true, at(4), at(3))]
    {
        assert!(stores.set_active(ann, active, now).await.unwrap());
        let user = stores.users.get(ann).await.unwrap().unwrap();
        assert_eq!((user.active, user.created_at, user.updated_at), (active, at(0), dated));
    }
    let user = stores.users.get(bob).await.unwrap().unwrap();
    assert_eq!((user.active, user.updated_at), (true, at(0)));
}

/// Absence is an answer.
pub async fn an_unknown_user_does_not_change(stores: &Stores) {
    let (users, nobody) = (&stores.users, stores.new_user("", Role::Basic).id);
    assert_eq!(users.activate(nobody, None, at(1)).await.unwrap(), UserChange::NoSuchUser);
    assert_eq!(users.deactivate(nobody, at(1)).await.unwrap(), UserChange::NoSuchUser);
    let role = users.set_role(nobody, Role::Basic, Role::Admin, at(1)).await.unwrap();
    assert_eq!(role, UserChange::NoSuchUser);
    assert_eq!(users.remove(nobody, at(1), job()).await.unwrap(), UserChange::NoSuchUser);
    assert!(!users.set_password(nobody, PasswordHash::new("x"), None, at(1)).await.unwrap());
    assert_eq!(users.password(nobody).await.unwrap(), None);
}

/// Only people who are let in take seats, and who is in already needs none.
pub async fn letting_in_needs_a_seat(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    stores.user_with("bot@example.com", Role::SlackUser).await;
    stores.user_with("ext@example.com", Role::ExtPermUser).await;
    let mut robot = stores.new_user("robot@example.com", Role::Basic);
    robot.kind = AccountKind::Service;
    assert!(stores.users.insert(robot).await.unwrap());
    assert!(stores.set_active(bob, false, at(1)).await.unwrap());
    let seats = |total| stores.users.activate(bob, Some(total), at(2));
    let none = UserChange::NoSeat(Seats { used: 2, total: 2 });
    assert_eq!(seats(2).await.unwrap(), none);
    assert!(!is_active(stores, bob).await);
    let again = stores.users.activate(ann, Some(0), at(2)).await.unwrap();
    assert_eq!(again, UserChange::Done);
    assert_eq!(seats(3).await.unwrap(), UserChange::Done);
    assert!(is_active(stores, bob).await);
}

/// Of two changes from one role, the second is told that it comes late.
pub async fn a_role_changes_from_what_it_was(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let change = |from, to| stores.users.set_role(ann, from, to, at(1));
    assert_eq!(change(Role::Basic, Role::GlobalCurator).await.unwrap(), UserChange::Done);
    assert_eq!(change(Role::Basic, Role::Limited).await.unwrap(), UserChange::Stale);
    let user = stores.users.get(ann).await.unwrap().unwrap();
    assert_eq!((user.role, user.updated_at), (Role::GlobalCurator, at(1)));
}

/// What somebody curated before is forgotten, and the membership stays.
pub async fn a_new_curator_curates_nothing_yet(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let group = stores.group("g", &[]).await;
    assert!(stores.groups.set_members(group, &[(ann, true)]).await.unwrap());
    let change = |from, to| stores.users.set_role(ann, from, to, at(1));
    assert_eq!(change(Role::Basic, Role::GlobalCurator).await.unwrap(), UserChange::Done);
    assert!(stores.groups.memberships(ann).await.unwrap()[0].curator);
    assert_eq!(change(Role::GlobalCurator, Role::Curator).await.unwrap(), UserChange::Done);
    let memberships = stores.groups.memberships(ann).await.unwrap();
    assert_eq!((memberships.len(), memberships[0].curator), (1, false));
}

/// Neither another role nor keeping out takes it away.
pub async fn the_last_active_admin_stays(stores: &Stores) {
    let root = stores.user_with("root@example.com", Role::Admin).await;
    let other = stores.user_with("other@example.com", Role::Admin).await;
    assert!(stores.set_active(other, false, at(1)).await.unwrap());
    let step_down = || stores.users.set_role(root, Role::Admin, Role::Basic, at(2));
    assert_eq!(step_down().await.unwrap(), UserChange::LastAdmin);
    assert_eq!(stores.users.deactivate(root, at(2)).await.unwrap(), UserChange::LastAdmin);
    assert_eq!((role(stores, root).await, is_active(stores, root).await), (Role::Admin, true));
    // Who is kept out may lose the role.
    let change = stores.users.set_role(other, Role::Admin, Role::Basic, at(2)).await.unwrap();
    assert_eq!(change, UserChange::Done);
    assert!(stores.set_active(other, true, at(3)).await.unwrap());
    let change = stores.users.set_role(other, Role::Basic, Role::Admin, at(3)).await.unwrap();
    assert_eq!(change, UserChange::Done);
    assert_eq!(step_down().await.unwrap(), UserChange::Done);
}

/// Whatever each of them saw before.
pub async fn of_admins_who_remove_each_other_one_stays(stores: &Stores) {
    let mut admins = Vec::new();
    for n in 0..6 {
        admins.push(stores.user_with(&format!("admin{n}@example.com"), Role::Admin).await);
    }
    let changes = admins.iter().enumerate().map(|(n, admin)| async move {
        if n % 2 == 0 {
            stores.users.deactivate(*admin, at(1)).await.unwrap()
        } else {
            stores.users.set_role(*admin, Role::Admin, Role::Basic, at(1)).await.unwrap()
        }
    });
    let mut outcomes = join_all(changes).await;
    outcomes.retain(|outcome| *outcome != UserChange::Done);
    assert_eq!(outcomes, [UserChange::LastAdmin]);
}

/// Whoever knew the old password is out.
pub async fn a_password_is_kept_and_ends_other_sessions(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    assert_eq!(stores.users.password(ann).await.unwrap(), None);
    assert!(!stores.users.any_password().await.unwrap());
    let kept = begin(stores, ann, 1).await;
    begin(stores, ann, 2).await;
    begin(stores, bob, 3).await;
    let hash = PasswordHash::new("$argon2id$v=19$x");
    let keep = Some(kept.id);
    assert!(stores.users.set_password(ann, hash.clone(), keep, at(5)).await.unwrap());
    assert_eq!(stores.users.password(ann).await.unwrap(), Some(hash.clone()));
    assert!(stores.users.any_password().await.unwrap());
    let user = stores.users.get(ann).await.unwrap().unwrap();
    assert_eq!((user.has_password, user.updated_at), (true, at(5)));
    let live = |byte| holder(stores, byte, at(6));
    assert_eq!(live(1).await.map(|holder| holder.user.id), Some(ann));
    assert_eq!(live(2).await, None);
    assert!(live(3).await.is_some());
    assert!(stores.users.set_password(ann, hash, None, at(7)).await.unwrap());
    assert_eq!(live(1).await, None);
}

/// They do not come back with the user; keys do.
pub async fn keeping_out_ends_sessions(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    begin(stores, ann, 1).await;
    stores.key(ann, 2).await;
    assert!(stores.set_active(ann, false, at(1)).await.unwrap());
    assert_eq!(holder(stores, 1, at(2)).await, None);
    assert_eq!(stores.keys.find(&token_hash(2)).await.unwrap(), None);
    assert!(stores.set_active(ann, true, at(2)).await.unwrap());
    assert_eq!(holder(stores, 1, at(2)).await, None);
    assert!(stores.keys.find(&token_hash(2)).await.unwrap().is_some());
}

/// Such a role says that the user does not sign in.
pub async fn a_role_that_does_not_sign_in_ends_sessions(stores: &Stores) {
    for (byte, role) in [(1, Role::SlackUser), (2, Role::ExtPermUser), (3, Role::Basic)] {
        let email = format!("{role}@example.com");
        let user = stores.user_with(&email, Role::GlobalCurator).await;
        begin(stores, user, byte).await;
        let from = Role::GlobalCurator;
        let changed = stores.users.set_role(user, from, role, at(1)).await.unwrap();
        assert_eq!(changed, UserChange::Done);
        let goes_on = holder(stores, byte, at(2)).await.is_some();
        assert_eq!(goes_on, role.signs_in(), "{role}");
    }
}

/// Otherwise lists would show a curator who is none.
pub async fn who_is_no_curator_any_more_curates_no_group(stores: &Stores) {
    let ann = stores.user_with("ann@example.com", Role::Curator).await;
    let group = stores.group("g", &[]).await;
    assert!(stores.groups.set_members(group, &[(ann, true)]).await.unwrap());
    let changed = stores.users.set_role(ann, Role::Curator, Role::Basic, at(1)).await.unwrap();
    assert_eq!(changed, UserChange::Done);
    let memberships = stores.groups.memberships(ann).await.unwrap();
    assert_eq!(
        memberships.iter().map(|m| (m.group, m.curator)).collect::<Vec<_>>(),
        [(group, false)]
    );
}

/// Nothing is removed by a slip.
pub async fn only_who_is_kept_out_is_removed(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let remove = || stores.users.remove(ann, at(1), job());
    assert_eq!(remove().await.unwrap(), UserChange::Stale);
    assert!(stores.users.get(ann).await.unwrap().is_some());
    assert!(stores.set_active(ann, false, at(1)).await.unwrap());
    assert_eq!(remove().await.unwrap(), UserChange::Done);
    assert_eq!(stores.users.get(ann).await.unwrap(), None);
    assert_eq!(remove().await.unwrap(), UserChange::NoSuchUser);
}

/// Also the invitation: who was removed does not come back with it.
pub async fn removing_takes_what_is_the_users_own(stores: &Stores) {
    let ann = stores.user("Ann@example.com").await;
    let group = stores.group("g", &[ann]).await;
    stores.key(ann, 1).await;
    let query = RecordedSearch { query: "x".to_owned(), expansions: Vec::new(), created_at: at(0) };
    stores.searches.record(ann, query).await.unwrap();
    assert!(stores.profiles.change(ann, ProfileChange::AutoScroll(true), at(0)).await.unwrap());
    crate::invitation_store::invite(stores, &["ann@example.com", "bob@example.com"]).await;
    assert!(stores.set_active(ann, false, at(1)).await.unwrap());
    assert_eq!(stores.users.remove(ann, at(1), job()).await.unwrap(), UserChange::Done);
    assert_eq!(stores.keys.find(&token_hash(1)).await.unwrap(), None);
    assert_eq!(stores.keys.list(None, 10).await.unwrap(), []);
    assert_eq!(stores.searches.list(ann, 10, None).await.unwrap(), []);
    assert_eq!(stores.profiles.get(ann).await.unwrap(), Profile::default());
    assert_eq!(stores.groups.memberships(ann).await.unwrap(), []);
    assert!(stores.groups.set_members(group, &[]).await.unwrap());
    assert_eq!(crate::invitation_store::open(stores).await, ["bob@example.com"]);
    // Nothing of it is needed to come back.
    let back = stores.user("ann@example.com").await;
    assert_ne!(back, ann);
    assert_eq!(stores.searches.list(back, 10, None).await.unwrap(), []);
}

/// Administrators see them, and find no owner.
pub async fn removing_leaves_what_others_use(stores: &Stores) {
    let admin = stores.user_with("root@example.com", Role::Admin).await;
    let admin = caller(admin, "root@example.com", Role::Admin);
    let ann = stores.user_with("ann@example.com", Role::Curator).await;
    let as_ann = caller(ann, "ann@example.com", Role::Curator);
    let set = stores.sets.insert(new_set("s", &[]), Some(ann), at(0), job()).await.unwrap();
    let agent = crate::agent_store::insert_named(stores, &as_ann, "a").await;
    assert!(stores.set_active(ann, false, at(1)).await.unwrap());
    assert_eq!(stores.users.remove(ann, at(1), job()).await.unwrap(), UserChange::Done);
    let agent = stores.agents.find(&admin, agent, false).await.unwrap().unwrap();
    assert_eq!(agent.agent.owner, None);
    assert!(matches!(set, trove_domain::port::SetChange::Done(_)), "{set:?}");
    let sets = stores.sets.list(&admin, trove_domain::port::Reach::Visible, None, 10);
    assert_eq!(sets.await.unwrap().items.len(), 1);
}
