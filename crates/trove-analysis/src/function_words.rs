//! Words that say little about what a text is about, and much about its language.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::folding::{fold, fold_latin};
use crate::hash::BuildFnv1a;
use crate::language::{Language, LanguageSet};

/// Words that sentences and questions are made of. Accents and case do not matter.
const LISTS: &[(Language, &str)] = &[
    (
        Language::English,
        "a about also am an and are as at be been being but by can could did do does doing for \
         from had has have having how i if in into is it its me my no not of on or our ours s \
         should so such t than that the their then there these they this to was we were what \
         when where which who whom why will with would you your yours",
    ),
    (
        Language::German,
        "aber alle als am an auch auf aus bei beim bin bis bist da damit dann das dass dein dem \
         den denn der des die dies diese diesem diesen dieser dieses doch dort du durch ein \
         eine einem einen einer eines er es für hat hatte habe haben ich ihr ihre im in ist ja \
         jede jeder kann kein keine können man mein mit muss nach nicht noch nur ob oder ohne \
         sein seine sich sie sind so über um und uns unter vom von vor war waren was welche \
         welcher wenn wer werden wie wir wird wo wurde wurden zu zum zur zwischen",
    ),
    (
        Language::French,
        "à afin ai ainsi alors au aucun aussi autre aux avec avoir ce cela ces cet cette ceux \
         chaque comme comment d dans de des donc dont du elle elles en encore entre est et été \
         être eu il ils j je l la le les leur leurs lui m mais même mes mon n ne ni nos notre \
         nous on ont ou où par pas peut plus pour pourquoi qu quand que quel quelle quelles \
         quels qui quoi s sa sans se sera ses si son sont sur ta te tous tout toute toutes très \
         tu un une vos votre vous y",
    ),
    (
        Language::Spanish,
        "a al algo algunos ante antes así como con cual cuál cuando cuándo de del desde donde \
         dónde durante e el él ella ellos en entre era es esa ese eso esta está están estas \
         este esto estos fue ha han hay la las le les lo los más me mi mis muy nada ni no nos \
         nosotros nuestro o os otra otro otros para pero poco por porque puede que qué quien \
         quién se sea ser si sí sin sobre son soy su sus también te tiene todo todos tu tus u \
         un una uno unos y ya yo",
    ),
    (
        Language::Italian,
        "a ad agli ai al alla alle allo anche c che chi ci col come con cosa cui d da dagli dai \
         dal dalla dalle dei degli del dell della delle dello di dove e è ed era essere fra gli \
         ha hai hanno ho i il in io l la le lei lo loro lui ma mi mia mio ne negli nei nel nell \
         nella nelle noi non nostro o ogni per perché più può quale quando quanto quella quelle \
         quelli quello questa queste questi questo qui se sei si sia siamo sono sta su sua sue \
         sugli sui sul sulla sulle suo suoi ti tra tu tutti tutto un una uno vi voi",
    ),
    (
        Language::Portuguese,
        "a à ao aos aquela aquele aquilo as às até com como da das de dela dele deles depois do \
         dos e é ela elas ele eles em entre era essa esse esta está estão estas este estes eu \
         foi foram há isso isto já lhe mais mas me mesmo meu minha muito na não nas nem no nos \
         nós nossa nosso num numa o os ou para pela pelas pelo pelos pode por porque qual \
         quando que quem se seja sem ser será seu seus só sobre são sua suas também te tem têm \
         todos um uma umas uns você",
    ),
    (
        Language::Dutch,
        "aan al alle als bij daar dan dat de der deze die dit door dus een en er ge geen haar \
         had heb hebben heeft het hier hij hoe hun ik in is je jij kan kunnen maar me meer met \
         mij mijn moet na naar niet niets nog nu of om omdat onder ons onze ook op over te \
         tegen toch toe tot tussen u uit uw van veel voor waar waarom wanneer was wat we welke \
         werd wezen wie wij wil worden wordt zal ze zich zij zijn zo zonder",
    ),
    (
        Language::Danish,
        "ad af alle alt at blev blive bliver da de dem den denne der deres det dette dig din \
         disse dog du efter eller en end er et for fra ham han hans har havde hende hendes her \
         hos hun hvad hvis hvor hvordan hvorfor i ikke ind jeg jer kan kun man med meget mellem \
         men mig min mod må ned nogle nu når og også om op os over på sig sin skal som sådan så \
         til ud under var ved vi vil ville være været",
    ),
    (
        Language::Norwegian,
        "alle alt at av bare ble bli blir da de dem den denne der deres det dette din disse du \
         eller en enn er et ett etter for fra før ha hadde han hans har hun hva hvem hver hvis \
         hvor hvordan hvorfor i ikke inn jeg kan kunne man med meg meget mellom men mot må noe \
         noen nå når og også om opp oss over på seg selv sin skal skulle som så til under ut \
         var ved vi vil ville være vært ikkje eg frå",
    ),
    (
        Language::Swedish,
        "alla allt andra att av bara blev blir da de dem den denna deras dess dessa det detta \
         dig din du där då efter ej eller en er ett från för ha hade han hans har hon hur här i \
         icke ingen inte jag kan kunde man med mellan men mig min mot mycket ni nu när någon \
         några och också om oss på sedan sig sin ska skall skulle som så till under upp ut utan \
         vad var vara varför varit vem vi vid vilka vilken vill än är över",
    ),
    (
        Language::Finnish,
        "ei eivät en että he hän ihan ilman ja jo joka joiden joita joka jolla jonka jos josta \
         jota jotka kaikki kanssa koska kuin kuinka kuka kun kuten me mihin mikä mikäli missä \
         mistä mitä mutta myös ne niiden niin niitä nyt näiden nämä ole olet oli olla olen on \
         ovat se sekä sen siellä siihen siinä sitä sillä sinä tai te tässä tämä tämän tätä vain \
         vaan voi voidaan ettei minä jolloin",
    ),
    (
        Language::Hungarian,
        "a ahol aki akkor amely ami amikor annak át az azok azon azt azzal be csak de e ebben \
         egy egyik együtt el én ennek és ez ezek ezen ezt fel ha hanem hogy hogyan is itt ki \
         kell lehet lesz ha meg már még mert mely mi mikor mint mit miért más minden nagyon nem \
         nincs olyan ott ő össze pedig s sem szerint től után vagy vagyok van vannak vele volt",
    ),
    (
        Language::Romanian,
        "a acea aceasta această aceea acel acest acesta aceste acestea acestui ai aici al ale \
         am ar are as asupra atunci au avea ca că care când ce cel cele cei cu cum dacă dar de \
         decât deci despre din dintre doar după e ea ei el ele era este eu fi fie fiind fost \
         iar îi în între la le lor lui mai mea meu mi nici nu o ori pe pentru poate prin sa să \
         sau se si și sunt te toate tot un una unde unei unui va vă",
    ),
    (
        Language::Turkish,
        "acaba ama ancak ay bana bazı belki ben beni benim bir biri biz bu buna bunlar bunu \
         bunun çok çünkü da daha de değil diye dolayı eğer en gibi göre hem hep hepsi her hiç \
         için ile ise kadar kez ki kim mı mi mu mü nasıl ne neden nerede niçin o olan olarak \
         olduğu ona onlar onu onun sadece sen siz sonra şey şu tarafından tüm ve veya ya yani \
         yok var üzerinde",
    ),
    (
        Language::Polish,
        "aby ale albo ani bez bardzo być był była było były będzie czy dla do dlaczego gdy \
         gdzie go i ich ile im inne ja jak jaki jako je jego jej jest jestem jeszcze jeśli już \
         każdy kiedy kto która które którego której który których lub ma mają mi mnie może \
         można mój na nad nas nie nich nim niż o od on ona one oni oraz po pod podczas ponieważ \
         poprzez przed przez przy są się swoje także tak tam te tego tej ten to tu ty tych \
         tylko tym u w we wszystkie wszystko z za ze że żeby",
    ),
    (
        Language::Czech,
        "a aby aj ale ani až bez bude budou by byl byla byli bylo být co což další do i jak \
         jako je jeho jej její jejich jen ještě jejichž jsem jsme jsou k každý kde kdo když ke \
         která které kterého který kteří ku má mají mezi mi může na nad nebo než není o od on \
         ona oni po pod podle pokud pouze pro proč protože před přes při s se si své svůj ta \
         tak také tato ten tento to tohoto tom toto tu tuto ty u už v va ve více však z za ze \
         že",
    ),
    (
        Language::Catalan,
        "a abans aquell aquella aquest aquesta aquestes aquests això als amb aquí cada com de \
         del dels des després dins el ella ells els em en entre era és està estan es et eren ha \
         han hi ho i ja jo la les li lo més molt meu meva mi mentre ni no nosaltres nostre o on \
         pel pels per però perquè pot quan que què qual qui s sense ser seu seva seves sí si \
         sobre són sota té també tot tots tu un una unes uns va vostre",
    ),
    (
        Language::Indonesian,
        "ada adalah agar akan anda antara apa apabila atas atau bagaimana bagi bahwa beberapa \
         belum bisa boleh bukan dalam dan dapat dari daripada dengan di dia hanya harus hingga \
         ia ini itu jika juga kami kamu kapan karena ke kemudian kepada kita lain lagi lebih \
         maka mana masih mengapa mereka namun oleh pada para pernah pun saat saja sampai sangat \
         satu saya seperti sebagai sebuah secara sedang sehingga sejak semua serta setelah \
         siapa sudah suatu tanpa telah tentang tersebut tetapi tidak untuk yaitu yang",
    ),
    (
        Language::Russian,
        "а без более бы был была были было быть в вам вас ваш весь во вот все всё всех вы где \
         да для до его ее её если есть еще ещё же за здесь и из или им их к как какой когда кто \
         ли либо мне может можно мы на над надо нас наш не него нее нет ни них но ну о об \
         однако он она они оно от по под почему при с свой себя со так также такой там те тем \
         то того тоже той только том тот ты у уже хотя чего чей чем через что чтобы чье эта эти \
         это этого этой этом этот я",
    ),
    (
        Language::Ukrainian,
        "а або але без був була були було бути в вам вас ваш весь ви від він вона вони воно все \
         всі від де для до є же з за зі і із їм їх її його й коли кого ми може можна на над наш \
         не нею ні ніж но о об однак по під при про та так також такий там те ти тим то того \
         той тільки тому у уже хто це цей ці цього цьому чи чого чому що щоб щодо я як яка яке \
         який якщо які якого",
    ),
    (
        Language::Bulgarian,
        "а ако без беше бил била било бъде бъдат в вас ви ваш все всеки всички във върху да \
         дали до докато друг е един една едно за заради защо и из или им има как както какво \
         като кога когато което които кой който колко към където ли между ми може му на над нас \
         не него нея ни ние но някои от освен по под преди през при с са само своя се си след \
         според със също така такъв там те тези ти това този то тук ще че чрез я",
    ),
    (
        Language::Greek,
        "αλλά αν ανά αντί από αυτά αυτές αυτή αυτό αυτοί αυτός αυτού για γιατί δε δεν εάν είμαι \
         είναι είχε εκεί ένα έναν ένας ενός εγώ εδώ εμείς επειδή επί εσύ έτσι έχει έχουν ή η \
         ήταν θα ίσως και κάθε κάθως κατά κι μα μας με μερικά μετά μέσω μη μην μια μία μιας μου \
         μπορεί να ο οι όλα όλες όπου όπως ότι όταν όχι παρά περί ποια ποιος πολύ που πού \
         πρέπει προς πως πώς πριν σας σε σαν στα στη στην στις στο στον στους σου τα τη την της \
         τι τις το τον του τους των ως ώστε",
    ),
    (
        Language::Arabic,
        "أن أنا أنت أو أي أين إذا إذ إلا إلى إن أنه إنه الذي التي الذين الى بعد بعض بها به بين \
         تلك تم ثم حتى حيث حين ذلك على عليه عليها عن عند عندما غير فقط في فيه فيها قبل قد كان \
         كانت كل كما كيف لا لأن لكن لم لماذا لن له لها ليس ما ماذا متى مع من منذ منه منها نحن \
         هذا هذه هل هم هنا هناك هو هي و وهو وهي يكون يمكن ان او اذا",
    ),
    (
        Language::Persian,
        "آن آنها آنجا اگر اما از است این اینکه با باید بر برای بدون بود بودن بوده به بین تا \
         توسط چرا چه چگونه چون چند حتی خود خواهد دارد دارند در دیگر را روی زیر سپس شد شده شما \
         شود شوند که کجا کدام کرد کرده کردن کند کنند کنید کی ما من می ها های هایی هر هم همه هیچ \
         نیز نیست و وقتی ولی یا یک یکی",
    ),
    (
        Language::Hindi,
        "अगर अपना अपनी अपने आप इन इस इसका इसकी इसके इसमें इसे उन उनका उनकी उनके उस उसका उसकी \
         उसके उसे एक एवं और कब कर करता करती करते करना करने का कि किया किसी की कुछ के केवल को \
         कोई कौन क्या क्यों गया गई जब जहाँ जा जो तक तथा तब तो था थी थे दो द्वारा न नहीं ने पर \
         फिर बहुत बाद भी में मैं यदि यह यहाँ या ये लिए लेकिन वह वहाँ वाला वाली वाले वे सकता \
         सकते सभी साथ से हम ही हुआ हुई हुए है हैं हो होता होती होते होने",
    ),
    (
        Language::Nepali,
        "अनि अथवा अझै आफ्नो उनको उनी उनीहरू एउटा एक कति कसरी कसको कहाँ कि किन कुन कुनै के केही \
         को गर्न गर्नु गर्नुहोस् गरेको गर्छ चाहिँ छ छन् छैन जब जसको जसले जुन जस्तै तर तिनी तिमी \
         तथा थियो त्यो दिन देखि द्वारा न नै पनि पछि बारे भएको भन्ने मा मात्र म यदि यस यसको यो र \
         रूपमा लागि लाई ले वा सँग सबै सम्म हो हुन हुन्छ हरू",
    ),
    (
        Language::Tamil,
        "அது அதன் அந்த அல்லது அவர் அவன் அவள் ஆகிய ஆகும் ஆனால் இது இதன் இந்த இல்லை இருந்து உள்ள \
         உள்ளது எந்த என என்று என்ற என்ன எப்படி எங்கே எப்போது ஏன் ஒரு கொண்டு தான் நான் நீங்கள் \
         பின்னர் போன்ற மற்றும் மட்டும் மீது முதல் முன் மூலம் யார் வரை வேண்டும்",
    ),
];

