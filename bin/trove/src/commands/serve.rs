//! `trove serve`

use std::io::{self, IsTerminal};
use std::net::TcpListener;
use std::time::Duration;

use actix_web::HttpServer;
use actix_web::dev::Server;
use actix_web::http::KeepAlive;
use anyhow::Context;
use secrecy::ExposeSecret;
use trove_engine::Engine;
use trove_engine::administration::FIRST_ADMIN_EMAIL;
use trove_http::Http;

use super::print;
use crate::config::{Config, LogFormat, LogSection};
use crate::data_dir::{AdminKeyFile, DataDir};
use crate::failure::{Failure, SUCCESS};
use crate::lifecycle::Lifecycle;
use crate::wiring::{Deployment, Stopping, http_config};

/// Runs the service until a signal stops it. `print_admin_key` shows the first administrator's key
/// whoever reads standard output.
///
/// # Errors
///
/// When it cannot start, when a background task dies, or when stopping takes too long.
pub async fn run(config: Config, print_admin_key: bool) -> Result<u8, Failure> {
    let lifecycle = Lifecycle::start()?;
    let mut data_dir = DataDir::open(&config.data_dir, "trove serve")?;
    // Before anything is opened: a port that is taken costs no time and changes nothing. Whoever
    // connects meanwhile waits in the queue of the socket.
    let listener = bind(&config)?;
    let address = listener.local_addr().context("the listening address is not known")?;
    data_dir.listens_on(&address.to_string())?;

    let deployment = tokio::select! {
        deployment = Deployment::open(&config) => deployment?,
        () = lifecycle.stop().cancelled() => return Ok(SUCCESS),
    };
    deployment.model.announce();
    if let Some(models) = &deployment.language_models {
        models.announce();
    }
    let show_key = print_admin_key || is_read_by_a_person(&config.log);
    make_first_administrator(&deployment.engine, &data_dir, show_key).await?;

    if !address.ip().is_loopback() {
        warn_of_open_doors(&config, &deployment.engine).await?;
    }

    let stopping = Stopping::default();
    let http =
        Http::new(deployment.engine.clone(), http_config(&config), deployment.readiness(&stopping));
    let server = server(http, &config, listener)?;
    if deployment.engine.config().vector_db {
        let (engine, stop) = (deployment.engine.clone(), lifecycle.stop().clone());
        lifecycle.spawn("the background worker", async move {
            engine.run_worker(stop).await;
            Ok(())
        });
        let (engine, stop) = (deployment.engine.clone(), lifecycle.stop().clone());
        lifecycle.spawn("indexing", async move {
            engine.run_indexing(&stop).await;
            Ok(())
        });
    }
    let (engine, stop) = (deployment.engine.clone(), lifecycle.stop().clone());
    lifecycle.spawn("the sweep of files", async move {
        engine.run_file_sweeps(&stop).await;
        Ok(())
    });
    tracing::info!(%address, "ready");
    print(&format!("Trove is ready on http://{address}\n"))?;

    serve(server, &lifecycle, &stopping, deployment, config.shutdown.deadline).await?;
    tracing::info!("stopped");
    Ok(SUCCESS)
}

/// Serves until asked to stop, then ends everything in order.
async fn serve(
    mut server: Server,
    lifecycle: &Lifecycle,
    stopping: &Stopping,
    deployment: Deployment,
    deadline: Duration,
) -> anyhow::Result<()> {
    let handle = server.handle();
    let ended = tokio::select! {
        ended = &mut server => Some(ended),
        () = lifecycle.stop().cancelled() => None,
    };
    stopping.begin();
    lifecycle.stop().cancel();
    lifecycle
        .end(deadline, async {
            if ended.is_none() {
                // In this order: no new connections, then an answer to every request in flight.
                let (served, ()) = tokio::join!(server, handle.stop(true));
                served.context("the HTTP server failed while stopping")?;
            }
            lifecycle.join().await;
            deployment.close().await
        })
        .await?;
    match ended {
        None => Ok(()),
        Some(ended) => {
            ended.context("the HTTP server failed")?;
            anyhow::bail!("the HTTP server ended by itself")
        }
    }
}

fn bind(config: &Config) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(config.listen.as_str()).with_context(|| {
        format!(
            "cannot listen on {}; choose another address with --listen ADDR:PORT or TROVE_LISTEN",
            config.listen
        )
    })?;
    Ok(listener)
}

fn server(http: Http, config: &Config, listener: TcpListener) -> anyhow::Result<Server> {
    let keep_alive = config.http.keep_alive;
    let keep_alive =
        if keep_alive.is_zero() { KeepAlive::Disabled } else { KeepAlive::Timeout(keep_alive) };
    let mut server = HttpServer::new(move || http.app())
        .disable_signals()
        .keep_alive(keep_alive)
        // Nobody reads the answer any more: the work for it ends, and what waits behind it goes on.
        .h1_allow_half_closed(false)
        .max_connections(config.http.connections_max)
        // Some of the deadline is kept back for what comes after the last request.
        .shutdown_timeout((config.shutdown.deadline * 3 / 4).as_secs().max(1));
    if config.http.workers > 0 {
        server = server.workers(config.http.workers);
    }
    let server = server.listen(listener).context("the HTTP server cannot be started")?;
    Ok(server.run())
}

/// Whether what is printed is for eyes, not for a collector of logs, which would keep a key.
fn is_read_by_a_person(log: &LogSection) -> bool {
    // Containers may have a terminal that is a collector's; who logs for one says so.
    log.format == LogFormat::Human && io::stdout().is_terminal()
}

/// Says who gets in whom nobody has let in, to whoever opens the service to a network.
async fn warn_of_open_doors(config: &Config, engine: &Engine) -> anyhow::Result<()> {
    let settings = engine.workspace_settings().await;
    let settings = settings.context("the settings of the workspace cannot be read")?;
    if config.auth.is_open_to_everybody() && !settings.invited_only {
        tracing::warn!(
            "whoever reaches this service can register and search what is public; \
             auth.registration and auth.allowed_domains say who may"
        );
    }
    if settings.anonymous_access {
        tracing::warn!(
            "whoever reaches this service is served without signing in; administrators decide so \
             with anonymous_user_enabled (PATCH /api/admin/settings)"
        );
    }
    Ok(())
}

/// On the first start: an administrator, and a key that is kept in a file and printed once, or not
/// at all.
async fn make_first_administrator(
    engine: &Engine,
    data_dir: &DataDir,
    show_key: bool,
) -> anyhow::Result<()> {
    let context = "the first administrator cannot be made";
    if engine.backends().users.get_by_email(FIRST_ADMIN_EMAIL).await.context(context)?.is_some() {
        return Ok(());
    }
    let file = AdminKeyFile::prepare(data_dir.path())?;
    let Some(key) = engine.bootstrap_admin().await.context(context)? else { return Ok(()) };
    let path = file.keep(&key)?;
    let path = path.display();
    print(&if show_key {
        let key = key.expose_secret();
        format!(
            "Administrator {FIRST_ADMIN_EMAIL} has the API key {key} (shown this once; kept in {path})\n"
        )
    } else {
        format!("Administrator {FIRST_ADMIN_EMAIL} has an API key, which is in {path}\n")
    })
}
