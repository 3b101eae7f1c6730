"""How a question says that something is still to be done, whatever the deed: `what do I still have to pack?`.

Of each language what is still owed ("muss ich noch packen") and what is not done yet ("noch nicht gepackt"). It is
about whoever asks: what nobody knows yet is no task, and neither is what somebody still has of old furniture.
"""

import regex

_SOME = r"(?:[\p{L}\p{M}'’-]+ ){0,6}?"
"""A few words in between."""

_STILL_OWED = (
    # English
    r"still (?:(?:have|need|got|has|needs)(?: got)? )?to \p{L}+",
    r"(?:must|should) (?:i|we) still \p{L}+",
    r"(?:have|has) (?:i |we )?yet to \p{L}+",
    rf"(?:have|did) (?:i|we) not {_SOME}yet",
    rf"(?:i|we) (?:have not|haven['’]?t|didn['’]?t) {_SOME}yet",
    rf"(?:haven|didn)['’]?t (?:i|we) {_SOME}yet",
    rf"(?:has|have)(?: not|n['’]?t) been {_SOME}yet",
    r"(?:have|has)(?: i| we)? not yet (?!been known|heard|seen)\p{L}+",
    # German
    rf"(?:muss|müssen|soll|sollen|sollte|sollten) (?:ich|wir) {_SOME}noch {_SOME}(?!wissen|beachten)\p{{L}}+[er]?n\b",
    rf"(?:ich|wir) {_SOME}noch {_SOME}\p{{L}}+n (?:muss|müssen|soll|sollen)",
    rf"noch {_SOME}(?:zu \p{{L}}+n|\p{{L}}{{2,5}}zu(?:be|ver|er)?\p{{L}}{{2,}}en)\b",
    rf"(?:habe|hab|haben) (?:ich|wir) {_SOME}noch nicht {_SOME}\p{{L}}+",
    rf"(?:ich|wir) {_SOME}noch nicht {_SOME}(?:habe|haben)",
    # Swedish, Danish, Norwegian
    r"(?:måste|behöver|ska) (?:jag|vi) (?:fortfarande|ännu) \p{L}+",
    rf"har (?:jag|vi) (?:ännu inte|inte {_SOME}än(?:nu)?)\b",
    rf"(?:jag|vi) (?:ännu inte har|inte har {_SOME}än(?:nu)?)\b",
    r"(?:skal|mangler|må|behøver) (?:jeg|vi) (?:stadig|fortsatt|fremdeles|ennå) (?:væk |at |å )?\p{L}+",
    rf"har (?:jeg|vi) (?:(?:endnu|ennå|enda) ikke|ikke {_SOME}(?:endnu|ennå|enda))\b",
    # Dutch
    rf"(?:moet|moeten) (?:ik|we|wij) {_SOME}nog {_SOME}(?!weten)\p{{L}}+n\b",
    rf"(?:ik|we|wij) {_SOME}nog {_SOME}(?:moet|moeten) (?!weten)\p{{L}}+n\b",
    rf"(?:heb|hebben) (?:ik|we|wij) {_SOME}nog niet {_SOME}\p{{L}}+",
    # French
    r"(?:dois[- ]je|devons[- ]nous|je dois|nous devons|on doit|doit[- ]on) encore (?!savoir)\p{L}+(?:er|ir|re)\b",
    r"n['’] ?(?:ai|avons)(?:[- ](?:je|nous))? pas encore \p{L}+",
    # Spanish, Portuguese, Italian
    rf"(?:tengo|tenemos|debo|debemos) (?:todavía|aún) que {_SOME}\p{{L}}+r\b",
    rf"(?:tengo|tenemos|debo|debemos) que {_SOME}\p{{L}}+r {_SOME}(?:todavía|aún)\b",
    r"(?:todavía|aún) (?:tengo|tenemos|debo|debemos|necesito)(?: que)? \p{L}+r\b",
    rf"no (?:he|hemos) {_SOME}(?:todavía|aún)\b",
    r"(?:todavía|aún) no (?:he|hemos) \p{L}+",
    r"ainda (?:tenho|temos|preciso|precisamos|devo|devemos)(?: de| que)? (?!saber)\p{L}+r\b",
    r"(?:tenho|temos|preciso|precisamos) ainda (?:de |que )?(?!saber)\p{L}+r\b",
    r"ainda não \p{L}+(?:ei|i|mos)\b",
    r"(?:devo|dobbiamo) ancora (?!sapere)\p{L}+re\b",
    r"non (?:ho|abbiamo) ancora \p{L}+",
    # Russian, Ukrainian, Polish, Czech
    r"(?:мне|нам) (?:ещё|еще) (?:нужно|надо|осталось|предстоит) (?!знать)\p{L}+",
    r"(?:ещё|еще) (?:нужно|надо) (?:мне |нам )?(?!знать)\p{L}+ть\b",
    r"(?:я|мы) (?:ещё|еще) не \p{L}+л[аи]?\b",
    r"(?:мені|нам) ще (?:треба|потрібно|залишилось) (?!знати)\p{L}+",
    r"(?:я|ми) ще не \p{L}+(?:в|ла|ли)\b",
    r"(?:jeszcze (?:muszę|musimy)|(?:muszę|musimy) jeszcze) (?!wiedzieć)\p{L}+ć\b",
    r"jeszcze nie \p{L}+(?:łem|łam|liśmy|łyśmy)\b",
    r"(?:ještě (?:musím|musíme)|(?:musím|musíme) ještě) (?!vědět)\p{L}+",
    r"(?:jsem|jsme) ještě ne\p{L}+",
    # Finnish, Hungarian
    rf"(?:pitää|täytyy|on) (?:minun |meidän )?vielä {_SOME}(?!tietää)\p{{L}}+[aä]\b",
    r"(?:en|emme) ole (?:minä )?vielä \p{L}+",
    r"(?:kell(?:ene)? még|még kell(?:ene)?) (?!tudn)\p{L}+",
    r"nem \p{L}+(?:tam|tem|tunk|tünk) még\b",
    r"még nem \p{L}+(?:tam|tem|tunk|tünk)\b",
    # Arabic, Hebrew
    r"لم (?:أ|ا|ن)\p{L}+ بعد",
    r"(?:עוד|עדיין) (?:לא \p{L}+(?:תי|נו)|(?:צריך|צריכה|צריכים|עליי|עלינו) ל\p{L}+)",
)
_OWED_WHEREVER = (
    # Turkish, whose verb stands last; Chinese, Japanese, Korean
    rf"\b(?:henüz|hala|hâlâ|daha) {_SOME}\p{{L}}+m[ae]d[ıi][mk]\b(?! m[iı])",
    rf"\b(?:hala|hâlâ|daha) {_SOME}\p{{L}}+m[ae]m(?:[ıi]z)? (?:gerek|lazım)(?!\p{{L}}* m[iı])",
    r"[还還](?:需要|得|要)\p{Han}{0,6}(?:什[么麼]|哪些|啥)",
    r"[还還](?:有|剩)(?:什[么麼]|哪些|啥)\p{Han}{0,6}?(?:没|沒|要|得)",
    r"(?:尚|仍)未\p{Han}",
    r"まだ[^\s。？?]{0,20}(?:ていない|てない|ていません|なければ|ないといけ)",
    r"아직 [^?]{0,20}지 (?:못|않)",
    r"아직 [^?]{0,20}야 (?:하|해|할|되|돼)",
)
_WHY = regex.compile(
    r"\W*(?:why|how come|warum|wieso|weshalb|varför|hvorfor|waarom|pourquoi|por qu[eê]|por qué|perch[eé]|почему|чому"
    r"|dlaczego|proč|neden|niye|miksi|miért|لماذا|למה|为什么|為什麼|为何|なぜ|どうして|왜)(?!\p{L})"
)
_OWED = regex.compile(rf"(?<=\p{{L}}\P{{L}}+)\b(?:{'|'.join(_STILL_OWED)})|{'|'.join(_OWED_WHEREVER)}")


def asks_what_is_owed(folded: str) -> bool:
    """Say whether a folded question is after what is still to be done, and not whether one thing is, nor why.

    What is asked for stands in front ("what", "wen"): a question that begins with the verb is after yes or no.
    """
    return not _WHY.match(folded) and _OWED.search(folded) is not None
