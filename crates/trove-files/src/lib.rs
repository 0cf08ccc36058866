//! Contents of files, in whatever `object_store` can reach: a directory now, a bucket by another
//! constructor.

mod directory;
mod error;
mod object_file_store;

pub use object_file_store::ObjectFileStore;
