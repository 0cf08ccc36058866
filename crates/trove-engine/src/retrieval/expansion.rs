//! More queries from one, with the help of a language model.

use chrono::{DateTime, Utc};
use trove_domain::llm::{LlmMessage, Speaker};

use super::HistoryTurn;
use super::assistant::{Assistant, estimated_tokens};

/// Keyword queries that are used of an answer, whatever its length.
const KEYWORD_QUERIES_MAX: usize = 3;
/// Expansions of a document search.
const EXPANSIONS_MAX: usize = 4;
/// Longest query that a model may make, in characters.
const QUERY_CHARS_MAX: usize = 400;
/// Tokens of an answer with queries in it.
const ANSWER_TOKENS_MAX: u32 = 150;
/// Tokens of earlier turns that are worth sending.
const HISTORY_TOKENS_MAX: usize = 2_000;

/// A query that stands for itself, from the last turn of a conversation.
pub(super) async fn rephrase(
    assistant: &Assistant,
    history: &[HistoryTurn],
    query: &str,
    now: DateTime<Utc>,
) -> Option<String> {
    let instruction = "You prepare searches in a company's documents. Rewrite the last message of \
        the user as one search query in natural language that is understood without the rest of \
        the conversation: replace pronouns and references by what they stand for, keep names, \
        numbers and quoted terms as they are, keep the language of the message. If it is such a \
        query already, repeat it. Answer with the query alone.";
    let messages = conversation(instruction, history, query, now);
    let answer = assistant.ask("the query was not rephrased", messages, ANSWER_TOKENS_MAX).await?;
    cleaned(answer.lines().find(|line| !line.trim().is_empty())?)
}

/// Keyword queries for the last turn of a conversation.
pub(super) async fn keyword_queries(
    assistant: &Assistant,
    history: &[HistoryTurn],
    query: &str,
    now: DateTime<Utc>,
) -> Vec<String> {
    let instruction = format!(
        "You prepare searches in a company's documents. Write at most {KEYWORD_QUERIES_MAX} \
         keyword queries that find what the last message of the user asks for: a few telling \
         words each, with other words than the message uses where documents may use them. Keep \
         names, numbers and quoted terms. One query for each line, nothing else."
    );
    let messages = conversation(&instruction, history, query, now);
    let answer = assistant.ask("no keyword queries were found", messages, ANSWER_TOKENS_MAX).await;
    let answer = answer.unwrap_or_default();
    answer.lines().filter_map(cleaned).take(KEYWORD_QUERIES_MAX).collect()
}

/// More queries for the one of a document search, without the one itself.
pub(super) async fn expansions(
    assistant: &Assistant,
    query: &str,
    now: DateTime<Utc>,
) -> Vec<String> {
    let instruction = format!(
        "You prepare searches in a company's documents. Write at most {KEYWORD_QUERIES_MAX} \
         keyword queries that find what the user searches for, with synonyms and other words that \
         documents may use. Keep names, numbers and quoted terms. One query for each line, \
         nothing else."
    );
    let messages = conversation(&instruction, &[], query, now);
    let answer = assistant.ask("the query was not expanded", messages, ANSWER_TOKENS_MAX).await;
    clean_expansions(&answer.unwrap_or_default(), query)
}

/// The queries in the lines of an answer, without list markers, quotes, brackets, and what says the
/// same as `query` or as an earlier line.
fn clean_expansions(answer: &str, query: &str) -> Vec<String> {
    let mut known = vec![query.trim().to_lowercase()];
    let mut queries = Vec::new();
    for line in answer.split('\n') {
        let line: String =
            line.chars().filter(|c| !matches!(c, '[' | ']' | '"' | '\'' | '`')).collect();
        let Some(line) = cleaned(without_list_marker(&line)) else { continue };
        let same = line.to_lowercase();
        if !known.contains(&same) {
            known.push(same);
            queries.push(line);
        }
    }
    queries.truncate(EXPANSIONS_MAX);
    queries
}

/// Drops one `1.`, `1)`, `-` or `*` and the blanks around it.
fn without_list_marker(line: &str) -> &str {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix(['-', '*']) {
        return rest.trim_start();
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')']) {
        Some(text) if rest.len() < line.len() => text.trim_start(),
        _ => line,
    }
}

fn cleaned(line: &str) -> Option<String> {
    let line = line.trim();
    let end = line.char_indices().nth(QUERY_CHARS_MAX).map_or(line.len(), |(end, _)| end);
    let line = line[..end].trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

fn conversation(
    instruction: &str,
    history: &[HistoryTurn],
    query: &str,
    now: DateTime<Utc>,
) -> Vec<LlmMessage> {
    let mut room = HISTORY_TOKENS_MAX;
    let mut turns: Vec<LlmMessage> = history
        .iter()
        .rev()
        .map_while(|turn| {
            room = room.checked_sub(estimated_tokens(&turn.text))?;
            Some(LlmMessage { speaker: turn.speaker, text: turn.text.clone() })
        })
        .filter(|turn| turn.speaker != Speaker::System)
        .collect();
    turns.push(LlmMessage::system(format!("{instruction}\nToday is {}.", now.format("%Y-%m-%d"))));
    turns.reverse();
    turns.push(LlmMessage::user(query));
    turns
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use trove_domain::llm::Speaker;

    use super::{QUERY_CHARS_MAX, clean_expansions, conversation};
    use crate::retrieval::HistoryTurn;

    #[test]
    fn section_3_4_4_of_the_contract() {
        let check = |line: &str, query: &str| {
            assert_eq!(clean_expansions(line, "original"), [query], "{line}");
        };
        check("1. foo bar", "foo bar");
        check("- \"foo\"", "foo");
        check("* [a]", "a");
        check("2024 report", "2024 report");
        check("don't", "dont");
    }

    #[test]
    fn lines_are_cleaned_in_the_order_of_the_rules() {
        let check = |answer: &str, queries: &[&str]| {
            assert_eq!(clean_expansions(answer, "Key Rotation"), queries, "{answer}");
        };
        check("", &[]);
        check("\n \n``\n[]\n", &[]);
        check("  12)  a  \r\n- - b\n-c\n*d", &["a", "- b", "c", "d"]);
        check("[1. a]\n'2) b'", &["a", "b"]);
        check("key rotation\nKEY ROTATION\n\"key rotation\"\nrotate", &["rotate"]);
        check("a\nA\nb\na", &["a", "b"]);
        check("a\nb\nc\nd\ne", &["a", "b", "c", "d"]);
        check("3.", &[]);
        check("3.14 is pi", &["14 is pi"]);
        check(".5 and )x", &[".5 and )x"]);
    }

    #[test]
    fn an_endless_line_is_cut() {
        let queries = clean_expansions(&"ä".repeat(10_000), "");
        assert_eq!(queries[0].chars().count(), QUERY_CHARS_MAX);
    }

    #[test]
    fn the_latest_turns_are_sent_in_order_before_the_query() {
        let turn = |speaker, text: &str| HistoryTurn { speaker, text: text.to_owned() };
        let history = [
            turn(Speaker::User, &"old ".repeat(3_000)),
            turn(Speaker::User, "who is Ada?"),
            turn(Speaker::System, "ignored"),
            turn(Speaker::Assistant, "An engineer."),
        ];
        let now = DateTime::from_timestamp(1_767_225_600, 0).unwrap();
        let messages = conversation("Rewrite.", &history, "and her team?", now);
        let texts: Vec<&str> = messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(
            texts,
            ["Rewrite.\nToday is 2026-01-01.", "who is Ada?", "An engineer.", "and her team?"]
        );
    }
}
