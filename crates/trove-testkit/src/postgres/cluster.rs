//! A PostgreSQL cluster that lives as long as its value.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Why there is no cluster.
#[derive(Debug)]
pub enum ClusterError {
    /// No `initdb` beside a `pg_ctl`, neither in `PATH` nor where distributions put them.
    NoBinaries,
    /// PostgreSQL refuses to run as root, and there is no user `postgres` to run it as.
    NoUser,
    /// A directory, port or process could not be had.
    Io(std::io::Error),
    /// One of PostgreSQL's programs failed.
    Failed {
        /// The program.
        program: &'static str,
        /// What it said.
        output: String,
    },
}

impl std::fmt::Display for ClusterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoBinaries => f.write_str(
                "PostgreSQL's initdb and pg_ctl are neither in PATH nor in \
                 /usr/lib/postgresql/*/bin; install the postgresql package",
            ),
            Self::NoUser => f.write_str(
                "PostgreSQL does not run as root, and there is no user `postgres` to run it as",
            ),
            Self::Io(error) => error.fmt(f),
            Self::Failed { program, output } => write!(f, "{program} failed: {output}"),
        }
    }
}

impl std::error::Error for ClusterError {}

impl From<std::io::Error> for ClusterError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// A running cluster on a free port of this machine, without durability. It is stopped and deleted
/// when the value is dropped.
#[derive(Debug)]
pub struct Cluster {
    binaries: Binaries,
    directory: TempDir,
    port: u16,
}

impl Cluster {
    /// Makes a cluster and waits until it answers.
    ///
    /// # Errors
    ///
    /// [`ClusterError`] says what is missing.
    pub fn start() -> Result<Self, ClusterError> {
        let directory = tempfile::Builder::new().prefix("trove-postgres-").tempdir()?;
        let binaries = Binaries::find(directory.path())?;
        let data = directory.path().join("data");
        let init = |locale: &[&str]| {
            let fixed = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync"];
            let place = OsStr::new("--pgdata");
            let arguments = fixed.iter().chain(locale).map(OsStr::new);
            binaries.run("initdb", arguments.chain([place, data.as_os_str()]))
        };
        // A language's order shows where a query relies on the order of bytes.
        if init(&["--locale-provider=icu", "--icu-locale=und", "--locale=C.UTF-8"]).is_err() {
            drop(std::fs::remove_dir_all(&data));
            init(&["--locale=C"])?;
        }
        // Somebody may take the port in between; then starting fails and says so.
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories='{}' \
             -c max_connections=300 -c fsync=off -c synchronous_commit=off \
             -c full_page_writes=off",
            directory.path().display()
        );
        let log = directory.path().join("log");
        let arguments = ["-D".as_ref(), data.as_os_str(), "-l".as_ref(), log.as_os_str()];
        let options = ["-o".as_ref(), options.as_ref(), "-w".as_ref(), "start".as_ref()];
        binaries.run("pg_ctl", arguments.into_iter().chain(options))?;
        Ok(Self { binaries, directory, port })
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.directory.path().join("data");
        let arguments = ["-D".as_ref(), data.as_os_str()];
        let stop = ["-m", "immediate", "-w", "stop"].map(OsStr::new);
        if let Err(error) = self.binaries.run("pg_ctl", arguments.into_iter().chain(stop)) {
            eprintln!("a PostgreSQL server stays behind in {}: {error}", data.display());
        }
    }
}

#[derive(Debug)]
struct Binaries {
    folder: PathBuf,
    /// Whom to run as: user and group.
    identity: Option<(u32, u32)>,
}

impl Binaries {
    /// Looks for PostgreSQL's programs, and gives `directory` to whoever runs them.
    fn find(directory: &Path) -> Result<Self, ClusterError> {
        let complete =
            |folder: &PathBuf| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file();
        let path = crate::services::environment("PATH").unwrap_or_default();
        let mut distribution: Vec<_> = std::fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten()
            .filter_map(|version| Some(version.ok()?.path().join("bin")))
            .collect();
        distribution.sort();
        let folder = std::env::split_paths(&path)
            .chain(distribution.into_iter().rev())
            .find(complete)
            .ok_or(ClusterError::NoBinaries)?;
        let root = std::fs::metadata(directory)?.uid() == 0;
        let identity = if root { Some(postgres_user()?) } else { None };
        if let Some((user, group)) = identity {
            chown(directory, Some(user), Some(group))?;
        }
        Ok(Self { folder, identity })
    }

    fn run<'a>(
        &self,
        program: &'static str,
        arguments: impl IntoIterator<Item = &'a OsStr>,
    ) -> Result<(), ClusterError> {
        let mut command = Command::new(self.folder.join(program));
        // The working directory may be closed to the other user. A server that `pg_ctl` starts
        // keeps its output: to wait for the end of that would be to wait for the server.
        command.args(arguments).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null());
        if let Some((user, group)) = self.identity {
            command.uid(user).gid(group);
        }
        let errors = tempfile::tempfile()?;
        let status = command.stderr(errors.try_clone()?).status()?;
        if status.success() {
            return Ok(());
        }
        let mut output = String::new();
        let mut errors = errors;
        std::io::Seek::rewind(&mut errors)?;
        std::io::Read::read_to_string(&mut errors, &mut output)?;
        Err(ClusterError::Failed { program, output })
    }
}

/// User and group of the system's `postgres`.
fn postgres_user() -> Result<(u32, u32), ClusterError> {
    let users = std::fs::read_to_string("/etc/passwd")?;
    let numbers = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some("postgres") {
            return None;
        }
        let user = fields.nth(1)?.parse().ok()?;
        Some((user, fields.next()?.parse().ok()?))
    });
    numbers.ok_or(ClusterError::NoUser)
}
