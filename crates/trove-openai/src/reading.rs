//! The answer while it comes in: a stream of events, or one JSON object from servers that do not
//! stream.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use trove_domain::llm::{FinishReason, LlmEvent, LlmUsage};
use trove_domain::port::LanguageModelError;

use crate::chunk::Chunk;
use crate::endpoint::Endpoint;
use crate::failure::{Failure, Said};
use crate::guard::OutputGuard;
use crate::sse::{Event, EventParser};
use crate::transport::{Timeouts, last_cause, unavailable};

/// How long the cost and the end are waited for once the model has finished.
const AFTER_FINISH: Duration = Duration::from_secs(1);
/// Bytes of an answer beside its tokens, and for each token: a chunk may repeat names and ids.
const BYTES_ASIDE: u64 = 1 << 20;
const BYTES_PER_TOKEN: u64 = 8 << 10;

/// What kind of body it is, which only its beginning tells: proxies send what they like as what.
enum Body {
    Unknown,
    Events(EventParser),
    Object(Vec<u8>),
}

/// An answer that is being read.
pub(crate) struct Reading {
    endpoint: Arc<Endpoint>,
    timeouts: Timeouts,
    deadline: Instant,
    /// `None` once nothing more is read: the connection is free, or closed.
    response: Option<Response>,
    body: Body,
    bytes_left: u64,
    guard: OutputGuard,
    /// Whether the model has said anything.
    began: bool,
    reason: Option<FinishReason>,
    /// When whatever comes after the reason is no longer waited for.
    finish_by: Instant,
    usage: Option<LlmUsage>,
    /// What is to be handed out.
    ready: VecDeque<LlmEvent>,
    failure: Option<LanguageModelError>,
}

impl Reading {
    pub(crate) fn new(
        endpoint: Arc<Endpoint>,
        timeouts: Timeouts,
        deadline: Instant,
        output_tokens_max: u32,
        response: Response,
    ) -> Self {
        let tokens = u64::from(output_tokens_max);
        Self {
            endpoint,
            timeouts,
            deadline,
            response: Some(response),
            body: Body::Unknown,
            bytes_left: BYTES_ASIDE.saturating_add(tokens.saturating_mul(BYTES_PER_TOKEN)),
            guard: OutputGuard::new(output_tokens_max),
            began: false,
            reason: None,
            finish_by: deadline,
            usage: None,
            ready: VecDeque::new(),
            failure: None,
        }
    }

