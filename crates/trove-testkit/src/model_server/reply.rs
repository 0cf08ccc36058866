//! What a stub answers, down to the byte.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// What comes after the last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The end of the body; the connection lives on.
    Complete,
    /// The connection closes; the body has no other end.
    Close,
    /// The connection breaks in the middle of the body.
    Break,
    /// Nothing, until the client hangs up.
    Hold,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    /// Each is sent, and can be received, on its own.
    pieces: Vec<Vec<u8>>,
    end: End,
}

/// One event of a stream: `data: …` and a blank line.
#[must_use]
pub fn event(data: impl std::fmt::Display) -> String {
    format!("data: {data}\n\n")
}

impl Reply {
    fn new(status: u16, content_type: &str, body: &[u8]) -> Self {
        let headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
        Self { status, headers, pieces: vec![body.to_vec()], end: End::Complete }
    }

    /// A body of bytes of some type.
    #[must_use]
    pub fn bytes(status: u16, content_type: &str, body: impl AsRef<[u8]>) -> Self {
        Self::new(status, content_type, body.as_ref())
    }

    /// A body of text.
    #[must_use]
    pub fn text(status: u16, body: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body.as_bytes())
    }

    /// The page of some proxy.
    #[must_use]
    pub fn html(status: u16, body: &str) -> Self {
        Self::new(status, "text/html", body.as_bytes())
    }

    /// A body of JSON.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string().as_bytes())
    }

    /// An error as OpenAI words it.
    #[must_use]
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        let error = json!({ "message": message, "type": "error", "param": null, "code": code });
        Self::json(status, &json!({ "error": error }))
    }

    /// A stream, as it is to be sent.
    #[must_use]
    pub fn stream(body: impl AsRef<[u8]>) -> Self {
        Self::new(200, "text/event-stream", body.as_ref())
    }

    /// A stream of events with these data, each in a piece of its own.
    #[must_use]
    pub fn events<D: std::fmt::Display>(data: impl IntoIterator<Item = D>) -> Self {
        let pieces = data.into_iter().map(|data| event(data).into_bytes()).collect();
        Self { pieces, ..Self::stream("") }
    }

    /// A whole streamed answer: its words, why it ended, what it cost, and the end.
    #[must_use]
    pub fn answer(text: &str, reason: &str) -> Self {
        let words = text.split_inclusive(' ').filter(|word| !word.is_empty());
        let chunk = |delta: Value, reason: Value| {
            json!({
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }],
            })
        };
        let count = words.clone().count();
        let first = chunk(json!({ "role": "assistant", "content": "" }), Value::Null);
        let texts = words.map(|word| chunk(json!({ "content": word }), Value::Null));
        let usage = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [],
            "usage": { "prompt_tokens": 7, "completion_tokens": count, "total_tokens": 7 + count },
        });
        let end = [chunk(json!({}), reason.into()), usage];
        let chunks: Vec<String> =
            std::iter::once(first).chain(texts).chain(end).map(|chunk| chunk.to_string()).collect();
        Self::events(chunks.iter().map(String::as_str).chain(["[DONE]"]))
    }

    /// With another header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Whether it has this header.
    #[must_use]
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.headers.iter().any(|(known, has)| known == name && has == value)
    }

    /// In pieces of so many bytes.
    #[must_use]
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        let body = self.pieces.concat();
        self.pieces = body.chunks(bytes.max(1)).map(<[u8]>::to_vec).collect();
        self
    }

    /// Without an end of the body but that of the connection.
    #[must_use]
    pub fn then_close(self) -> Self {
        Self { end: End::Close, ..self }
    }

    /// The connection breaks after the last piece.
    #[must_use]
    pub fn then_break(self) -> Self {
        Self { end: End::Break, ..self }
    }

    /// Nothing more comes after the last piece, until the client hangs up.
    #[must_use]
    pub fn then_hold(self) -> Self {
        Self { end: End::Hold, ..self }
    }

    pub(super) fn closes(&self) -> bool {
        self.end != End::Complete
    }

    /// Sends everything; whether the connection is to be held.
    pub(super) async fn write(&self, stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<bool> {
        // A chunk of HTTP for each piece: the client gets them one by one, whatever the network
        // does.
        let chunked = self.end != End::Close;
        let mut head = format!("HTTP/1.1 {} Status\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let bodiless = matches!(self.status, 204 | 304);
        head.push_str(if chunked && !bodiless {
            "Transfer-Encoding: chunked\r\n\r\n"
        } else {
            "\r\n"
        });
        stream.write_all(head.as_bytes()).await?;
        if bodiless {
            stream.flush().await?;
            return Ok(self.end == End::Hold);
        }
        for piece in self.pieces.iter().filter(|piece| !piece.is_empty()) {
            let mut bytes = Vec::with_capacity(piece.len() + 16);
            if chunked {
                bytes.extend(format!("{:x}\r\n", piece.len()).bytes());
            }
            bytes.extend(piece);
            if chunked {
                bytes.extend(b"\r\n");
            }
            stream.write_all(&bytes).await?;
            stream.flush().await?;
        }
        if self.end == End::Complete {
            stream.write_all(b"0\r\n\r\n").await?;
        }
        stream.flush().await?;
        Ok(self.end == End::Hold)
    }
}
