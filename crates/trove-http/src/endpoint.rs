//! Endpoints: a path and a handler with the policy that guards it.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::Payload;
use actix_web::http::{ConnectionType, Method, Version};
use actix_web::web::{self, Data};
use actix_web::{FromRequest, Handler, HttpRequest, HttpResponse, Responder, Route};
use futures_util::FutureExt;
use tracing::Span;
use trove_domain::access_token::TokenScope;
use trove_engine::audit::on_behalf_of;

use crate::Settings;
use crate::envelope::RequestId;
use crate::error::{ApiError, Refusal};
use crate::guard;

/// Who may call an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Everybody, signed in or not.
    Public,
    /// Every signed-in user, and the anonymous one where anonymous access is on.
    Chat,
    /// Every signed-in user.
    Limited,
    /// Every signed-in user but those with the role `limited`.
    Basic,
    /// Curators and administrators.
    Curator,
    /// Administrators.
    Admin,
}

/// What a deployment must have for an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Nothing.
    Open,
    /// A vector database; answers 501 without.
    VectorDb,
}

/// An endpoint as data: what the inventory test walks over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointInfo {
    /// Its method.
    pub method: Method,
    /// Its path below the prefix, with `{parameters}`.
    pub path: &'static str,
    /// Who may call it.
    pub policy: Policy,
    /// What it needs.
    pub gate: Gate,
    /// The neutral path of the same endpoint, where this one carries the reference's name.
    pub companion_of: Option<&'static str>,
    /// Whether it is part of the interface, as opposed to the pages that show its document.
    pub documented: bool,
    /// Whether it answers without the prefix, too.
    pub at_root: bool,
    /// Whether a personal access token that is restricted gets in.
    pub scope: ScopeRule,
    pub(crate) allowance: Allowance,
}

/// Which restricted personal access tokens an endpoint lets in. None, unless it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeRule {
    /// None of them.
    Unrestricted,
    /// All of them.
    Any,
    /// Those with this scope.
    One(TokenScope),
}

/// How long an endpoint may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// As long as anybody waits for an answer.
    Request,
    /// As long, and as long as a language model may take for a search.
    Search,
    /// As long as a large document takes.
    Ingestion,
}

/// An endpoint with its handler. There is no way to make one without a policy and a gate.
pub(crate) struct Endpoint {
    pub(crate) info: EndpointInfo,
    pub(crate) companion: Option<&'static str>,
    route: Box<dyn Fn(EndpointInfo) -> Route>,
}

impl Endpoint {
    /// `handler` answers `method` at `path` to those whom `policy` admits, where `gate` is open.
    pub(crate) fn new<H, Args, R>(
        method: Method,
        path: &'static str,
        policy: Policy,
        gate: Gate,
        handler: H,
    ) -> Self
    where
        H: Handler<Args, Output = Result<R, ApiError>>,
        Args: FromRequest + 'static,
        R: Responder + 'static,
    {
        let route = move |info: EndpointInfo| {
            let handler = handler.clone();
            web::method(info.method.clone()).to(
                move |request: HttpRequest, payload: web::Payload| {
                    // One allocation, instead of a large future in each layer around it.
                    Box::pin(serve(request, payload.into_inner(), info.clone(), handler.clone()))
                },
            )
        };
        let info = EndpointInfo {
            method,
            path,
            policy,
            gate,
            companion_of: None,
            documented: true,
            at_root: false,
            scope: ScopeRule::Unrestricted,
            allowance: Allowance::Request,
        };
        Self { info, companion: None, route: Box::new(route) }
    }

    /// Answers at this path, too: the one that clients of the reference know.
    pub(crate) fn also_at(mut self, companion: &'static str) -> Self {
        self.companion = Some(companion);
        self
    }

    /// Answers without the prefix, too: where load balancers look.
    pub(crate) fn at_root(mut self) -> Self {
        self.info.at_root = true;
        self
    }

    /// Leaves it out of the document.
    pub(crate) fn undocumented(mut self) -> Self {
        self.info.documented = false;
        self
    }

    /// Lets in personal access tokens with this scope.
    pub(crate) fn scope(mut self, scope: TokenScope) -> Self {
        self.info.scope = ScopeRule::One(scope);
        self
    }

    /// Lets in personal access tokens whatever their scopes.
    pub(crate) fn any_scope(mut self) -> Self {
        self.info.scope = ScopeRule::Any;
        self
    }

    /// May take as long as ingestion does.
    pub(crate) fn slow(mut self) -> Self {
        self.info.allowance = Allowance::Ingestion;
        self
    }

    /// May take as long as a search with a language model does.
    pub(crate) fn searching(mut self) -> Self {
        self.info.allowance = Allowance::Search;
        self
    }

    /// The endpoint under each of its paths.
    pub(crate) fn infos(&self) -> impl Iterator<Item = EndpointInfo> {
        let companion = self.companion.map(|path| EndpointInfo {
            path,
            companion_of: Some(self.info.path),
            ..self.info.clone()
        });
        std::iter::once(self.info.clone()).chain(companion)
    }

    /// What actix routes to, for one of the paths.
    pub(crate) fn route(&self, info: EndpointInfo) -> Route {
        (self.route)(info)
    }
}

/// Guards, reads, handles and answers one request.
async fn serve<H, Args, R>(
    request: HttpRequest,
    mut payload: Payload,
    info: EndpointInfo,
    handler: H,
) -> HttpResponse
where
    H: Handler<Args, Output = Result<R, ApiError>>,
    Args: FromRequest,
    R: Responder + 'static,
{
    Span::current().record("http.route", info.path);
    let settings = request.app_data::<Data<Settings>>().cloned();
    let Some(settings) = settings else {
        // Not reachable: services and settings are only made together.
        return HttpResponse::InternalServerError().finish();
    };
    let allowance = settings.allowance(info.allowance);
    let work = async {
        let admitted = guard::admit(&request, &settings.engine, &settings.config, &info);
        within(allowance, admitted).await?;
        // Reading has a time limit of its own, which blames the client.
        let origin = guard::origin_of(&request);
        let args = Args::from_request(&request, &mut payload).await.map_err(Into::into)?;
        let work = on_behalf_of(origin, handler.call(args));
        let reply = within(allowance, work).await?;
        Ok::<_, actix_web::Error>(reply.respond_to(&request).map_into_boxed_body())
    };
    match contained(work).await {
        Ok(mut response) => {
            if request.version() < Version::HTTP_11 && response.body().size() == BodySize::Stream {
                // No chunks for a client that knows none: the end of the connection ends the body.
                let head = response.head_mut();
                head.no_chunking(true);
                head.set_connection_type(ConnectionType::Close);
            }
            response
        }
        Err(error) => {
            let id = RequestId::of(&request);
            match error.as_error::<ApiError>() {
                Some(error) => error.respond(&id),
                None => error.error_response(),
            }
        }
    }
}

/// Ends `work` after `allowance`.
async fn within<T>(
    allowance: Duration,
    work: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let ended = tokio::time::timeout(allowance, work).await;
    ended.unwrap_or(Err(ApiError::Refused(Refusal::DeadlineExceeded)))
}

/// Keeps a panic of `work` from taking the connection down.
async fn contained<T>(
    work: impl Future<Output = Result<T, actix_web::Error>>,
) -> Result<T, actix_web::Error> {
    let ended = AssertUnwindSafe(work).catch_unwind().await;
    ended.unwrap_or_else(|_panic| Err(ApiError::Panicked.into()))
}
