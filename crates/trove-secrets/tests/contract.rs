//! The suite of the cipher, with one key and with several.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use trove_domain::port::{SecretCipher, SecretCipherError};
use trove_domain::secret::{SealedSecret, SecretPlace};
use trove_secrets::{KeyRing, SecretKey, XChaChaCipher};
use trove_testkit::fakes::SequentialIds;
use uuid::Uuid;

fn ring(ids: &SequentialIds, keys: usize) -> KeyRing {
    KeyRing::new((0..keys).map(|_| SecretKey::generate(ids).unwrap()).collect()).unwrap()
}

#[expect(clippy::unused_async, reason = "the suite awaits its subjects")]
async fn start(keys: usize) -> Option<Box<dyn SecretCipher>> {
    let ids = Arc::new(SequentialIds::default());
    let ring = ring(&ids, keys);
    let current = ring.keys()[0].id().clone();
    Some(Box::new(XChaChaCipher::new(&ring, &current, ids).unwrap()))
}

mod one_key {
    trove_testkit::secret_cipher_contract!(crate::start(1));
}

mod several_keys {
    trove_testkit::secret_cipher_contract!(crate::start(3));
}

const PLACE: SecretPlace =
    SecretPlace { table: "llm_provider", row: Uuid::from_u128(7), field: "api_key" };

#[test]
fn secrets_of_every_key_of_the_ring_open() {
    let ids = Arc::new(SequentialIds::default());
    let ring = ring(&ids, 2);
    let [old, new] = [0, 1].map(|at| {
        XChaChaCipher::new(&ring, ring.keys()[at].id(), Arc::<SequentialIds>::clone(&ids)).unwrap()
    });
    let sealed = old.seal(&"secret".into(), PLACE).unwrap();
    assert_eq!(sealed.key(), ring.keys()[0].id());
    new.open(&sealed, PLACE).unwrap();

    let alone = KeyRing::new(vec![ring.newest().clone()]).unwrap();
    let alone = XChaChaCipher::new(&alone, ring.newest().id(), ids).unwrap();
    let error = alone.open(&sealed, PLACE).unwrap_err();
    assert_eq!(error, SecretCipherError::UnknownKey { key: sealed.key().clone() });
    // Saying that another key sealed it does not make it so.
    let renamed = SealedSecret::new(ring.newest().id().clone(), sealed.body().to_owned());
    let error = new.open(&renamed, PLACE).unwrap_err();
    assert_eq!(error, SecretCipherError::Damaged { place: PLACE });
}

#[test]
fn a_ring_without_the_key_makes_no_cipher() {
    let ids = Arc::new(SequentialIds::default());
    let (ring, other) = (ring(&ids, 1), SecretKey::generate(ids.as_ref()).unwrap());
    assert!(XChaChaCipher::new(&ring, other.id(), ids).is_none());
}
