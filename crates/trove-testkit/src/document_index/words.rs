//! What a word is, and when two are the same.

use trove_domain::port::DocumentIndex;

use super::{found, found_in_any_order, search, write};
use crate::builders::{document, query};

/// Other forms of a word are the same word.
pub async fn case_and_inflection_do_not_matter(index: &dyn DocumentIndex) {
    write(index, [document("a").text("Quarterly INVOICES were archived")]).await;
    for words in ["invoice", "Invoices", "INVOICING", "archive", "quarterly invoice"] {
        assert_eq!(found(index, query(words)).await, ["a"], "{words}");
    }
    assert!(found(index, query("receipt")).await.is_empty());
}

/// However it is typed, a word is the same word.
pub async fn accents_case_and_width_do_not_matter(index: &dyn DocumentIndex) {
    write(
        index,
        [
            document("german").text("Mu\u{308}ller, Hauptstraße 5"),
            document("turkish").text("İzmir limanı"),
            document("greek").text("Ο ΔΡΟΜΟΣ της Αθήνας"),
            document("russian").text("МОСКВА и Орёл"),
            document("wide").text("ＡＢＣ製品"),
        ],
    )
    .await;
    for (text, expected) in [
        ("müller", "german"),
        ("Muller", "german"),
        ("HAUPTSTRASSE", "german"),
        ("izmir", "turkish"),
        ("δρόμος", "greek"),
        ("ΑΘΗΝΑΣ", "greek"),
        ("москва", "russian"),
        ("орел", "russian"),
        ("abc", "wide"),
    ] {
        assert_eq!(found(index, query(text)).await, [expected], "{text}");
    }
}

/// A word is found in the run of letters that it is written in, and where scripts meet.
pub async fn words_of_scripts_without_spaces_are_found(index: &dyn DocumentIndex) {
    write(
        index,
        [
            document("chinese").text("我们在北京购买了新的iPhone手机。"),
            document("japanese").text("東京タワーの近くにサーバーがあります。"),
            document("korean").text("회사는 새로운 서버를 구입했다."),
            document("thai").text("บริษัทของเราซื้อคอมพิวเตอร์ใหม่"),
            document("lao").text("ພວກເຮົາຊື້ຄອມພິວເຕີໃໝ່"),
            document("khmer").text("យើងបានទិញកុំព្យូទ័រថ្មី"),
            document("myanmar").text("ကျွန်ုပ်တို့ကွန်ပျူတာအသစ်ဝယ်ခဲ့သည်"),
            document("other").text("zebra crossing"),
        ],
    )
    .await;
    for (text, expected) in [
        ("北京", "chinese"),
        ("手机", "chinese"),
        ("iphone", "chinese"),
        ("购", "chinese"),
        ("タワー", "japanese"),
        ("サーバー", "japanese"),
        ("ｻｰﾊﾞｰ", "japanese"),
        ("회사", "korean"),
        ("서버", "korean"),
        ("คอมพิวเตอร์", "thai"),
        ("ຄອມພິວເຕີ", "lao"),
        ("កុំព្យូទ័រ", "khmer"),
        ("ကွန်ပျူတာ", "myanmar"),
    ] {
        let found = found(index, query(text)).await;
        assert_eq!(found.first().map(String::as_str), Some(expected), "{text}");
        assert!(!found.contains(&"other".to_owned()), "{text}");
    }
}

/// A text is found by other forms of its words, in the language that it is written in, whatever the
/// other texts are written in.
pub async fn inflection_does_not_matter_in_other_languages(index: &dyn DocumentIndex) {
    write(
        index,
        [
            document("english").text("The invoices are sent to the customers before they are due"),
            document("german")
                .text("Die Rechnungen werden nicht mit der Post an die Kunden geschickt"),
            document("french").text("Les factures sont envoyées aux clients avec une lettre"),
            document("spanish").text("Las facturaciones se envían a los clientes con una carta"),
            document("russian").text("Счета для клиентов и документы не отправляют по почте"),
            document("polish").text("Faktury nie są wysyłane do klientów, ale są na serwerze"),
        ],
    )
    .await;
    for (text, expected) in [
        ("invoice", "english"),
        ("Rechnung", "german"),
        ("die Rechnung", "german"),
        ("facture", "french"),
        ("envoyee", "french"),
        ("facturación", "spanish"),
        ("facturacion", "spanish"),
        ("документ", "russian"),
        ("faktura", "polish"),
    ] {
        let found = found(index, query(text)).await;
        assert_eq!(found.first().map(String::as_str), Some(expected), "{text}: {found:?}");
    }
}

