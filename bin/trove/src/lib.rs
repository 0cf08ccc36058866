//! The composition root of Trove: command line, configuration, wiring, telemetry, lifecycle.
//!
//! A library for the sake of the tests; the program is [`run`].

pub mod cli;
pub mod commands;
pub mod config;
pub mod data_dir;
pub mod failure;
pub mod lifecycle;
pub mod telemetry;
pub mod wiring;

use std::ffi::OsString;

use clap::Parser;
use trove_engine::audit::{Origin, on_behalf_of};

use crate::cli::{Cli, Command};
use crate::config::{Loaded, Sources};
use crate::failure::Failure;

/// The first argument of a process that reads files for another one. No command line has it: such a
/// process is a worker from its beginning, without configuration, runtime or log.
pub const EXTRACT_WORKER: &str = "extract-worker";

/// Runs the command that `arguments` ask for; answers the exit code.
///
/// `environment` is the only view of the environment that anything below gets.
///
/// # Errors
///
/// [`Failure`] with the exit code and the sentence for standard error.
pub async fn run(
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
) -> Result<u8, Failure> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(message) => {
            // Help and version are messages, too; clap knows which stream and code they want.
            let _ = message.print();
            return Ok(u8::try_from(message.exit_code()).unwrap_or(failure::USAGE));
        }
    };
    let sources = Sources { file: cli.global.config.clone(), environment, flags: cli.flags() };
    if matches!(cli.command, Command::Openapi) {
        return commands::openapi::run();
    }
    let loaded = config::load(sources)?;
    telemetry::start(&loaded.config.log).map_err(anyhow::Error::from)?;
    if matches!(cli.command, Command::Serve(_)) {
        return Box::pin(dispatch(cli.command, loaded)).await;
    }
    // Whatever else changes something is the work of whoever typed it.
    Box::pin(on_behalf_of(Origin::operator(), dispatch(cli.command, loaded))).await
}

async fn dispatch(command: Command, loaded: Loaded) -> Result<u8, Failure> {
    let config = loaded.config.clone();
    match command {
        Command::Serve(args) => commands::serve::run(config, args.print_admin_key).await,
        Command::Index(args) => commands::index::run(&config, args).await,
        Command::Extract(args) => commands::extract::run(&config, args).await,
        Command::Connector(command) => commands::connector::run(&config, command).await,
        Command::Key(command) => commands::key::run(&config, command).await,
        Command::User(command) => commands::user::run(&config, command).await,
        Command::Audit(command) => commands::audit::run(&config, command).await,
        Command::Secrets(command) => commands::secrets::run(&config, command).await,
        Command::Model(command) => commands::model::run(&config, command).await,
        Command::AdoptDatabase => commands::adopt_database::run(&config).await,
        Command::Eval(args) => commands::eval::run(&config, args).await,
        Command::CheckConfig(_) => commands::check_config::run(&loaded).await,
        Command::Openapi => commands::openapi::run(),
    }
}
