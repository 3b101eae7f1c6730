"""Runs files of questions: rankings for the figures of retrieval, answers for those of answering.

A question is one JSON object a line: `id`, `question`, and where known `relevant` (vault paths), `also_ok` (paths that
count as well), `answerable`, `kind`, `lang`, `answers`. Figures are at note level and defined as in score.py of the
question packs: recall@5, all@5, hit@1, hit@5, MRR@10.
"""

import asyncio
import json
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from vault_ask.app import Library
from vault_ask.errors import BadRequest
from vault_ask.scope import PrivateScope, Question
from vault_ask.wire import DeltaEvent, ErrorEvent, GroundingEvent

DISTINCT_NOTES = 10
DEEP = 1000
"""Chunks that are looked at where the usual number are all of a few long notes."""

Asked = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Results:
    """Lines as they are made, each with its question, and what to measure of a line."""

    lines: Iterable[tuple[Asked, dict[str, Any]]]
    figures: Callable[[Asked, dict[str, Any]], dict[str, float]]


Summary = dict[str, dict[str, list[float]]]
"""The values of each figure, by group of questions (`all`, `kind:...`) and name of the figure."""


def summarise(results: Results, sink: Callable[[dict[str, Any]], object]) -> Summary:
    """Give each line to a sink as it is made, and gather the figures."""
    gathered: Summary = defaultdict(lambda: defaultdict(list))
    for asked, line in results.lines:
        sink(line)
        for name, value in results.figures(asked, line).items():
            gathered["all"][name].append(value)
            gathered[f"kind:{asked.get('kind')}"][name].append(value)
    return gathered


def write(results: Results, out: Path) -> str:
    """Write the lines to a file and give the summary in words, a row a kind of question.

    The file is left as it was when nothing could be asked. Raises BadRequest when it cannot be written.
    """
    # The first line is made before the file is opened: without an index the former results stay.
    lines = iter(results.lines)
    first = list(islice(lines, 1))
    try:
        with out.open("w", encoding="utf-8") as file:
            summary = summarise(
                Results(chain(first, lines), results.figures),
                lambda line: file.write(json.dumps(line, ensure_ascii=False) + "\n"),
            )
    except OSError as error:
        raise BadRequest(f"{out} cannot be written ({error.strerror}). Name another file with --out.") from None
    return "\n".join(_row(group, figures) for group, figures in sorted(summary.items()))


def read_questions(file: Path) -> list[Asked]:
    """Read a file of questions. Raises BadRequest naming the line that does not fit."""
    asked = []
    # Not splitlines: a question may hold a line separator of Unicode, and JSON lines end in \n alone.
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            question = json.loads(line)
            if not (isinstance(question["id"], str) and isinstance(question["question"], str)):
                raise TypeError  # noqa: TRY301 - one sentence for every way a line can be wrong
        except (ValueError, KeyError, TypeError):
            raise BadRequest(
                f"Line {number} of {file.name} is no question: it should be a JSON object with `id` and `question`."
            ) from None
        asked.append(question)
    return asked


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadRequest(f"The questions in {file.name} cannot be read ({why}).") from None


def rank_all(library: Library, asked: Iterable[Asked], arm: str) -> Results:
    """Find the ten best distinct notes for each question, over all notes."""
    reach = library.settings.retrieval.model_copy(update={"vector_k": DEEP, "text_k": DEEP})
    deeper = Library(library.settings.model_copy(update={"retrieval": reach}), library.embedder)
    return Results(((question, _ranking(library, deeper, question, arm)) for question in asked), _ranking_figures)


def answer_all(library: Library, asked: Iterable[Asked]) -> Results:
    """Answer each question over all notes, as /api/ask would."""
    return Results(((question, asyncio.run(_answer(library, question))) for question in asked), _answer_figures)


def _ranking(library: Library, deeper: Library, asked: Asked, arm: str) -> dict[str, Any]:
    """Rank as a search does; where all it looks at is of fewer than ten notes, the next ones fill the list."""
    paths = _found(library, asked, arm)
    if len(paths) < DISTINCT_NOTES:
        paths = list(dict.fromkeys((*paths, *_found(deeper, asked, arm))))[:DISTINCT_NOTES]
    return {"id": asked["id"], "paths": paths}


def _found(library: Library, asked: Asked, arm: str) -> list[str]:
    found = library.retrieve(asked["question"], scope=PrivateScope(), k=DISTINCT_NOTES, per_note=1, arm=arm)
    return [hit.path for hit in found.hits]


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


def _ranking_figures(asked: Asked, line: dict[str, Any]) -> dict[str, float]:
    if not asked.get("answerable", True) or not asked.get("relevant"):
        return {}
    relevant, also = {_nfc(p) for p in asked["relevant"]}, {_nfc(p) for p in asked.get("also_ok") or []}
    ranked = list(dict.fromkeys(_nfc(path) for path in line["paths"]))
    found = relevant & set(ranked[:5])
    instead = len(relevant) == 1 and not found and bool(also & set(ranked[:5]))
    first = next((rank for rank, path in enumerate(ranked[:10], start=1) if path in relevant | also), None)
    return {
        "recall@5": 1.0 if instead else len(found) / len(relevant),
        "all@5": float(instead or found == relevant),
        "hit@1": float(first == 1),
        "hit@5": float(first is not None and first <= 5),  # noqa: PLR2004 - the 5 of the figure's name
        "MRR@10": 1 / first if first else 0.0,
    }


def _answer_figures(asked: Asked, line: dict[str, Any]) -> dict[str, float]:
    refused = float(line["refused"])
    if not asked.get("answerable", True):
        return {"refused (unanswerable)": refused, "seconds": line["seconds"]}
    figures = {"refused (answerable)": refused, "seconds": line["seconds"]}
    if asked.get("answers"):
        quotes = [citation["quote"] for citation in line["citations"]]
        figures["contains an answer"] = float(_holds(" ".join(quotes), asked["answers"]))
        figures["first quote does"] = float(_holds(quotes[0] if quotes else "", asked["answers"]))
    return figures


def _holds(text: str, answers: Iterable[str]) -> bool:
    return any(_plain(answer) in _plain(text) for answer in answers)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _nfc(path: str) -> str:
    return unicodedata.normalize("NFC", path)


def _row(group: str, figures: dict[str, list[float]]) -> str:
    count = max(map(len, figures.values()), default=0)
    means = "  ".join(f"{name} {sum(values) / len(values):.3f}" for name, values in figures.items())
    return f"{group:24} n={count:4} {means}"
