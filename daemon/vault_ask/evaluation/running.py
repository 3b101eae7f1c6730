"""Asks every question of the index: for rankings, the figures of retrieval, or for answers.

Each result is a line of a results file: `{"id": ..., "paths": [...]}` as score.py of the question packs reads it, or
`{"id": ..., "answer": ..., "citations": [...], "refused": ..., "seconds": ...}`.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from vault_ask.composition.library import Library
from vault_ask.errors import BadRequest
from vault_ask.evaluation.clock import AsIfThen
from vault_ask.evaluation.figures import answer_figures, ranking_figures
from vault_ask.evaluation.questions import Asked
from vault_ask.retrieval.hits import Hit, Retrieved
from vault_ask.scope import PrivateScope, Question
from vault_ask.wire import DeltaEvent, ErrorEvent, GroundingEvent

DISTINCT_NOTES = 10
DEEP = 1000
"""Passages that are asked for where the usual number are all of a few long notes."""


@dataclass(frozen=True, slots=True)
class Results:
    """Lines as they are made, each with its question, and what to measure of a line.

    `notices` counts, while lines are made, the questions for which retrieval told that something could not take part.
    """

    lines: Iterable[tuple[Asked, dict[str, Any]]]
    figures: Callable[[Asked, Mapping[str, Any]], dict[str, float]]
    notices: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Scored:
    """A question with its figures; none where it is not known what answers it."""

    id: str
    kind: str | None
    figures: Mapping[str, float]


def score(results: Results, sink: Callable[[dict[str, Any]], object]) -> list[Scored]:
    """Make the lines, give each to a sink, and measure it."""
    scored = []
    for asked, line in results.lines:
        sink(line)
        scored.append(Scored(asked["id"], asked.get("kind"), results.figures(asked, line)))
    return scored


def score_into(results: Results, out: Path | None) -> list[Scored]:
    """Measure results, and write their lines to a file where one is named.

    The file is left as it was when nothing could be asked. Raises BadRequest when it cannot be written.
    """
    if out is None:
        return score(results, lambda _line: None)
    # The first line is made before the file is opened: without an index the former results stay.
    lines = iter(results.lines)
    first = list(islice(lines, 1))
    try:
        with out.open("w", encoding="utf-8") as file:
            return score(
                Results(chain(first, lines), results.figures),
                lambda line: file.write(json.dumps(line, ensure_ascii=False) + "\n"),
            )
    except OSError as error:
        raise BadRequest(f"{out} cannot be written ({error.strerror}). Name another file with --out.") from None


def rank_all(library: Library, asked: Iterable[Asked], arm: str, clock: AsIfThen | None = None) -> Results:
    """Find the ten best distinct notes for each question, over all notes.

    `clock` is the library's where questions may say on which day they are asked (`asked_on`).
    """
    notices: Counter[str] = Counter()
    lines = ((question, _ranking(library, question, arm, notices)) for question in _in_time(asked, clock))
    return Results(lines, ranking_figures, notices)


def _in_time(asked: Iterable[Asked], clock: AsIfThen | None) -> Iterator[Asked]:
    for question in asked:
        if clock is not None:
            clock.turn_to(question.get("asked_on"))
        yield question


def answer_all(library: Library, asked: Iterable[Asked], clock: AsIfThen | None = None) -> Results:
    """Answer each question over all notes, as /api/ask would."""
    lines = ((question, asyncio.run(_answer(library, question))) for question in _in_time(asked, clock))
    return Results(lines, answer_figures)


def read_rankings(file: Path, asked: Iterable[Asked]) -> Results:
    """Read rankings that were written before; a question that is not among them found nothing.

    Raises BadRequest when the file holds none.
    """
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
        paths = {str(row["id"]): [str(path) for path in row["paths"]] for row in rows}
    except (OSError, ValueError, KeyError, TypeError):
        raise BadRequest(
            f"{file.name} cannot be compared with: it should hold results as --out writes them, a JSON object with "
            "`id` and `paths` a line, or be a configuration that ends in .yaml."
        ) from None
    return Results(
        ((question, {"id": question["id"], "paths": paths.get(question["id"], [])}) for question in asked),
        ranking_figures,
    )


def _ranking(library: Library, asked: Asked, arm: str, notices: Counter[str]) -> dict[str, Any]:
    """Rank as a search does; where all it looks at is of fewer than ten notes, the next ones fill the list."""

    def found(k: int) -> Retrieved[PrivateScope]:
        return library.retrieve(asked["question"], scope=PrivateScope(), k=k, per_note=1, arm=arm)

    usual = found(DISTINCT_NOTES)
    notices.update(usual.notices)
    paths = best_notes(usual.hits)
    if len(paths) < DISTINCT_NOTES:
        paths = best_notes((*usual.hits, *found(DEEP).hits))
    return {"id": asked["id"], "paths": paths}


def best_notes(hits: Sequence[Hit[PrivateScope]]) -> list[str]:
    """Give the first ten notes of hits; a passage that stands in several notes has found each of them."""
    notes = chain.from_iterable((hit.path, *hit.also) for hit in hits)
    return list(dict.fromkeys(notes))[:DISTINCT_NOTES]


async def _answer(library: Library, asked: Asked) -> dict[str, Any]:
    started = time.monotonic()
    text: list[str] = []
    citations: list[dict[str, Any]] = []
    refused = False
    async for event in library.answer(Question(asked["question"]), scope=PrivateScope(), door="cli"):
        match event:
            case DeltaEvent():
                text.append(event.text)
            case GroundingEvent():
                refused = event.refused
                citations = [
                    citation.model_dump(include={"path", "heading", "line_start", "line_end", "quote"})
                    for citation in event.citations
                ]
            case ErrorEvent():
                text.append(event.message)
                refused = True
            case _:
                pass
    return {
        "id": asked["id"],
        "answer": "".join(text),
        "citations": citations,
        "refused": refused,
        "seconds": round(time.monotonic() - started, 3),
    }
