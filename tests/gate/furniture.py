"""What the house of the gate's tests is furnished with: everything that listens, and what stands behind the ports.

The vault lies in memory, the embedder counts words, the models repeat all they were given, the web's pages are canned.
"""

import logging
from collections.abc import AsyncGenerator, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import fasttext
import pytest
import structlog

from fakes import CannedWeb, FakeSource, HashEmbedder, ScriptedGenerator, ScriptedReranker
from gate.random_vaults import MARK, Setup, Vault
from vault_ask.answering.evidence import Prompt, WebPage
from vault_ask.answering.ports import Piece
from vault_ask.errors import ModelUnreachable, WebFailed
from vault_ask.index.embedding import Vector
from vault_ask.index.reading.vectors import Vectors
from vault_ask.index.reading.words import Words
from vault_ask.index.statistics import Centring
from vault_ask.index.within import Within
from vault_ask.settings import Settings
from vault_ask.sources.port import OtherVersion, SourceState, Trouble
from waiting import PATIENCE

PERSONAL_TAGS = ("diary",)
PERSONAL_PATHS = ("Private/**", "Work/Private", f"{MARK}rule/**")
"""The last one matches nothing, which the owner is warned of, in the log too."""
AWAY = ModelUnreachable("Nobody listens at the embedder's address.")
PAGES = (
    WebPage(title="Rents this year", url="https://rents.example/now", text="The usual rent is 9500."),
    WebPage(title="A second page", url="https://second.example/", text="Rents rise in May."),
)


class Parrot(ScriptedGenerator):
    """A model that says everything it was given, citing each excerpt."""

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        self.prompts.append(prompt)
        for turn in prompt.history:
            yield f"{turn.text}\n"
        for excerpt in prompt.excerpts:
            yield f"{excerpt.path} {excerpt.title} {' '.join(excerpt.heading_path)} {excerpt.text} [{excerpt.n}]\n"
        yield "See [[Passport]] and [[Alpha]]."


class ListeningEmbedder(HashEmbedder):
    """Remembers the questions it was given, too."""

    def __init__(self, *, dimension: int, refuses: Sequence[str]) -> None:
        super().__init__(dimension=dimension, refuses=refuses)
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Vector:
        self.asked.append(text)
        return super().embed_query(text)


class TellingSource(FakeSource):
    """Says more of itself than any real source: how many files there are, which is the newest, what waits."""

    def state(self) -> SourceState:
        told = super().state()
        newest = max(self._notes, key=lambda path: self._notes[path][1], default="none")
        message = f"{len(self._notes)} files; the newest is {newest}."
        changed = float(self._clock)
        return replace(told, message=message, lag=len(self._notes), last_change=changed, waiting=len(self._incomplete))


class Logs(logging.Handler):
    """Everything that is logged, at every level, by structlog and by the standard library."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name} {record.getMessage()} {record.args!r} {record.exc_info!r}")

    def structured(self, _logger: object, method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        self.lines.append(f"{method} {dict(line)!r}")
        raise structlog.DropEvent

    def listen(self) -> None:
        """Hear structlog again after somebody set it up otherwise, as every command does."""
        structlog.configure(
            processors=[self.structured], wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG)
        )


language_model = cache(fasttext.load_model)
"""Loaded once, and not by every command anew."""


def embedder_of(setup: Setup) -> ListeningEmbedder:
    """Make the embedder of a house."""
    refuses = (f"{MARK}body",) if setup.embedder == "refuses personal" else ()
    embedder = ListeningEmbedder(dimension=64, refuses=refuses)
    if setup.embedder == "away":
        embedder.fail_with(AWAY)
    return embedder


def reranker_of(setup: Setup) -> ScriptedReranker | None:
    """Make the reranker of a house."""
    if setup.reranker == "none":
        return None
    return ScriptedReranker(name=f"made/{setup.reranker}", is_local=setup.reranker == "own")


def web_of(setup: Setup) -> CannedWeb:
    """Make the web of a house."""
    pages = PAGES if setup.web == "pages" else ()
    return CannedWeb(*pages, error=WebFailed("The web search failed.") if setup.web == "fails" else None)


def hold_still(patch: pytest.MonkeyPatch) -> None:
    """Give every vault the same statistics of the whole: no means, and no BM25, which FTS5 reckons over all chunks."""

    def unweighed(
        words: Words, query: str, k: int, *, notes: Sequence[str] | None = None, within: Within | None = None
    ) -> list[tuple[int, float]]:
        among = words._reader.among("+id", notes, within)
        found = f"SELECT id FROM {words._reader.views.words} WHERE query MATCH ? {among.sql} ORDER BY id LIMIT ?"  # noqa: S608 - our view
        return [(chunk, 1.0) for (chunk,) in words._reader.fetch(found, (query, *among.bound, k))]

    patch.setattr(Vectors, "centring", lambda _: Centring({}, {}))
    patch.setattr(Words, "matching", unweighed)


@contextmanager
def heard_by(logs: Logs) -> Iterator[None]:
    """Listen to everything that is logged, and leave the loggers as they were."""
    former, root = structlog.get_config(), logging.getLogger()
    level = root.level
    logs.listen()
    root.addHandler(logs)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.setLevel(level)
        root.removeHandler(logs)
        structlog.configure(**former)


def settings_in(folder: Path, setup: Setup) -> Settings:
    models = {
        "quotes": {},
        "local": {"generation": "made/local"},
        "remote": {"generation": "made/remote"},
        "remote and a local one": {"generation": "made/remote", "personal_generation": "made/local"},
    }
    return Settings.model_validate(
        {
            "data": folder / "data",
            "vault": {"path": folder / "vault", "source": "folder", "name": "vault"},
            "sensitivity": {
                "personal_paths": PERSONAL_PATHS,
                "personal_tags": PERSONAL_TAGS,
                "default": setup.default,
            },
            "chunks": {"target_tokens": 32, "max_tokens": 48, "min_tokens": 0, "overlap_tokens": 0},
            "retrieval": {"top_k": setup.top_k, "vector_k": 2, "text_k": 1} if setup.still else {"top_k": setup.top_k},
            "embedding": {"ollama_url": "http://127.0.0.1:9", "centring": "off" if setup.still else setup.centring},
            "models": models[setup.generation],
            "rerank": {"timeout_seconds": PATIENCE},
            "audit": {"questions": setup.questions},
            "log": {"level": "debug"},
        }
    )


def source_of(vault: Vault, *, with_personal: bool) -> TellingSource:
    source = TellingSource(vault.open)
    if not with_personal:
        return source
    troubles: list[Trouble] = []
    for path, text in vault.personal.items():
        source.put(path, text)
        if path in vault.conflicts:
            source.conflict(path, OtherVersion(path, vault.conflicts[path].encode()))
            troubles.append(Trouble(path, f"a device wrote {MARK}device", "conflict"))
        if path in vault.cut:
            source.hold_back(path, f"its piece {MARK}piece has not arrived", text[:40].encode())
            troubles.append(Trouble(path, f"its piece {MARK}piece has not arrived", "incomplete"))
    for path in vault.attachments:
        source.put(path, b"\x89PNG")
        troubles.append(Trouble(path, f"its name {MARK}left is odd"))
    source.trouble(*troubles)
    return source
