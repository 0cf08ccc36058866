//! Downloads over HTTP, resumable.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{CONTENT_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode};
use tokio::fs::{self, OpenOptions};
use tokio::io::{AsyncWriteExt, BufWriter};

use super::place::Place;
use super::{PullError, progress};

/// Short: where the hub is blocked, connections often hang, and there is another way.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest silence in the middle of a download.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Brings the files from `base_url` into their places.
pub(super) async fn pull(
    base_url: &str,
    places: &[Place],
    progress: bool,
) -> Result<(), PullError> {
    let base_url = base_url.trim_end_matches('/');
    let client = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        .user_agent("trove")
        .build()
        .map_err(|err| PullError::Download { url: base_url.to_owned(), source: err.into() })?;
    for place in places {
        let url = format!("{base_url}/{}", place.file.name);
        download(&client, &url, place, progress).await?;
        place.fill().await?;
    }
    Ok(())
}

/// Completes the partial file.
async fn download(
    client: &Client,
    url: &str,
    place: &Place,
    progress: bool,
) -> Result<(), PullError> {
    let want_bytes = place.file.size_bytes;
    let mut have_bytes = match fs::metadata(&place.part).await {
        Ok(metadata) => metadata.len(),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => 0,
        Err(err) => return Err(place.disk(err)),
    };
    if have_bytes == want_bytes {
        return Ok(());
    }
    // Longer than the whole: not a part of it.
    if have_bytes > want_bytes {
        have_bytes = 0;
    }

    let (response, from) = request(client, url, have_bytes).await?;
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .append(from > 0)
        .truncate(from == 0)
        .open(&place.part)
        .await
        .map(BufWriter::new)
        .map_err(|err| place.disk(err))?;

    let bar = progress::bar(place.file.name, want_bytes, progress);
    bar.set_position(from);
    let mut got_bytes = from;
    let mut body = response.bytes_stream();
    let mut broken = None;
    while let Some(bytes) = body.next().await {
        match bytes {
            Ok(bytes) => {
                got_bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                if got_bytes > want_bytes {
                    break;
                }
                file.write_all(&bytes).await.map_err(|err| place.disk(err))?;
                bar.set_position(got_bytes);
            }
            Err(err) => {
                broken = Some(err);
                break;
            }
        }
    }
    // What has arrived is kept in any case, for the next attempt.
    file.flush().await.map_err(|err| place.disk(err))?;
    bar.finish_and_clear();
    if let Some(err) = broken {
        return Err(PullError::Download { url: url.to_owned(), source: err.into() });
    }
    if got_bytes == want_bytes {
        return Ok(());
    }
    if got_bytes > want_bytes {
        // Not the file, so not a part of it either.
        fs::remove_file(&place.part).await.map_err(|err| place.disk(err))?;
    }
    Err(PullError::WrongSize { url: url.to_owned(), got_bytes, want_bytes })
}

/// Asks for the file from `have_bytes` on. Returns the answer and the byte that it begins with,
/// which is 0 if the server does not do parts.
async fn request(
    client: &Client,
    url: &str,
    have_bytes: u64,
) -> Result<(Response, u64), PullError> {
    let send = async |from: u64| {
        let mut request = client.get(url);
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        request
            .send()
            .await
            .map_err(|err| PullError::Download { url: url.to_owned(), source: err.into() })
    };
    let mut response = send(have_bytes).await?;
    if response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
        response = send(0).await?;
    }
    match response.status() {
        StatusCode::OK => Ok((response, 0)),
        StatusCode::PARTIAL_CONTENT if begins_at(&response, have_bytes) => {
            Ok((response, have_bytes))
        }
        StatusCode::PARTIAL_CONTENT => {
            // Another part than the one asked for; the whole is safe.
            let response = send(0).await?;
            match response.status() {
                StatusCode::OK => Ok((response, 0)),
                status => Err(PullError::Refused { url: url.to_owned(), status: status.as_u16() }),
            }
        }
        status => Err(PullError::Refused { url: url.to_owned(), status: status.as_u16() }),
    }
}

fn begins_at(response: &Response, byte: u64) -> bool {
    response
        .headers()
        .get(CONTENT_RANGE)
        .and_then(|range| range.to_str().ok())
        .is_some_and(|range| range.starts_with(&format!("bytes {byte}-")))
}
