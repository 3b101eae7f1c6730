#!/usr/bin/env python3
"""Measures what is found and what is answered, on the question packs, with the defaults of config.yaml.

Each pack is indexed with the embedded model, then every question is asked of every arm: hybrid, vector, text, and for
comparison plain reciprocal rank fusion and vectors that are not centred. Figures are at note level and those of the
packs' own score.py, which is run beside them where it is there and has to agree. Answers are the extractive ones.

Prints tables, or one JSON object with --json. Exits with 1 when a figure cannot be trusted; a target that is missed is
told in the table and is no failure.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring import PACKS, ROOT, Table, Target, machine, show, verdict
from vault_ask import indexing
from vault_ask.app import Library, make_embedder
from vault_ask.evaluation import Asked, Results, answer_all, rank_all, read_questions, summarise
from vault_ask.index.embedding import Embedder, EmbeddingSpace, Priors, Refused, Vector
from vault_ask.settings import Settings, load_settings

Figures = dict[str, dict[str, float]]
"""The mean of each figure by group of questions, with `n`, their number."""

BEST_ARM_SLACK = 1.0
"""Questions by which the hybrid may fall behind the better arm: less than a pack can tell."""

QUOTE_LIMIT = 700


@dataclass(frozen=True, slots=True)
class Pack:
    """A vault with questions."""

    name: str
    vault: Path
    questions: Path


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure the project set itself, with what plain FTS5 and the prototype gave (from its issue)."""

    pack: str
    group: str
    figure: str
    plain: str
    prototype: str
    target: Target


GOALS = (
    Goal("memory-lihua", "all", "recall@5", ".844", ".88", Target(value=0.88)),
    Goal("memory-lihua", "all", "MRR@10", ".729", ".78", Target(value=0.78)),
    Goal("multilingual", "kind:single", "recall@5", ".87", ".99", Target(value=0.97)),
    Goal("multilingual", "kind:crosslingual", "recall@5", ".11", ".76", Target(value=0.80)),
    Goal("obsidian-help", "all", "recall@5", ".55", ".78", Target(value=0.75)),
    Goal("multihop-wiki", "all", "recall@5", ".677", ".76", Target(value=0.75)),
    Goal("seekstone", "all", "hit@5", "1.00", "1.00", Target(value=1.0)),
    Goal("seekstone", "all", "MRR@10", ".87", ".93", Target(value=0.93)),
    Goal("multilingual", "kind:single", "contains an answer", "", ".88", Target(value=0.88)),
    Goal("multilingual", "kind:single", "first quote does", "", ".70", Target(value=0.70)),
    Goal("multilingual", "kind:single", "verbatim", "", "", Target(value=1.0)),
)
GROUP_NAMES = {"kind:single": "same language", "kind:crosslingual": "other language"}
ARMS = ("hybrid", "vector", "text", "rrf", "hybrid uncentred", "vector uncentred")
SHOWN = ("recall@5", "all@5", "hit@5", "MRR@10")
SHOWN_OF_ANSWERS = (
    "contains an answer",
    "first quote does",
    "verbatim",
    "within the limit",
    "refused (answerable)",
    "refused (unanswerable)",
    "seconds",
)


