//! Runs a command with a throw-away PostgreSQL: `with-postgres cargo nextest run postgres`.
//!
//! The command finds its address in `TROVE_TEST_POSTGRES_URL`, and its absence would fail it
//! (`TROVE_TEST_REQUIRE`). The exit code is the command's.

use std::process::ExitCode;

use trove_testkit::postgres::Cluster;
use trove_testkit::services::{POSTGRES_URL_VARIABLE, REQUIRE_VARIABLE, required};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).skip_while(|argument| argument == "--");
    let Some(program) = arguments.next() else {
        eprintln!("usage: with-postgres COMMAND [ARGUMENT]...");
        return ExitCode::from(2);
    };
    let cluster = match Cluster::start() {
        Ok(cluster) => cluster,
        Err(error) => {
            eprintln!("with-postgres: {error}");
            return ExitCode::from(2);
        }
    };
    let mut command = tokio::process::Command::new(&program);
    let required = required().chain(["postgres".to_owned()]).collect::<Vec<_>>().join(",");
    command
        .args(arguments)
        .env(POSTGRES_URL_VARIABLE, cluster.url())
        .env(REQUIRE_VARIABLE, required);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("with-postgres: {} does not start: {error}", program.to_string_lossy());
            return ExitCode::from(2);
        }
    };
    // An interrupt reaches the command as well; the server has to outlive it.
    let status = loop {
        tokio::select! {
            status = child.wait() => break status,
            _ = tokio::signal::ctrl_c() => {}
        }
    };
    let code = status.ok().and_then(|status| status.code());
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
