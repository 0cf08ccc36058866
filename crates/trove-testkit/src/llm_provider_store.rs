//! What every [`LlmProviderStore`](trove_domain::port::LlmProviderStore) does.

use std::collections::BTreeMap;

use futures::future::join_all;
use trove_domain::access::Role;
use trove_domain::id::{AgentId, GroupId, LlmProviderId};
use trove_domain::llm_provider::{
    LlmProvider, LlmProviderDetails, ModelConfiguration, ModelPurpose,
};
use trove_domain::port::{DefaultRefusal, NewLlmProvider, ProviderRefusal, ProviderRemoval};
use trove_domain::secret::{SealedSecret, SecretKeyId};
use uuid::Uuid;

use crate::stores::{Stores, at};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! llm_provider_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            llm_provider_store,
            $start,
            [
                a_provider_is_stored_as_given,
                a_provider_of_nothing_but_a_name_is_stored,
                a_taken_name_is_refused_whole,
                of_concurrent_providers_with_one_name_one_is_inserted,
                a_name_is_compared_exactly,
                a_group_that_does_not_exist_refuses_the_whole,
                there_is_a_most_of_providers,
                a_provider_is_replaced_whole,
                only_the_present_revision_is_replaced,
                of_concurrent_replacements_one_is_made,
                a_replacement_keeps_its_own_name_and_takes_no_other,
                what_is_not_there_is_not_found,
                the_first_provider_is_no_default,
                a_default_takes_the_place_of_another,
                a_default_needs_a_model_of_the_provider,
                a_default_model_becomes_visible,
                each_purpose_has_a_default_of_its_own,
                a_default_outlasts_a_replacement,
                a_default_is_removed_by_force_only,
                a_removed_provider_leaves_nothing_and_its_id_is_not_given_again,
                providers_are_listed_by_rising_id,
                who_may_use_a_provider_finds_it,
                leaving_a_group_takes_effect_at_once,
            ]
        );
    };
}

fn sealed(body: &str) -> SealedSecret {
    SealedSecret::new(SecretKeyId::new("0123456789abcdef").unwrap(), body.to_owned())
}

/// A public provider with one model, `m`, for text.
#[must_use]
pub fn details(name: &str) -> LlmProviderDetails {
    LlmProviderDetails {
        name: name.to_owned(),
        kind: "openai".to_owned(),
        api_base: None,
        api_version: None,
        deployment: None,
        api_key: None,
        custom_config: None,
        default_models: [(ModelPurpose::Text, "m".to_owned())].into(),
        public: true,
        auto_mode: false,
        groups: [].into(),
        agents: [].into(),
        models: vec![ModelConfiguration::new("m".to_owned())],
    }
}

fn full(name: &str, groups: &[GroupId]) -> LlmProviderDetails {
    LlmProviderDetails {
        api_base: Some("http://127.0.0.1:11434/v1".to_owned()),
        api_version: Some("2026-01-01".to_owned()),
        deployment: Some("d".to_owned()),
        api_key: Some(sealed("k.e/y+")),
        custom_config: Some(sealed("config")),
        default_models: ModelPurpose::ALL.map(|purpose| (purpose, "b".to_owned())).into(),
        public: false,
        auto_mode: true,
        groups: groups.iter().copied().collect(),
        agents: [AgentId(0), AgentId(-3), AgentId(i32::MAX)].into(),
        models: vec![
            ModelConfiguration {
                name: "z \"модель\" 100%".to_owned(),
                visible: false,
                input_tokens_max: Some(128_000),
                images: Some(false),
                display_name: Some("O'Hara".to_owned()),
            },
            ModelConfiguration::new("b".to_owned()),
            ModelConfiguration { images: Some(true), ..ModelConfiguration::new("a".to_owned()) },
        ],
        ..details(name)
    }
}

