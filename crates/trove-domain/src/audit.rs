//! Who did what to whom, and what came of it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::access::{Caller, Proof};
use crate::id::{AccessTokenId, ApiKeyId, UserId};

/// Most characters of one text of an entry. Longer ones are cut: whoever names things does not
/// decide how long the log becomes.
pub const AUDIT_TEXT_CHARS_MAX: usize = 300;

/// Who acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A user.
    User {
        /// Its key.
        id: UserId,
        /// Its address at that time.
        email: String,
        /// What it proved itself with, where that was no session.
        token: Option<ActorToken>,
    },
    /// Whoever uses the command line of the machine.
    Operator,
    /// The program by itself.
    System,
    /// Somebody who is not signed in.
    Nobody,
}

impl Actor {
    /// The user who calls; the anonymous one is nobody.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        let token = match caller.proof {
            Proof::ApiKey(key) => Some(ActorToken::ApiKey(key)),
            Proof::AccessToken { id, scopes: _ } => Some(ActorToken::AccessToken(id)),
            Proof::Session(_) | Proof::Trusted => None,
            Proof::Anonymous => return Self::Nobody,
        };
        Self::User { id: caller.user, email: caller.email.clone(), token }
    }
}

/// What a program proves itself with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorToken {
    /// An API key.
    ApiKey(ApiKeyId),
    /// A personal access token.
    AccessToken(AccessTokenId),
}

/// What came of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AuditOutcome {
    /// It begins. Without a later entry about it, nobody knows what came of it: the process or the
    /// client was lost, and it may have happened.
    Begun,
    /// It happened.
    Done,
    /// A rule forbade it, and nothing changed.
    Refused,
    /// It failed.
    Failed,
}

/// Why a string is no value of one of this module's enumerations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not {what}")]
pub struct UnknownAuditValue {
    /// What was expected.
    pub what: &'static str,
    /// What was found.
    pub value: String,
}

impl AuditOutcome {
    /// The value in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

impl std::str::FromStr for AuditOutcome {
    type Err = UnknownAuditValue;

    fn from_str(value: &str) -> Result<Self, UnknownAuditValue> {
        [Self::Begun, Self::Done, Self::Refused, Self::Failed]
            .into_iter()
            .find(|outcome| outcome.as_str() == value)
            .ok_or_else(|| UnknownAuditValue { what: "an outcome", value: value.to_owned() })
    }
}

/// What happens when an action cannot be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// It is refused: it gives or takes roles, or makes, changes or ends secrets.
    Required,
    /// It goes on, and the log of the program says so.
    Attempted,
}

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $wire:literal $recording:ident;)+) => {
        /// What is recorded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AuditAction {$(
            $(#[$doc])*
            $name,
        )+}

        impl AuditAction {
            /// Every action.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The value in the log.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $wire),+ }
            }

            /// What happens when it cannot be recorded.
            #[must_use]
            pub const fn recording(self) -> Recording {
                match self { $(Self::$name => Recording::$recording),+ }
            }
        }
    };
}

