"""One fake for each port: small, in memory, and held to the port's contract by tests/contracts."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import replace
from queue import Empty, Queue
from threading import Event, Lock
from zlib import crc32

import numpy as np

from couch_stand_in import CouchStandIn as CouchStandIn  # noqa: PLC0414 - all fakes are found here
from vault_ask.answering.context import Context
from vault_ask.answering.evidence import Prompt, WebPage
from vault_ask.answering.ports import Piece, Window
from vault_ask.errors import (
    DocumentIncomplete,
    DocumentVanished,
    ModelError,
    ModelRefused,
    SourceUnreachable,
    WebFailed,
)
from vault_ask.index.embedding import EmbeddingSpace, Priors, Refused, Vector
from vault_ask.retrieval.rerank import Shortlist
from vault_ask.scope import OpenScope, Question
from vault_ask.sources.port import (
    Change,
    Deleted,
    Document,
    Entry,
    Holding,
    OtherVersion,
    Rescan,
    SourceState,
    Trouble,
    Unread,
    Upserted,
)
from vault_ask.sources.selection import is_note_name


class FakeSource:
    """A vault in memory, for whoever stands right of `sources`. The tests play the owner with `put`, `move`, `away` ...

    What the owner does reaches `changes` at once, as one batch a call. `tell(changes)` adds a batch of one's own.
    What is no note by its name is an attachment. `remembered` is what `memory` gives, `recalled` all that was recalled.
    """

    def __init__(self, notes: Mapping[str, str | bytes] | None = None, *, name: str = "vault") -> None:
        self._name = name
        self._clock = 1_700_000_000
        self._lock = Lock()
        self._notes: dict[str, tuple[bytes, int]] = {}
        self._links: dict[str, str] = {}
        self._incomplete: dict[str, DocumentIncomplete] = {}
        self._others: dict[str, tuple[OtherVersion, ...]] = {}
        self._departed: dict[str, int] = {}
        self._closed: tuple[str, ...] = ()
        self._problems: tuple[Trouble, ...] = ()
        self._away = False
        self._mode = "stopped"
        self._batches: Queue[list[Change]] = Queue()
        self.reads: list[str] = []
        self.is_stand_in = False
        self.remembered: dict[str, str] = {}
        self.recalled: list[dict[str, str]] = []
        for path, content in (notes or {}).items():
            self._store(path, content)

    @property
    def name(self) -> str:
        return self._name

    @property
    def stands_in(self) -> bool:
        return self.is_stand_in

    @property
    def identity(self) -> str:
        return f"fake:{self._name}"

    def put(self, path: str, content: str | bytes) -> None:
        """Create or change a note or attachment, which makes it whole."""
        self._store(path, content)
        self._tell_of_notes(Upserted(path))

    def remove(self, path: str) -> None:
        """Delete a note or attachment."""
        self._take(path)
        self._tell_of_notes(Deleted(path))

    def move(self, old: str, new: str) -> None:
        """Rename a note, which keeps its stamp but for the time of the rename."""
        self._store(new, self._take(old))
        self._tell_of_notes(Deleted(old), Upserted(new))

    def hold_back(self, path: str, reason: str, beginning: bytes = b"") -> None:
        """Change or create a note so that its newest version is not whole, until it is put again."""
        self._store(path, self._notes[path][0] if path in self._notes else b"")
        with self._lock:
            self._incomplete[path] = DocumentIncomplete(reason, beginning)
        self._tell_of_notes(Upserted(path))

    def conflict(self, path: str, *others: OtherVersion) -> None:
        """Give a note these versions that lost; none settles the conflict."""
        with self._lock:
            self._clock += 1
            self._notes[path] = (self._notes[path][0], self._clock)
            self._others[path] = others
        self._tell_of_notes(Upserted(path))

    def link(self, path: str, target: str) -> None:
        """Put a link to a note: it can be read and is not listed."""
        self._links[path] = target

    def close(self, *folders: str) -> None:
        """Make folders unreadable, and all others readable."""
        self._closed = folders

    def trouble(self, *problems: Trouble) -> None:
        """Set what `problems` tells."""
        self._problems = problems

    def go_away(self) -> None:
        """Unmount the vault."""
        self._away = True

    def come_back(self) -> None:
        """Mount it again."""
        self._away = False
        self.tell([Rescan("the vault is back")])

    def tell(self, batch: list[Change]) -> None:
        """Let `changes` yield this batch."""
        self._batches.put(batch)

    def listing(self) -> list[Entry]:
        self._refuse_absence()
        with self._lock:
            open_paths = [path for path in sorted(self._notes) if not self._is_closed(path)]
            return [self._entry(path) for path in open_paths if _is_note(path)]

    def unreadable(self) -> tuple[str, ...]:
        return self._closed

    def problems(self) -> tuple[Trouble, ...]:
        return self._problems

    def read(self, path: str) -> Document:
        self._refuse_absence()
        self.reads.append(path)
        target = self._links.get(path, path)
        with self._lock:
            if target not in self._notes or self._is_closed(target) or not _is_note(target):
                raise DocumentVanished("The vault holds no note at this path that can be opened.")
            if target in self._incomplete:
                raise self._incomplete[target]
            entry = self._entry(target)
            return Document(replace(entry, path=path), self._notes[target][0], target, self._others.get(target, ()))

    def read_all(self, paths: Sequence[str]) -> Iterator[Document | Unread]:
        for path in paths:
            try:
                yield self.read(path)
            except DocumentVanished:
                yield Unread(path, "it is gone, or it cannot be opened", vanished=True)
            except DocumentIncomplete as error:
                yield Unread(path, str(error), error.beginning)

    def memory(self) -> Mapping[str, str]:
        return dict(self.remembered)

    def recall(self, memory: Mapping[str, str]) -> None:
        self.recalled.append(dict(memory))

    def changes(self, stop: Event) -> Iterator[list[Change]]:
        try:
            yield [Rescan("started")]
            while not stop.is_set():
                self._mode = "waiting" if self._away else "watching"
                try:
                    yield self._batches.get(timeout=0.05)
                except Empty:
                    yield []
        finally:
            self._mode = "stopped"

    def holdings(self, *, deleted: bool = False) -> Iterator[Holding]:
        self._refuse_absence()
        with self._lock:
            held = {path: self._holding(path) for path in self._notes if _is_shown(path) and not self._is_closed(path)}
            gone = {path: Holding(path, f"{stamp}-gone", None, "deleted") for path, stamp in self._departed.items()}
        everything = gone | held if deleted else held
        yield from (everything[path] for path in sorted(everything))

    def contents(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unread]]:
        for path in paths:
            self._refuse_absence()
            with self._lock:
                content = self._content(path)
            yield path, content

    def state(self) -> SourceState:
        return SourceState(self._mode, "A vault in memory.", waiting=len(self._incomplete))

    def _tell_of_notes(self, *changes: Upserted | Deleted) -> None:
        told: list[Change] = [change for change in changes if _is_note(change.path)]
        if told:
            self.tell(told)

    def _take(self, path: str) -> bytes:
        with self._lock:
            self._clock += 1
            self._departed[path] = self._clock
            self._incomplete.pop(path, None)
            self._others.pop(path, None)
            return self._notes.pop(path)[0]

    def _holding(self, path: str) -> Holding:
        entry = self._entry(path)
        if path in self._incomplete:
            return Holding(path, entry.revision, entry.size, "incomplete", str(self._incomplete[path]))
        if self._others.get(path):
            return Holding(path, entry.revision, entry.size, "conflicted", "it has another version")
        return Holding(path, entry.revision, entry.size)

    def _content(self, path: str) -> bytes | Unread:
        if path not in self._notes or self._is_closed(path) or not _is_shown(path):
            return Unread(path, "the vault holds no file at this path", vanished=True)
        if path in self._incomplete:
            return Unread(path, str(self._incomplete[path]), self._incomplete[path].beginning)
        return self._notes[path][0]

    def _store(self, path: str, content: str | bytes) -> None:
        with self._lock:
            self._clock += 1
            self._notes[path] = (content.encode() if isinstance(content, str) else content, self._clock)
            self._incomplete.pop(path, None)
            self._departed.pop(path, None)

    def _entry(self, path: str) -> Entry:
        content, stamp = self._notes[path]
        return Entry(path, f"{stamp}-{len(content)}", len(content), float(stamp))

    def _is_closed(self, path: str) -> bool:
        return any(path.startswith(f"{folder}/") for folder in self._closed)

    def _refuse_absence(self) -> None:
        if self._away:
            raise SourceUnreachable("The vault in memory is away; it comes back when the test says so.")


def _is_note(path: str) -> bool:
    return _is_shown(path) and is_note_name(path.rpartition("/")[2])


def _is_shown(path: str) -> bool:
    return not any(part.startswith(".") for part in path.split("/"))


class ScriptedGenerator:
    """Yields its script: a piece is yielded, an error raised, an event waited for. `prompts` keeps what it was given.

    `closed` is set when a stream ended, by itself or from outside.
    """

    def __init__(
        self,
        *script: Piece | ModelError | asyncio.Event,
        name: str = "scripted",
        is_local: bool = True,
        window: Window | None = None,
        away: ModelError | None = None,
    ) -> None:
        self._script = script
        self._name = name
        self._is_local = is_local
        self._window = window
        self._away = away
        self.prompts: list[Prompt] = []
        self.yielded = 0
        self.closed = asyncio.Event()

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_local(self) -> bool:
        return self._is_local

    @property
    def window(self) -> Window | None:
        return self._window

    async def reach(self) -> None:
        if self._away is not None:
            raise self._away

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        self.prompts.append(prompt)
        try:
            for step in self._script:
                match step:
                    case ModelError():
                        raise step
                    case asyncio.Event():
                        await step.wait()
                    case _:
                        self.yielded += 1
                        yield step
        finally:
            self.closed.set()


class CannedWeb:
    """Finds its pages, or raises its error. `asked` and `beside` keep what it was given.

    With `waits` it finds nothing until it is cancelled. `entered` and `left` are set when a search began and ended.
    """

    def __init__(
        self,
        *pages: WebPage,
        error: WebFailed | None = None,
        waits: bool = False,
        name: str = "Canned",
        keeps_question_home: bool = False,
    ) -> None:
        self._pages = pages
        self._error = error
        self._waits = waits
        self._name = name
        self._keeps_question_home = keeps_question_home
        self.asked: list[Question] = []
        self.beside: list[Context[OpenScope]] = []
        self.entered = asyncio.Event()
        self.left = asyncio.Event()

    @property
    def name(self) -> str:
        return self._name

    @property
    def keeps_question_home(self) -> bool:
        return self._keeps_question_home

    async def search(self, question: Question, *, beside: Context[OpenScope]) -> tuple[WebPage, ...]:
        self.asked.append(question)
        self.beside.append(beside)
        self.entered.set()
        try:
            if self._waits:
                await asyncio.Event().wait()
            if self._error is not None:
                raise self._error
            return self._pages
        finally:
            self.left.set()


class ScriptedReranker:
    """Scores a passage by how many words of the question it holds, or as its script says, a step a call.

    A list is the scores, an error is raised, an event is waited for before the call goes on with the next step.
    `asked` and `read` keep the questions and the texts it was given; `warmed` is set by `warm`.
    """

    def __init__(
        self,
        *script: list[float] | Exception | Event,
        name: str = "scripted/reranker",
        is_local: bool = True,
    ) -> None:
        self._script = iter(script)
        self._name = name
        self._is_local = is_local
        self.asked: list[str] = []
        self.read: list[list[str]] = []
        self.warmed = Event()

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_local(self) -> bool:
        return self._is_local

    def warm(self) -> None:
        self.warmed.set()

    def score(self, question: str, shortlist: Shortlist) -> list[float]:
        self.asked.append(question)
        self.read.append(shortlist.texts)
        for step in self._script:
            match step:
                case Event():
                    step.wait()
                case Exception():
                    raise step
                case _:
                    return step
        return [words_in_common(question, text) for text in shortlist.texts]


def words_in_common(question: str, text: str) -> float:
    """Give the share of a question's words that a text holds."""
    words = _words_of(question)
    return len(words & _words_of(text)) / max(len(words), 1)


