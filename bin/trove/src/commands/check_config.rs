//! `trove check-config`

use std::io::{self, Write};

use super::print;
use crate::config::{Loaded, show};
use crate::failure::{Failure, SUCCESS, USAGE};
use crate::wiring::{LanguageModels, Model, check_index, check_secrets_key};

/// Prints the effective values. Settings that cannot be used never get here; the model is read as
/// `trove serve` would, because its directory is a setting, too, and so are the files of keys.
/// Nothing is sent to models behind interfaces or to other services.
///
/// # Errors
///
/// When the model's files are not the model, when a file of keys cannot be used, when settings of a
/// model cannot work together, or when standard output cannot be written.
pub async fn run(loaded: &Loaded) -> Result<u8, Failure> {
    print(&show(loaded))?;
    let refused = |error| Failure { code: USAGE, error };
    LanguageModels::open(&loaded.config).map_err(refused)?;
    check_secrets_key(&loaded.config).await.map_err(refused)?;
    check_index(&loaded.config).await.map_err(refused)?;
    let model = Model::check(&loaded.config).await;
    if let Model::Missing { dir } = model.map_err(refused)? {
        // A closed standard error takes no warning.
        let _ = writeln!(
            io::stderr(),
            "warning: there is no embedding model in {} (embedding.model_dir): searches are by \
             words alone until `trove model pull` has fetched it",
            dir.display()
        );
    }
    Ok(SUCCESS)
}
