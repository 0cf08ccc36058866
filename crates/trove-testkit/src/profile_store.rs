//! What every [`ProfileStore`](trove_domain::port::ProfileStore) does.

use futures::future::join_all;
use trove_domain::access::Role;
use trove_domain::preferences::{
    AppMode, MemoryDraft, PersonalizationChange, Profile, ProfileChange, Theme,
};

use crate::stores::{Stores, at};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! profile_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            profile_store,
            $start,
            [
                a_profile_is_the_default_one_first,
                every_change_reads_back,
                no_change_undoes_another,
                the_name_is_the_users_name,
                nobody_has_no_profile_to_change,
            ]
        );
    };
}

fn named(name: &str) -> ProfileChange {
    let change = PersonalizationChange { name: Some(name.to_owned()), ..Default::default() };
    ProfileChange::Personalization(change)
}

/// Also for whoever is not there.
pub async fn a_profile_is_the_default_one_first(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    assert_eq!(stores.profiles.get(ann).await.unwrap(), Profile::default());
    let nobody = stores.new_user("", Role::Basic).id;
    assert_eq!(stores.profiles.get(nobody).await.unwrap(), Profile::default());
}

/// One after another, and of this user only.
pub async fn every_change_reads_back(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let draft = |content: &str| MemoryDraft { id: None, content: content.to_owned() };
    let changes = [
        ProfileChange::ShowAgent { agent: 3, show: true },
        ProfileChange::ShowAgent { agent: 4, show: false },
        ProfileChange::PinAgents(vec![2, 1]),
        ProfileChange::DefaultModel(Some("m".to_owned())),
        ProfileChange::Shortcuts(false),
        ProfileChange::AutoScroll(true),
        ProfileChange::TemperatureOverride(true),
        ProfileChange::Theme(Theme::Dark),
        ProfileChange::ChatBackground(Some("\u{1f332} \"x\"".to_owned())),
        ProfileChange::AppMode(AppMode::Search),
        ProfileChange::Personalization(PersonalizationChange {
            name: Some("Ann".to_owned()),
            job_title: Some("librarian".to_owned()),
            use_memories: Some(false),
            memory_tool: Some(false),
            memories: Some(vec![draft("a"), draft("b")]),
            wishes: Some("short".to_owned()),
        }),
        ProfileChange::DefaultModel(None),
    ];
    let mut expected = Profile::default();
    for change in changes {
        assert!(stores.profiles.change(ann, change.clone(), at(1)).await.unwrap());
        expected = expected.after(change);
        assert_eq!(stores.profiles.get(ann).await.unwrap(), expected);
    }
    assert_eq!(stores.profiles.get(bob).await.unwrap(), Profile::default());
}

/// However many are made at the same time.
pub async fn no_change_undoes_another(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let changes = (0..10).map(|agent| {
        stores.profiles.change(ann, ProfileChange::ShowAgent { agent, show: true }, at(1))
    });
    for outcome in join_all(changes).await {
        assert!(outcome.unwrap());
    }
    let mut visible = stores.profiles.get(ann).await.unwrap().preferences.visible_agents;
    visible.sort_unstable();
    assert_eq!(visible, (0..10).collect::<Vec<_>>());
}

/// Lists show it, and a name that is taken away is none.
pub async fn the_name_is_the_users_name(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let name = || async { stores.users.get(ann).await.unwrap().unwrap().name };
    assert!(stores.profiles.change(ann, named("Ann"), at(1)).await.unwrap());
    assert_eq!(name().await.as_deref(), Some("Ann"));
    assert!(stores.profiles.change(ann, named(""), at(2)).await.unwrap());
    assert_eq!(name().await, None);
}

/// Absence is an answer.
pub async fn nobody_has_no_profile_to_change(stores: &Stores) {
    let nobody = stores.new_user("", Role::Basic).id;
    assert!(!stores.profiles.change(nobody, named("x"), at(1)).await.unwrap());
}