/// The longest of them, folded, in bytes.
const BYTES_MAX: usize = 48;

/// In which languages a word, folded and in ASCII as far as it goes, is a function word.
static LANGUAGES: LazyLock<HashMap<String, LanguageSet, BuildFnv1a>> = LazyLock::new(|| {
    let mut languages: HashMap<String, LanguageSet, BuildFnv1a> = HashMap::default();
    for (language, words) in LISTS {
        for word in words.split_whitespace() {
            languages.entry(folded(word)).or_default().insert(*language);
        }
    }
    languages
});

fn folded(word: &str) -> String {
    let (mut folded, mut ascii) = (String::new(), String::new());
    fold(word, &mut folded);
    fold_latin(&folded, &mut ascii);
    ascii
}

/// `word` and the languages in which it is a function word, if any. It is folded, and in ASCII as
/// far as it goes.
pub(crate) fn find(word: &str) -> Option<(&'static str, LanguageSet)> {
    if word.len() > BYTES_MAX {
        return None;
    }
    LANGUAGES.get_key_value(word).map(|(word, languages)| (word.as_str(), *languages))
}

/// The languages in which `word` is a function word.
pub(crate) fn languages_of(word: &str) -> LanguageSet {
    find(word).map_or(LanguageSet::EMPTY, |(_, languages)| languages)
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, LANGUAGES, languages_of};
    use crate::language::{Language, Script};

    #[test]
    fn every_language_has_words_and_none_is_too_long_to_be_found() {
        for word in LANGUAGES.keys() {
            assert!(word.len() <= BYTES_MAX, "{word}: {}", word.len());
        }
        for language in Language::ALL {
            let words = LANGUAGES.values().filter(|set| set.contains(*language)).count();
            assert!(words >= 40, "{language:?}: {words}");
        }
    }

    #[test]
    fn words_are_written_in_the_script_of_their_language() {
        for (word, languages) in &*LANGUAGES {
            for language in languages.iter() {
                assert_eq!(Script::of(word), language.script(), "{word} {language:?}");
            }
        }
    }

    #[test]
    fn words_belong_to_the_languages_that_use_them() {
        let codes =
            |word: &str| -> Vec<&str> { languages_of(word).iter().map(Language::code).collect() };
        assert_eq!(codes("the"), ["en"]);
        assert_eq!(codes("fur"), ["de"]);
        assert_eq!(codes("was"), ["en", "de", "nl"]);
        assert_eq!(codes("zebra"), Vec::<&str>::new());
    }
}