class Remembering:
    """An embedder that embeds each question once, however many arms ask it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._questions: dict[str, Vector] = {}

    @property
    def space(self) -> EmbeddingSpace:
        """The space of the embedder behind."""
        return self._embedder.space

    @property
    def max_tokens(self) -> int:
        """The limit of the embedder behind."""
        return self._embedder.max_tokens

    def count_tokens(self, text: str) -> int:
        """Count with the embedder behind."""
        return self._embedder.count_tokens(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        """Embed with the embedder behind."""
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        """Embed, or remember. Raises ModelError."""
        if text not in self._questions:
            self._questions[text] = self._embedder.embed_query(text)
        return self._questions[text]

    def priors(self) -> Priors:
        """Give the means of the embedder behind."""
        return self._embedder.priors()


def main() -> int:
    """Measure what was asked for and print it."""
    arguments = _arguments()
    packs = list(_packs(arguments.packs, arguments.only))
    if not packs:
        print(f"There is no question pack in {arguments.packs}, so nothing was measured.", file=sys.stderr)
        return 1
    with _data_folder(arguments.data) as data:
        embedder = Remembering(make_embedder(_settings(packs[0], data).model_copy(update={"data": data}), tell=_say))
        measured = {pack.name: _measure(pack, data, embedder, answers=not arguments.no_answers) for pack in packs}
    if arguments.json:
        print(json.dumps({"machine": machine(), "packs": measured}, ensure_ascii=False))
    else:
        print(show(list(_tables(measured)), markdown=arguments.markdown))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packs", type=Path, default=PACKS, help="folder of the question packs (%(default)s)")
    parser.add_argument("--data", type=Path, help="folder that keeps the indexes between runs")
    parser.add_argument("--only", nargs="+", metavar="PACK", help="measure these packs alone")
    parser.add_argument("--no-answers", action="store_true", help="measure what is found, not what is answered")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--markdown", action="store_true", help="print the tables for docs/measurements.md")
    return parser.parse_args()


def _packs(folder: Path, only: Sequence[str] | None) -> Iterator[Pack]:
    for questions in sorted(folder.glob("*/questions.dev.jsonl")):
        name = questions.parent.name
        if only is None or name in only:
            yield Pack(name, questions.parent / "vault", questions)


@contextmanager
def _data_folder(chosen: Path | None) -> Iterator[Path]:
    if chosen is not None:
        yield chosen.absolute()
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


def _settings(pack: Pack, data: Path, **overrides: Any) -> Settings:  # noqa: ANN401 - sections of any kind
    given = {"vault": {"path": pack.vault}, "data": data / pack.name, **overrides}
    return load_settings(config=ROOT / "config.yaml", overrides=given)


def _measure(pack: Pack, data: Path, embedder: Embedder, *, answers: bool) -> dict[str, Any]:
    _bring_up_to_date(pack, data)
    asked = read_questions(pack.questions)
    settings = _settings(pack, data)
    library = Library(settings, embedder)
    arms: dict[str, Figures] = {}
    for arm in ("hybrid", "vector", "text"):
        arms[arm] = _ranked(pack, library, asked, arm)
    plain = settings.retrieval.model_copy(update={"fusion": "rrf"})
    arms["rrf"] = _ranked(pack, Library(settings.model_copy(update={"retrieval": plain}), embedder), asked, "hybrid")
    with _uncentred(pack, data) as bare:
        for arm in ("hybrid", "vector"):
            arms[f"{arm} uncentred"] = _ranked(pack, Library(bare, embedder), asked, arm)
    found: dict[str, Any] = {"arms": arms, "hybrid_holds": _holds(arms)}
    if answers:
        found["answers"] = _answered(pack, library, asked)
    return found


def _bring_up_to_date(pack: Pack, data: Path) -> None:
    _say(f"{pack.name}: indexing")
    own, shared = data / pack.name, data / "models"
    own.mkdir(parents=True, exist_ok=True)
    shared.mkdir(exist_ok=True)
    if not (own / "models").exists():
        # One build of the model serves all packs.
        (own / "models").symlink_to(shared, target_is_directory=True)
    outcome = indexing.run(_settings(pack, data), rebuild=False, embed=True, display=lambda _snapshot: None)
    if outcome.waiting_notes or outcome.failed:
        raise SystemExit(f"{pack.name} could not be indexed whole, so its figures would mislead.")


@contextmanager
def _uncentred(pack: Pack, data: Path) -> Iterator[Settings]:
    """Give settings over a copy of the index whose vectors are not centred; nothing is embedded for it."""
    with tempfile.TemporaryDirectory() as temporary:
        shutil.copytree(data / pack.name, Path(temporary) / pack.name, ignore=shutil.ignore_patterns("models"))
        settings = _settings(pack, Path(temporary), embedding={"centring": "off"})
        indexing.run(settings, rebuild=False, embed=True, display=lambda _snapshot: None)
        yield settings


def _ranked(pack: Pack, library: Library, asked: Sequence[Asked], arm: str) -> Figures:
    _say(f"{pack.name}: {len(asked)} questions, {arm}")
    lines: list[dict[str, Any]] = []
    figures = _means(rank_all(library, asked, arm), lines.append)
    _agree_with_score(pack, lines, figures)
    return figures


def _means(results: Results, sink: Callable[[dict[str, Any]], object]) -> Figures:
    return {
        group: {"n": float(max(map(len, values.values()))), **{name: sum(v) / len(v) for name, v in values.items()}}
        for group, values in summarise(results, sink).items()
    }


def _agree_with_score(pack: Pack, lines: Sequence[Mapping[str, Any]], figures: Figures) -> None:
    """Run the packs' own score.py over the same rankings and refuse to go on where it says otherwise."""
    score = pack.questions.parent.parent / "score.py"
    if not score.is_file():
        return
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as results:
        results.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        results.flush()
        told = subprocess.run(
            [sys.executable, str(score), str(pack.questions), results.name], capture_output=True, text=True, check=True
        ).stdout
    theirs = {row.split()[0]: dict(re.findall(r"(\S+@\d+) ([\d.]+)", row)) for row in told.splitlines()}
    ours = {
        group: {name: f"{value:.3f}" for name, value in values.items() if name != "n"}
        for group, values in figures.items()
    }
    if theirs != ours:
        raise SystemExit(f"{pack.name}: score.py and vault_ask.evaluation disagree:\n{theirs}\n{ours}")


