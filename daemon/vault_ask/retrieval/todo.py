"""Whether a question is after tasks that are still to be done, or after those that are done, by a few words for it.

Passages with such tasks are preferred to others, and no others are left out for them, so that a word that means
something else here (`open` in `open source`) does little harm. A language that is not in the lists is answered as if
nobody asked.
"""

from collections.abc import Set as AbstractSet

import regex

from vault_ask.notes.fold import fold
from vault_ask.notes.tasks import TaskState
from vault_ask.retrieval.todo_phrases import asks_what_is_owed

_LONGEST = 2_000
"""Characters of a question that are looked at; beyond it is a text."""
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
_TASKS = frozenset(
    """task tasks todo todos item items thing things list aufgabe aufgaben uppgift uppgifter opgave opgaver oppgave
    oppgaver taak taken tâche tâches tarea tareas tarefa tarefas compito compiti zadanie zadania úkol úkoly задача
    задачи задач завдання görev görevler iş işler tehtävä tehtävät feladat feladatok مهام משימות 할일""".split()  # noqa: SIM905 # as a text it can be read
)
_WHETHER = regex.compile(
    r"\W*(?:is|are|were|does|do|did|can|could|will|would|has|have|should|the|a|my|ist|sind|war|hat|kann|der|die|das"
    r"|är|var|har|kan|det|den|est|sont|le|la|es|está|son|el|é|è|il)\b"
)
"""How a question begins that is after one thing and not after tasks: `is the door still open`."""
_STILL_TO_DO = regex.compile(
    r"\b(?:still|left|needs?|have|has|remains?) to (?:do|be done)\b|\b(?:have|need|got) (?:i )?(?:still )?to do\b"
    r"|\bto-?do list\b|\bzu (?:tun|erledigen)\b"
    r"|\b(?:noch|muss ich) (?:tun|machen|erledigen)\b|\b(?:kvar|återstår) att göra\b|\bmåste (?:jag )?göra\b"
    r"|\breste à faire\b|\bqueda por hacer\b|\bmi resta da fare\b|\bte doen\b"
    r"|\bмне (?:ещё |еще )?(?:нужно|надо) сделать\b"
)
_OPEN_SIGNS, _DONE_SIGNS = (
    ("未完了", "残って", "残り", "未完成", "待办", "待辦", "还没", "還沒", "剩下"),
    ("完了", "完成", "終わった", "做完"),
)


def asked_state(question: str) -> TaskState | None:
    """Tell which tasks a question is after; None where it is after none, or after both."""
    folded = fold(question[:_LONGEST])
    words = frozenset(_WORDS.findall(folded))
    if _STILL_TO_DO.search(folded):
        return TaskState.OPEN
    if _WHETHER.match(folded) and not words & _TASKS:
        return None
    if asks_what_is_owed(folded):
        return TaskState.OPEN
    is_open = bool(words & _OPEN) or any(sign in folded for sign in _OPEN_SIGNS)
    is_done = bool(words & _DONE) or (not is_open and any(sign in folded for sign in _DONE_SIGNS))
    if is_done and words & _NOT:
        return TaskState.OPEN
    if is_open == is_done:
        return None
    return TaskState.OPEN if is_open else TaskState.DONE


def asks_for_tasks_alone(question: str, helpers: AbstractSet[str]) -> bool:
    """Say whether a question names nothing but tasks and their state; `helpers` are words that mean nothing alone."""
    folded = fold(question)
    spare = _OPEN | _DONE | _NOT | _TASKS | helpers
    words = _WORDS.findall(_STILL_TO_DO.sub(" ", folded))
    return asked_state(question) is not None and all(word in spare for word in words)
