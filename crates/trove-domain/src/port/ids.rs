use uuid::Uuid;

/// Identifiers and secrets that nobody can guess.
///
/// # Contract
///
/// * No two calls answer the same.
/// * Production implementations draw from the operating system's generator; a test's may be
///   predictable.
pub trait IdGenerator: Send + Sync + 'static {
    /// A new identifier. Later ones sort after earlier ones (UUID version 7).
    fn uuid(&self) -> Uuid;

    /// Fills `secret` with random bytes.
    fn fill_secret(&self, secret: &mut [u8]);
}