/// What a text says is found in a text of any language, in the form in which it is written.
pub async fn words_are_found_whatever_the_language_around_them(index: &dyn DocumentIndex) {
    write(
        index,
        [
            document("german")
                .text("Der Dienst kubernetes wird mit dem Befehl apply für alle gestartet"),
            document("italian")
                .text("Il servizio kubernetes è avviato con il comando apply per tutti"),
            document("code").text("kubernetes apply --all"),
        ],
    )
    .await;
    for text in ["kubernetes", "apply", "KUBERNETES apply"] {
        let found = found_in_any_order(index, query(text)).await;
        assert_eq!(found, ["code", "german", "italian"], "{text}");
    }
}

/// A long hash or identifier is found by all of it.
pub async fn a_long_word_is_found(index: &dyn DocumentIndex) {
    let word = "0123456789abcdef".repeat(16);
    let text = format!("checksum {word} of it");
    write(index, [document("a").text(&text), document("b").text("checksum of it")]).await;
    assert_eq!(found(index, query(&word)).await, ["a"]);
    assert_eq!(found(index, query(&word.to_uppercase())).await, ["a"]);
}

/// Words that say little are looked for when a query has no others.
pub async fn a_query_of_function_words_finds_them(index: &dyn DocumentIndex) {
    write(
        index,
        [
            document("hamlet").text("To be, or not to be: that is the question"),
            document("band").title("The Who").text("an English rock band"),
            document("department").text("Ask IT about it"),
            document("none").text("zebra crossing"),
        ],
    )
    .await;
    for (text, expected) in
        [("to be or not to be", "hamlet"), ("The Who", "band"), ("IT", "department")]
    {
        let found = found(index, query(text)).await;
        assert_eq!(found.first().map(String::as_str), Some(expected), "{text}");
        assert!(!found.contains(&"none".to_owned()), "{text}");
    }
}

/// Beside other words they find nothing by themselves.
pub async fn function_words_beside_others_find_nothing(index: &dyn DocumentIndex) {
    write(
        index,
        [document("a").text("the zebra is here"), document("b").text("the horse is there")],
    )
    .await;
    for text in ["the zebra", "where is the zebra", "what is a zebra?"] {
        assert_eq!(found(index, query(text)).await, ["a"], "{text}");
    }
}

/// Blank text, punctuation and the like name no word, so no chunk holds one.
pub async fn a_query_without_words_finds_nothing_lexically(index: &dyn DocumentIndex) {
    write(index, [document("a").text("the quick brown fox, and so on")]).await;
    for text in ["", " ", "\n\t", "?!", "…—", "\u{0}", "()"] {
        assert!(found(index, query(text)).await.is_empty(), "{text:?}");
    }
}

/// Operators, fields, quotes and wildcards are what they look like: text.
pub async fn query_syntax_is_plain_text(index: &dyn DocumentIndex) {
    write(index, [document("a").text("zebra crossing"), document("b").text("giraffe house")]).await;
    for (text, expected) in [
        ("+giraffe -zebra", vec!["a", "b"]),
        ("zebra AND giraffe", vec!["a", "b"]),
        ("NOT zebra", vec!["a"]),
        ("text:zebra", vec!["a"]),
        ("\"zebra giraffe\"~1", vec!["a", "b"]),
        ("(zebra", vec!["a"]),
        ("zebra^10 OR [* TO *]", vec!["a"]),
        ("zeb*", vec![]),
        ("*", vec![]),
        ("zebra\\", vec!["a"]),
    ] {
        assert_eq!(found_in_any_order(index, query(text)).await, expected, "{text}");
    }
}

/// Every script and every length can be written and searched.
pub async fn any_text_is_accepted(index: &dyn DocumentIndex) {
    let long_word = "x".repeat(100_000);
    let long_text = "zebra ".repeat(20_000);
    let texts = [
        "日本語のテキストです。",
        "한국어 문서",
        "مستند باللغة العربية",
        "emoji 👩‍👩‍👧‍👦 🏳️‍🌈",
        "e\u{301}\u{327} combining",
        "a\u{0}b\u{1}\u{7f}\u{fffd}",
        "ﬁ ﬂ İstanbul ẞ",
        "",
        &long_word,
        &long_text,
    ];
    let documents = texts.iter().enumerate().map(|(n, text)| {
        document(&format!("document-{n}")).title(text.get(..100).unwrap_or(text)).text(text)
    });
    write(index, documents).await;
    for text in texts {
        let text: String = text.chars().take(2048).collect();
        search(index, query(&text)).await;
    }
    assert_eq!(index.statistics().await.unwrap().documents, 10);
    assert_eq!(found(index, query("combining")).await, ["document-4"]);
    assert_eq!(found(index, query("zebra")).await, ["document-9"]);
}
