mod again;
mod crawl;
mod manners;
pub(crate) mod site;

use serde_json::{Value, json};

use site::Site;

fn config(site: &Site, path: &str) -> Value {
    json!({ "base_url": site.url(path) })
}
