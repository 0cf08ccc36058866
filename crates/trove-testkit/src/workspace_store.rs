//! What every [`WorkspaceStore`](trove_domain::port::WorkspaceStore) does.

use futures::future::join_all;
use trove_domain::workspace::{QueryHistory, SettingsChange, WorkspaceSettings};

use crate::stores::Stores;

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! workspace_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            workspace_store,
            $start,
            [
                nobody_has_decided_anything_first,
                every_setting_reads_back,
                a_replacement_leaves_nothing_as_it_was,
                no_change_of_settings_undoes_another,
            ]
        );
    };
}

async fn read(stores: &Stores) -> WorkspaceSettings {
    stores.workspace.workspace_settings().await.unwrap()
}

async fn change(stores: &Stores, change: impl Into<SettingsChange>) -> WorkspaceSettings {
    stores.workspace.change_workspace_settings(change.into()).await.unwrap()
}

/// Every field is another than the default one.
fn others() -> WorkspaceSettings {
    WorkspaceSettings {
        anonymous_access: true,
        invited_only: true,
        company_name: Some("Example \u{1f332} \"x\"".to_owned()),
        company_description: Some(String::new()),
        temperature_override: Some(true),
        auto_scroll: Some(false),
        query_history: Some(QueryHistory::Anonymized),
        image_megabytes_max: None,
        extra_connectors: None,
        hide_builtin_agent: Some(true),
    }
}

/// The defaults hold.
pub async fn nobody_has_decided_anything_first(stores: &Stores) {
    assert_eq!(read(stores).await, WorkspaceSettings::default());
}

/// One change after another; the answer is what is stored.
pub async fn every_setting_reads_back(stores: &Stores) {
    let none = SettingsChange::default;
    let all = SettingsChange::from(others());
    let changes = [
        SettingsChange { anonymous_access: all.anonymous_access, ..none() },
        SettingsChange { invited_only: all.invited_only, ..none() },
        SettingsChange { company_name: all.company_name, ..none() },
        SettingsChange { company_description: all.company_description, ..none() },
        SettingsChange { temperature_override: all.temperature_override, ..none() },
        SettingsChange { auto_scroll: all.auto_scroll, ..none() },
        SettingsChange { query_history: all.query_history, ..none() },
        SettingsChange { image_megabytes_max: all.image_megabytes_max, ..none() },
        SettingsChange { extra_connectors: all.extra_connectors, ..none() },
        SettingsChange { hide_builtin_agent: all.hide_builtin_agent, ..none() },
        none(),
    ];
    let mut expected = WorkspaceSettings::default();
    for step in changes {
        expected = expected.after(step.clone());
        assert_eq!(change(stores, step).await, expected);
        assert_eq!(read(stores).await, expected);
    }
    assert_eq!(expected, others());
}

/// Nothing of the old ones is left.
pub async fn a_replacement_leaves_nothing_as_it_was(stores: &Stores) {
    change(stores, others()).await;
    assert_eq!(read(stores).await, others());
    let plain = WorkspaceSettings::default();
    assert_eq!(change(stores, plain.clone()).await, plain);
    assert_eq!(read(stores).await, plain);
}

/// However many are made at the same time, the first ones of all among them.
pub async fn no_change_of_settings_undoes_another(stores: &Stores) {
    let none = SettingsChange::default;
    let changes = [
        SettingsChange { anonymous_access: Some(true), ..none() },
        SettingsChange { invited_only: Some(true), ..none() },
        SettingsChange { auto_scroll: Some(Some(true)), ..none() },
        SettingsChange { temperature_override: Some(Some(true)), ..none() },
        SettingsChange { hide_builtin_agent: Some(Some(true)), ..none() },
        SettingsChange { query_history: Some(Some(QueryHistory::Normal)), ..none() },
    ];
    let expected =
        changes.iter().cloned().fold(WorkspaceSettings::default(), WorkspaceSettings::after);
    let changes =
        changes.into_iter().map(|change| stores.workspace.change_workspace_settings(change));
    for changed in join_all(changes).await {
        changed.unwrap();
    }
    assert_eq!(read(stores).await, expected);
}
