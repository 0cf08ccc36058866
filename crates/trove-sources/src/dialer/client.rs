//! Requests, their redirects and their retries.

use std::error::Error;
use std::sync::Arc;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION,
};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use tokio::time::timeout;
use trove_domain::port::{Clock, IdGenerator};
use url::Url;

use super::body::{Body, BodyError};
use super::names::{CheckedNames, Names, Refused};
use super::pacing::{Backoff, Hosts, Pacer, retry_after};
use super::policy::{NetworkPolicy, host_of};
use super::{Answer, DialError, Head, Limits, Request};

/// Makes requests. Cheap to clone; clones share connections and manners.
#[derive(Clone)]
pub struct Dialer {
    client: Client,
    policy: NetworkPolicy,
    limits: Limits,
    backoff: Backoff,
    hosts: Arc<Hosts>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGenerator>,
    pacer: Arc<dyn Pacer>,
}

/// What a [`Dialer`] is made of.
pub struct DialerParts {
    /// Whom to connect to.
    pub policy: NetworkPolicy,
    /// Bounds of one request.
    pub limits: Limits,
    /// When a request is made again.
    pub backoff: Backoff,
    /// Who knows where names lead.
    pub names: Arc<dyn Names>,
    /// The time, for dates in answers.
    pub clock: Arc<dyn Clock>,
    /// Randomness, for pauses.
    pub ids: Arc<dyn IdGenerator>,
    /// Who waits.
    pub pacer: Arc<dyn Pacer>,
}

impl Dialer {
    /// Opens no connection.
    ///
    /// # Errors
    ///
    /// [`DialError::Unreachable`] when the machine has no TLS to speak of.
    pub fn new(parts: DialerParts) -> Result<Self, DialError> {
        let DialerParts { policy, limits, backoff, names, clock, ids, pacer } = parts;
        let checked = CheckedNames { names, policy: policy.clone() };
        let client = Client::builder()
            .user_agent(concat!("Trove/", env!("CARGO_PKG_VERSION")))
            .no_proxy()
            .referer(false)
            // Each hop is checked here.
            .redirect(Policy::none())
            .dns_resolver(Arc::new(checked))
            .connect_timeout(limits.connect)
            .read_timeout(limits.idle)
            .build()
            .map_err(|error| DialError::Unreachable {
                message: "there is no way to make requests".to_owned(),
                source: Some(error.into()),
            })?;
        let hosts = Arc::default();
        Ok(Self { client, policy, limits, backoff, hosts, clock, ids, pacer })
    }

    /// Whom it connects to.
    #[must_use]
    pub fn policy(&self) -> &NetworkPolicy {
        &self.policy
    }

    /// Who waits for it.
    #[must_use]
    pub fn pacer(&self) -> &dyn Pacer {
        &*self.pacer
    }

    /// Asks until there is an answer, whatever its status; the body is read if `wanted` says so
    /// after the head.
    ///
    /// Answers that ask to come again (429, 502, 503, 504) and connections that break are tried
    /// again as the [`Backoff`] says; the last answer counts.
    ///
    /// # Errors
    ///
    /// [`DialError`] when there is none.
    pub async fn fetch(
        &self,
        request: &Request,
        wanted: &(dyn Fn(&Head) -> bool + Sync),
    ) -> Result<Answer, DialError> {
        let mut attempt = 1;
        loop {
            let within = timeout(self.limits.total, self.fetch_once(request, wanted)).await;
            let answer = within.unwrap_or_else(|_| {
                let host = host_of(&request.url);
                Err(unreachable(format!("{host} did not answer in time"), None))
            });
            let wait = match &answer {
                Ok(answer) if matches!(answer.head.status, 429 | 502..=504) => {
                    answer.head.retry_after
                }
                // Whether a `POST` has arrived, nobody knows.
                Err(error) if error.is_passing() && request.json.is_none() => None,
                Ok(_) | Err(_) => return answer,
            };
            match self.backoff.pause(attempt, wait, self.random()) {
                Some(pause) => self.pacer.pause(pause).await,
                None => return answer,
            }
            attempt += 1;
        }
    }

    async fn fetch_once(
        &self,
        request: &Request,
        wanted: &(dyn Fn(&Head) -> bool + Sync),
    ) -> Result<Answer, DialError> {
        let mut url = request.url.clone();
        for _ in 0..=self.limits.redirects {
            self.policy.admit_url(&url)?;
            let host = host_of(&url);
            let _turn = self.hosts.turn(&host, request.interval, &*self.pacer).await;
            let response = self.send(request, &url).await?;
            let status = response.status().as_u16();
            if matches!(status, 301 | 302 | 303 | 307 | 308)
                && request.json.is_none()
                && let Some(location) = response.headers().get(LOCATION)
            {
                url = next_hop(&url, location)?;
                continue;
            }
            let headers = response.headers().clone();
            let retry_after = retry_after(&headers, self.clock.now());
            let head = Head { url, status, headers, retry_after };
            let body =
                if wanted(&head) { self.read(response, request, &host).await? } else { Vec::new() };
            return Ok(Answer { head, body });
        }
        Err(DialError::Redirects { host: host_of(&url) })
    }

