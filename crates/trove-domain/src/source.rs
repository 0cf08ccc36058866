//! Where documents come from.

/// Why a string is no source value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a document source")]
pub struct UnknownSource(pub String);

macro_rules! sources {
    ($($variant:ident = $wire:literal),+ $(,)?) => {
        /// The system a document comes from; the interface accepts exactly these values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DocumentSource {
            $(#[doc = concat!("`", $wire, "`")] $variant),+
        }

        impl DocumentSource {
            /// Every source, in the order of the interface document.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The value used in the interface, in the database and in the index.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $wire),+ }
            }
        }

        impl std::str::FromStr for DocumentSource {
            type Err = UnknownSource;

            fn from_str(value: &str) -> Result<Self, UnknownSource> {
                match value {
                    $($wire => Ok(Self::$variant),)+
                    other => Err(UnknownSource(other.to_owned())),
                }
            }
        }
    };
}

sources! {
    IngestionApi = "ingestion_api", Slack = "slack", Web = "web", GoogleDrive = "google_drive",
    Gmail = "gmail", RequestTracker = "requesttracker", Github = "github", Gitbook = "gitbook",
    Gitlab = "gitlab", Guru = "guru", Bookstack = "bookstack", Outline = "outline",
    Confluence = "confluence", Jira = "jira", Slab = "slab", Productboard = "productboard",
    File = "file", Coda = "coda", Notion = "notion", Zulip = "zulip", Linear = "linear",
    Hubspot = "hubspot", Document360 = "document360", Gong = "gong", GoogleSites = "google_sites",
    Zendesk = "zendesk", Loopio = "loopio", Dropbox = "dropbox", Sharepoint = "sharepoint",
    Teams = "teams", Salesforce = "salesforce", Discourse = "discourse", Axero = "axero",
    Clickup = "clickup", Mediawiki = "mediawiki", Wikipedia = "wikipedia", Asana = "asana",
    S3 = "s3", R2 = "r2", GoogleCloudStorage = "google_cloud_storage", OciStorage = "oci_storage",
    Xenforo = "xenforo", NotApplicable = "not_applicable", Discord = "discord",
    Freshdesk = "freshdesk", Fireflies = "fireflies", Egnyte = "egnyte", Airtable = "airtable",
    Highspot = "highspot", DrupalWiki = "drupal_wiki", Imap = "imap", Bitbucket = "bitbucket",
    Testrail = "testrail", MockConnector = "mock_connector", UserFile = "user_file",
}

impl std::fmt::Display for DocumentSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::DocumentSource;

    #[test]
    fn there_are_fifty_five_values_and_each_reads_back() {
        assert_eq!(DocumentSource::ALL.len(), 55);
        for source in DocumentSource::ALL {
            assert_eq!(source.as_str().parse::<DocumentSource>().as_ref(), Ok(source));
        }
    }

    #[test]
    fn values_are_case_sensitive() {
        assert!("Slack".parse::<DocumentSource>().is_err());
    }
}
