"""The few sentences that vault-ask says in its own voice inside an answer, in the reader's language.

English where a language is not in the table. Anything longer, such as a notice, is English.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from vault_ask.answering.languages import nearest


@dataclass(frozen=True, slots=True)
class Sayings:
    """What is said when the vault is silent, and what stands above the nearest notes."""

    silent: str
    nearest: str


_ENGLISH = Sayings("Your notes do not answer this.", "The nearest notes:")
_SAYINGS = {
    "en": _ENGLISH,
    "ar": Sayings("ملاحظاتك لا تجيب عن هذا السؤال.", "أقرب الملاحظات:"),
    "bg": Sayings("Бележките ви не отговарят на това.", "Най-близките бележки:"),
    "ca": Sayings("Les teves notes no responen aquesta pregunta.", "Les notes més properes:"),
    "cs": Sayings("Vaše poznámky na to neodpovídají.", "Nejbližší poznámky:"),
    "da": Sayings("Dine noter svarer ikke på dette.", "De nærmeste noter:"),
    "de": Sayings("Deine Notizen beantworten das nicht.", "Die nächstliegenden Notizen:"),
    "el": Sayings("Οι σημειώσεις σας δεν απαντούν σε αυτό.", "Οι πλησιέστερες σημειώσεις:"),
    "es": Sayings("Tus notas no responden a esto.", "Las notas más cercanas:"),
    "fa": Sayings("یادداشت‌های شما به این پرسش پاسخ نمی‌دهند.", "نزدیک‌ترین یادداشت‌ها:"),
    "fi": Sayings("Muistiinpanosi eivät vastaa tähän.", "Lähimmät muistiinpanot:"),
    "fr": Sayings("Vos notes ne répondent pas à cette question.", "Les notes les plus proches :"),
    "he": Sayings("הפתקים שלך לא עונים על כך.", "הפתקים הקרובים ביותר:"),
    "hi": Sayings("आपके नोट्स इसका उत्तर नहीं देते।", "निकटतम नोट्स:"),
    "hu": Sayings("A jegyzeteid erre nem adnak választ.", "A legközelebbi jegyzetek:"),
    "id": Sayings("Catatan Anda tidak menjawab ini.", "Catatan terdekat:"),
    "it": Sayings("Le tue note non rispondono a questa domanda.", "Le note più vicine:"),
    "ja": Sayings("ノートにはこの質問への答えがありません。", "最も近いノート:"),
    "ko": Sayings("노트에 이 질문에 대한 답이 없습니다.", "가장 가까운 노트:"),
    "nl": Sayings("Je notities beantwoorden dit niet.", "De dichtstbijzijnde notities:"),
    "no": Sayings("Notatene dine svarer ikke på dette.", "De nærmeste notatene:"),
    "pl": Sayings("Twoje notatki na to nie odpowiadają.", "Najbliższe notatki:"),
    "pt": Sayings("As suas notas não respondem a isto.", "As notas mais próximas:"),
    "ro": Sayings("Notițele tale nu răspund la această întrebare.", "Cele mai apropiate notițe:"),
    "ru": Sayings("В ваших заметках нет ответа на этот вопрос.", "Ближайшие заметки:"),
    "sv": Sayings("Dina anteckningar svarar inte på detta.", "De närmaste anteckningarna:"),
    "th": Sayings("บันทึกของคุณไม่มีคำตอบสำหรับคำถามนี้", "บันทึกที่ใกล้เคียงที่สุด:"),
    "tr": Sayings("Notlarınız bu soruyu yanıtlamıyor.", "En yakın notlar:"),
    "uk": Sayings("У ваших нотатках немає відповіді на це запитання.", "Найближчі нотатки:"),
    "vi": Sayings("Ghi chú của bạn không trả lời câu hỏi này.", "Các ghi chú gần nhất:"),
    "zh": Sayings("你的笔记没有回答这个问题。", "最接近的笔记："),
}


def silence(language: str, titles: Sequence[str]) -> str:
    """Say that the vault is silent, in the language of a BCP 47 tag, with titles of the nearest notes as pointers."""
    sayings = _SAYINGS.get(nearest(language, _SAYINGS) or "en", _ENGLISH)
    if not titles:
        return sayings.silent
    return "\n".join((sayings.silent, "", sayings.nearest, *(f"- {title}" for title in titles)))