    async fn send(&self, request: &Request, url: &Url) -> Result<Response, DialError> {
        let mut headers = HeaderMap::new();
        headers
            .insert(ACCEPT, HeaderValue::from_static("text/html,application/xhtml+xml,*/*;q=0.8"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, deflate"));
        let same_origin = url.origin() == request.url.origin();
        for (name, value) in &request.headers {
            if same_origin || [IF_NONE_MATCH, IF_MODIFIED_SINCE].contains(name) {
                headers.insert(name, value.clone());
            }
        }
        let builder = match &request.json {
            Some(body) => self
                .client
                .post(url.clone())
                .header(CONTENT_TYPE, "application/json")
                .body(body.clone()),
            None => self.client.get(url.clone()),
        };
        let sent = timeout(self.limits.idle, builder.headers(headers).send()).await;
        let host = host_of(url);
        let response = match sent {
            Err(_) => return Err(unreachable(format!("{host} did not answer in time"), None)),
            Ok(Err(error)) => return Err(not_sent(host, error)),
            Ok(Ok(response)) => response,
        };
        // What was checked is what was connected to; this says so if that ever changes.
        if response.remote_addr().is_some_and(|address| !self.policy.admits(address.ip())) {
            return Err(DialError::Forbidden { host });
        }
        Ok(response)
    }

    async fn read(
        &self,
        mut response: Response,
        request: &Request,
        host: &str,
    ) -> Result<Vec<u8>, DialError> {
        let sorted = |error| match error {
            BodyError::TooLarge => DialError::TooLarge { host: host.to_owned() },
            BodyError::Broken(error) => {
                DialError::Broken { host: host.to_owned(), source: Some(error.into()) }
            }
            BodyError::Encoding => DialError::Broken { host: host.to_owned(), source: None },
        };
        let mut encodings = response.headers().get_all(CONTENT_ENCODING).iter();
        let encoding = encodings.next().map_or(Some(""), |value| value.to_str().ok());
        let encoding = encoding.filter(|_| encodings.next().is_none());
        let encoding = encoding.ok_or(BodyError::Encoding).map_err(sorted)?;
        let max = self.limits.bytes.min(request.bytes_max);
        let packed_max = self.limits.packed_bytes;
        let mut body = Body::new(encoding, packed_max, max).map_err(sorted)?;
        let announced = response.content_length();
        if announced.is_some_and(|length| usize::try_from(length).map_or(true, |l| l > packed_max))
        {
            return Err(DialError::TooLarge { host: host.to_owned() });
        }
        loop {
            let piece = response.chunk().await.map_err(|error| not_sent(host.to_owned(), error))?;
            let Some(piece) = piece else { return body.finish().map_err(sorted) };
            body.push(&piece).map_err(sorted)?;
        }
    }

    fn random(&self) -> u32 {
        let mut bytes = [0; 4];
        self.ids.fill_secret(&mut bytes);
        u32::from_le_bytes(bytes)
    }
}

/// Where a redirect leads; whether anybody goes there is decided like for the first address.
fn next_hop(from: &Url, location: &HeaderValue) -> Result<Url, DialError> {
    let problem = DialError::Address("it redirects to what is no address");
    // Servers send UTF-8 where they should not.
    let Ok(location) = std::str::from_utf8(location.as_bytes()) else { return Err(problem) };
    if location.contains('\\') || location.chars().any(char::is_control) {
        return Err(problem);
    }
    let Ok(mut url) = from.join(location.trim()) else { return Err(problem) };
    if url.fragment().is_none() {
        url.set_fragment(from.fragment());
    }
    Ok(url)
}

impl std::fmt::Debug for Dialer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialer").field("policy", &self.policy).finish_non_exhaustive()
    }
}

fn unreachable(message: String, source: Option<reqwest::Error>) -> DialError {
    DialError::Unreachable { message, source: source.map(Into::into) }
}

fn not_sent(host: String, error: reqwest::Error) -> DialError {
    let error = error.without_url();
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    let mut last = String::new();
    while let Some(current) = cause {
        if current.is::<Refused>() {
            return DialError::Forbidden { host };
        }
        last = current.to_string();
        cause = current.source();
    }
    let what = if error.is_timeout() {
        "did not answer in time".to_owned()
    } else if error.is_connect() {
        format!("cannot be connected to: {last}")
    } else {
        format!("broke the connection: {last}")
    };
    unreachable(format!("{host} {what}"), Some(error))
}
