"""Ways of asking and helpers, language by language: a polite question has the words of the bare one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_ask.index.spelling import fold
from vault_ask.index.terms import query_words
from vault_ask.retrieval.helpers import helpers_of, without_asking
from vault_ask.retrieval.words import read_words
from vault_building import OPEN, Building

POLITE = """
en where is the key?
   Could you please tell me where is the key?
   Do you know where is the key?
   I'd like to know where is the key?
de wo liegt der Schlüssel?
   Können Sie mir bitte sagen, wo liegt der Schlüssel?
   Weißt du, wo liegt der Schlüssel?
   Ich möchte gerne wissen, wo liegt der Schlüssel?
fr où se trouve la clé ?
   Pourriez-vous me dire où se trouve la clé ?
   Dis-moi où se trouve la clé, s'il te plaît ?
   J'aimerais savoir où se trouve la clé ?
fr il reste du vin ?
   Est-ce que il reste du vin ?
   Est-ce qu'il reste du vin ?
es ¿dónde está la llave?
   ¿Me puedes decir dónde está la llave?
   ¿Podrías decirme dónde está la llave, por favor?
   Quisiera saber dónde está la llave
it dove si trova la chiave?
   Mi potresti dire dove si trova la chiave?
   Puoi dirmi dove si trova la chiave, per favore?
   Vorrei sapere dove si trova la chiave
pt onde fica a chave?
   Você pode me dizer onde fica a chave?
   Por favor, onde fica a chave?
   Gostaria de saber onde fica a chave
nl waar ligt de sleutel?
   Kunt u mij vertellen waar ligt de sleutel?
   Weet je waar ligt de sleutel?
   Ik wil graag weten waar ligt de sleutel
sv hur rensas filtret?
   hur rensas man filtret?
sv var ligger nyckeln?
   Kan du säga mig var ligger nyckeln?
   Vet du var ligger nyckeln?
   Jag undrar var ligger nyckeln, snälla
da hvor ligger nøglen?
   Kan du fortælle mig hvor ligger nøglen?
   Ved du hvor ligger nøglen?
no hvor ligger nøkkelen?
   Kan du fortelle meg hvor ligger nøkkelen?
   Vet du hvor ligger nøkkelen?
fi missä avain on?
   Voisitko kertoa minulle missä avain on?
   Tiedätkö missä avain on?
pl gdzie jest klucz?
   Czy możesz mi powiedzieć, gdzie jest klucz?
   Wiesz, gdzie jest klucz?
   Chciałbym wiedzieć, gdzie jest klucz
cs kde je klíč?
   Můžete mi prosím říct, kde je klíč?
   Víte, kde je klíč?
   Chtěla bych vědět, kde je klíč
ru где лежит ключ?
   Можешь сказать, где лежит ключ?
   Подскажите, пожалуйста, где лежит ключ?
   Я хотел бы узнать, где лежит ключ
uk де лежить ключ?
   Чи можеш мені сказати, де лежить ключ?
   Підкажіть, будь ласка, де лежить ключ?
tr anahtar nerede?
   Bana söyler misin anahtar nerede?
   Lütfen söyleyebilir misiniz, anahtar nerede?
   Anahtar nerede biliyor musun?
ar أين المفتاح؟
   هل يمكنك أن تخبرني أين المفتاح؟
   من فضلك أخبرني أين المفتاح؟
fa کلید کجاست؟
   لطفا به من بگو کلید کجاست؟
   می‌خواهم بدانم کلید کجاست؟
he איפה המפתח?
   את יכולה להגיד לי איפה המפתח?
   בבקשה ספר לי איפה המפתח?
hi चाबी कहाँ है?
   क्या आप मुझे बता सकते हैं चाबी कहाँ है?
   कृपया बताइए चाबी कहाँ है?
id kunci di mana?
   Bisakah Anda memberi tahu saya kunci di mana?
   Tolong beritahu saya kunci di mana?
ko 열쇠가 어디에 있는지
   열쇠가 어디에 있는지 알려 주세요
   열쇠가 어디에 있는지 알고 싶어요
