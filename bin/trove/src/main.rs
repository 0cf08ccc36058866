//! `trove`: see `trove --help`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|argument| argument == trove::EXTRACT_WORKER) {
        let served = trove_extract::serve_worker(io::stdin().lock(), io::stdout().lock());
        return served.map_or_else(|error| fail(&error.to_string(), 1), |()| ExitCode::SUCCESS);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("the async runtime cannot be started: {error}"), 1),
    };
    let environment = std::env::vars_os().collect();
    let ended = runtime.block_on(trove::run(arguments, environment));
    // Blocking work that nobody waits for any more must not hold up the exit.
    runtime.shutdown_background();
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => fail(&failure.to_string(), failure.code),
    }
}

fn fail(message: &str, code: u8) -> ExitCode {
    // A closed standard error leaves the exit code to say it.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::from(code)
}
