"""Hand-made hits and the events of an answer, for whoever tests what happens between them."""

import asyncio
from collections.abc import Callable, Sequence

from vault_ask.answering.ask import AskVault, Generators
from vault_ask.answering.asked import Wishes
from vault_ask.answering.conversation import Turn
from vault_ask.answering.ports import Generator, WebSearch
from vault_ask.audit import Record
from vault_ask.index.within import Filter
from vault_ask.providers.extractive import ExtractiveGenerator
from vault_ask.retrieval.hits import Hit, Retrieved
from vault_ask.scope import OpenScope, PrivateScope, Question, S, Scope, Sensitivity
from vault_ask.settings.models import ModelSettings
from vault_ask.wire import (
    AnswerEvent,
    DeltaEvent,
    DoneEvent,
    ErrorEvent,
    GroundingEvent,
    SourcesEvent,
    WebEvent,
)

OPEN, PRIVATE = OpenScope(web_allowed=True), PrivateScope()


def hit(
    path: str,
    body: str,
    *,
    score: float = 1.0,
    line_start: int = 1,
    headings: tuple[str, ...] = (),
    block: str | None = None,
    sensitivity: Sensitivity = Sensitivity.OPEN,
    language: str = "en",
    tokens: int = 0,
    in_question: bool = False,
) -> Hit[S]:
    made: Hit[S] = Hit(
        chunk_id=hash((path, line_start)),
        path=path,
        title=path.rpartition("/")[2].removesuffix(".md"),
        heading_path=headings,
        block=block,
        body=body,
        line_start=line_start,
        line_end=line_start + body.count("\n"),
        tokens=tokens or len(body.split()),
        language=language,
        sensitivity=sensitivity,
        score=score,
        provenance="both",
        in_question=in_question,
    )
    return made


def retrieved(*hits: Hit[S], language: str = "en", closeness: float = 0.6, coverage: float = 1.0) -> Retrieved[S]:
    found: Retrieved[S] = Retrieved(
        hits=tuple(hits), language=language, idf={}, closeness=closeness, coverage=coverage, notices=()
    )
    return found


class ScriptedRetrieve:
    """Returns the hits that the scope may see; `asked` keeps the questions and scopes."""

    def __init__(
        self, *hits: Hit[PrivateScope], language: str = "en", closeness: float = 0.6, coverage: float = 1.0
    ) -> None:
        self._hits = hits
        self._language = language
        self._signals = {"closeness": closeness, "coverage": coverage}
        self.asked: list[tuple[str, Scope, str | None]] = []
        self.wanted: list[int | None] = []
        self.filters: list[tuple[Filter, ...]] = []

    async def __call__(
        self,
        question: str,
        *,
        scope: S,
        note: str | None,
        k: int | None,
        filters: tuple[Filter, ...],
        typed: str | None,
    ) -> Retrieved[S]:
        self.typed = typed
        self.asked.append((question, scope, note))
        self.wanted.append(k)
        self.filters.append(filters)
        visible = [h for h in self._hits if h.sensitivity <= scope.ceiling]
        return retrieved(*visible, language=self._language, **self._signals)  # type: ignore[arg-type]


def vault_of(
    retrieve: ScriptedRetrieve,
    configured: Generator,
    *,
    personal: Generator | None = None,
    to_remote: bool = False,
    web: WebSearch | None = None,
    quotes: Generator | None = None,
    record: Callable[[Record], None] = lambda _record: None,
    **settings: float,
) -> AskVault:
    return AskVault(
        retrieve=retrieve,
        generators=Generators(configured, personal, quotes or ExtractiveGenerator(embedder=None)),
        vault_name=lambda: "My vault",
        settings=ModelSettings(**settings),  # type: ignore[arg-type]
        personal_to_remote_model=to_remote,
        web=lambda: web,
        record=record,
    )


def ask(
    vault: AskVault,
    question: str,
    scope: Scope = OPEN,
    history: Sequence[Turn] = (),
    note: str | None = None,
    **wishes: int | str,
) -> list[AnswerEvent]:
    """Read a whole answer."""
    wished = Wishes(note=note, **wishes)  # type: ignore[arg-type]

    async def read() -> list[AnswerEvent]:
        return [e async for e in vault.answer(Question(question), scope=scope, history=tuple(history), wishes=wished)]

    return asyncio.run(read())


def text_of(events: Sequence[AnswerEvent]) -> str:
    """The vault's part."""
    return "".join(event.text for event in events if isinstance(event, DeltaEvent) and event.part == "vault")


def sources_of(events: Sequence[AnswerEvent]) -> SourcesEvent:
    (event,) = (e for e in events if isinstance(e, SourcesEvent))
    return event


def grounding_of(events: Sequence[AnswerEvent]) -> GroundingEvent:
    (event,) = (e for e in events if isinstance(e, GroundingEvent))
    return event


def web_of(events: Sequence[AnswerEvent]) -> WebEvent:
    (event,) = (e for e in events if isinstance(e, WebEvent))
    return event


def end_of(events: Sequence[AnswerEvent]) -> DoneEvent | ErrorEvent:
    assert sum(isinstance(e, DoneEvent | ErrorEvent) for e in events) == 1
    last = events[-1]
    assert isinstance(last, DoneEvent | ErrorEvent)
    return last
