//! Words that say little about what a text is about.

/// Words that sentences and questions are made of, sorted: Lucene's stop words and more.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "also", "am", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "did", "do", "does", "doing", "for", "from", "had", "has", "have", "having",
    "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or",
    "our", "ours", "s", "should", "so", "such", "t", "than", "that", "the", "their", "then",
    "there", "these", "they", "this", "to", "was", "we", "were", "what", "when", "where", "which",
    "who", "whom", "why", "will", "with", "would", "you", "your", "yours",
];

/// The longest of them.
const FUNCTION_WORD_BYTES_MAX: usize = 6;

/// Whether `word`, in lower case, is one of them.
pub(crate) fn is_function_word(word: &str) -> bool {
    word.len() <= FUNCTION_WORD_BYTES_MAX && FUNCTION_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{FUNCTION_WORD_BYTES_MAX, FUNCTION_WORDS};

    #[test]
    fn the_list_is_sorted_and_its_words_are_short() {
        assert!(FUNCTION_WORDS.iter().all(|word| word.len() <= FUNCTION_WORD_BYTES_MAX));
        assert!(FUNCTION_WORDS.is_sorted_by(|a, b| a < b));
    }
}