    /// The next event; `None` after the last.
    pub(crate) async fn next(&mut self) -> Option<Result<LlmEvent, LanguageModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(failure) = self.failure.take() {
                return Some(Err(failure));
            }
            self.response.as_ref()?;
            let step = match self.receive().await {
                Ok(Some(bytes)) => self.take(&bytes),
                Ok(None) => self.end(),
                Err(error) => Err(error),
            };
            if let Err(error) = step {
                self.response = None;
                self.failure = Some(error);
            }
        }
    }

    /// The next bytes; `None` at the end, or when the rest is not worth waiting for.
    async fn receive(&mut self) -> Result<Option<bytes::Bytes>, LanguageModelError> {
        let silence = if self.began { self.timeouts.idle } else { self.timeouts.first_token };
        let until = self.finish_by.min(Instant::now() + silence);
        let Some(response) = &mut self.response else { return Ok(None) };
        let received = timeout_at(until, response.chunk()).await;
        let failed = match received {
            Ok(Ok(bytes)) => return Ok(bytes),
            // It has said all.
            _ if self.reason.is_some() => return Ok(None),
            Ok(Err(error)) => {
                let error = error.without_url();
                let cause = self.endpoint.secrets.scrub(&last_cause(&error));
                let detail = format!("the connection broke in the middle of the answer: {cause}");
                unavailable(&self.endpoint, &detail, Some(error.into()))
            }
            Err(_) if Instant::now() >= self.deadline => {
                unavailable(&self.endpoint, "the answer was not complete in time", None)
            }
            Err(_) => {
                let detail = format!("silent for {} s", silence.as_secs_f32());
                unavailable(&self.endpoint, &detail, None)
            }
        };
        Err(failed)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), LanguageModelError> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let Some(left) = self.bytes_left.checked_sub(length) else {
            return Err(self.protocol("it has no end"));
        };
        self.bytes_left = left;
        let mut bytes = bytes;
        if matches!(self.body, Body::Unknown) {
            let Some(start) = bytes.iter().position(|byte| !byte.is_ascii_whitespace()) else {
                return Ok(());
            };
            bytes = &bytes[start..];
            self.body = match bytes[0] {
                b'{' | b'[' => Body::Object(Vec::new()),
                b'<' => return Err(self.protocol("it is a page of HTML, as a proxy sends it")),
                _ => Body::Events(EventParser::default()),
            };
        }
        match &mut self.body {
            Body::Object(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Body::Events(parser) => {
                let mut events = Vec::new();
                let read = parser.push(bytes, &mut events);
                self.take_events(events)?;
                read.map_err(|_| self.protocol("an event of it is larger than any should be"))
            }
            Body::Unknown => Ok(()),
        }
    }

    fn take_events(&mut self, events: Vec<Event>) -> Result<(), LanguageModelError> {
        for event in events {
            if self.response.is_none() {
                return Ok(());
            }
            self.take_event(&event)?;
        }
        Ok(())
    }

    fn take_event(&mut self, event: &Event) -> Result<(), LanguageModelError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.finish(self.reason.unwrap_or(FinishReason::Stop));
            return Ok(());
        }
        if event.is_error {
            let said = Said::from_body(data.as_bytes());
            return Err(Failure::of_answer(&self.endpoint, None, said, None).error);
        }
        if data.is_empty() {
            return Ok(());
        }
        match serde_json::from_str(data) {
            Ok(value) => self.take_object(&value),
            // Servers that forget the blank line between two events.
            Err(_) if data.contains('\n') => {
                let lines =
                    data.lines().map(|line| Event { data: line.to_owned(), is_error: false });
                self.take_events(lines.collect())
            }
            Err(error) => Err(self.protocol(&format!("an event of it is not JSON: {error}"))),
        }
    }

    fn take_object(&mut self, value: &Value) -> Result<(), LanguageModelError> {
        let chunk = Chunk::read(value)
            .map_err(|said| Failure::of_answer(&self.endpoint, None, said, None).error)?;
        self.usage = chunk.usage.or(self.usage);
        let pieces = [(chunk.reasoning, true), (chunk.text, false)];
        for (piece, is_reasoning) in pieces {
            let (admitted, whole) = self.guard.admit(&piece);
            if !admitted.is_empty() {
                self.began = true;
                let piece = admitted.to_owned();
                self.ready.push_back(if is_reasoning {
                    LlmEvent::Reasoning(piece)
                } else {
                    LlmEvent::Text(piece)
                });
            }
            if !whole {
                // The server does not keep the bound.
                self.finish(FinishReason::Length);
                return Ok(());
            }
        }
        if chunk.reason.is_some() && self.reason.is_none() {
            self.reason = chunk.reason;
            self.finish_by = self.deadline.min(Instant::now() + AFTER_FINISH);
        }
        Ok(())
    }

    /// The body has come to its end.
    fn end(&mut self) -> Result<(), LanguageModelError> {
        match std::mem::replace(&mut self.body, Body::Unknown) {
            Body::Unknown if self.reason.is_none() => return Err(self.protocol("it is empty")),
            Body::Unknown => {}
            Body::Object(body) => {
                let value: Value = serde_json::from_slice(&body)
                    .map_err(|error| self.protocol(&format!("it is not JSON: {error}")))?;
                if value["choices"].get(0).is_none() && value["error"].is_null() {
                    return Err(self.protocol("it has no choices"));
                }
                self.take_object(&value)?;
                self.reason = self.reason.or(Some(FinishReason::Stop));
            }
            Body::Events(mut parser) => {
                let rest = self.take_events(parser.finish());
                // What is cut off after the end of the answer is not missed.
                if self.reason.is_none() {
                    rest?;
                }
            }
        }
        match self.reason {
            _ if self.response.is_none() => Ok(()),
            Some(reason) => {
                self.finish(reason);
                Ok(())
            }
            None => Err(unavailable(
                &self.endpoint,
                "the connection closed before the end of the answer",
                None,
            )),
        }
    }

    fn finish(&mut self, reason: FinishReason) {
        self.response = None;
        self.ready.push_back(LlmEvent::Finished { reason, usage: self.usage });
    }

    fn protocol(&self, detail: &str) -> LanguageModelError {
        LanguageModelError::Protocol {
            provider: self.endpoint.provider.clone(),
            detail: self.endpoint.secrets.scrub(detail),
        }
    }
}
