"""A vault on disk, and the daemon that follows it, with an embedder that counts and waits for nobody."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fakes import HashEmbedder
from sources.vaults import fill
from vault_ask.answering.collect import collect
from vault_ask.answering.conversation import Turn
from vault_ask.composition.daemon import Daemon
from vault_ask.composition.library import Library
from vault_ask.retrieval.hits import Retrieved
from vault_ask.scope import OpenScope, PrivateScope, Question, Scope, Sensitivity
from vault_ask.settings import Settings
from vault_ask.wire import AnswerEvent, AskResponse, ErrorEvent, StatusResponse
from waiting import wait_until

OPEN, PRIVATE = OpenScope(web_allowed=True), PrivateScope()


def settings_for(folder: Path, **sections: object) -> Settings:
    """Configure a vault and a data folder below a folder, quick to settle."""
    vault = {"path": folder / "vault", "settle_seconds": 0.05, "poll_seconds": 0.1, "name": "vault"}
    # Nobody listens there, so that no test looks at a model server of this machine.
    embedding = {"ollama_url": "http://127.0.0.1:9"}
    given = dict(sections)
    vault |= given.pop("vault", {})  # type: ignore[arg-type]
    return Settings.model_validate({"data": folder / "data", "vault": vault, "embedding": embedding, **given})


class House:
    """One vault and one data folder, in which daemons come and go."""

    def __init__(self, folder: Path, notes: Mapping[str, str], *, embedder: HashEmbedder | None = None) -> None:
        self.folder = folder
        self.vault = fill(folder / "vault", notes)
        self.embedder = embedder or HashEmbedder(dimension=384)

    def write(self, notes: Mapping[str, str]) -> None:
        fill(self.vault, notes)

    @contextmanager
    def daemon(self, *, rebuild: bool = False, caught_up: bool = True, **sections: object) -> Iterator[Daemon]:
        """Run a daemon for the time of a `with`, from the moment it has caught up with the vault."""
        daemon = Daemon(settings_for(self.folder, **sections), self.embedder)
        daemon.start(rebuild=rebuild)
        try:
            wait_until(lambda: daemon._keeper.caught_up or not caught_up)
            yield daemon
        finally:
            daemon.stop()

    def library(self, **sections: object) -> Library:
        return Library(settings_for(self.folder, **sections), self.embedder)


def retrieved(library: Library, question: str, scope: Scope = OPEN, **how: object) -> Retrieved:
    return library.retrieve(question, scope=scope, **how)


def found(library: Library, question: str, scope: Scope = OPEN, **how: object) -> list[str]:
    """Give the notes a question finds, best first."""
    return list(dict.fromkeys(hit.path for hit in retrieved(library, question, scope, **how).hits))


def by_words(library: Library, question: str, scope: Scope = OPEN) -> list[str]:
    return found(library, question, scope, arm="text")


def embedded(daemon: Daemon) -> None:
    """Wait until no note waits for its vectors."""
    wait_until(lambda: status(daemon).embedding.waiting == 0)


def status(library: Library) -> StatusResponse:
    return library.describe(Sensitivity.PERSONAL)


def ask(library: Library, question: str, scope: Scope = OPEN, history: tuple[Turn, ...] = ()) -> AskResponse:
    """Ask and collect the whole answer."""
    answer = asyncio.run(_collected(library.answer(Question(question), scope=scope, history=history)))
    assert not isinstance(answer, ErrorEvent)
    return answer


async def _collected(events: AsyncGenerator[AnswerEvent, None]) -> AskResponse | ErrorEvent:
    return await collect(events)
