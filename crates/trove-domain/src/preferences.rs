//! What users set for themselves.

use std::fmt;
use std::str::FromStr;

/// Most entries of a list of agents. Of longer ones the oldest entries go.
pub const AGENTS_MAX: usize = 1000;

/// Most memories of a user.
pub const MEMORIES_MAX: usize = 10;

/// Everything that a user sets for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// How the user interface looks and works.
    pub preferences: Preferences,
    /// What answers take into account.
    pub personalization: Personalization,
}

/// How the user interface looks and works. `None` leaves it to the interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    /// Agents that were hidden, by number; numbers of agents that are gone may be among them.
    pub hidden_agents: Vec<i64>,
    /// Agents that were shown.
    pub visible_agents: Vec<i64>,
    /// Agents at the top of the list, in order.
    pub pinned_agents: Option<Vec<i64>>,
    /// The model of new chats.
    pub default_model: Option<String>,
    /// Whether keyboard shortcuts work.
    pub shortcuts: Option<bool>,
    /// Whether an answer scrolls as it grows.
    pub auto_scroll: Option<bool>,
    /// Whether the temperature can be set.
    pub temperature_override: Option<bool>,
    /// Light or dark.
    pub theme: Option<Theme>,
    /// What is behind a chat.
    pub chat_background: Option<String>,
    /// What the interface begins with.
    pub app_mode: AppMode,
}

/// What answers take into account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Personalization {
    /// What the user is called.
    pub name: String,
    /// What the user does.
    pub job_title: String,
    /// Whether memories are used.
    pub use_memories: bool,
    /// Whether a model may add memories.
    pub memory_tool: bool,
    /// What is remembered.
    pub memories: Vec<Memory>,
    /// What the user wants of every answer.
    pub wishes: String,
}

impl Default for Personalization {
    fn default() -> Self {
        Self {
            name: String::new(),
            job_title: String::new(),
            use_memories: true,
            memory_tool: true,
            memories: Vec::new(),
            wishes: String::new(),
        }
    }
}

/// Something to remember of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its number among the user's.
    pub id: i64,
    /// What it says.
    pub content: String,
}

