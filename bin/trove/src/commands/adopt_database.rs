//! `trove adopt-database`

use super::print;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::failure::{Failure, SUCCESS};
use crate::wiring::Deployment;

/// Makes the configured index, in the data directory or on a Qdrant server, the one that holds the
/// documents of the database.
///
/// # Errors
///
/// When the directory is in use, the index belongs to another database, or there is no database.
pub async fn run(config: &Config) -> Result<u8, Failure> {
    let _data_dir = DataDir::open(&config.data_dir, "trove adopt-database")?;
    Deployment::adopt_database(config).await?;
    let index = match &config.qdrant.url {
        Some(_) => format!("The Qdrant collection `{}`", config.qdrant.collection),
        None => format!("The index in {}", config.data_dir.display()),
    };
    print(&format!(
        "{index} now holds the documents of the database; those that are not in it yet are found \
         once they are indexed again, by `trove index` or by posting them. Any other index is \
         refused from its next start on.\n"
    ))?;
    Ok(SUCCESS)
}
