use crate::document::Section;

/// Text that was found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractedText {
    /// The document's own title, when the format has one.
    pub title: Option<String>,
    /// Text in reading order.
    pub sections: Vec<Section>,
}

/// Finds the text in the bytes of a file.
///
/// # Contract
///
/// * Any bytes are accepted: the answer is text or an error, in time linear in the input.
/// * The work is CPU-bound and blocking; callers keep it off an async runtime's threads.
pub trait TextExtractor: Send + Sync + 'static {
    /// File name extensions that are understood, in lower case and without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// The text of a file. The name decides the format.
    ///
    /// # Errors
    ///
    /// [`ExtractError`] says what is wrong with the file and what to do.
    fn extract(&self, file_name: &str, content: &[u8]) -> Result<ExtractedText, ExtractError>;
}

/// Why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The format is not one of [`TextExtractor::extensions`].
    #[error("files of type `{extension}` are not supported")]
    UnsupportedFormat {
        /// The extension, without the dot; empty when there is none.
        extension: String,
    },
    /// The content is no text.
    #[error("the file holds binary data, not text")]
    Binary,
    /// There is more text than is accepted.
    #[error("the file holds more than {max_chars} characters of text")]
    TooLong {
        /// Longest accepted text in characters.
        max_chars: usize,
    },
}