/// A memory as a user writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDraft {
    /// The memory that it replaces; a number that the user has not makes a new one.
    pub id: Option<i64>,
    /// What it says.
    pub content: String,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The value used in the interface and in the database.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl FromStr for $name {
            type Err = UnknownPreference;

            fn from_str(value: &str) -> Result<Self, UnknownPreference> {
                match value {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(UnknownPreference(value.to_owned())),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

/// Why a string is none of the values of a preference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is none of the values of this preference")]
pub struct UnknownPreference(pub String);

words! {
    /// Light or dark.
    Theme {
        /// Light.
        Light = "light",
        /// Dark.
        Dark = "dark",
        /// As the machine.
        #[default]
        System = "system",
    }
}

words! {
    /// What the interface begins with.
    AppMode {
        /// What fits the query.
        Auto = "AUTO",
        /// Chats.
        #[default]
        Chat = "CHAT",
        /// Searches.
        Search = "SEARCH",
    }
}

/// One change of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileChange {
    /// Shows or hides an agent.
    ShowAgent {
        /// Its number.
        agent: i64,
        /// Whether it is shown.
        show: bool,
    },
    /// Sets the agents at the top of the list.
    PinAgents(Vec<i64>),
    /// Sets the model of new chats.
    DefaultModel(Option<String>),
    /// Sets whether keyboard shortcuts work.
    Shortcuts(bool),
    /// Sets whether an answer scrolls as it grows.
    AutoScroll(bool),
    /// Sets whether the temperature can be set.
    TemperatureOverride(bool),
    /// Sets light or dark.
    Theme(Theme),
    /// Sets what is behind a chat.
    ChatBackground(Option<String>),
    /// Sets what the interface begins with.
    AppMode(AppMode),
    /// Sets what answers take into account; what is `None` stays.
    Personalization(PersonalizationChange),
}

/// A change of what answers take into account; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonalizationChange {
    /// What the user is called.
    pub name: Option<String>,
    /// What the user does.
    pub job_title: Option<String>,
    /// Whether memories are used.
    pub use_memories: Option<bool>,
    /// Whether a model may add memories.
    pub memory_tool: Option<bool>,
    /// What is remembered, at most [`MEMORIES_MAX`]: all of it.
    pub memories: Option<Vec<MemoryDraft>>,
    /// What the user wants of every answer.
    pub wishes: Option<String>,
}

impl Profile {
    /// The profile after a change.
    #[must_use]
    pub fn after(mut self, change: ProfileChange) -> Self {
        let preferences = &mut self.preferences;
        match change {
            ProfileChange::ShowAgent { agent, show } => preferences.show_agent(agent, show),
            ProfileChange::PinAgents(mut agents) => {
                agents.truncate(AGENTS_MAX);
                preferences.pinned_agents = Some(agents);
            }
            ProfileChange::DefaultModel(model) => preferences.default_model = model,
            ProfileChange::Shortcuts(on) => preferences.shortcuts = Some(on),
            ProfileChange::AutoScroll(on) => preferences.auto_scroll = Some(on),
            ProfileChange::TemperatureOverride(on) => preferences.temperature_override = Some(on),
            ProfileChange::Theme(theme) => preferences.theme = Some(theme),
            ProfileChange::ChatBackground(background) => preferences.chat_background = background,
            ProfileChange::AppMode(mode) => preferences.app_mode = mode,
            ProfileChange::Personalization(change) => self.personalization.change(change),
        }
        self
    }
}

impl Preferences {
    fn show_agent(&mut self, agent: i64, show: bool) {
        let (into, out_of) = if show {
            (&mut self.visible_agents, &mut self.hidden_agents)
        } else {
            (&mut self.hidden_agents, &mut self.visible_agents)
        };
        out_of.retain(|other| *other != agent);
        if !into.contains(&agent) {
            if into.len() >= AGENTS_MAX {
                into.remove(0);
            }
            into.push(agent);
        }
    }
}

impl Personalization {
    fn change(&mut self, change: PersonalizationChange) {
        let PersonalizationChange { name, job_title, use_memories, memory_tool, memories, wishes } =
            change;
        self.name = name.unwrap_or_else(|| std::mem::take(&mut self.name));
        self.job_title = job_title.unwrap_or_else(|| std::mem::take(&mut self.job_title));
        self.use_memories = use_memories.unwrap_or(self.use_memories);
        self.memory_tool = memory_tool.unwrap_or(self.memory_tool);
        self.wishes = wishes.unwrap_or_else(|| std::mem::take(&mut self.wishes));
        if let Some(drafts) = memories {
            self.memories = numbered(drafts, &self.memories);
        }
    }
}

/// Memories that keep the numbers they have, and get new ones otherwise.
fn numbered(drafts: Vec<MemoryDraft>, old: &[Memory]) -> Vec<Memory> {
    let mut last = old.iter().map(|memory| memory.id).max().unwrap_or(0);
    let mut memories: Vec<Memory> = Vec::with_capacity(drafts.len());
    for MemoryDraft { id, content } in drafts.into_iter().take(MEMORIES_MAX) {
        let known = |id: &i64| {
            old.iter().any(|memory| memory.id == *id) && memories.iter().all(|m| m.id != *id)
        };
        let id = id.filter(known).unwrap_or_else(|| {
            last += 1;
            last
        });
        memories.push(Memory { id, content });
    }
    memories
}

#[cfg(test)]
mod tests {
    use super::{
        AGENTS_MAX, Memory, MemoryDraft, PersonalizationChange, Profile, ProfileChange, Theme,
    };

    #[test]
    fn an_agent_is_shown_or_hidden_but_not_both() {
        let show = |profile: Profile, agent, show| {
            profile.after(ProfileChange::ShowAgent { agent, show }).preferences
        };
        let hidden = show(Profile::default(), 7, false);
        assert_eq!((hidden.hidden_agents.as_slice(), hidden.visible_agents.len()), (&[7][..], 0));
        let again = show(Profile { preferences: hidden, ..Profile::default() }, 7, false);
        assert_eq!(again.hidden_agents, [7]);
        let shown = show(Profile { preferences: again, ..Profile::default() }, 7, true);
        assert_eq!((shown.hidden_agents.len(), shown.visible_agents.as_slice()), (0, &[7][..]));
    }

    #[test]
    fn lists_of_agents_are_bounded() {
        let mut profile = Profile::default();
        let max = i64::try_from(AGENTS_MAX).unwrap();
        for agent in 0..=max {
            profile = profile.after(ProfileChange::ShowAgent { agent, show: true });
        }
        let visible = &profile.preferences.visible_agents;
        assert_eq!((visible.len(), visible[0], visible[AGENTS_MAX - 1]), (AGENTS_MAX, 1, max));
        let pinned = profile.after(ProfileChange::PinAgents((0..2 * max).collect()));
        assert_eq!(pinned.preferences.pinned_agents.unwrap().len(), AGENTS_MAX);
    }

    #[test]
    fn a_personalization_keeps_what_is_not_said() {
        let name = PersonalizationChange { name: Some("A".to_owned()), ..Default::default() };
        let profile = Profile::default().after(ProfileChange::Personalization(name));
        let off = PersonalizationChange { use_memories: Some(false), ..Default::default() };
        let profile = profile.after(ProfileChange::Personalization(off));
        let personalization = &profile.personalization;
        assert_eq!(personalization.name, "A");
        assert!(!personalization.use_memories && personalization.memory_tool);
        let profile = profile.after(ProfileChange::Theme(Theme::Dark));
        assert_eq!(profile.preferences.theme, Some(Theme::Dark));
        assert_eq!(profile.personalization.name, "A");
    }

    #[test]
    fn memories_keep_their_numbers() {
        let remember = |profile: Profile, drafts: &[(Option<i64>, &str)]| {
            let draft = |(id, content): &(Option<i64>, &str)| MemoryDraft {
                id: *id,
                content: (*content).to_owned(),
            };
            let memories = Some(drafts.iter().map(draft).collect());
            let change = PersonalizationChange { memories, ..Default::default() };
            profile.after(ProfileChange::Personalization(change))
        };
        let shown = |profile: &Profile| -> Vec<(i64, String)> {
            let memories = profile.personalization.memories.iter();
            memories.map(|Memory { id, content }| (*id, content.clone())).collect()
        };
        let profile = remember(Profile::default(), &[(None, "a"), (Some(99), "b")]);
        assert_eq!(shown(&profile), [(1, "a".to_owned()), (2, "b".to_owned())]);
        let profile = remember(profile, &[(Some(2), "B"), (None, "c"), (Some(2), "d")]);
        let expected = [(2, "B".to_owned()), (3, "c".to_owned()), (4, "d".to_owned())];
        assert_eq!(shown(&profile), expected);
        let many: Vec<_> = (0..20).map(|_| (None, "x")).collect();
        assert_eq!(shown(&remember(profile, &many)).len(), 10);
    }
}
