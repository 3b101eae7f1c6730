"""The few sentences that vault-ask says in its own voice inside an answer, in the reader's language.

English where a language is not in the table. Anything longer, such as a notice, is English.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from vault_ask.answering.languages import nearest


@dataclass(frozen=True, slots=True)
class Sayings:
    """What is said when the vault is silent, what stands above the nearest notes, and that filters leave nothing."""

    silent: str
    nearest: str
    unfit: str


_ENGLISH = Sayings(
    "Your notes do not answer this.", "The nearest notes:", "None of the notes in sight fits these filters."
)
_SAYINGS = {
    "en": _ENGLISH,
    "ar": Sayings(
        "ملاحظاتك لا تجيب عن هذا السؤال.",
        "أقرب الملاحظات:",
        "لا توجد ملاحظة متاحة تطابق عوامل التصفية هذه.",
    ),
    "bg": Sayings(
        "Бележките ви не отговарят на това.",
        "Най-близките бележки:",
        "Никоя от видимите бележки не отговаря на тези филтри.",
    ),
    "ca": Sayings(
        "Les teves notes no responen aquesta pregunta.",
        "Les notes més properes:",
        "Cap de les notes visibles no compleix aquests filtres.",
    ),
    "cs": Sayings(
        "Vaše poznámky na to neodpovídají.",
        "Nejbližší poznámky:",
        "Žádná z viditelných poznámek neodpovídá těmto filtrům.",
    ),
    "da": Sayings(
        "Dine noter svarer ikke på dette.",
        "De nærmeste noter:",
        "Ingen af de synlige noter passer til disse filtre.",
    ),
    "de": Sayings(
        "Deine Notizen beantworten das nicht.",
        "Die nächstliegenden Notizen:",
        "Keine der sichtbaren Notizen passt zu diesen Filtern.",
    ),
    "el": Sayings(
        "Οι σημειώσεις σας δεν απαντούν σε αυτό.",
        "Οι πλησιέστερες σημειώσεις:",
        "Καμία από τις ορατές σημειώσεις δεν ταιριάζει με αυτά τα φίλτρα.",
    ),
    "es": Sayings(
        "Tus notas no responden a esto.",
        "Las notas más cercanas:",
        "Ninguna de las notas visibles cumple estos filtros.",
    ),
    "fa": Sayings(
        "یادداشت‌های شما به این پرسش پاسخ نمی‌دهند.",
        "نزدیک‌ترین یادداشت‌ها:",
        "هیچ یک از یادداشت‌های در دسترس با این فیلترها جور نیست.",
    ),
    "fi": Sayings(
        "Muistiinpanosi eivät vastaa tähän.",
        "Lähimmät muistiinpanot:",
        "Yksikään näkyvissä olevista muistiinpanoista ei vastaa näitä suodattimia.",
    ),
    "fr": Sayings(
        "Vos notes ne répondent pas à cette question.",
        "Les notes les plus proches :",
        "Aucune des notes visibles ne correspond à ces filtres.",
    ),
    "he": Sayings(
        "הפתקים שלך לא עונים על כך.",
        "הפתקים הקרובים ביותר:",
        "אף אחד מהפתקים הגלויים אינו מתאים למסננים האלה.",
    ),
    "hi": Sayings(
        "आपके नोट्स इसका उत्तर नहीं देते।",
        "निकटतम नोट्स:",
        "दिखाई देने वाले नोट्स में से कोई भी इन फ़िल्टरों से मेल नहीं खाता।",
    ),
    "hu": Sayings(
        "A jegyzeteid erre nem adnak választ.",
        "A legközelebbi jegyzetek:",
        "Egyetlen látható jegyzet sem felel meg ezeknek a szűrőknek.",
    ),
    "id": Sayings(
        "Catatan Anda tidak menjawab ini.",
        "Catatan terdekat:",
        "Tidak ada catatan yang terlihat yang cocok dengan filter ini.",
    ),
    "it": Sayings(
        "Le tue note non rispondono a questa domanda.",
        "Le note più vicine:",
        "Nessuna delle note visibili corrisponde a questi filtri.",
    ),
    "ja": Sayings(
        "ノートにはこの質問への答えがありません。",
        "最も近いノート:",
        "見えているノートの中に、この絞り込み条件に合うものはありません。",
    ),
    "ko": Sayings(
        "노트에 이 질문에 대한 답이 없습니다.",
        "가장 가까운 노트:",
        "볼 수 있는 노트 중 이 필터에 맞는 것이 없습니다.",
    ),
    "nl": Sayings(
        "Je notities beantwoorden dit niet.",
        "De dichtstbijzijnde notities:",
        "Geen van de zichtbare notities past bij deze filters.",
    ),
    "no": Sayings(
        "Notatene dine svarer ikke på dette.",
        "De nærmeste notatene:",
        "Ingen av de synlige notatene passer til disse filtrene.",
    ),
    "pl": Sayings(
        "Twoje notatki na to nie odpowiadają.",
        "Najbliższe notatki:",
        "Żadna z widocznych notatek nie pasuje do tych filtrów.",
    ),
    "pt": Sayings(
        "As suas notas não respondem a isto.",
        "As notas mais próximas:",
        "Nenhuma das notas visíveis corresponde a estes filtros.",
    ),
    "ro": Sayings(
        "Notițele tale nu răspund la această întrebare.",
        "Cele mai apropiate notițe:",
        "Niciuna dintre notițele vizibile nu se potrivește cu aceste filtre.",
    ),
    "ru": Sayings(
        "В ваших заметках нет ответа на этот вопрос.",
        "Ближайшие заметки:",
        "Ни одна из видимых заметок не подходит под эти фильтры.",
    ),
    "sv": Sayings(
        "Dina anteckningar svarar inte på detta.",
        "De närmaste anteckningarna:",
        "Ingen av de synliga anteckningarna passar dessa filter.",
    ),
    "th": Sayings(
        "บันทึกของคุณไม่มีคำตอบสำหรับคำถามนี้",
        "บันทึกที่ใกล้เคียงที่สุด:",
        "ไม่มีบันทึกที่มองเห็นได้ตรงกับตัวกรองเหล่านี้",
    ),
    "tr": Sayings(
        "Notlarınız bu soruyu yanıtlamıyor.",
        "En yakın notlar:",
        "Görünen notların hiçbiri bu filtrelere uymuyor.",
    ),
    "uk": Sayings(
        "У ваших нотатках немає відповіді на це запитання.",
        "Найближчі нотатки:",
        "Жодна з видимих нотаток не відповідає цим фільтрам.",
    ),
    "vi": Sayings(
        "Ghi chú của bạn không trả lời câu hỏi này.",
        "Các ghi chú gần nhất:",
        "Không có ghi chú nào trong tầm nhìn khớp với các bộ lọc này.",
    ),
    "zh": Sayings(
        "你的笔记没有回答这个问题。",
        "最接近的笔记：",
        "可见的笔记中没有符合这些筛选条件的。",
    ),
}


def silence(language: str, titles: Sequence[str]) -> str:
    """Say that the vault is silent, in the language of a BCP 47 tag, with titles of the nearest notes as pointers."""
    sayings = _sayings(language)
    if not titles:
        return sayings.silent
    return "\n".join((sayings.silent, "", sayings.nearest, *(f"- {title}" for title in titles)))


def nothing_fits(language: str) -> str:
    """Say that the filters leave no note in sight: the same where there is none and where it is hidden."""
    return _sayings(language).unfit


def _sayings(language: str) -> Sayings:
    return _SAYINGS.get(nearest(language, _SAYINGS) or "en", _ENGLISH)
