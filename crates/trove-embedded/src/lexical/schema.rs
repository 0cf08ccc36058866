//! The fields of the tantivy index.

use tantivy::directory::MmapDirectory;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;
use tantivy::{Directory, Index, IndexSettings, TantivyError};

use super::analysis::{self, FUNCTION_WORDS, WORDS};
use crate::error::IndexDirectoryError;
use crate::format::Layout;

/// Names of the fast fields, which tantivy opens by name.
pub(crate) const KEY: &str = "key";
pub(crate) const ORDINAL: &str = "ordinal";
pub(crate) const REVISION: &str = "revision";
pub(crate) const UPDATED_AT: &str = "updated_at";
pub(crate) const CREATED_AT: &str = "created_at";

/// Bytes of stored fields that are read together. Hits are rarely neighbours, so a block holds
/// little more than one chunk.
const STORE_BLOCK_BYTES: usize = 1024;

/// One entry is one chunk; the first chunk of a document also holds what its chunks share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// Id of the document, whole: how a document is found and removed.
    pub document: Field,
    /// Number of this version of the chunk, the point id of its vector. The keys of a document
    /// are consecutive.
    pub key: Field,
    /// Position in the document.
    pub ordinal: Field,
    /// Revision of the document.
    pub revision: Field,
    /// Terms of [`crate::tokens`].
    pub terms: Field,
    /// Title, text and values of metadata, analysed.
    pub words: Field,
    /// The function words of the same.
    pub function_words: Field,
    /// Title alone, analysed.
    pub title_words: Field,
    /// Codes of the languages that a query has to be read in to find the entry, beside the default
    /// ones.
    pub languages: Field,
    /// Microseconds since 1970; absent when unknown.
    pub updated_at: Field,
    /// Microseconds since 1970; absent when unknown.
    pub created_at: Field,
    /// What the chunks of a document share, on its first chunk.
    pub head: Field,
    /// The text as shown.
    pub text: Field,
    /// The blurb.
    pub blurb: Field,
    /// The link.
    pub link: Field,
    /// The vector: Edge is rebuilt from here.
    pub vector: Field,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let analysed = |analyzer| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(analyzer)
                .set_index_option(IndexRecordOption::WithFreqs)
                .set_fieldnorms(true),
        )
    };
    let fields = Fields {
        document: schema.add_text_field("document", STRING),
        key: schema.add_u64_field(KEY, FAST),
        ordinal: schema.add_u64_field(ORDINAL, FAST),
        revision: schema.add_i64_field(REVISION, FAST),
        terms: schema.add_text_field("terms", STRING),
        words: schema.add_text_field("words", analysed(WORDS)),
        function_words: schema.add_text_field("function_words", analysed(FUNCTION_WORDS)),
        title_words: schema.add_text_field("title_words", analysed(WORDS)),
        languages: schema.add_text_field("languages", STRING),
        updated_at: schema.add_i64_field(UPDATED_AT, FAST),
        created_at: schema.add_i64_field(CREATED_AT, FAST),
        head: schema.add_text_field("head", STORED),
        text: schema.add_text_field("text", STORED),
        blurb: schema.add_text_field("blurb", STORED),
        link: schema.add_text_field("link", STORED),
        vector: schema.add_text_field("vector", STORED),
    };
    (schema.build(), fields)
}

/// Opens the words of the index described by `layout`, whose directory exists; creates them when
/// it is empty.
pub(crate) fn open_or_create(layout: &Layout) -> Result<(Index, Fields), IndexDirectoryError> {
    let path = &layout.lexical();
    let open = || open_in(MmapDirectory::open(path)?);
    match open() {
        Ok(opened) => Ok(opened),
        // The schema names the analyzers, too.
        Err(TantivyError::SchemaError(_)) => {
            Err(IndexDirectoryError::OtherSchema { path: layout.root().to_owned() })
        }
        Err(error) => Err(IndexDirectoryError::damaged(path, crate::error::chain(&error))),
    }
}

/// The same in any directory.
pub(crate) fn open_in(directory: impl Directory) -> Result<(Index, Fields), TantivyError> {
    let (schema, fields) = schema();
    let settings = IndexSettings {
        // Decompressing was a sixth of the time of a search, and most of what is stored are
        // vectors, which do not become smaller.
        docstore_compression: Compressor::None,
        docstore_blocksize: STORE_BLOCK_BYTES,
        // One thread less; compression is a small part of indexing.
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let index = Index::builder().schema(schema).settings(settings).open_or_create(directory)?;
    index.tokenizers().register(WORDS, analysis::words());
    index.tokenizers().register(FUNCTION_WORDS, analysis::function_words());
    Ok((index, fields))
}
