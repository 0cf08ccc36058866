//! What no route answers: unknown paths, wrong methods, and a slash too many.

use actix_web::dev::ResourceDef;
use actix_web::http::header::LOCATION;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use crate::envelope::RequestId;
use crate::error::{ApiError, Refusal};
use crate::{HttpConfig, Settings, routes};

/// Every path that some route answers.
pub(crate) struct KnownPaths(Vec<ResourceDef>);

impl KnownPaths {
    pub(crate) fn of(config: &HttpConfig) -> Self {
        Self(routes::paths(config).into_iter().map(ResourceDef::new).collect())
    }

    fn contain(&self, path: &str) -> bool {
        self.0.iter().any(|known| known.is_match(path))
    }
}

/// 307 to the path without its last slash where that one is known, else 404.
pub(crate) async fn not_found(request: HttpRequest) -> HttpResponse {
    let known = |path: &str| {
        let settings = request.app_data::<Data<Settings>>();
        settings.is_some_and(|settings| settings.known_paths.contain(path))
    };
    // What is redirected to begins with a path of ours, so it cannot lead to another host.
    if let Some(path) = request.uri().path().strip_suffix('/').filter(|path| known(path)) {
        let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        return HttpResponse::TemporaryRedirect()
            .insert_header((LOCATION, format!("{path}{query}")))
            .finish();
    }
    ApiError::Refused(Refusal::NoSuchPath).respond(&RequestId::of(&request))
}

/// 405, naming the methods that there are.
pub(crate) fn method_not_allowed(request: &HttpRequest, allow: String) -> HttpResponse {
    ApiError::Refused(Refusal::MethodNotAllowed { allow }).respond(&RequestId::of(request))
}
