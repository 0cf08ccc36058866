//! The channel to the server, and the calls that the index makes on it.
//!
//! The client library's own handle repeats any call whose connection broke, also one that
//! publishes a version, which must not happen twice. So its generated clients are used directly,
//! and each call says whether it may be repeated.

use std::future::Future;
use std::time::Duration;

use futures::stream::{self, StreamExt, TryStreamExt};
use qdrant_client::qdrant::collections_client::CollectionsClient;
use qdrant_client::qdrant::points_client::PointsClient;
use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::qdrant_client::QdrantClient;
use qdrant_client::qdrant::with_payload_selector::SelectorOptions as PayloadOptions;
use qdrant_client::qdrant::with_vectors_selector::SelectorOptions as VectorOptions;
use qdrant_client::qdrant::{
    DeletePoints, FacetCounts, FacetHit, Filter, GetPoints, HealthCheckRequest,
    PayloadIncludeSelector, PointId, PointStruct, PointsIdsList, PointsOperationResponse,
    PointsSelector, QueryBatchPoints, QueryPoints, RetrievedPoint, ScoredPoint, ScrollPoints,
    UpdateMode, UpdateResult, UpdateStatus, UpsertPoints, WithPayloadSelector, WithVectorsSelector,
    WriteOrdering, WriteOrderingType,
};
use secrecy::ExposeSecret;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status};

use crate::config::QdrantIndexConfig;
use crate::error::OpenError;

/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Points that one call asks for or removes.
const POINTS_PER_CALL: usize = 1000;
/// Calls for points that are under way at once for one caller.
const CALLS_AT_ONCE: usize = 4;
/// Pauses before a call that may be repeated is.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(800)];

pub(crate) type Service = InterceptedService<Channel, ApiKey>;

/// Adds the key to every call.
#[derive(Clone)]
pub(crate) struct ApiKey(Option<MetadataValue<Ascii>>);

impl Interceptor for ApiKey {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(key) = &self.0 {
            request.metadata_mut().insert("api-key", key.clone());
        }
        Ok(request)
    }
}

/// Which points an upsert touches.
#[derive(Clone, Debug)]
pub(crate) enum Only {
    /// Points that are not there.
    Absent,
    /// Points that are there and pass.
    Matching(Filter),
}

/// A server and one collection on it. Connects with the first call, and again whenever that is
/// needed.
pub(crate) struct Connection {
    service: Service,
    pub collection: String,
    pub url: String,
}

impl Connection {
    pub(crate) fn new(config: &QdrantIndexConfig) -> Result<Self, OpenError> {
        let url = config.url.trim_end_matches('/').to_owned();
        let invalid = || OpenError::Url { url: url.clone() };
        let encrypted = match url.split_once("://") {
            Some(("http", rest)) if !rest.is_empty() => false,
            Some(("https", rest)) if !rest.is_empty() => true,
            _ => return Err(invalid()),
        };
        let mut endpoint = Endpoint::from_shared(url.clone())
            .map_err(|_| invalid())?
            .connect_timeout(config.connect_timeout)
            .timeout(config.request_timeout)
            .http2_keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(Duration::from_secs(10))
            .keep_alive_while_idle(true);
        if encrypted {
            endpoint = endpoint
                .tls_config(ClientTlsConfig::new().with_native_roots())
                .map_err(|source| OpenError::Tls { url: url.clone(), source: source.into() })?;
        }
        let key = match &config.api_key {
            Some(key) => {
                let key = MetadataValue::try_from(key.expose_secret());
                let mut key = key.map_err(|_| OpenError::ApiKey)?;
                key.set_sensitive(true);
                Some(key)
            }
            None => None,
        };
        let service = InterceptedService::new(endpoint.connect_lazy(), ApiKey(key));
        Ok(Self { service, collection: config.collection.clone(), url })
    }

    pub(crate) fn collections(&self) -> CollectionsClient<Service> {
        CollectionsClient::new(self.service.clone())
    }

    pub(crate) fn points(&self) -> PointsClient<Service> {
        PointsClient::new(self.service.clone()).max_decoding_message_size(ANSWER_BYTES_MAX)
    }

    /// The version of the server.
    pub(crate) async fn server_version(&self) -> Result<String, Status> {
        let mut client = QdrantClient::new(self.service.clone());
        Ok(client.health_check(HealthCheckRequest {}).await?.into_inner().version)
    }

