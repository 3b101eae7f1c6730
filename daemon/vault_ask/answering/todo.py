"""Whether a question is after tasks that are still to be done, or after those that are done, by a few words for it.

It only decides between the tasks of passages that were found for other reasons, so that a word that means something
else here (`open` in `open source`) does no harm. A language that is not in the lists is answered as if nobody asked.
"""

import regex

from vault_ask.notes.fold import fold
from vault_ask.notes.tasks import TaskState

_WORDS = regex.compile(r"[\p{L}\p{M}]+")
_OPEN = frozenset(
    """open todo todos outstanding pending unfinished undone remaining remains left incomplete overdue unticked
    offen offene offenen offenes erledigen ausstehend ausstehende ausstehenden unerledigt unerledigte unerledigten übrig
    öppen öppet öppna kvar ogjort ogjorda återstår återstående åben åbent åbne mangler åpen åpne gjenstår ugjort
    openstaand openstaande resterend resterende onafgemaakt reste restent restant restants ouverte ouvertes inachevé
    pendiente pendientes abiertas falta faltan queda quedan pendente pendentes faltam resta restam
    sospeso aperti aperte rimane manca mancano zaległe pozostało zostało niezrobione otevřené zbývá nedokončené
    осталось открытые открытых незавершенные невыполненные залишилось відкриті невиконані
    açık kalan kalanlar yapılacak yapılacaklar bekleyen avoinna avoimet kesken tekemättä jäljellä
    nyitott hátravan elintézetlen المتبقية المتبقي פתוחות נשאר נותר 남은 미완료""".split()  # noqa: SIM905 # as a text it can be read
)
_DONE = frozenset(
    """done finished completed ticked erledigt erledigte erledigten abgeschlossen fertig klart klara färdig färdigt
    avklarat gedaan klaar afgerond terminé terminée terminées fini finie hecho hecha terminado completado feito
    concluído fatto finito completato zrobione ukończone hotovo сделано выполнено готово зроблено виконано
    bitti biten tamamlanan tamamlandı tehty valmis kész 완료""".split()  # noqa: SIM905 # as a text it can be read
)
_NOT = frozenset(
    """not n't isn aren haven hasn didn never nicht inte ikke niet pas no non não nie ne не değil ei nem לא""".split()  # noqa: SIM905 # as a text it can be read
)
_OPEN_SIGNS, _DONE_SIGNS = (
    ("未完了", "残って", "残り", "未完成", "待办", "待辦", "还没", "還沒", "剩下"),
    ("完了", "完成", "終わった", "做完"),
)


def asked_state(question: str) -> TaskState | None:
    """Tell which tasks a question is after; None where it is after none, or after both."""
    folded = fold(question)
    words = frozenset(_WORDS.findall(folded))
    is_open = bool(words & _OPEN) or any(sign in folded for sign in _OPEN_SIGNS)
    is_done = bool(words & _DONE) or (not is_open and any(sign in folded for sign in _DONE_SIGNS))
    if is_done and words & _NOT:
        return TaskState.OPEN
    if is_open == is_done:
        return None
    return TaskState.OPEN if is_open else TaskState.DONE
