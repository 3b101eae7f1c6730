"""What `vault-ask eval` does, from a file of questions to a report."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from vault_ask.composition.library import Library
from vault_ask.errors import BadRequest
from vault_ask.evaluation.clock import AsIfThen
from vault_ask.evaluation.comparing import rank_against
from vault_ask.evaluation.figures import is_outcome_known
from vault_ask.evaluation.naming import find_notes, some
from vault_ask.evaluation.questions import Asked, read_questions
from vault_ask.evaluation.remembering import Remembering
from vault_ask.evaluation.report import Report, report
from vault_ask.evaluation.running import Results, answer_all, rank_all, score, score_into
from vault_ask.index.embedding import Embedder
from vault_ask.scope import PrivateScope
from vault_ask.settings import Settings

SHOWN = 3
"""Kinds of notices that are told of one run; each names the questions it is about by their number."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to measure: which questions, by which arm, written where, compared with what; rankings or answers."""

    questions: Path
    arm: str
    out: Path | None = None
    against: Path | None = None
    answers: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """How another configuration is loaded, and who hears sentences about what is doubtful."""

    load: Callable[[Path], Settings]
    tell: Callable[[str], None]


def evaluate(settings: Settings, embedder: Embedder | None, wanted: Wanted, around: Surroundings) -> Report:
    """Ask every question and sum up. Raises BadRequest, NoIndex."""
    clock = AsIfThen(settings.time.tzinfo)
    library = Library(settings, embedder and Remembering(embedder), clock=clock)
    with closing(library.audit):
        asked = _asked(library, wanted.questions, around.tell)
        _tell_unmeasured(asked, around.tell, answers=wanted.answers)
        ours = answer_all(library, asked, clock) if wanted.answers else rank_all(library, asked, wanted.arm, clock)
        scored = score_into(ours, wanted.out)
        _tell_notices(ours, around.tell)
        if wanted.against is None:
            return report(scored)
        theirs = rank_against(library, asked, wanted.arm, against=wanted.against, load=around.load)
        others = score(theirs, lambda _line: None)
        _tell_notices(theirs, around.tell, whose=f"{wanted.against.name}: ")
        return report(scored, others)


def _tell_notices(results: Results, tell: Callable[[str], None], whose: str = "") -> None:
    for notice, questions in results.notices.most_common(SHOWN):
        tell(f"{whose}{notice} (told of {questions} question{'' if questions == 1 else 's'})")


def _tell_unmeasured(asked: Sequence[Asked], tell: Callable[[str], None], *, answers: bool) -> None:
    """Tell of questions that could be answered as far as the file says, and name no note that does.

    An answer can be measured without a note, where the question says otherwise that there is one.
    """
    without = [
        question["id"]
        for question in asked
        if question.get("answerable", True)
        and not question["relevant"]
        and not (answers and is_outcome_known(question))
    ]
    if without and len(without) < len(asked):
        tell(f"Not measured, because no note is named that answers it: {some(without)}.")


def _asked(library: Library, file: Path, tell: Callable[[str], None]) -> list[Asked]:
    asked = read_questions(file)
    with library.open_view(PrivateScope()) as view:
        paths = view.notes.paths()
    _refuse_a_note(library.settings.vault.path, file, paths)
    named = find_notes(asked, paths)
    for doubt in named.doubts:
        tell(doubt)
    return named.asked


def _refuse_a_note(vault: Path | None, file: Path, paths: Sequence[str]) -> None:
    """Refuse questions that are a note themselves: it would be found first for each of them."""
    if vault is None or not file.resolve().is_relative_to(vault.resolve()):
        return
    if file.resolve().relative_to(vault.resolve()).as_posix() in paths:
        raise BadRequest(
            f"{file.name} is a note of the vault, so it would be found first for each of its own questions. Move it "
            "out of the vault and run `vault-ask index`."
        )