    /// The points of `ids` that are there, in any order, with these fields of their payload.
    pub(crate) async fn get(
        &self,
        ids: Vec<PointId>,
        fields: &[&str],
        with_vectors: bool,
    ) -> Result<Vec<RetrievedPoint>, Status> {
        let calls = ids.chunks(POINTS_PER_CALL).map(|ids| {
            let request = GetPoints {
                collection_name: self.collection.clone(),
                ids: ids.to_vec(),
                with_payload: Some(with_fields(fields)),
                // All: asking by name for what a collection without a model lacks is an error.
                with_vectors: with_vectors.then_some(WithVectorsSelector {
                    selector_options: Some(VectorOptions::Enable(true)),
                }),
                ..GetPoints::default()
            };
            async move {
                let call = || {
                    let (mut points, request) = (self.points(), request.clone());
                    async move { Ok(points.get(request).await?.into_inner().result) }
                };
                retrying(call).await
            }
        });
        let calls: Vec<_> = calls.collect();
        let parts: Vec<Vec<RetrievedPoint>> =
            stream::iter(calls).buffer_unordered(CALLS_AT_ONCE).try_collect().await?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// The best points of each query.
    pub(crate) async fn query(
        &self,
        queries: Vec<QueryPoints>,
    ) -> Result<Vec<Vec<ScoredPoint>>, Status> {
        let request = QueryBatchPoints {
            collection_name: self.collection.clone(),
            query_points: queries,
            ..QueryBatchPoints::default()
        };
        let call = || {
            let (mut points, request) = (self.points(), request.clone());
            async move { Ok(points.query_batch(request).await?.into_inner().result) }
        };
        let results = retrying(call).await?;
        Ok(results.into_iter().map(|batch| batch.result).collect())
    }

    /// How many points have each value of `key`.
    pub(crate) async fn facet(&self, key: &str, limit: u64) -> Result<Vec<FacetHit>, Status> {
        let request = FacetCounts {
            collection_name: self.collection.clone(),
            key: key.to_owned(),
            limit: Some(limit),
            exact: Some(true),
            ..FacetCounts::default()
        };
        let call = || {
            let (mut points, request) = (self.points(), request.clone());
            async move { Ok(points.facet(request).await?.into_inner().hits) }
        };
        retrying(call).await
    }

    /// Up to `limit` points that pass `filter`, with their payloads.
    pub(crate) async fn list(
        &self,
        filter: Filter,
        limit: u32,
    ) -> Result<Vec<RetrievedPoint>, Status> {
        let request = ScrollPoints {
            collection_name: self.collection.clone(),
            filter: Some(filter),
            limit: Some(limit),
            with_payload: Some(WithPayloadSelector {
                selector_options: Some(PayloadOptions::Enable(true)),
            }),
            ..ScrollPoints::default()
        };
        let call = || {
            let (mut points, request) = (self.points(), request.clone());
            async move { Ok(points.scroll(request).await?.into_inner().result) }
        };
        retrying(call).await
    }

    /// Writes points whose ids say what is in them, so that writing them twice is writing them
    /// once. They are durable and visible when this returns.
    pub(crate) async fn put(&self, points: Vec<PointStruct>) -> Result<(), Status> {
        let request = self.upsert(points);
        let call = || {
            let (mut points, request) = (self.points(), request.clone());
            async move { completed(points.upsert(request).await?.get_ref()) }
        };
        retrying(call).await
    }

    /// Writes those of the points that are as `only` says, each as a whole; never repeats the
    /// call. Who wants to know which were written has to look.
    pub(crate) async fn put_if(&self, points: Vec<PointStruct>, only: Only) -> Result<(), Status> {
        let mut request = self.upsert(points);
        request.ordering = Some(strong());
        match only {
            Only::Absent => request.update_mode = Some(UpdateMode::InsertOnly.into()),
            Only::Matching(filter) => {
                request.update_mode = Some(UpdateMode::UpdateOnly.into());
                request.update_filter = Some(filter);
            }
        }
        completed(self.points().upsert(request).await?.get_ref())
    }

    /// Removes points, as far as they are there.
    pub(crate) async fn delete(&self, ids: Vec<PointId>) -> Result<(), Status> {
        for ids in ids.chunks(POINTS_PER_CALL * 4) {
            let selector = PointsSelectorOneOf::Points(PointsIdsList { ids: ids.to_vec() });
            self.delete_selected(selector, None).await?;
        }
        Ok(())
    }

    /// Removes the points that pass `filter`.
    pub(crate) async fn delete_matching(&self, filter: Filter) -> Result<(), Status> {
        self.delete_selected(PointsSelectorOneOf::Filter(filter), Some(strong())).await
    }

    async fn delete_selected(
        &self,
        selector: PointsSelectorOneOf,
        ordering: Option<WriteOrdering>,
    ) -> Result<(), Status> {
        let request = DeletePoints {
            collection_name: self.collection.clone(),
            wait: Some(true),
            points: Some(PointsSelector { points_selector_one_of: Some(selector) }),
            ordering,
            ..DeletePoints::default()
        };
        let call = || {
            let (mut points, request) = (self.points(), request.clone());
            async move { completed(points.delete(request).await?.get_ref()) }
        };
        retrying(call).await
    }

    fn upsert(&self, points: Vec<PointStruct>) -> UpsertPoints {
        UpsertPoints {
            collection_name: self.collection.clone(),
            wait: Some(true),
            points,
            ..UpsertPoints::default()
        }
    }
}

/// Writes of one point happen in one order on all copies of it.
fn strong() -> WriteOrdering {
    WriteOrdering { r#type: WriteOrderingType::Strong.into() }
}

fn with_fields(fields: &[&str]) -> WithPayloadSelector {
    let fields = fields.iter().map(|field| (*field).to_owned()).collect();
    WithPayloadSelector {
        selector_options: Some(PayloadOptions::Include(PayloadIncludeSelector { fields })),
    }
}

pub(crate) fn with_candidate_fields() -> WithPayloadSelector {
    use crate::payload::field::{DOCUMENT, ORDINAL, VERSION};
    with_fields(&[DOCUMENT, VERSION, ORDINAL])
}

/// Only what is applied is acknowledged.
fn completed(response: &PointsOperationResponse) -> Result<(), Status> {
    match response.result.as_ref().map(UpdateResult::status) {
        Some(UpdateStatus::Completed) => Ok(()),
        status => Err(Status::deadline_exceeded(format!(
            "the server has not applied the write ({status:?})"
        ))),
    }
}

/// Repeats a call that the server has not, or perhaps not, received.
async fn retrying<T, F: Future<Output = Result<T, Status>>>(
    call: impl FnMut() -> F,
) -> Result<T, Status> {
    retrying_after(&PAUSES, call).await
}

async fn retrying_after<T, F: Future<Output = Result<T, Status>>>(
    pauses: &[Duration],
    mut call: impl FnMut() -> F,
) -> Result<T, Status> {
    for pause in pauses {
        match call().await {
            Err(status) if status.code() == Code::Unavailable => {
                tracing::debug!(message = status.message(), "a call to Qdrant is repeated");
                // The pause between two attempts, so that a server that starts again is not flooded.
                tokio::time::sleep(*pause).await;
            }
            other => return other,
        }
    }
    call().await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use secrecy::SecretString;
    use tonic::Status;

    use super::{Connection, retrying_after};
    use crate::config::QdrantIndexConfig;
    use crate::error::OpenError;

    #[tokio::test]
    async fn addresses_and_keys_are_checked_before_anything_is_sent() {
        for url in ["", "localhost:6334", "ftp://host:1", "http://", "https://", "http://a b"] {
            let opened = Connection::new(&QdrantIndexConfig::new(url, None));
            assert!(matches!(opened, Err(OpenError::Url { .. })), "{url}");
        }
        let mut config = QdrantIndexConfig::new("http://localhost:6334/", None);
        assert!(Connection::new(&config).is_ok());
        config.api_key = Some(SecretString::from("line\nbreak"));
        let Err(error) = Connection::new(&config) else { panic!("a key with a line break") };
        assert!(matches!(error, OpenError::ApiKey));
        assert!(!format!("{error} {error:?} {config:?}").contains("break"));
    }

    #[tokio::test]
    async fn calls_are_repeated_while_the_server_is_away_and_not_for_ever() {
        let calls = Cell::new(0);
        let count = |result: fn(usize) -> Result<(), Status>| {
            calls.set(0);
            let calls = &calls;
            retrying_after(&[Duration::ZERO; 3], move || {
                calls.set(calls.get() + 1);
                std::future::ready(result(calls.get()))
            })
        };
        assert!(count(|n| if n < 3 { Err(Status::unavailable("")) } else { Ok(()) }).await.is_ok());
        assert_eq!(calls.get(), 3);
        assert!(count(|_| Err(Status::unavailable(""))).await.is_err());
        assert_eq!(calls.get(), 4);
        assert!(count(|_| Err(Status::internal(""))).await.is_err());
        assert_eq!(calls.get(), 1);
    }
}
