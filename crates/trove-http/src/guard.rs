//! Who may pass: authentication, origin, policy and gate, in this order and before the body is read.

use actix_web::HttpMessage;
use actix_web::HttpRequest;
use actix_web::http::header::{AUTHORIZATION, HeaderMap, HeaderName};
use secrecy::SecretString;
use trove_domain::access::{self, Proof, Role};
use trove_domain::access_token::TokenScope;
use trove_domain::audit::Actor;
use trove_engine::audit::Origin;
use trove_engine::{Engine, KEY_PREFIX};

use crate::HttpConfig;
use crate::endpoint::{EndpointInfo, Gate, Policy, ScopeRule};
use crate::envelope::RequestId;
use crate::error::{ApiError, Refusal};
use crate::extract::Caller;
use crate::source::Source;
use crate::{cookie, origin};

/// For clients behind a proxy that uses `Authorization` itself. Counts before it.
pub const PRODUCT_HEADER: &str = "x-trove-authorization";

/// Admits the request or says why not; the caller then is in the extensions of the request.
pub(crate) async fn admit(
    request: &HttpRequest,
    engine: &Engine,
    config: &HttpConfig,
    info: &EndpointInfo,
) -> Result<(), ApiError> {
    let EndpointInfo { policy, gate, scope, .. } = *info;
    if policy == Policy::Public {
        // What anybody may send changes whose session a browser has.
        origin::check(request, config)?;
    } else {
        let caller = match authenticate(request, engine).await? {
            Some(caller) => caller,
            None => anonymous(engine, policy).await?,
        };
        if is_sent_unasked(caller.proof) {
            origin::check(request, config)?;
        }
        if !policy.admits(caller.role) {
            return Err(Refusal::Forbidden { needed: policy.needed() }.into());
        }
        if !scope.admits(caller.proof) {
            return Err(Refusal::Forbidden { needed: scope.needed() }.into());
        }
        request.extensions_mut().insert(Caller(caller));
    }
    match gate {
        Gate::VectorDb if !engine.config().vector_db => Err(Refusal::NoVectorDb.into()),
        Gate::Open | Gate::VectorDb => Ok(()),
    }
}

/// On whose behalf an admitted request is handled, for the audit log.
pub(crate) fn origin_of(request: &HttpRequest) -> Origin {
    let actor = match request.extensions().get::<Caller>() {
        Some(caller) => Actor::of(&caller.0),
        None => Actor::Nobody,
    };
    let request_id = Some(RequestId::of(request).to_string());
    Origin { actor, request_id, source: Some(Source::of(request).0) }
}

/// Who sends the request: by its session, else by its key; `None` when it has no valid credential.
async fn authenticate(
    request: &HttpRequest,
    engine: &Engine,
) -> Result<Option<access::Caller>, ApiError> {
    if let Some(token) = cookie::session_token(request)
        && let Some(caller) = engine.authenticate_session(&token).await?
    {
        return Ok(Some(caller));
    }
    let Some(token) = token(request.headers()) else { return Ok(None) };
    Ok(engine.authenticate(&token).await?)
}

/// Whoever has no valid credential, where the route and the administrators let them in.
///
/// Everywhere else signing in helps, so the answer is that nobody has.
async fn anonymous(engine: &Engine, policy: Policy) -> Result<access::Caller, ApiError> {
    if policy != Policy::Chat {
        return Err(Refusal::Unauthenticated.into());
    }
    Ok(engine.authenticate_anonymous().await?.ok_or(Refusal::Unauthenticated)?)
}

/// Whether a browser sends such a request whatever page asks it to: with the cookie that it has, or
/// with nothing but the network that it is in.
fn is_sent_unasked(proof: Proof) -> bool {
    match proof {
        Proof::Session(_) | Proof::Anonymous => true,
        Proof::ApiKey(_) | Proof::AccessToken { .. } | Proof::Trusted => false,
    }
}

impl ScopeRule {
    /// Whether whoever proves itself so may call.
    #[must_use]
    pub fn admits(self, proof: Proof) -> bool {
        let Proof::AccessToken { scopes: Some(scopes), .. } = proof else { return true };
        match self {
            Self::Unrestricted => false,
            Self::Any => true,
            Self::One(scope) => scopes.allow(scope),
        }
    }

    fn needed(self) -> &'static str {
        match self {
            Self::Unrestricted | Self::Any => "a token without restriction to scopes",
            Self::One(TokenScope::ReadSearch) => "a token with the scope read:search",
            Self::One(TokenScope::ReadChat) => "a token with the scope read:chat",
            Self::One(TokenScope::WriteChat) => "a token with the scope write:chat",
            Self::One(TokenScope::UseLlmGateway) => "a token with the scope use:llm_gateway",
        }
    }
}

