"""The question packs as the measuring scripts use them: found, indexed once, asked, and checked against score.py."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from measuring import PACKS, ROOT
from vault_ask import indexing
from vault_ask.composition.library import Library
from vault_ask.composition.parts import make_embedder
from vault_ask.evaluation import Asked, Scored, rank_all, read_questions, score
from vault_ask.evaluation.remembering import Remembering
from vault_ask.evaluation.report import grouped
from vault_ask.index.embedding import Embedder
from vault_ask.logs import set_up_logs
from vault_ask.settings import Settings
from vault_ask.settings.loading import load_settings

Figures = dict[str, dict[str, float]]
"""The mean of each figure by group of questions, with `n`, their number."""

Overrides = Mapping[str, Mapping[str, Any]]
"""Values of settings, by section, that differ from config.yaml."""


@dataclass(frozen=True)
class Pack:
    """A vault with questions."""

    name: str
    vault: Path
    questions: Path

    @cached_property
    def asked(self) -> list[Asked]:
        """Its questions."""
        return read_questions(self.questions)


@dataclass(frozen=True, slots=True)
class Bench:
    """Where packs are indexed, and the embedder that all of them share."""

    data: Path
    embedder: Embedder

    def settings(self, pack: Pack, overrides: Overrides | None = None) -> Settings:
        """Give the settings of config.yaml over a pack, but for what is overridden."""
        return settings_of(pack, self.data, overrides)

    def library(self, pack: Pack, overrides: Overrides | None = None, **parts: Any) -> Library:  # noqa: ANN401 - as Library takes them
        """Open a pack's index; `parts` are those of Library that no setting names."""
        return Library(self.settings(pack, overrides), self.embedder, **parts)


def settings_of(pack: Pack, data: Path, overrides: Overrides | None = None) -> Settings:
    """Give the settings of config.yaml over a pack's vault and index."""
    places = {"vault": {"path": pack.vault}, "data": data / pack.name}
    return load_settings(config=ROOT / "config.yaml", overrides={**places, **(overrides or {})})


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what every script that measures packs can be told."""
    parser.add_argument("--packs", type=Path, default=PACKS, help="folder of the question packs (%(default)s)")
    parser.add_argument("--data", type=Path, help="folder that keeps the indexes between runs")
    parser.add_argument("--only", nargs="+", metavar="PACK", help="measure these packs alone")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--markdown", action="store_true", help="print the tables for docs/measurements.md")


@contextmanager
def opened(arguments: argparse.Namespace) -> Iterator[tuple[Bench, list[Pack]]]:
    """Give the packs that were asked for, indexed; ends the script with a sentence where there is none."""
    packs = list(find_packs(arguments.packs, arguments.only))
    if not packs:
        raise SystemExit(f"There is no question pack in {arguments.packs}, so nothing was measured.")
    with data_folder(arguments.data) as data:
        # To standard error, as the daemon does it: what is printed may be read as JSON.
        set_up_logs(settings_of(packs[0], data).log)
        for pack in packs:
            bring_up_to_date(pack, data)
        settings = settings_of(packs[0], data).model_copy(update={"data": data})
        yield Bench(data, Remembering(make_embedder(settings, tell=say))), packs


def find_packs(folder: Path, only: Sequence[str] | None) -> Iterator[Pack]:
    """Find the packs in a folder, by name."""
    for questions in sorted(folder.glob("*/questions.dev.jsonl")):
        name = questions.parent.name
        if only is None or name in only:
            yield Pack(name, questions.parent / "vault", questions)


@contextmanager
def data_folder(chosen: Path | None) -> Iterator[Path]:
    """Give the chosen folder, or one that is gone afterwards."""
    if chosen is not None:
        yield chosen.absolute()
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


def bring_up_to_date(pack: Pack, data: Path) -> None:
    """Index a pack. Ends the script where something of it could not be indexed."""
    say(f"{pack.name}: indexing")
    own, shared = data / pack.name, data / "models"
    own.mkdir(parents=True, exist_ok=True)
    shared.mkdir(exist_ok=True)
    if not (own / "models").exists():
        # One build of the model serves all packs.
        (own / "models").symlink_to(shared, target_is_directory=True)
    outcome = indexing.run(settings_of(pack, data), rebuild=False, embed=True, display=lambda _snapshot: None)
    if outcome.waiting_notes or outcome.failed:
        raise SystemExit(f"{pack.name} could not be indexed whole, so its figures would mislead.")


@contextmanager
def centred_otherwise(bench: Bench, pack: Pack, overrides: Overrides) -> Iterator[Bench]:
    """Give a copy of a pack's index that is brought in line with other settings; nothing is embedded for it."""
    with tempfile.TemporaryDirectory() as temporary:
        copied = Path(temporary)
        shutil.copytree(bench.data / pack.name, copied / pack.name, ignore=shutil.ignore_patterns("models"))
        settings = settings_of(pack, copied, overrides)
        indexing.run(settings, rebuild=False, embed=True, display=lambda _snapshot: None)
        yield Bench(copied, bench.embedder)


def rank(pack: Pack, library: Library, arm: str = "hybrid", *, called: str = "") -> list[Scored]:
    """Rank every question. Ends the script where the packs' own score.py does not say the same of the rankings."""
    say(f"{pack.name}: {len(pack.asked)} questions, {called or arm}")
    lines: list[dict[str, Any]] = []
    scored = score(rank_all(library, pack.asked, arm), lines.append)
    library.close()
    _agree_with_score(pack, lines, means(scored))
    return scored


def means(scored: Sequence[Scored]) -> Figures:
    """Give the mean of each figure by group of questions."""
    found: Figures = {}
    for group, members in grouped(scored).items():
        names = dict.fromkeys(name for one in members for name in one.figures)
        columns = {name: [one.figures[name] for one in members if name in one.figures] for name in names}
        # A float, as all figures are.
        found[group] = {"n": float(len(members)), **{name: sum(of) / len(of) for name, of in columns.items()}}
    return found


def _agree_with_score(pack: Pack, lines: Sequence[Mapping[str, Any]], figures: Figures) -> None:
    script = pack.questions.parent.parent / "score.py"
    if not script.is_file():
        return
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as results:
        results.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        results.flush()
        told = subprocess.run(
            [sys.executable, str(script), str(pack.questions), results.name], capture_output=True, text=True, check=True
        ).stdout
    theirs = {row.split()[0]: dict(re.findall(r"(\S+@\d+) ([\d.]+)", row)) for row in told.splitlines()}
    ours = {
        group: {name: f"{of[name]:.3f}" for name in theirs.get(group, {}) if name in of}
        for group, of in figures.items()
    }
    if theirs != ours:
        raise SystemExit(f"{pack.name}: score.py and vault_ask.evaluation disagree:\n{theirs}\n{ours}")


def say(sentence: str) -> None:
    """Tell how far it is, beside the output."""
    print(sentence, file=sys.stderr, flush=True)