def _holds(arms: Mapping[str, Figures]) -> dict[str, bool]:
    """Say, for each group of questions, whether the hybrid finds what the better single arm does, but for one."""
    return {
        group: figures["recall@5"] * figures["n"]
        >= max(arms[arm][group]["recall@5"] for arm in ("vector", "text")) * figures["n"] - BEST_ARM_SLACK
        for group, figures in arms["hybrid"].items()
    }


def _answered(pack: Pack, library: Library, asked: Sequence[Asked]) -> Figures:
    _say(f"{pack.name}: {len(asked)} questions, answers")
    figures_of_answers = answer_all(library, asked)

    def figures(question: Asked, line: dict[str, Any]) -> dict[str, float]:
        return {**figures_of_answers.figures(question, line), **_quotes(pack.vault, line)}

    return _means(Results(figures_of_answers.lines, figures), lambda _line: None)


def _quotes(vault: Path, line: Mapping[str, Any]) -> dict[str, float]:
    """Check an answer's quotes against the files: verbatim in the cited lines, not empty, short enough together."""
    citations = line["citations"]
    if not citations:
        return {}
    length = sum(len(citation["quote"]) for citation in citations)
    return {
        "verbatim": sum(_is_verbatim(vault, citation) for citation in citations) / len(citations),
        "within the limit": float(length <= QUOTE_LIMIT),
    }


def _is_verbatim(vault: Path, citation: Mapping[str, Any]) -> bool:
    text = (vault / citation["path"]).read_text(encoding="utf-8-sig")  # newlines come as \n whatever the file has
    cited = text.split("\n")[citation["line_start"] - 1 : citation["line_end"]]
    return bool(citation["quote"].strip()) and citation["quote"] in "\n".join(cited)


def _tables(measured: Mapping[str, Any]) -> Iterator[Table]:
    yield _goals_table(measured)
    yield _arms_table(measured)
    if any("answers" in found for found in measured.values()):
        yield _answers_table(measured)


def _goals_table(measured: Mapping[str, Any]) -> Table:
    rows = []
    for goal in GOALS:
        figure = _figure(measured, goal)
        if figure is not None:
            where = f"{goal.pack}, {GROUP_NAMES[goal.group]}" if goal.group in GROUP_NAMES else goal.pack
            told = [str(goal.target), f"{figure:.3f}", verdict(goal.target, figure)]
            rows.append([f"{where}: {goal.figure}", goal.plain, goal.prototype, *told])
    return Table("Goals", ["", "plain FTS5", "prototype", "to reach", "measured", "reached"], rows)


def _figure(measured: Mapping[str, Any], goal: Goal) -> float | None:
    """Look a figure up among the rankings of the hybrid, then among the answers; None where it was not measured."""
    found = measured.get(goal.pack, {})
    for figures in (found.get("arms", {}).get("hybrid", {}), found.get("answers", {})):
        if goal.figure in figures.get(goal.group, {}):
            return float(figures[goal.group][goal.figure])
    return None


def _arms_table(measured: Mapping[str, Any]) -> Table:
    rows = []
    for pack, found in measured.items():
        for group, figures in found["arms"]["hybrid"].items():
            cells = [_cell(found["arms"][arm][group]) for arm in ARMS]
            holds = "yes" if found["hybrid_holds"][group] else "**no**"
            rows.append([f"{pack}, {group.removeprefix('kind:')}", f"{figures['n']:.0f}", *cells, holds])
    title = f"Arms ({' / '.join(SHOWN)}); hybrid ≥ better arm of vector and text at recall@5, ± one question"
    return Table(title, ["pack, questions", "n", *ARMS, "holds"], rows)


def _cell(figures: Mapping[str, float]) -> str:
    return " / ".join(f"{figures[name]:.3f}".removeprefix("0") for name in SHOWN)


def _answers_table(measured: Mapping[str, Any]) -> Table:
    rows = [
        [f"{pack}, {group.removeprefix('kind:')}", f"{figures['n']:.0f}", *_answer_cells(figures)]
        for pack, found in measured.items()
        for group, figures in found.get("answers", {}).items()
    ]
    title = "Answers by quotes (only the multilingual pack's expected answers are worded as its notes are)"
    return Table(title, ["pack, questions", "n", *SHOWN_OF_ANSWERS], rows)


def _answer_cells(figures: Mapping[str, float]) -> list[str]:
    return [f"{figures[name]:.3f}" if name in figures else "" for name in SHOWN_OF_ANSWERS]


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
