//! `trove adopt-database`

use super::print;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::failure::{Failure, SUCCESS};
use crate::wiring::Deployment;

/// Makes the data directory the one whose index holds the documents of the database.
///
/// # Errors
///
/// When the directory is in use or belongs to another database, or there is no database.
pub async fn run(config: &Config) -> Result<u8, Failure> {
    let _data_dir = DataDir::open(&config.data_dir, "trove adopt-database")?;
    Deployment::adopt_database(config).await?;
    print(&format!(
        "The index in {} now holds the documents of the database; those that are not in it yet \
         are found once they are indexed again, by `trove index` or by posting them. Any other \
         data directory is refused from its next start on.\n",
        config.data_dir.display()
    ))?;
    Ok(SUCCESS)
}
