//! Long lists as JSON, page by page.

use std::future::Future;

use actix_web::HttpResponse;
use actix_web::error::ErrorInternalServerError;
use bytes::Bytes;
use futures_util::stream;
use serde::Serialize;
use trove_domain::error::Classify;
use trove_domain::page::Page;

use crate::error::{ApiError, chain};

/// Items that are in memory at a time.
pub(crate) const PAGE_ITEMS: u32 = 500;

/// Where a stream of pages stands.
enum State<T, K> {
    /// The first page is there; the bracket is not yet open.
    First(Page<T, K>),
    /// Goes on after this key.
    After(K),
    Done,
}

/// A JSON array of everything that `fetch` answers, from the start to the last page.
///
/// The first page is fetched before anything is sent, so that its failure is a proper answer. A
/// later failure breaks the connection off: a list that ends early must not look complete.
pub(crate) async fn array<T, K, E, F, Fut, R>(
    fetch: F,
    show: fn(T) -> R,
) -> Result<HttpResponse, ApiError>
where
    T: 'static,
    K: 'static,
    R: Serialize + 'static,
    E: Classify,
    F: Fn(Option<K>) -> Fut + 'static,
    Fut: Future<Output = Result<Page<T, K>, E>>,
{
    let first = fetch(None).await?;
    let pages =
        stream::try_unfold((State::First(first), fetch), move |(state, fetch)| async move {
            let (page, opening) = match state {
                State::First(page) => (page, true),
                State::After(key) => match fetch(Some(key)).await {
                    Ok(page) => (page, false),
                    Err(error) => {
                        tracing::error!(error = chain(&error), "a list was broken off");
                        return Err(ErrorInternalServerError("broken off"));
                    }
                },
                State::Done => return Ok(None),
            };
            let mut chunk = Vec::new();
            if opening {
                chunk.push(b'[');
            }
            for (index, item) in page.items.into_iter().enumerate() {
                if !(opening && index == 0) {
                    chunk.push(b',');
                }
                serde_json::to_writer(&mut chunk, &show(item)).map_err(ErrorInternalServerError)?;
            }
            let next = page.next.map_or(State::Done, State::After);
            if matches!(next, State::Done) {
                chunk.push(b']');
            }
            Ok::<_, actix_web::Error>(Some((Bytes::from(chunk), (next, fetch))))
        });
    Ok(HttpResponse::Ok().content_type("application/json").streaming(Box::pin(pages)))
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;
    use trove_domain::error::StoreError;
    use trove_domain::page::Page;

    use super::array;

    /// Pages of at most two numbers from 0 to `count`; fails at `broken`.
    async fn text(count: u32, broken: Option<u32>) -> Option<String> {
        let fetch = move |after: Option<u32>| async move {
            let start = after.map_or(0, |after| after + 1);
            if broken == Some(start) {
                let source = "gone".into();
                return Err(StoreError::Backend { operation: "test.list", source });
            }
            let items: Vec<u32> = (start..count).take(2).collect();
            let next = items.last().copied().filter(|last| last + 1 < count);
            Ok(Page { items, next })
        };
        let response = array(fetch, |number| number).await.ok()?;
        let bytes = to_bytes(response.into_body()).await.ok()?;
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[actix_web::test]
    async fn pages_join_to_one_array() {
        assert_eq!(text(0, None).await.unwrap(), "[]");
        assert_eq!(text(1, None).await.unwrap(), "[0]");
        assert_eq!(text(2, None).await.unwrap(), "[0,1]");
        assert_eq!(text(5, None).await.unwrap(), "[0,1,2,3,4]");
    }

    #[actix_web::test]
    async fn a_failure_is_not_taken_for_the_end() {
        assert_eq!(text(5, Some(0)).await, None);
        assert_eq!(text(5, Some(2)).await, None);
    }
}