fn new(stores: &Stores, details: LlmProviderDetails) -> NewLlmProvider {
    let uuid = Uuid::from_u64_pair(0x0191_0000_0000_7000, stores.next());
    NewLlmProvider { uuid, details, created_at: at(0) }
}

async fn try_insert(
    stores: &Stores,
    details: LlmProviderDetails,
) -> Result<LlmProvider, ProviderRefusal> {
    stores.providers.insert(new(stores, details)).await.unwrap()
}

async fn insert(stores: &Stores, details: LlmProviderDetails) -> LlmProvider {
    try_insert(stores, details).await.unwrap()
}

async fn replace(
    stores: &Stores,
    old: &LlmProvider,
    details: LlmProviderDetails,
) -> Result<LlmProvider, ProviderRefusal> {
    stores.providers.replace(old.id, old.revision, details, at(1)).await.unwrap()
}

async fn set_default(
    stores: &Stores,
    purpose: ModelPurpose,
    provider: &LlmProvider,
    model: Option<&str>,
) -> Result<(), DefaultRefusal> {
    stores.providers.set_default(purpose, provider.id, model, at(2)).await.unwrap()
}

async fn default_name(stores: &Stores, purpose: ModelPurpose) -> Option<String> {
    let default = stores.providers.get_default(purpose).await.unwrap();
    default.map(|provider| provider.details.name)
}

/// Every field, and the models in their order.
pub async fn a_provider_is_stored_as_given(stores: &Stores) {
    let groups = [stores.group("a", &[]).await, stores.group("b", &[]).await];
    let new = new(stores, full("Провайдер O'Hara", &groups));
    let inserted = stores.providers.insert(new.clone()).await.unwrap().unwrap();
    assert_eq!((inserted.uuid, &inserted.details), (new.uuid, &new.details));
    assert!(inserted.default_for.is_empty());
    let get = stores.providers.get(inserted.id).await.unwrap();
    assert_eq!(get.as_ref(), Some(&inserted));
    let by_name = stores.providers.get_by_name(&new.details.name).await.unwrap();
    assert_eq!(by_name.as_ref(), Some(&inserted));
    assert_eq!(stores.providers.list().await.unwrap(), [inserted]);
}

/// Absence is kept as such.
pub async fn a_provider_of_nothing_but_a_name_is_stored(stores: &Stores) {
    let bare =
        LlmProviderDetails { default_models: BTreeMap::new(), models: vec![], ..details("bare") };
    let inserted = insert(stores, bare.clone()).await;
    assert_eq!(stores.providers.get(inserted.id).await.unwrap().unwrap().details, bare);
}

/// The first provider stays, and nothing of the second is kept.
pub async fn a_taken_name_is_refused_whole(stores: &Stores) {
    let first = insert(stores, details("p")).await;
    let second = try_insert(stores, full("p", &[])).await;
    assert_eq!(second, Err(ProviderRefusal::NameTaken));
    assert_eq!(stores.providers.list().await.unwrap(), [first]);
}

