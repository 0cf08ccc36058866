//! Conversations with a large language model.

use std::time::Duration;

/// What a language model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageModelInfo {
    /// Name of the provider it is reached through.
    pub provider: String,
    /// Its name at the provider.
    pub model: String,
    /// Most tokens of a prompt and its answer together, as far as that is known.
    pub context_tokens: usize,
    /// Whether it follows instructions. The built-in extractive model does not: it quotes.
    pub follows_instructions: bool,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The deployment: instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmMessage {
    /// Who says it.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
}

impl LlmMessage {
    /// An instruction.
    pub fn system(text: impl Into<String>) -> Self {
        Self { speaker: Speaker::System, text: text.into() }
    }

    /// Something the user says.
    pub fn user(text: impl Into<String>) -> Self {
        Self { speaker: Speaker::User, text: text.into() }
    }

    /// Something the model said.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { speaker: Speaker::Assistant, text: text.into() }
    }
}

/// One question to a model. Every bound is required: there is no call without an end.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmRequest {
    /// The conversation, oldest first; the last message is the question.
    pub messages: Vec<LlmMessage>,
    /// Most tokens of the answer, reasoning included.
    pub output_tokens_max: u32,
    /// How far the model may stray from the likeliest answer, 0.0 to 2.0; the model's own default
    /// when absent.
    pub temperature: Option<f32>,
    /// Longest time from the call to the end of the answer.
    pub deadline: Duration,
    /// Longest pause before a provider that refuses for the moment is asked again; one that wants a
    /// longer one fails the request at once.
    pub pause_max: Duration,
}

/// What a model says, piece by piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LlmEvent {
    /// A piece of what the model thinks before it answers.
    Reasoning(String),
    /// A piece of the answer. Never empty.
    Text(String),
    /// The end: exactly one, the last event of a stream that did not fail.
    Finished {
        /// Why it ended.
        reason: FinishReason,
        /// What it cost, when the provider says so.
        usage: Option<LlmUsage>,
    },
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FinishReason {
    /// The model had said everything.
    Stop,
    /// The answer reached its bound.
    Length,
    /// The provider withheld the answer.
    ContentFilter,
}

/// Tokens as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LlmUsage {
    /// Of the prompt.
    pub input_tokens: u32,
    /// Of the answer.
    pub output_tokens: u32,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmAnswer {
    /// What the model thought, when it says so.
    pub reasoning: String,
    /// The answer.
    pub text: String,
    /// Why it ended.
    pub reason: FinishReason,
    /// What it cost, when the provider says so.
    pub usage: Option<LlmUsage>,
}
