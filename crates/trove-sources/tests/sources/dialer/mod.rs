mod addresses;
mod answers;

use trove_sources::dialer::{Answer, DialError, Dialer, Request};

/// As a source does it: an address in text, checked and asked.
async fn get(dialer: &Dialer, address: &str) -> Result<Answer, DialError> {
    let url = dialer.policy().admit(address)?;
    dialer.fetch(&Request::get(url), &|_| true).await
}