/// Administrators may have the same idea.
pub async fn of_concurrent_providers_with_one_name_one_is_inserted(stores: &Stores) {
    let inserted = join_all((0..8).map(|_| try_insert(stores, details("p")))).await;
    assert_eq!(inserted.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(stores.providers.list().await.unwrap().len(), 1);
}

/// Letter case, spaces and patterns count, and nothing is found by a name that cannot be.
pub async fn a_name_is_compared_exactly(stores: &Stores) {
    for name in ["Open AI", "open ai", "Open AI ", "Open_AI", "Open%"] {
        insert(stores, details(name)).await;
        let found = stores.providers.get_by_name(name).await.unwrap().unwrap();
        assert_eq!(found.details.name, name);
    }
    for name in ["OPEN AI", "Open", "", "Open AI\0", "\0"] {
        assert_eq!(stores.providers.get_by_name(name).await.unwrap(), None, "{name:?}");
    }
}

/// Neither a new provider nor a changed one.
pub async fn a_group_that_does_not_exist_refuses_the_whole(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    let with = |groups: &[GroupId]| full("p", groups);
    let refused = try_insert(stores, with(&[group, GroupId(4711)])).await;
    assert_eq!(refused, Err(ProviderRefusal::NoSuchGroup));
    assert_eq!(stores.providers.list().await.unwrap(), []);
    let inserted = insert(stores, with(&[group])).await;
    let refused = replace(stores, &inserted, with(&[GroupId(4711)])).await;
    assert_eq!(refused, Err(ProviderRefusal::NoSuchGroup));
    assert_eq!(stores.providers.list().await.unwrap(), [inserted]);
}

/// So that listing them has a bound.
pub async fn there_is_a_most_of_providers(stores: &Stores) {
    for n in 0..LlmProvider::COUNT_MAX {
        insert(stores, details(&format!("p{n}"))).await;
    }
    assert_eq!(try_insert(stores, details("more")).await, Err(ProviderRefusal::Full));
    assert_eq!(stores.providers.list().await.unwrap().len(), LlmProvider::COUNT_MAX);
}

/// Nothing of what it was is left, and it keeps id and uuid.
pub async fn a_provider_is_replaced_whole(stores: &Stores) {
    let groups = [stores.group("a", &[]).await, stores.group("b", &[]).await];
    let old = insert(stores, full("old", &groups)).await;
    for wanted in [details("new"), full("newer", &groups[1..])] {
        let present = stores.providers.get(old.id).await.unwrap().unwrap();
        let replaced = replace(stores, &present, wanted.clone()).await.unwrap();
        assert_eq!((replaced.id, replaced.uuid), (old.id, old.uuid));
        assert!(replaced.revision > present.revision);
        assert_eq!(replaced.details, wanted);
        assert_eq!(stores.providers.get(old.id).await.unwrap(), Some(replaced));
    }
    assert_eq!(stores.providers.get_by_name("old").await.unwrap(), None);
}

/// Who works with an older state, or a provider that is gone, changes nothing.
pub async fn only_the_present_revision_is_replaced(stores: &Stores) {
    let old = insert(stores, details("p")).await;
    let present = replace(stores, &old, details("q")).await.unwrap();
    assert_eq!(replace(stores, &old, details("r")).await, Err(ProviderRefusal::Superseded));
    assert_eq!(stores.providers.list().await.unwrap(), std::slice::from_ref(&present));
    stores.providers.remove(old.id, false).await.unwrap();
    assert_eq!(replace(stores, &present, details("r")).await, Err(ProviderRefusal::Superseded));
    assert_eq!(stores.providers.list().await.unwrap(), []);
}

/// All but the first are told that they came late.
pub async fn of_concurrent_replacements_one_is_made(stores: &Stores) {
    let old = insert(stores, details("p")).await;
    let names: Vec<String> = (0..8).map(|n| format!("p{n}")).collect();
    let replaced = join_all(names.iter().map(|name| replace(stores, &old, details(name)))).await;
    let made: Vec<_> = replaced.into_iter().filter_map(Result::ok).collect();
    assert_eq!(made.len(), 1);
    assert_eq!(stores.providers.list().await.unwrap(), made);
}

/// Two providers never share a name.
pub async fn a_replacement_keeps_its_own_name_and_takes_no_other(stores: &Stores) {
    insert(stores, details("taken")).await;
    let old = insert(stores, details("p")).await;
    let refused = replace(stores, &old, details("taken")).await;
    assert_eq!(refused, Err(ProviderRefusal::NameTaken));
    replace(stores, &old, details("p")).await.unwrap();
}

/// Absence is an answer.
pub async fn what_is_not_there_is_not_found(stores: &Stores) {
    let id = LlmProviderId(4711);
    assert_eq!(stores.providers.get(id).await.unwrap(), None);
    assert_eq!(stores.providers.remove(id, true).await.unwrap(), ProviderRemoval::Missing);
    for model in [None, Some("m")] {
        let set = stores.providers.set_default(ModelPurpose::Text, id, model, at(1)).await;
        assert_eq!(set.unwrap(), Err(DefaultRefusal::NoSuchProvider));
    }
    assert_eq!(stores.providers.list().await.unwrap(), []);
}

/// An administrator says so, or nobody.
pub async fn the_first_provider_is_no_default(stores: &Stores) {
    insert(stores, details("p")).await;
    for purpose in ModelPurpose::ALL {
        assert_eq!(default_name(stores, purpose).await, None);
    }
}

/// There is one at a time, and it knows.
pub async fn a_default_takes_the_place_of_another(stores: &Stores) {
    let p = insert(stores, details("p")).await;
    let q = insert(stores, details("q")).await;
    for provider in [&p, &q, &q, &p] {
        set_default(stores, ModelPurpose::Text, provider, None).await.unwrap();
        let name = default_name(stores, ModelPurpose::Text).await;
        assert_eq!(name.as_ref(), Some(&provider.details.name));
    }
    let listed = stores.providers.list().await.unwrap();
    assert_eq!(listed[0].default_for, [ModelPurpose::Text].into());
    assert!(listed[1].default_for.is_empty());
}

/// One it lists, or the one it has for the purpose.
pub async fn a_default_needs_a_model_of_the_provider(stores: &Stores) {
    let p = insert(stores, details("p")).await;
    let no_model = Err(DefaultRefusal::NoSuchModel);
    assert_eq!(set_default(stores, ModelPurpose::Vision, &p, None).await, no_model);
    assert_eq!(set_default(stores, ModelPurpose::Text, &p, Some("M")).await, no_model);
    assert_eq!(default_name(stores, ModelPurpose::Text).await, None);
    set_default(stores, ModelPurpose::Vision, &p, Some("m")).await.unwrap();
    let p = stores.providers.get_default(ModelPurpose::Vision).await.unwrap().unwrap();
    assert_eq!(p.details.default_models[&ModelPurpose::Vision], "m");
}

/// Nobody is to be offered anything but the default.
pub async fn a_default_model_becomes_visible(stores: &Stores) {
    let p = insert(stores, full("p", &[])).await;
    let hidden = p.details.models[0].name.clone();
    set_default(stores, ModelPurpose::Text, &p, Some(&hidden)).await.unwrap();
    let default = stores.providers.get_default(ModelPurpose::Text).await.unwrap().unwrap();
    assert!(default.details.models[0].visible);
    assert!(default.revision > p.revision);
    let mut expected = p.details.clone();
    expected.models[0].visible = true;
    expected.default_models.insert(ModelPurpose::Text, hidden);
    assert_eq!(default.details, expected);
}

/// They do not disturb each other.
pub async fn each_purpose_has_a_default_of_its_own(stores: &Stores) {
    let p = insert(stores, details("p")).await;
    let q = insert(stores, details("q")).await;
    set_default(stores, ModelPurpose::Text, &p, Some("m")).await.unwrap();
    set_default(stores, ModelPurpose::Vision, &q, Some("m")).await.unwrap();
    set_default(stores, ModelPurpose::ChatNaming, &q, Some("m")).await.unwrap();
    let mut names = Vec::new();
    for purpose in ModelPurpose::ALL {
        names.push(default_name(stores, purpose).await.unwrap());
    }
    assert_eq!(names, ["p", "q", "q"]);
}

/// Changing a provider is not taking it away.
pub async fn a_default_outlasts_a_replacement(stores: &Stores) {
    let p = insert(stores, details("p")).await;
    set_default(stores, ModelPurpose::Text, &p, None).await.unwrap();
    let p = stores.providers.get(p.id).await.unwrap().unwrap();
    let replaced = replace(stores, &p, details("q")).await.unwrap();
    assert_eq!(replaced.default_for, [ModelPurpose::Text].into());
    assert_eq!(default_name(stores, ModelPurpose::Text).await.as_deref(), Some("q"));
}

/// Whatever it is the default for.
pub async fn a_default_is_removed_by_force_only(stores: &Stores) {
    let other = insert(stores, details("other")).await;
    for purpose in ModelPurpose::ALL {
        let p = insert(stores, details("p")).await;
        set_default(stores, purpose, &p, Some("m")).await.unwrap();
        let remove = async |force| stores.providers.remove(p.id, force).await.unwrap();
        assert_eq!(remove(false).await, ProviderRemoval::IsDefault, "{purpose:?}");
        assert_eq!(default_name(stores, purpose).await.as_deref(), Some("p"));
        assert_eq!(remove(true).await, ProviderRemoval::Removed);
        assert_eq!(default_name(stores, purpose).await, None);
        assert_eq!(remove(true).await, ProviderRemoval::Missing);
    }
    let removed = stores.providers.remove(other.id, false).await.unwrap();
    assert_eq!(removed, ProviderRemoval::Removed);
}

/// Whoever remembers the id finds nothing, instead of something else.
pub async fn a_removed_provider_leaves_nothing_and_its_id_is_not_given_again(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    let p = insert(stores, full("p", &[group])).await;
    let removed = stores.providers.remove(p.id, false).await.unwrap();
    assert_eq!(removed, ProviderRemoval::Removed);
    let again = insert(stores, details("p")).await;
    assert!(again.id > p.id);
    assert_eq!(again.details, details("p"));
}

/// Whatever their names are.
pub async fn providers_are_listed_by_rising_id(stores: &Stores) {
    for name in ["c", "a", "b"] {
        insert(stores, details(name)).await;
    }
    let listed = stores.providers.list().await.unwrap();
    assert!(listed.is_sorted_by_key(|provider| provider.id));
    let names: Vec<&str> = listed.iter().map(|p| p.details.name.as_str()).collect();
    assert_eq!(names, ["c", "a", "b"]);
}

/// The rule has a table of its own; here is whether it is asked, and with what.
pub async fn who_may_use_a_provider_finds_it(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let group = stores.group("g", &[ann]).await;
    let bound = |name: &str, public, agents: &[i32], groups: &[GroupId]| LlmProviderDetails {
        public,
        agents: agents.iter().copied().map(AgentId).collect(),
        groups: groups.iter().copied().collect(),
        ..details(name)
    };
    for provider in [
        bound("public", true, &[], &[group]),
        bound("agent", true, &[5], &[]),
        bound("group", false, &[], &[group]),
        bound("both", false, &[5], &[group]),
        bound("admin", false, &[], &[]),
    ] {
        insert(stores, provider).await;
    }
    let usable = async |user, role, agent: Option<i32>| {
        let list = stores.providers.list_usable(user, role, agent.map(AgentId)).await.unwrap();
        list.into_iter().map(|p| p.details.name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(usable(ann, Role::Basic, None).await, "public group");
    assert_eq!(usable(ann, Role::Basic, Some(5)).await, "public agent group both");
    assert_eq!(usable(bob, Role::Basic, None).await, "public");
    assert_eq!(usable(bob, Role::Basic, Some(5)).await, "public agent");
    assert_eq!(usable(bob, Role::Admin, None).await, "public group admin");
    assert_eq!(usable(bob, Role::Admin, Some(5)).await, "public agent group both admin");
    assert_eq!(usable(bob, Role::Basic, Some(6)).await, "public");
}

/// No cache answers for it.
pub async fn leaving_a_group_takes_effect_at_once(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let group = stores.group("g", &[ann]).await;
    let bound = LlmProviderDetails { public: false, groups: [group].into(), ..details("p") };
    insert(stores, bound).await;
    let usable = async || stores.providers.list_usable(ann, Role::Basic, None).await.unwrap().len();
    assert_eq!(usable().await, 1);
    stores.members(group, &[]).await;
    assert_eq!(usable().await, 0);
}
