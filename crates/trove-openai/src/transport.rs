//! Requests, and their retries.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use tokio::time::{Instant, sleep, timeout_at};
use trove_domain::error::Source;
use trove_domain::port::{Clock, IdGenerator, LanguageModelError};

use crate::endpoint::Endpoint;
use crate::failure::{Failure, Said};
use crate::names::Names;
use crate::retry::{RetryPolicy, retry_after};

/// Most bytes that are read of an answer that is an error.
const ERROR_BYTES_MAX: usize = 64 << 10;
/// Longest wait for the body of such an answer.
const ERROR_BODY_WITHIN: Duration = Duration::from_secs(5);

/// How long a server may be silent. All of it is within the deadline of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// Until an answer begins.
    pub first_token: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    /// 10 s, 5 min because servers load a model with its first question, and 60 s.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_token: Duration::from_mins(5),
            idle: Duration::from_mins(1),
        }
    }
}

/// What all models share: connections, the clock, randomness. Cheap to clone.
#[derive(Clone)]
pub struct Transport {
    client: Client,
    pub(crate) timeouts: Timeouts,
    retry: RetryPolicy,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGenerator>,
}

/// Bounds of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within {
    /// The end of everything.
    pub(crate) deadline: Instant,
    /// Until the answer begins.
    pub(crate) first_byte: Duration,
    /// Most attempts in all; the policy may allow fewer.
    pub(crate) attempts_max: u32,
    /// Longest pause between two attempts; the policy may allow less.
    pub(crate) pause_max: Duration,
}

impl Transport {
    /// Opens no connection.
    ///
    /// # Errors
    ///
    /// [`LanguageModelError::Invalid`], when the machine has no TLS to speak of, or the environment
    /// names a proxy that is none.
    pub fn new(
        timeouts: Timeouts,
        retry: RetryPolicy,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGenerator>,
    ) -> Result<Self, LanguageModelError> {
        let client = Client::builder()
            .connect_timeout(timeouts.connect)
            // The key would go along.
            .redirect(Policy::none())
            .dns_resolver(Arc::new(Names))
            .user_agent("trove")
            .build()
            .map_err(|error| LanguageModelError::Invalid { detail: last_cause(&error) })?;
        Ok(Self { client, timeouts, retry, clock, ids })
    }

    /// Sends `body` until it is answered with success.
    pub(crate) async fn post(
        &self,
        endpoint: &Endpoint,
        body: Bytes,
        within: Within,
    ) -> Result<Response, Failure> {
        let retry = RetryPolicy {
            attempts_max: self.retry.attempts_max.min(within.attempts_max),
            pause_max: self.retry.pause_max.min(within.pause_max),
            ..self.retry
        };
        let mut attempt = 1;
        loop {
            let failure = match self.post_once(endpoint, body.clone(), within).await {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            let pause = retry.pause(attempt, failure.retry_after, self.random());
            match pause {
                Some(pause) if failure.is_passing && Instant::now() + pause < within.deadline => {
                    tracing::debug!(
                        provider = endpoint.provider,
                        attempt,
                        error = %failure.error,
                        "the request is made again"
                    );
                    sleep(pause).await;
                }
                _ => return Err(failure),
            }
            attempt += 1;
        }
    }

    async fn post_once(
        &self,
        endpoint: &Endpoint,
        body: Bytes,
        within: Within,
    ) -> Result<Response, Failure> {
        let request = self
            .client
            .post(endpoint.url.clone())
            .headers(endpoint.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let until = within.deadline.min(Instant::now() + within.first_byte);
        let response = timeout_at(until, request.send())
            .await
            .map_err(|_| Failure::from(unavailable(endpoint, "no answer in time", None)))?
            .map_err(|error| not_sent(endpoint, error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after = retry_after(response.headers(), self.clock.now());
        let until = within.deadline.min(Instant::now() + ERROR_BODY_WITHIN);
        // Without its body the status says enough.
        let body = read(response, ERROR_BYTES_MAX, until).await.unwrap_or_default();
        let said = Said::from_body(&body);
        Err(Failure::of_answer(endpoint, Some(status.as_u16()), said, retry_after))
    }

    fn random(&self) -> u32 {
        let mut bytes = [0; 4];
        self.ids.fill_secret(&mut bytes);
        u32::from_le_bytes(bytes)
    }
}

/// The first `bytes_max` of a body.
pub(crate) async fn read(
    mut response: Response,
    bytes_max: usize,
    until: Instant,
) -> Result<BytesMut, reqwest::Error> {
    let mut body = BytesMut::new();
    let reading = async {
        while body.len() < bytes_max {
            let Some(piece) = response.chunk().await? else { break };
            body.extend_from_slice(&piece);
        }
        Ok::<(), reqwest::Error>(())
    };
    match timeout_at(until, reading).await {
        Ok(Err(error)) => Err(error),
        Ok(Ok(())) | Err(_) => Ok(body),
    }
}

/// The server cannot be asked, or goes silent.
pub(crate) fn unavailable(
    endpoint: &Endpoint,
    detail: &str,
    source: Option<Source>,
) -> LanguageModelError {
    LanguageModelError::Unavailable {
        provider: endpoint.provider.clone(),
        detail: detail.to_owned(),
        source,
    }
}

fn not_sent(endpoint: &Endpoint, error: reqwest::Error) -> Failure {
    let error = error.without_url();
    let what = if error.is_connect() { "there is no connection" } else { "the connection broke" };
    let cause = endpoint.secrets.scrub(&last_cause(&error));
    let host = endpoint.url.host_str().unwrap_or_default();
    let port = endpoint.url.port_or_known_default().unwrap_or_default();
    let detail = format!("{what} to {host}:{port}: {cause}");
    let is_passing = !error.is_builder();
    let error = unavailable(endpoint, &detail, Some(error.into()));
    Failure { error, said: Box::default(), is_passing, retry_after: None }
}

/// The innermost reason: what is around it names libraries.
pub(crate) fn last_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