actions! {
    /// Somebody signs in with a password.
    SignIn = "session.sign_in" Attempted;
    /// Somebody registers. The first one becomes an administrator.
    Register = "user.register" Required;
    /// A user gets another role.
    SetRole = "user.set_role" Required;
    /// A user is let in.
    ActivateUser = "user.activate" Attempted;
    /// A user is kept out.
    DeactivateUser = "user.deactivate" Attempted;
    /// A user is removed.
    DeleteUser = "user.delete" Attempted;
    /// Addresses are invited.
    Invite = "user.invite" Attempted;
    /// An invitation is taken back.
    WithdrawInvitation = "user.withdraw_invitation" Attempted;
    /// A user changes its own password.
    ChangePassword = "user.change_password" Required;
    /// A user changes its own address or password.
    ChangeAccount = "user.change_account" Required;
    /// A user gets a password that nobody has chosen.
    ResetPassword = "user.reset_password" Required;
    /// The first administrator is made, with a key.
    FirstAdministrator = "user.first_administrator" Required;
    /// An API key is made.
    CreateKey = "api_key.create" Required;
    /// A service account, or the name of its key, is changed.
    UpdateKey = "api_key.update" Required;
    /// An API key gets another token.
    RegenerateKey = "api_key.regenerate" Required;
    /// An API key is ended.
    RevokeKey = "api_key.revoke" Required;
    /// A personal access token is made.
    CreateAccessToken = "access_token.create" Required;
    /// A personal access token is ended.
    RevokeAccessToken = "access_token.revoke" Required;
    /// A group is made.
    CreateGroup = "group.create" Required;
    /// Members and pairs of a group are replaced.
    ReplaceGroup = "group.replace" Required;
    /// A group gets members.
    AddMembers = "group.add_members" Required;
    /// A group gets another name.
    RenameGroup = "group.rename" Attempted;
    /// A member curates a group, or no longer.
    SetCurator = "group.set_curator" Required;
    /// A group is removed.
    DeleteGroup = "group.delete" Required;
    /// Others read the documents of a pair.
    SetPairAccess = "cc_pair.set_access" Attempted;
    /// A pair is removed.
    RemovePair = "cc_pair.remove" Attempted;
    /// A connector gets a credential.
    CreatePair = "cc_pair.create" Attempted;
    /// A pair gets another name, is paused or goes on.
    ChangePair = "cc_pair.change" Attempted;
    /// Pairs are asked for a run out of turn.
    RunPair = "cc_pair.run" Attempted;
    /// A document is hidden, or weighs more or less.
    FlagDocument = "document.flag" Attempted;
    /// A pair gets another credential.
    SwapCredential = "cc_pair.swap_credential" Required;
    /// A connector is made.
    CreateConnector = "connector.create" Attempted;
    /// A connector is changed.
    UpdateConnector = "connector.update" Attempted;
    /// A connector is removed.
    DeleteConnector = "connector.delete" Attempted;
    /// Files are uploaded.
    UploadFiles = "file.upload" Attempted;
    /// A credential is made.
    CreateCredential = "credential.create" Required;
    /// A credential is changed.
    UpdateCredential = "credential.update" Required;
    /// A credential is removed.
    DeleteCredential = "credential.delete" Required;
    /// A document set is made.
    CreateDocumentSet = "document_set.create" Attempted;
    /// A document set is changed.
    UpdateDocumentSet = "document_set.update" Attempted;
    /// A document set is deleted.
    DeleteDocumentSet = "document_set.delete" Attempted;
    /// An agent is made.
    CreateAgent = "agent.create" Attempted;
    /// An agent is changed.
    UpdateAgent = "agent.update" Attempted;
    /// Others see an agent.
    ShareAgent = "agent.share" Attempted;
    /// An agent is listed, featured, made public or brought back, or the opposite.
    FlagAgent = "agent.flag" Attempted;
    /// An agent is deleted.
    DeleteAgent = "agent.delete" Attempted;
    /// Agents get other places in lists.
    ArrangeAgents = "agent.arrange" Attempted;
    /// A provider of language models is added or changed.
    PutProvider = "llm_provider.put" Required;
    /// A provider of language models is removed.
    RemoveProvider = "llm_provider.remove" Required;
    /// Another model is the default.
    SetDefaultModel = "llm_provider.set_default" Attempted;
    /// The secrets in the database get another key.
    RotateSecrets = "secrets.rotate" Required;
    /// The secrets in the database are removed.
    DiscardSecrets = "secrets.discard" Required;
    /// A limit of tokens is set.
    CreateTokenLimit = "token_limit.create" Attempted;
    /// A limit of tokens is changed.
    UpdateTokenLimit = "token_limit.update" Attempted;
    /// A limit of tokens is removed.
    DeleteTokenLimit = "token_limit.delete" Attempted;
    /// Administrators decide anew for everybody, anonymous access among it.
    ChangeSettings = "workspace.change_settings" Required;
    /// The log itself was left with half a line, which was cut off.
    RecoverLog = "audit_log.recover" Required;
}

impl std::str::FromStr for AuditAction {
    type Err = UnknownAuditValue;

    fn from_str(value: &str) -> Result<Self, UnknownAuditValue> {
        Self::ALL
            .iter()
            .copied()
            .find(|action| action.as_str() == value)
            .ok_or_else(|| UnknownAuditValue { what: "an action", value: value.to_owned() })
    }
}

/// One entry.
///
/// It holds ids, names and addresses, and nothing of documents, messages or secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// When.
    pub at: DateTime<Utc>,
    /// Who.
    pub actor: Actor,
    /// What.
    pub action: AuditAction,
    /// To whom or what: a kind and a key, `group 7`.
    pub subject: Option<String>,
    /// What came of it.
    pub outcome: AuditOutcome,
    /// Number of the entry that said that it began.
    pub begun: Option<u64>,
    /// More about it, by name.
    pub details: BTreeMap<String, String>,
    /// The request that asked for it.
    pub request_id: Option<String>,
}

/// An entry with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedEntry {
    /// Its number: 1 for the first, and one more for each later one.
    pub number: u64,
    /// The entry.
    pub entry: AuditEntry,
}

/// A text as an entry holds it.
#[must_use]
pub fn audit_text(text: &str) -> String {
    match text.char_indices().nth(AUDIT_TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{AuditAction, AuditOutcome, audit_text};

    #[test]
    fn names_are_unique_and_read_back() {
        let names: BTreeSet<&str> = AuditAction::ALL.iter().map(|a| a.as_str()).collect();
        assert_eq!(names.len(), AuditAction::ALL.len());
        for action in AuditAction::ALL {
            assert_eq!(action.as_str().parse(), Ok(*action));
        }
        assert!("nothing".parse::<AuditAction>().is_err());
        assert_eq!("refused".parse(), Ok(AuditOutcome::Refused));
        assert!("maybe".parse::<AuditOutcome>().is_err());
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(audit_text("ä"), "ä");
        assert_eq!(audit_text(&"ä".repeat(300)), "ä".repeat(300));
        assert_eq!(audit_text(&"ä".repeat(301)), format!("{}…", "ä".repeat(300)));
    }
}
