//! Personal access tokens: `/user/pats` and below.

use actix_web::HttpResponse;
use actix_web::web::Data;
use secrecy::ExposeSecret;
use serde::Serialize;
use trove_domain::access_token::{AccessToken, TokenScope};
use trove_domain::id::AccessTokenId;
use trove_engine::Engine;
use trove_engine::accounts::{ACCESS_TOKEN_DAYS_MAX, AccessTokenRequest, token_scopes};
use utoipa::ToSchema;

use crate::error::{ApiError, ErrorBody};
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::routes::schema::zulu;
use crate::validation::{
    Field, Fields, Read, Record, integer_between, integer_id, list_of_at_most, text, text_between,
};

/// Most characters of a name.
const NAME_CHARS_MAX: usize = 100;

/// Most scopes in a request: far more than there are.
const SCOPES_MAX: usize = 100;

/// A token to make.
#[derive(Debug, ToSchema)]
#[schema(as = CreateTokenRequest,
    example = json!({"name": "notebook", "expiration_days": 30, "scopes": ["read:search"]}))]
pub(crate) struct TokenBody {
    /// Name to recognise the token by; names need not differ.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// It works until the end of the day so many days from now (UTC). Without it, for ever.
    #[schema(minimum = 1, maximum = 36_500)]
    expiration_days: Option<u32>,
    /// What the token is restricted to: `read:search`, `read:chat`, `write:chat`,
    /// `use:llm_gateway`. Without it, everything that its owner may do.
    scopes: Option<Vec<String>>,
}

fn days(field: Field<'_>) -> Read<u32> {
    let days = integer_between(1, i64::from(ACCESS_TOKEN_DAYS_MAX))(field)?;
    Ok(u32::try_from(days).unwrap_or(ACCESS_TOKEN_DAYS_MAX))
}

impl Record for TokenBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.required("name", text_between(1, NAME_CHARS_MAX));
        let expiration_days = fields.nullable("expiration_days", days);
        let scopes = fields.nullable("scopes", list_of_at_most(SCOPES_MAX, text));
        Ok(Self { name: name?, expiration_days: expiration_days?, scopes: scopes? })
    }
}

/// A token.
#[derive(Serialize, ToSchema)]
#[schema(as = TokenResponse, example = json!({"id": 5, "name": "notebook",
    "token_display": "trove_pat_aB****x9Yz", "created_at": "2026-01-01T10:00:00Z",
    "expires_at": "2026-01-31T23:59:59.999999Z", "last_used_at": null,
    "scopes": ["read:search"]}))]
pub(crate) struct TokenReply {
    /// Its number.
    id: i32,
    /// Its name.
    name: String,
    /// Beginning and end of the token.
    token_display: String,
    /// When it was made.
    created_at: String,
    /// The last instant at which it works; null when there is none.
    expires_at: Option<String>,
    /// When it was last used, to within five minutes.
    last_used_at: Option<String>,
    /// What it is restricted to; null when it is not.
    scopes: Option<Vec<&'static str>>,
}

impl From<AccessToken> for TokenReply {
    fn from(token: AccessToken) -> Self {
        let scopes = token.scopes.map(|scopes| scopes.iter().map(TokenScope::as_str).collect());
        Self {
            id: token.id.0,
            name: token.name,
            token_display: token.display,
            created_at: zulu(token.created_at),
            expires_at: token.expires_at.map(zulu),
            last_used_at: token.last_used_at.map(zulu),
            scopes,
        }
    }
}

/// A token just made.
#[derive(Serialize, ToSchema)]
#[schema(as = CreatedTokenResponse)]
pub(crate) struct CreatedReply {
    /// What is kept of it.
    #[serde(flatten)]
    kept: TokenReply,
    /// The token itself; this is the only answer that holds it.
    token: String,
}

/// The caller's own tokens that work, newest first.
#[utoipa::path(
    get, path = "/user/pats", tag = "keys", operation_id = "list_access_tokens",
    responses((status = 200, description = "The tokens.", body = Vec<TokenReply>))
)]
pub(crate) async fn list_access_tokens(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let tokens = engine.own_access_tokens(&caller.0).await?.into_iter();
    Ok(HttpResponse::Ok().json(tokens.map(TokenReply::from).collect::<Vec<_>>()))
}