zh 钥匙在哪里？
   请问钥匙在哪里？
   你能告诉我钥匙在哪里吗？
   我想知道钥匙在哪里？
zh 鑰匙在哪裡？
   請問鑰匙在哪裡？
   可以告訴我鑰匙在哪裡嗎？
ja 鍵はどこにある
   鍵はどこにあるか教えてください
   鍵はどこにあるか知りたいです
   すみません、鍵はどこにある
th กุญแจอยู่ที่ไหน
   ช่วยบอกหน่อยกุญแจอยู่ที่ไหนครับ
el πού είναι το κλειδί;
   Μπορείς να μου πεις πού είναι το κλειδί;
   Παρακαλώ, πού είναι το κλειδί;
hu hol van a kulcs?
   Meg tudnád mondani, hogy hol van a kulcs?
   Szeretném tudni, hogy hol van a kulcs?
ro unde este cheia?
   Îmi poți spune unde este cheia?
   Vă rog, unde este cheia?
vi chìa khóa ở đâu?
   Bạn có thể cho tôi biết chìa khóa ở đâu?
   Cho tôi hỏi chìa khóa ở đâu?
ca on és la clau?
   Em pots dir on és la clau?
   Sisplau, on és la clau?
bg къде е ключът?
   Можеш ли да ми кажеш къде е ключът?
   Моля, къде е ключът?
et kus on võti?
   Kas sa saaksid mulle öelda, kus on võti?
   Palun, kus on võti?
