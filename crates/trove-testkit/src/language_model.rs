//! What every [`LanguageModel`] does.

#![expect(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a case fails by panicking")]

use std::time::Duration;

use futures::StreamExt;
use futures::future::{join_all, poll_immediate};
use trove_domain::llm::{FinishReason, LlmAnswer, LlmEvent, LlmMessage, LlmRequest};
use trove_domain::passages::{NumberedPassage, to_message};
use trove_domain::port::{LanguageModel, LanguageModelError};

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option`: something that dereferences to a model, or `None` when the
/// service that it needs is not there. The model has to answer a question about passages with the
/// words of the passage that fits, or with the whole message.
#[macro_export]
macro_rules! language_model_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            language_model,
            $start,
            [
                the_model_has_a_name_and_a_context,
                a_stream_ends_with_one_finish,
                no_piece_is_empty,
                an_answer_has_the_words_of_the_question_at_hand,
                the_same_question_can_be_asked_again,
                an_answer_is_no_longer_than_allowed,
                an_answer_of_no_tokens_is_empty,
                a_deadline_that_has_passed_is_the_end,
                every_kind_of_character_is_taken,
                a_conversation_of_several_turns_is_taken,
                a_conversation_without_a_message_is_no_accident,
                a_conversation_of_a_megabyte_is_answered_or_refused,
                a_dropped_question_changes_nothing,
                a_dropped_stream_changes_nothing,
                callers_at_the_same_time_get_their_own_answers,
            ]
        );
    };
}

/// Longer than anything takes.
const DEADLINE: Duration = Duration::from_mins(2);

fn request(text: impl Into<String>) -> LlmRequest {
    LlmRequest {
        messages: vec![LlmMessage::system("Be brief."), LlmMessage::user(text)],
        output_tokens_max: 500,
        temperature: Some(0.0),
        deadline: DEADLINE,
        pause_max: DEADLINE,
    }
}

/// A question about passages, of which one fits.
fn about(subject: &str) -> LlmRequest {
    let passage = |number, text: String| NumberedPassage { number, text };
    let passages = [
        passage(1, "The canteen opens at noon.".to_owned()),
        passage(2, format!("The {subject} is kept in room seven.")),
    ];
    request(to_message(&passages, &format!("Where is the {subject} kept?")))
}

/// The whole answer of a model.
///
/// # Errors
///
/// As the model's.
pub async fn answer(
    model: &dyn LanguageModel,
    request: LlmRequest,
) -> Result<LlmAnswer, LanguageModelError> {
    let mut stream = model.stream(request).await?;
    let (mut reasoning, mut text) = (String::new(), String::new());
    while let Some(event) = stream.next().await {
        match event? {
            LlmEvent::Reasoning(piece) => reasoning.push_str(&piece),
            LlmEvent::Text(piece) => text.push_str(&piece),
            LlmEvent::Finished { reason, usage } => {
                assert!(stream.next().await.is_none(), "nothing follows the end");
                return Ok(LlmAnswer { reasoning, text, reason, usage });
            }
        }
    }
    panic!("the stream ended without an event that says so")
}

/// Lists show both.
#[expect(clippy::unused_async, reason = "the cases of all suites have one shape")]
pub async fn the_model_has_a_name_and_a_context(model: &dyn LanguageModel) {
    let info = model.info();
    assert!(!info.provider.trim().is_empty());
    assert!(!info.model.trim().is_empty());
    assert!(info.context_tokens > 0);
}

/// Whoever reads knows whether the answer is whole.
pub async fn a_stream_ends_with_one_finish(model: &dyn LanguageModel) {
    let events: Vec<_> = model.stream(about("ladder")).await.unwrap().collect().await;
    let is_end = |event: &Result<LlmEvent, _>| matches!(event, Ok(LlmEvent::Finished { .. }));
    assert!(events.iter().all(Result::is_ok), "{events:?}");
    assert_eq!(events.iter().filter(|event| is_end(event)).count(), 1, "{events:?}");
    assert!(events.last().is_some_and(is_end), "{events:?}");
}

/// Clients draw each piece.
pub async fn no_piece_is_empty(model: &dyn LanguageModel) {
    let mut stream = model.stream(about("ladder")).await.unwrap();
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            LlmEvent::Reasoning(piece) | LlmEvent::Text(piece) => assert!(!piece.is_empty()),
            LlmEvent::Finished { .. } => {}
        }
    }
}

/// It reads what it is asked.
pub async fn an_answer_has_the_words_of_the_question_at_hand(model: &dyn LanguageModel) {
    let answer = answer(model, about("ladder")).await.unwrap();
    assert!(answer.text.contains("ladder") && answer.text.contains("seven"), "{answer:?}");
    assert_eq!(answer.reason, FinishReason::Stop);
}

/// A call leaves nothing behind.
pub async fn the_same_question_can_be_asked_again(model: &dyn LanguageModel) {
    for _ in 0..3 {
        assert!(answer(model, about("ladder")).await.unwrap().text.contains("seven"));
    }
}

/// A word is a token at least.
pub async fn an_answer_is_no_longer_than_allowed(model: &dyn LanguageModel) {
    for bound in [1, 3, 7] {
        let request = LlmRequest { output_tokens_max: bound, ..about("ladder") };
        let answer = answer(model, request).await.unwrap();
        let words = answer.text.split_whitespace().count();
        assert!(words <= usize::try_from(bound).unwrap(), "{bound}: {answer:?}");
        assert_eq!(answer.reason, FinishReason::Length, "{answer:?}");
    }
}

/// Whatever is left of a budget may be nothing.
pub async fn an_answer_of_no_tokens_is_empty(model: &dyn LanguageModel) {
    let request = LlmRequest { output_tokens_max: 0, ..about("ladder") };
    let answer = answer(model, request).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.reason), ("", FinishReason::Length));
}

/// A model that needs no time may answer; one that does must not begin.
pub async fn a_deadline_that_has_passed_is_the_end(model: &dyn LanguageModel) {
    let request = LlmRequest { deadline: Duration::ZERO, ..about("ladder") };
    match answer(model, request).await {
        Ok(_) | Err(LanguageModelError::Unavailable { .. }) => {}
        Err(error) => panic!("{error:?}"),
    }
}

/// Documents hold everything.
pub async fn every_kind_of_character_is_taken(model: &dyn LanguageModel) {
    for text in crate::embedding_model::awkward_texts() {
        let passages = [NumberedPassage { number: 1, text: text.clone() }];
        answer(model, request(to_message(&passages, "What is this?"))).await.unwrap();
        match answer(model, request(text.as_str())).await {
            // An empty message may be too little.
            Ok(_) | Err(LanguageModelError::Refused { .. }) => {}
            Err(error) => panic!("{text:?}: {error:?}"),
        }
    }
}

/// The last message is the question.
pub async fn a_conversation_of_several_turns_is_taken(model: &dyn LanguageModel) {
    let mut request = about("ladder");
    let turns = [LlmMessage::user("Where is the hammer?"), LlmMessage::assistant("I do not know.")];
    request.messages.splice(1..1, turns);
    let answer = answer(model, request).await.unwrap();
    assert!(answer.text.contains("ladder"), "{answer:?}");
}

/// Nobody asks nothing on purpose.
pub async fn a_conversation_without_a_message_is_no_accident(model: &dyn LanguageModel) {
    let request = LlmRequest { messages: Vec::new(), ..request("") };
    match answer(model, request).await {
        Ok(_) | Err(LanguageModelError::Refused { .. }) => {}
        Err(error) => panic!("{error:?}"),
    }
}

/// Nothing panics and nothing hangs.
pub async fn a_conversation_of_a_megabyte_is_answered_or_refused(model: &dyn LanguageModel) {
    let text = "some words of a long document. ".repeat(1 << 15);
    let passages = [NumberedPassage { number: 1, text }];
    match answer(model, request(to_message(&passages, "Which words?"))).await {
        Ok(_) | Err(LanguageModelError::ContextLength { .. }) => {}
        Err(error) => panic!("{error:?}"),
    }
}

/// Whoever hangs up leaves the model as it was.
pub async fn a_dropped_question_changes_nothing(model: &dyn LanguageModel) {
    for _ in 0..5 {
        let _stream = poll_immediate(model.stream(about("hammer"))).await;
    }
    assert!(answer(model, about("ladder")).await.unwrap().text.contains("seven"));
}

/// The same in the middle of an answer.
pub async fn a_dropped_stream_changes_nothing(model: &dyn LanguageModel) {
    for _ in 0..5 {
        let mut stream = model.stream(about("hammer")).await.unwrap();
        assert!(stream.next().await.is_some());
    }
    assert!(answer(model, about("ladder")).await.unwrap().text.contains("seven"));
}

/// Nobody gets what another one asked for.
pub async fn callers_at_the_same_time_get_their_own_answers(model: &dyn LanguageModel) {
    let subjects = ["ladder", "hammer", "printer", "projector", "whiteboard", "safe"];
    let answers = join_all(subjects.map(|subject| answer(model, about(subject)))).await;
    for (subject, answer) in subjects.iter().zip(answers) {
        let answer = answer.unwrap();
        assert!(answer.text.contains(subject), "{subject}: {answer:?}");
        let others = subjects.iter().filter(|other| *other != subject);
        assert!(!others.into_iter().any(|other| answer.text.contains(other)), "{answer:?}");
    }
}
