//! What every [`SecretCipher`] does.

#![expect(clippy::unused_async, reason = "the cases of all suites have one shape")]

use std::collections::HashSet;

use secrecy::{ExposeSecret, SecretString};
use trove_domain::port::{SecretCipher, SecretCipherError};
use trove_domain::secret::{SealedSecret, SecretKeyId, SecretPlace};
use uuid::Uuid;

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option` of something that dereferences to a cipher.
#[macro_export]
macro_rules! secret_cipher_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            secret_cipher,
            $start,
            [
                what_was_sealed_opens_as_it_was,
                a_sealed_secret_does_not_show_it,
                sealing_twice_gives_different_results,
                the_result_tells_the_length_at_most,
                a_secret_opens_in_its_place_only,
                what_was_changed_does_not_open,
                an_unknown_key_is_named,
                errors_hold_no_secret,
                what_is_too_long_is_refused,
                secrets_are_sealed_with_the_key_of_the_cipher,
            ]
        );
    };
}

const PLACE: SecretPlace = SecretPlace {
    table: "llm_provider",
    row: Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001),
    field: "api_key",
};

fn seal(cipher: &dyn SecretCipher, secret: &str) -> SealedSecret {
    cipher.seal(&SecretString::from(secret), PLACE).unwrap()
}

/// Also through the database's form, and when it is empty.
pub async fn what_was_sealed_opens_as_it_was(cipher: &dyn SecretCipher) {
    let long = "x".repeat(100_000);
    for secret in ["", "sk-1", "пароль\n\"{}\u{0}\u{10ffff}", &long] {
        let sealed = SealedSecret::from_stored(&seal(cipher, secret).to_stored()).unwrap();
        assert_eq!(cipher.open(&sealed, PLACE).unwrap().expose_secret(), secret);
    }
}

/// Neither printed nor stored.
pub async fn a_sealed_secret_does_not_show_it(cipher: &dyn SecretCipher) {
    let sealed = seal(cipher, "hunter2hunter2");
    assert!(!sealed.to_stored().contains("hunter2"));
    assert!(!format!("{sealed:?}").contains(sealed.body()));
}

/// Who sees two rows does not learn that their secrets are the same.
pub async fn sealing_twice_gives_different_results(cipher: &dyn SecretCipher) {
    let sealed: HashSet<String> = (0..100).map(|_| seal(cipher, "x").to_stored()).collect();
    assert_eq!(sealed.len(), 100);
}

/// Secrets of one length give results of one length.
pub async fn the_result_tells_the_length_at_most(cipher: &dyn SecretCipher) {
    let lengths: HashSet<usize> =
        ["aaaaaaaa", "zzzzzzzz", "12345678"].map(|s| seal(cipher, s).to_stored().len()).into();
    assert_eq!(lengths.len(), 1);
}

/// Table, row and field all count.
pub async fn a_secret_opens_in_its_place_only(cipher: &dyn SecretCipher) {
    let sealed = seal(cipher, "secret");
    for place in [
        SecretPlace { table: "credential", ..PLACE },
        SecretPlace { row: Uuid::from_u128(2), ..PLACE },
        SecretPlace { field: "custom_config", ..PLACE },
        // The same letters, cut elsewhere.
        SecretPlace { table: "llm_providera", field: "pi_key", ..PLACE },
    ] {
        let error = cipher.open(&sealed, place).unwrap_err();
        assert_eq!(error, SecretCipherError::Damaged { place });
    }
}

/// Whichever character it is, and whatever is cut off or put in its place.
pub async fn what_was_changed_does_not_open(cipher: &dyn SecretCipher) {
    let sealed = seal(cipher, "secret");
    let body = sealed.body();
    let mut changed: Vec<String> = (0..body.len())
        .map(|at| {
            let other = if body[at..].starts_with('A') { "B" } else { "A" };
            format!("{}{other}{}", &body[..at], &body[at + 1..])
        })
        .collect();
    changed.extend((0..body.len()).map(|end| body[..end].to_owned()));
    changed.extend([format!("{body}AAAA"), "é".to_owned(), " ".repeat(100)]);
    for body in changed {
        let forged = SealedSecret::new(sealed.key().clone(), body.clone());
        let error = cipher.open(&forged, PLACE).unwrap_err();
        assert_eq!(error, SecretCipherError::Damaged { place: PLACE }, "{body}");
    }
}

/// So that an operator knows which one to look for.
pub async fn an_unknown_key_is_named(cipher: &dyn SecretCipher) {
    let key = SecretKeyId::new("0000000000000000").unwrap();
    let forged = SealedSecret::new(key.clone(), seal(cipher, "secret").body().to_owned());
    let error = cipher.open(&forged, PLACE).unwrap_err();
    assert!(error.to_string().contains("0000000000000000"), "{error}");
    assert_eq!(error, SecretCipherError::UnknownKey { key });
}

/// Not even when something in the clear is taken for a sealed secret.
pub async fn errors_hold_no_secret(cipher: &dyn SecretCipher) {
    let clear = SealedSecret::new(cipher.key().clone(), "hunter2".to_owned());
    let error = cipher.open(&clear, PLACE).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
}

/// Instead of taking any amount of memory.
pub async fn what_is_too_long_is_refused(cipher: &dyn SecretCipher) {
    let long = SecretString::from("x".repeat(100 << 20));
    assert_eq!(cipher.seal(&long, PLACE).unwrap_err(), SecretCipherError::TooLong);
}

/// Always the same one.
pub async fn secrets_are_sealed_with_the_key_of_the_cipher(cipher: &dyn SecretCipher) {
    for _ in 0..3 {
        assert_eq!(seal(cipher, "secret").key(), cipher.key());
    }
}
