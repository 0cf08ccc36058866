//! The HTTP interface of Trove.
//!
//! [`Http::app`] answers a complete actix application over a [`trove_engine::Engine`]; binding,
//! signals and TLS are the business of whoever calls it. The routes are listed in [`routes`],
//! each with the policy that guards it.
//!
//! A request passes, in this order: request id and span ([`envelope`]), authentication, policy and
//! feature gate ([`guard`]), reading and validation of path, query and body ([`extract`],
//! [`validation`]), the handler, and the one mapping of errors to statuses ([`error`]).

pub mod endpoint;
pub mod envelope;
pub mod error;
pub mod extract;
pub mod guard;
pub mod readiness;
pub mod routes;
pub mod validation;

mod cookie;
mod fallback;
mod lines;
mod openapi;
mod origin;
mod source;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data};
use actix_web::{App, Error};
use bytes::Bytes;
use trove_engine::Engine;

use endpoint::Allowance;
pub use endpoint::{EndpointInfo, Gate, Policy, ScopeRule};
pub use openapi::openapi;
pub use readiness::{Component, ComponentState, Readiness, ReadinessProbe};
pub use routes::inventory;

/// What an operator decides about the interface.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// What every path begins with: empty, or with a leading and without a trailing slash.
    pub prefix: String,
    /// Largest body that is read, in bytes.
    pub body_limit_bytes: usize,
    /// How long a client may take to send its body.
    pub body_timeout: Duration,
    /// How long a request may take.
    pub request_timeout: Duration,
    /// How long the ingestion of a document may take: large ones are embedded for minutes.
    pub ingestion_timeout: Duration,
    /// What `GET /version` answers.
    pub version: String,
    /// Whether the interface's document and its pages are served.
    pub docs: bool,
    /// Where browsers find the service, as scheme, host and port; not known if `None`. Cookies are
    /// for encrypted connections only where it says `https`.
    pub public_origin: Option<String>,
    /// How many proxies in front of the service add the address of whoever they answer to
    /// `X-Forwarded-For`.
    pub proxies: usize,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            prefix: "/api".to_owned(),
            body_limit_bytes: 10 * 1024 * 1024,
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(30),
            ingestion_timeout: Duration::from_mins(10),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            docs: true,
            public_origin: None,
            proxies: 0,
        }
    }
}

/// The interface over one engine. Cheap to clone: every worker of a server takes one.
#[derive(Clone)]
pub struct Http {
    engine: Data<Engine>,
    settings: Data<Settings>,
}

/// What the inner layers share.
pub(crate) struct Settings {
    pub(crate) engine: Engine,
    pub(crate) config: HttpConfig,
    pub(crate) readiness: ReadinessProbe,
    /// The interface's document as it is served.
    pub(crate) document: Bytes,
    pub(crate) known_paths: fallback::KnownPaths,
}

impl Settings {
    /// How long a request may take.
    pub(crate) fn allowance(&self, allowance: Allowance) -> Duration {
        let request = self.config.request_timeout;
        match allowance {
            Allowance::Request => request,
            Allowance::Search => request + self.engine.config().language_model_allowance,
            Allowance::Ingestion => self.config.ingestion_timeout,
        }
    }
}

impl Http {
    /// An interface that reports `readiness`.
    ///
    /// A prefix is taken with or without its slashes.
    #[must_use]
    pub fn new(engine: Engine, mut config: HttpConfig, readiness: ReadinessProbe) -> Self {
        let prefix = config.prefix.trim_matches('/');
        config.prefix = if prefix.is_empty() { String::new() } else { format!("/{prefix}") };
        let settings = Settings {
            engine: engine.clone(),
            readiness,
            document: openapi::document(&config.prefix),
            known_paths: fallback::KnownPaths::of(&config),
            config,
        };
        Self { engine: Data::new(engine), settings: Data::from(Arc::new(settings)) }
    }

    /// The application: every route, with everything around it.
    ///
    /// ```no_run
    /// # fn serve(http: trove_http::Http) -> std::io::Result<actix_web::dev::Server> {
    /// let server = actix_web::HttpServer::new(move || http.app()).bind("127.0.0.1:8080")?.run();
    /// # Ok(server) }
    /// ```
    pub fn app(
        &self,
    ) -> App<
        impl ServiceFactory<
            ServiceRequest,
            Config = (),
            Response = ServiceResponse<BoxBody>,
            Error = Error,
            InitError = (),
        > + use<>,
    > {
        let config = self.settings.config.clone();
        App::new()
            .app_data(self.engine.clone())
            .app_data(self.settings.clone())
            .configure(|services| routes::register(services, &config))
            .default_service(web::to(fallback::not_found))
            .wrap(from_fn(envelope::wrap))
    }
}