"""
"""A language and a bare question, and below it longer ways to ask it."""


def polite_questions() -> Iterator[tuple[str, str, str]]:
    language = bare = ""
    for line in POLITE.strip().split("\n"):
        if line.startswith(" "):
            yield language, bare, line.strip()
        else:
            language, _, bare = line.partition(" ")


CASES = list(polite_questions())


@pytest.fixture(scope="module")
def building(tmp_path_factory: pytest.TempPathFactory) -> Building:
    made = Building(tmp_path_factory.mktemp("vault"))
    made.put({f"{n}.md": f"Notiz {n} note" for n in range(3)})
    return made


@pytest.mark.parametrize(("language", "bare", "polite"), CASES)
def test_a_polite_question_has_the_words_of_the_bare_one(language: str, bare: str, polite: str) -> None:
    assert query_words(without_asking(polite, language), (language,)) == query_words(bare, (language,))
    assert without_asking(bare, language) == bare


@pytest.mark.parametrize(("language", "bare", "polite"), CASES)
def test_what_only_asks_weighs_nothing(building: Building, language: str, bare: str, polite: str) -> None:
    with building.open(OPEN) as view:
        asked, politely = read_words(bare, view, language), read_words(polite, view, language)
    assert asked.terms == politely.terms
    assert asked.query == politely.query
    assert politely.idf == {**dict.fromkeys(query_words(polite, ()), 0.0), **asked.idf}
    assert asked.mass > 0


@pytest.mark.parametrize(
    ("language", "question"),
    [("en", "Please?"), ("de", "Können Sie mir bitte helfen?"), ("zh", "请问"), ("tr", "lütfen")],
)
def test_a_question_that_is_nothing_but_a_way_of_asking_keeps_its_words(language: str, question: str) -> None:
    assert without_asking(question, language) == question


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "Who did Anna tell about me?"),
        ("en", "Which pleased guests came?"),
        ("de", "Was hat Anna über mich gesagt?"),
        ("fr", "Que dit le contrat ?"),
        ("es", "¿Qué puede decir el contrato?"),
        ("sv", "Vad säger avtalet om tackkort?"),
        ("sv", "Vad heter Karins man?"),
        ("ru", "Что сказать врачу?"),
        ("tr", "Bana kim mektup yazdı?"),
        ("zh", "谁告诉我的"),
        ("xx", "please tell me"),
    ],
)
def test_words_of_asking_that_are_what_is_asked_for_stay(language: str, question: str) -> None:
    expected = "谁 的" if question.startswith("谁") else question
    assert without_asking(question, language) in {question, expected}


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "what where when who why how which is are do does can could"),
        ("de", "was wo wann wer warum wie welche womit wozu ist sind können kann muss"),
        ("fr", "que où quand qui pourquoi comment combien quel est sont peut dois"),
        ("es", "qué dónde cuándo quién por cómo cuánto cuál es son puede debo"),
        ("it", "che dove quando chi perché come quanto quale è sono può devo"),
        ("pt", "que onde quando quem porque como quanto qual é são pode devo"),
        ("nl", "wat waar wanneer wie waarom hoe welke hoeveel is zijn kan moet over"),
        ("sv", "vad var när vem varför hur vilken är kan ska"),
        ("da", "hvad hvor hvornår hvem hvorfor hvordan hvilken er kan skal"),
        ("no", "hva hvor når hvem hvorfor hvordan hvilken er kan skal"),
        ("fi", "mikä missä milloin kuka miksi miten kuinka on ovat voiko"),
        ("pl", "co gdzie kiedy kto dlaczego jak który ile czy jest są może"),
        ("cs", "co kde kdy kdo proč jak který kolik je jsou může"),
        ("ru", "что где когда кто почему как какой сколько ли есть можно нужно"),
        ("uk", "що де коли хто чому як який скільки чи є можна треба"),
        ("tr", "ne nerede nasıl kim neden hangi kaç mi mı mu mü"),
        ("ar", "ما أين متى من لماذا كيف كم هل"),
        ("he", "מה איפה מתי מי למה איך כמה האם"),
        ("ko", "무엇 어디 언제 누가 왜 어떻게 얼마"),
        ("id", "apa mana kapan siapa mengapa bagaimana berapa"),
        ("hu", "mi hol mikor ki miért hogyan mennyi melyik"),
        ("ro", "ce unde când cine care cum cât este"),
        ("el", "τι πού πότε ποιος γιατί πώς πόσο είναι"),
        ("et", "mis kus millal kes miks kuidas mitu on"),
        ("bg", "какво къде кога кой защо как колко"),
    ],
)  # fmt: skip
def test_question_words_help_and_are_no_subject(language: str, words: str) -> None:
    assert {fold(word, "und") for word in words.split()} <= helpers_of(language)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "home name number room year state computer wedding"),
        ("de", "Mann Mensch Gott Ei Weile Weg Mittel Ordnung Uhr Jahr Recht Suche Schlüssel"),
        ("fr", "été or son voie personne pièce sein dos tente valeur ouvert clé"),
        ("es", "sal trabajo cuenta empleo estado país tiempo tarde día llave"),
        ("it", "città vita anno giorni nome tempo attesa posto titolo chiave"),
        ("pt", "viagem noite ano nome número obra trabalho área sexta chave"),
        ("nl", "haar paar sleutel"),
        ("sv", "man nummer beslut dag del nyckel"),
        ("da", "mand far tag nøgle"),
        ("no", "arbeid folk navn makt tid verdi nøkkel"),
        ("fi", "kukka kuusi vuosi aika apu avain"),
        ("pl", "lat roku klucz"),
        ("cs", "den email zprávy článek večer klíč"),
        ("ru", "книга дом год город дорога жизнь деньги улица мир война ключ"),
        ("tr", "on iş yüz kaynak öz anahtar"),
        ("ar", "زيارة صباح سنة عام مفتاح"),
        ("ko", "시간 열쇠"),
        ("id", "bulan tahun ibu tempat masalah kunci"),
        ("hu", "cikk év hat hét kulcs"),
        ("ro", "timp frumos noroc acord cheie"),
    ],
)  # fmt: skip
def test_what_a_question_may_be_about_is_no_helper(language: str, words: str) -> None:
    assert helpers_of(language)
    assert not {fold(word, "und") for word in words.split()} & helpers_of(language)


def test_every_language_with_a_file_is_asked_politely_above() -> None:
    folder = Path(__file__).parents[2] / "daemon/vault_ask/retrieval/data/helpers"
    languages = sorted(file.stem for file in folder.glob("*.toml"))
    assert {language for language, _, _ in CASES} == set(languages)
