//! On whose behalf the present work is done.

use std::future::Future;

use trove_domain::audit::Actor;

/// Who asks for something, and by which request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Who.
    pub actor: Actor,
    /// The request, where it is one.
    pub request_id: Option<String>,
    /// Where it comes from.
    pub source: Option<String>,
}

tokio::task_local! {
    static ORIGIN: Origin;
}

impl Origin {
    /// Work that nobody asked for.
    #[must_use]
    pub fn system() -> Self {
        Self { actor: Actor::System, request_id: None, source: None }
    }

    /// Work that somebody asks for at the command line.
    #[must_use]
    pub fn operator() -> Self {
        Self { actor: Actor::Operator, request_id: None, source: None }
    }

    /// Of the present work.
    pub(crate) fn current() -> Self {
        ORIGIN.try_with(Self::clone).unwrap_or_else(|_| Self::system())
    }
}

/// Does `work` on behalf of whoever `origin` says; the audit log says so, too. Tasks that the work
/// spawns are the program's own.
pub async fn on_behalf_of<T>(origin: Origin, work: impl Future<Output = T>) -> T {
    ORIGIN.scope(origin, work).await
}
