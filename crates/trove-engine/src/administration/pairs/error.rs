use trove_domain::cc_pair::CcPair;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::{CcPairId, ConnectorId, CredentialId};
use trove_domain::port::PairRefusal;
use trove_domain::source::DocumentSource;

use crate::administration::credentials::CredentialError;
use crate::administration::{ConnectorError, CuratorError};

/// Why a pair was not made, shown or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PairError {
    /// There is no such pair that the caller may see.
    #[error("CC Pair {0} not found for current user permissions")]
    NoSuchPair(CcPairId),
    /// The caller sees the pair and may not change it.
    #[error("you may not change CC Pair {0}")]
    Forbidden(CcPairId),
    /// The connector has the credential already.
    #[error("Connector {connector} already has Credential {credential}")]
    Exists {
        /// The connector.
        connector: ConnectorId,
        /// The credential.
        credential: CredentialId,
    },
    /// The connector does not have the credential.
    #[error("Connector {connector} does not have Credential {credential}")]
    NotAssociated {
        /// The connector.
        connector: ConnectorId,
        /// The credential.
        credential: CredentialId,
    },
    /// There is no pair of them to delete that the caller may change, nor one of them that it knows.
    #[error(
        "Connector with ID '{connector}' and credential ID '{credential}' does not exist. Has it \
         already been deleted?"
    )]
    Gone {
        /// The connector.
        connector: ConnectorId,
        /// The credential.
        credential: CredentialId,
    },
    /// Another pair has the name.
    #[error("Name must be unique")]
    NameTaken,
    /// A group does not exist.
    #[error("groups: one of them does not exist")]
    UnknownGroup,
    /// No schedule runs it.
    #[error("no schedule runs this pair: what brings its documents decides about it")]
    NotScheduled,
    /// It is being deleted.
    #[error("CC Pair {0} is being deleted")]
    Deleting(CcPairId),
    /// The connector is being deleted with all the pairs that it has.
    #[error(
        "connector {0} is being deleted with its last pair, and takes no other one; make a new \
         connector, or wait until this one is gone when the new one is to have its name"
    )]
    ConnectorDeleting(ConnectorId),
    /// It is being pruned.
    #[error("CC Pair {0} is being pruned already")]
    Pruning(CcPairId),
    /// There is not exactly one pair of the connector.
    #[error("connector {0} does not have exactly one credential to swap")]
    NothingToSwap(ConnectorId),
    /// The credential is for another source, and has a secret.
    #[error("the credential is for {credential}, the connector reads {connector}")]
    OtherSource {
        /// The credential's.
        credential: &'static str,
        /// The connector's.
        connector: &'static str,
    },
    /// What its source is told about permissions is too large.
    #[error("auto_sync_options: they have at most {max} bytes", max = CcPair::OPTIONS_BYTES_MAX)]
    OptionsTooLarge,
    /// Nobody sets a pair to such a status.
    #[error("status: a pair is set to ACTIVE or PAUSED, and to nothing else")]
    NoStatusToSet,
    /// There is no such property, or it does not take the value.
    #[error(
        "name, value: refresh_frequency is a whole number of seconds from 60, pruning_frequency \
         from 300; there are no other properties"
    )]
    Property,
    /// The source cannot tell who reads what.
    #[error("Connector of type {name} does not support SYNC access type", name = .0.as_str())]
    NotSynced(DocumentSource),
    /// There is nothing that reads such a source.
    #[error("source: {name} cannot be read yet; these can: {known}", name = .source_value.as_str())]
    NotImplemented {
        /// The source.
        source_value: DocumentSource,
        /// Names of those that can.
        known: String,
    },
    /// Configuration or credential do not work, or the source does not answer.
    #[error("Connector validation error: {0}")]
    Validation(String),
    /// About the connector.
    #[error(transparent)]
    Connector(#[from] ConnectorError),
    /// About the credential.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// A curator may not do this.
    #[error(transparent)]
    Curator(#[from] CuratorError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PairError {
    /// Why the pair was not changed.
    pub(crate) fn of(refusal: PairRefusal, id: CcPairId) -> Self {
        match refusal {
            PairRefusal::NameTaken => Self::NameTaken,
            PairRefusal::NoSuchGroup => Self::UnknownGroup,
            PairRefusal::Deleting => Self::Deleting(id),
            PairRefusal::NotScheduled => Self::NotScheduled,
            PairRefusal::Pruning => Self::Pruning(id),
            PairRefusal::Missing | PairRefusal::Exists | PairRefusal::Several => {
                Self::NoSuchPair(id)
            }
        }
    }
}

impl Classify for PairError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchPair(_) | Self::Gone { .. } => ErrorKind::NotFound,
            Self::Forbidden(_) => ErrorKind::Forbidden,
            Self::Pruning(_) => ErrorKind::Conflict,
            Self::Exists { .. }
            | Self::NotAssociated { .. }
            | Self::NameTaken
            | Self::UnknownGroup
            | Self::NotScheduled
            | Self::Deleting(_)
            | Self::ConnectorDeleting(_)
            | Self::NothingToSwap(_)
            | Self::OtherSource { .. }
            | Self::OptionsTooLarge
            | Self::NoStatusToSet
            | Self::Property
            | Self::NotSynced(_)
            | Self::NotImplemented { .. }
            | Self::Validation(_) => ErrorKind::Invalid,
            Self::Connector(error) => error.kind(),
            Self::Credential(error) => error.kind(),
            Self::Curator(error) => error.kind(),
            Self::Store(error) => error.kind(),
        }
    }
}
