"""How hits and answers are printed."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing

import click

from vault_ask.answering.collect import collect
from vault_ask.console.wording import counted, escaped, place, snippet
from vault_ask.errors import BadRequest, ModelError, VaultAskError
from vault_ask.wire import (
    AnswerEvent,
    Citation,
    DeltaEvent,
    DoneEvent,
    ErrorEvent,
    GroundingEvent,
    SearchResponse,
    SourcesEvent,
    Understood,
    WebEvent,
)

_ORDERS = {"latest": "the latest", "earliest": "the earliest", "often": "how often"}


def print_hits(found: SearchResponse, *, explain: bool, as_json: bool) -> None:
    """Print hits, best first; explained, each with the parts of its score."""
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    _print_understood(found.understood)
    _print_notices(found.notices)
    for hit in found.hits:
        led = f" from {hit.via}" if hit.via else ""
        click.echo(f"{hit.n:2}. {place(hit)}  [{hit.score:.3f}; {hit.provenance}{led}]")
        if explain:
            click.echo("    = " + " + ".join(f"{name} {value:.3f}" for name, value in hit.trace.items()))
        if hit.also:
            click.echo(f"    the same in {', '.join(hit.also)}")
        click.echo(f"    {snippet(hit.quote)}")
    if not found.hits:
        click.echo("Nothing found.", err=True)


async def print_answer(events: AsyncGenerator[AnswerEvent, None], *, as_json: bool, sources_only: bool) -> bool:
    """Print an answer as it comes and its citations; say whether the vault had something to say.

    Raises ModelError when a model failed on the way, BadRequest when the question does not fit it.
    """
    if as_json and not sources_only:
        response = await collect(events)
        if isinstance(response, ErrorEvent):
            raise _failure(response)
        click.echo(response.model_dump_json(indent=2))
        return not response.refused
    async with aclosing(events):
        return await _print_events(events, as_json=as_json, sources_only=sources_only)


async def _print_events(events: AsyncGenerator[AnswerEvent, None], *, as_json: bool, sources_only: bool) -> bool:
    told = _Telling()
    async for event in events:
        told.tell(event)
        if sources_only and isinstance(event, SourcesEvent):
            _print_sources(event, as_json=as_json)
            return not event.silent
    return told.answered


class _Telling:
    """An answer as it is printed: the vault's part with its places, then the web's with its pages."""

    def __init__(self) -> None:
        self.answered = True
        self._begun = False
        self._web: WebEvent | None = None
        self._web_worded = False

    def tell(self, event: AnswerEvent) -> None:
        """Print what an event brings. Raises ModelError or BadRequest where the answer ends with one."""
        match event:
            case SourcesEvent():
                _print_understood(event.understood)
                _print_notices(event.notices)
            case DeltaEvent(part="web"):
                self._tell_web_words(event.text)
            case DeltaEvent():
                self._begun = True
                click.echo(event.text, nl=False)
            case GroundingEvent():
                self.answered = not event.refused
                _print_citations(event.citations)
            case WebEvent():
                self._web = event
                click.echo(f"\nFrom the web ({event.provider})\n{escaped(event.message)}")
            case DoneEvent():
                self._tell_pages()
            case ErrorEvent():
                click.echo(nl=self._begun)
                raise _failure(event)

    def _tell_web_words(self, text: str) -> None:
        """Print words that rest on pages of strangers; a line may end in them, and nothing may steer the terminal."""
        if not self._web_worded:
            click.echo()
        self._web_worded = True
        click.echo("\n".join(map(escaped, text.split("\n"))), nl=False)

    def _tell_pages(self) -> None:
        if self._web_worded:
            click.echo()
        for page in self._web.results if self._web else ():
            click.echo(f"[{page.n}] {escaped(page.title)}\n    {escaped(page.url)}")
            if not self._web_worded:
                click.echo(f"    {escaped(snippet(page.snippet))}")


def _print_sources(event: SourcesEvent, *, as_json: bool) -> None:
    if as_json:
        click.echo(event.model_dump_json(indent=2))
        return
    if event.silent:
        click.echo("The vault would be silent; nearest to the question are:")
    else:
        click.echo(f"{event.generator} would answer from {counted(len(event.sources), 'passage')}:")
    for source in event.sources:
        found = f", found by way of {source.via}" if source.provenance == "expanded" else ""
        click.echo(f"[{source.n}] {place(source)}{found}")


def _print_understood(read: Understood | None) -> None:
    if read is not None:
        click.echo(escaped(f"Read as: {' · '.join(filter(None, _read_as(read)))}"), err=True)


def _read_as(read: Understood) -> Iterator[str]:
    """Tell what was searched for, within which filters, and the time."""
    yield from (read.text, *read.filters)
    if read.days is not None:
        first, last = read.days.first, read.days.last
        yield first if first == last else f"{first} to {last}"
    yield _ORDERS[read.order] if read.order else ""


def _print_notices(notices: Sequence[str]) -> None:
    for notice in notices:
        click.echo(notice, err=True)


def _print_citations(citations: Sequence[Citation]) -> None:
    click.echo()
    for citation in citations:
        click.echo(f"[{citation.n}] {place(citation)}")


def _failure(event: ErrorEvent) -> VaultAskError:
    """Turn the end of a broken answer back into what it was on its way here."""
    return ModelError(event.message) if event.code.startswith("model_") else BadRequest(event.message)