impl Policy {
    /// Whether a caller with `role` may call.
    #[must_use]
    pub fn admits(self, role: Role) -> bool {
        match self {
            Self::Public | Self::Chat | Self::Limited => true,
            Self::Basic => role != Role::Limited,
            Self::Curator => match role {
                Role::Curator | Role::GlobalCurator | Role::Admin => true,
                Role::Limited | Role::Basic | Role::SlackUser | Role::ExtPermUser => false,
            },
            Self::Admin => role == Role::Admin,
        }
    }

    fn needed(self) -> &'static str {
        match self {
            Self::Public => "nothing",
            Self::Chat | Self::Limited => "a signed-in user",
            Self::Basic => "more than a limited role",
            Self::Curator => "a curator or an administrator",
            Self::Admin => "an administrator",
        }
    }
}

/// The token that a request carries.
///
/// A header that occurs twice is ambiguous: whoever checked the first one (a proxy) may not have
/// seen the second. It counts as no credential.
fn token(headers: &HeaderMap) -> Option<SecretString> {
    let product = HeaderName::from_static(PRODUCT_HEADER);
    let name = if headers.contains_key(&product) { product } else { AUTHORIZATION };
    let mut values = headers.get_all(&name);
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let value = value.to_str().ok()?;
    let token = match value.strip_prefix("Bearer ") {
        Some(token) => token.trim(),
        // Without the word, only what is an API key by its looks is taken for one.
        None => Some(value.trim()).filter(|value| value.starts_with(KEY_PREFIX))?,
    };
    (!token.is_empty()).then(|| SecretString::from(token))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
    use secrecy::ExposeSecret;
    use trove_domain::access::{Proof, Role};
    use trove_domain::id::ApiKeyId;

    use super::{is_sent_unasked, token};
    use crate::endpoint::Policy;

    /// What changes something must come from an own page then.
    #[test]
    fn browsers_send_cookies_and_nothing_at_all_unasked() {
        assert!(is_sent_unasked(Proof::Anonymous));
        assert!(!is_sent_unasked(Proof::ApiKey(ApiKeyId(1))));
        assert!(!is_sent_unasked(Proof::Trusted));
    }

    fn found(headers: &[(&str, &str)]) -> Option<String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        token(&map).map(|token| token.expose_secret().to_owned())
    }

    #[test]
    fn the_carriers_of_a_token() {
        let check = |headers: &[(&str, &str)], expected: Option<&str>| {
            assert_eq!(found(headers).as_deref(), expected, "{headers:?}");
        };
        check(&[("authorization", "Bearer abc")], Some("abc"));
        check(&[("authorization", "Bearer  abc  ")], Some("abc"));
        check(&[("authorization", "tk_abc")], Some("tk_abc"));
        check(&[("authorization", " tk_abc ")], Some("tk_abc"));
        check(&[("x-trove-authorization", "Bearer b"), ("authorization", "Bearer a")], Some("b"));
        check(&[("x-trove-authorization", "tk_b")], Some("tk_b"));
        // What is left is no credential.
        check(&[], None);
        check(&[("authorization", "")], None);
        check(&[("authorization", "Bearer")], None);
        check(&[("authorization", "Bearer ")], None);
        check(&[("authorization", "bearer abc")], None);
        check(&[("authorization", "bearer tk_abc")], None);
        check(&[("authorization", "BEARER abc")], None);
        check(&[("authorization", "Bearer\tabc")], None);
        check(&[("authorization", "Basic dGs6")], None);
        check(&[("authorization", "abc")], None);
        check(&[("authorization", "Bearer \u{e9}")], None);
        check(&[("authorization", "Bearer a"), ("authorization", "Bearer a")], None);
        check(&[("x-trove-authorization", "x"), ("authorization", "Bearer a")], None);
        check(&[("x-api-key", "tk_abc"), ("cookie", "fastapiusersauth=tk_abc")], None);
    }

    #[test]
    fn each_policy_admits_its_roles() {
        let admitted = |policy: Policy| {
            let roles: Vec<&str> =
                Role::ALL.into_iter().filter(|r| policy.admits(*r)).map(Role::as_str).collect();
            roles.join(" ")
        };
        let all = "limited basic curator global_curator admin slack_user ext_perm_user";
        assert_eq!(admitted(Policy::Public), all);
        assert_eq!(admitted(Policy::Chat), all);
        assert_eq!(admitted(Policy::Limited), all);
        assert_eq!(
            admitted(Policy::Basic),
            "basic curator global_curator admin slack_user ext_perm_user"
        );
        assert_eq!(admitted(Policy::Curator), "curator global_curator admin");
        assert_eq!(admitted(Policy::Admin), "admin");
    }
}