/// Makes a token that has the caller's rights, as they are when it is used.
#[utoipa::path(
    post, path = "/user/pats", tag = "keys", operation_id = "create_access_token",
    request_body = TokenBody,
    responses(
        (status = 200, description = "The token.", body = CreatedReply),
        (status = 400, description = "The name or a scope cannot be used, or there are too many \
            tokens.", body = ErrorBody),
    )
)]
pub(crate) async fn create_access_token(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<TokenBody>,
) -> Result<HttpResponse, ApiError> {
    let TokenBody { name, expiration_days, scopes } = body;
    let scopes = scopes.as_deref().map(token_scopes).transpose()?;
    let request = AccessTokenRequest { name, expiration_days, scopes };
    let (token, secret) = engine.create_access_token(&caller.0, request).await?;
    let reply = CreatedReply { kept: token.into(), token: secret.expose_secret().to_owned() };
    Ok(HttpResponse::Ok().json(reply))
}

/// Which token.
pub(crate) struct TokenPath(AccessTokenId);

impl Input for TokenPath {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.path(|path| path.required("token_id", integer_id)).map(|id| Self(AccessTokenId(id)))
    }
}

/// Something was done.
#[derive(Serialize, ToSchema)]
#[schema(as = DeletedTokenResponse)]
pub(crate) struct DeletedReply {
    /// What was done.
    message: &'static str,
}

/// Ends a token of the caller, from the next request on.
#[utoipa::path(
    delete, path = "/user/pats/{token_id}", tag = "keys", operation_id = "delete_access_token",
    params(("token_id" = i32, Path, description = "The token.", example = 5)),
    responses(
        (status = 200, description = "It has ended.", body = DeletedReply),
        (status = 404, description = "The caller has no such token that works.", body = ErrorBody),
    )
)]
pub(crate) async fn delete_access_token(
    caller: Caller,
    engine: Data<Engine>,
    Valid(TokenPath(id)): Valid<TokenPath>,
) -> Result<HttpResponse, ApiError> {
    engine.revoke_access_token(&caller.0, id).await?;
    Ok(HttpResponse::Ok().json(DeletedReply { message: "the token has ended" }))
}

/// A scope.
#[derive(Serialize, ToSchema)]
#[schema(as = TokenScopeInfo, example = json!({"scope": "write:chat", "group_label": "Chat",
    "label": "Write chats", "description": "Begin chats, send messages and stop answers.",
    "min_tier": null, "implies": ["read:chat"]}))]
pub(crate) struct ScopeReply {
    /// What a token names it.
    scope: &'static str,
    /// What it belongs to.
    group_label: &'static str,
    /// What it is called.
    label: &'static str,
    /// What it allows.
    description: &'static str,
    /// Always null: there are no tiers.
    min_tier: Option<&'static str>,
    /// The scopes that come with it.
    implies: Vec<&'static str>,
}

impl From<TokenScope> for ScopeReply {
    fn from(scope: TokenScope) -> Self {
        let (group_label, label, description) = match scope {
            TokenScope::ReadSearch => {
                ("Search", "Search", "Search, and see what was searched for.")
            }
            TokenScope::ReadChat => ("Chat", "Read chats", "List and read chats."),
            TokenScope::WriteChat => {
                ("Chat", "Write chats", "Begin chats, send messages and stop answers.")
            }
            TokenScope::UseLlmGateway => {
                ("Language models", "Use language models", "Ask language models directly.")
            }
        };
        Self {
            scope: scope.as_str(),
            group_label,
            label,
            description,
            min_tier: None,
            implies: scope.implies().map(TokenScope::as_str).into_iter().collect(),
        }
    }
}

/// What a token can be restricted to.
#[utoipa::path(
    get, path = "/user/pats/scopes", tag = "keys", operation_id = "list_access_token_scopes",
    responses((status = 200, description = "The scopes.", body = Vec<ScopeReply>))
)]
pub(crate) async fn list_scopes(_: Caller) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(TokenScope::ALL.map(ScopeReply::from)))
}
