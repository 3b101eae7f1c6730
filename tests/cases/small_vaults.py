"""A small vault that is indexed once and asked in this process: by the real embedder, or one that costs nothing."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any

from cli.commands import write
from fakes import HashEmbedder
from vault_ask.answering.ask import Generators
from vault_ask.answering.asked import Wishes
from vault_ask.answering.collect import collect
from vault_ask.answering.conversation import Turn
from vault_ask.answering.ports import Generator
from vault_ask.composition.library import Library
from vault_ask.composition.parts import make_tools
from vault_ask.index.embedding import Embedder
from vault_ask.index.files import IndexFiles
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.progress import Progress
from vault_ask.ingest.workshop import Workshop
from vault_ask.providers.extractive import ExtractiveGenerator
from vault_ask.scope import OpenScope, PrivateScope, Question, Scope
from vault_ask.settings import Settings
from vault_ask.wire import AskResponse, ErrorEvent

OPEN, PRIVATE = OpenScope(web_allowed=True), PrivateScope()


def indexed(
    folder: Path,
    notes: Mapping[str, str | bytes],
    *,
    embedder: Embedder | None = None,
    personal_paths: Sequence[str] = (),
    generator: Generator | None = None,
    now: datetime | None = None,
    zone: str | None = None,
    changed: float | None = None,
) -> Library:
    """Index notes in a folder and give what reads them; `generator` words the answers instead of quotes.

    Questions are asked at the moment `now`, by an owner in a `zone`; all files were `changed` at one moment, as by a
    sync.
    """
    embedder = embedder or HashEmbedder(dimension=384)
    settings = Settings.model_validate(
        {
            "data": folder / "data",
            "vault": {"path": write(folder / "vault", notes), "name": "vault"},
            "sensitivity": {"personal_paths": personal_paths},
            "embedding": {"ollama_url": "http://127.0.0.1:9"},
            "time": {"zone": zone},
        }
    )
    for note in settings.vault.path.rglob("*") if settings.vault.path and changed is not None else ():
        os.utime(note, (changed, changed))
    files = IndexFiles(settings.data)
    with files.owned():
        workshop = Workshop(IndexWriter(files.current), make_tools(settings, embedder), Progress())
        workshop.backlog.bind()
        workshop.ingest.sweep()
        workshop.backlog.drain(Event())
        workshop.close()
    library = Library(settings, embedder) if now is None else Library(settings, embedder, clock=lambda: now)
    if generator is not None:
        quotes = ExtractiveGenerator(embedder=None)
        library.models.__dict__["generators"] = Generators(configured=generator, personal=None, extractive=quotes)
    return library


def ask(
    library: Library,
    question: str,
    scope: Scope = OPEN,
    *,
    history: tuple[Turn, ...] = (),
    **wishes: Any,  # noqa: ANN401 - as Wishes has them
) -> AskResponse:
    """Ask and collect the whole answer."""
    wished = Wishes(**wishes)

    async def answered() -> AskResponse | ErrorEvent:
        return await collect(library.answer(Question(question), scope=scope, history=history, wishes=wished))

    answer = asyncio.run(answered())
    assert isinstance(answer, AskResponse), answer
    return answer


def cited(answer: AskResponse) -> list[str]:
    return [citation.path for citation in answer.citations]
