//! What administrators decide for everybody who uses the deployment.
//!
//! Operators decide in the configuration, before the service starts; what is here holds from the
//! next request on, in every process on the same database.

use std::fmt;
use std::str::FromStr;

/// Most characters of the company's name.
pub const COMPANY_NAME_CHARS_MAX: usize = 200;

/// Most characters of what the company is.
pub const COMPANY_DESCRIPTION_CHARS_MAX: usize = 10_000;

/// Largest bound on the size of images, in MB.
pub const IMAGE_MEGABYTES_MAX: u32 = 10_000;

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr;)+) => {
        /// What administrators decide. `None` leaves it to the user interface.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct WorkspaceSettings {$(
            $(#[$doc])*
            pub $name: $type,
        )+}

        impl Default for WorkspaceSettings {
            fn default() -> Self {
                Self { $($name: $default),+ }
            }
        }

        /// A change of [`WorkspaceSettings`]: what is `None` stays.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct SettingsChange {$(
            $(#[$doc])*
            pub $name: Option<$type>,
        )+}

        impl SettingsChange {
            /// Names of what it sets.
            #[must_use]
            pub fn names(&self) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if self.$name.is_some() { names.push(stringify!($name)); })+
                names
            }
        }

        impl From<WorkspaceSettings> for SettingsChange {
            fn from(settings: WorkspaceSettings) -> Self {
                Self { $($name: Some(settings.$name)),+ }
            }
        }

        impl WorkspaceSettings {
            /// The settings after a change.
            #[must_use]
            pub fn after(self, change: SettingsChange) -> Self {
                Self { $($name: change.$name.unwrap_or(self.$name)),+ }
            }
        }
    };
}

settings! {
    /// Whether whoever is not signed in is served as the anonymous user.
    anonymous_access: bool = false;
    /// Whether only who is invited may register, also where the configuration lets everybody.
    invited_only: bool = false;
    /// What the company is called.
    company_name: Option<String> = None;
    /// What the company is.
    company_description: Option<String> = None;
    /// Whether users may set the temperature.
    temperature_override: Option<bool> = None;
    /// Whether an answer scrolls as it grows.
    auto_scroll: Option<bool> = None;
    /// What administrators may see of the chats of others.
    query_history: Option<QueryHistory> = None;
    /// Larger images are not looked at, in MB.
    image_megabytes_max: Option<u32> = Some(20);
    /// Whether user interfaces show further connectors.
    extra_connectors: Option<bool> = Some(true);
    /// Whether user interfaces leave the built-in agent out.
    hide_builtin_agent: Option<bool> = Some(false);
}

/// What administrators may see of the chats of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryHistory {
    /// Nothing.
    Disabled,
    /// What was said, and not by whom.
    Anonymized,
    /// What was said by whom.
    Normal,
}

/// Why a string is no [`QueryHistory`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` says nothing about what administrators may see")]
pub struct UnknownQueryHistory(pub String);

impl QueryHistory {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Disabled, Self::Anonymized, Self::Normal];

    /// The value used in the interface and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Anonymized => "anonymized",
            Self::Normal => "normal",
        }
    }
}

impl FromStr for QueryHistory {
    type Err = UnknownQueryHistory;

    fn from_str(value: &str) -> Result<Self, UnknownQueryHistory> {
        Self::ALL
            .into_iter()
            .find(|history| history.as_str() == value)
            .ok_or_else(|| UnknownQueryHistory(value.to_owned()))
    }
}

impl fmt::Display for QueryHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{QueryHistory, SettingsChange, WorkspaceSettings};

    #[test]
    fn nobody_gets_in_without_a_decision() {
        let settings = WorkspaceSettings::default();
        assert!(!settings.anonymous_access);
    }

    #[test]
    fn a_change_keeps_what_it_does_not_name() {
        let name = |name: &str| SettingsChange {
            company_name: Some(Some(name.to_owned())),
            ..SettingsChange::default()
        };
        let open = SettingsChange { anonymous_access: Some(true), ..SettingsChange::default() };
        let settings = WorkspaceSettings::default().after(open.clone()).after(name("Example"));
        assert!(settings.anonymous_access);
        assert_eq!(settings.company_name.as_deref(), Some("Example"));
        assert_eq!(settings.clone().after(SettingsChange::default()), settings);
        let nameless = SettingsChange { company_name: Some(None), ..SettingsChange::default() };
        assert_eq!(settings.after(nameless).company_name, None);
        assert_eq!(open.names(), ["anonymous_access"]);
    }

    #[test]
    fn settings_replace_all_others() {
        let changed = WorkspaceSettings { invited_only: true, ..WorkspaceSettings::default() };
        let other = WorkspaceSettings { anonymous_access: true, ..WorkspaceSettings::default() };
        assert_eq!(other.after(changed.clone().into()), changed);
    }

    #[test]
    fn words_read_back() {
        for history in QueryHistory::ALL {
            assert_eq!(history.as_str().parse(), Ok(history));
        }
        assert!("Normal".parse::<QueryHistory>().is_err());
    }
}