def _words_of(text: str) -> set[str]:
    return set(_WORDS.findall(text.casefold()))


class HashEmbedder:
    """Embeds a text as the bag of its words, so that texts sharing words are near. `embedded` keeps every passage.

    `fail_with(error)` makes it raise until `recover()`; a text that holds a word of `refuses` is refused.
    """

    def __init__(self, *, dimension: int = 64, max_tokens: int = 512, refuses: Sequence[str] = ()) -> None:
        self._dimension = dimension
        self._max_tokens = max_tokens
        self._refuses = tuple(refuses)
        self._error: ModelError | None = None
        self.embedded: list[str] = []

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace(model="hash", dimension=self._dimension)

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def fail_with(self, error: ModelError) -> None:
        """Raise this from now on."""
        self._error = error

    def recover(self) -> None:
        """Work again."""
        self._error = None

    def warm(self) -> None:
        self._fail()

    def count_tokens(self, text: str) -> int:
        return len(_WORDS.findall(text))

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        self._fail()
        self.embedded.extend(text for text in texts if text.strip("\0 \t\r\n"))
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        self._fail()
        result = self._embed(text)
        if isinstance(result, Refused):
            raise ModelRefused(f"The question could not be embedded: {result.reason}.")
        return result

    def priors(self) -> Priors:
        return Priors()

    def _embed(self, text: str) -> Vector | Refused:
        if not text.strip("\0 \t\r\n"):
            return Refused("the text is blank")
        if any(word in text for word in self._refuses):
            return Refused("the test said so")
        return bag_of_words(text, self._dimension)

    def _fail(self) -> None:
        if self._error is not None:
            raise self._error


_WORDS = re.compile(r"[^\W_]+")


def bag_of_words(text: str, dimension: int) -> Vector:
    """Give a unit vector of word counts, the same on every machine; scripts without spaces count by character."""
    clean = text.replace("\0", "").casefold()
    words = [part for word in _WORDS.findall(clean) for part in ([word] if word.isascii() else [word, *word])]
    vector = np.zeros(dimension, np.float32)
    for word in words or [clean]:
        vector[crc32(word.encode("utf-8", "replace")) % dimension] += 1
    return vector / np.float32(np.linalg.norm(vector))
