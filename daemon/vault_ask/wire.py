"""The shape of everything that travels: requests, responses and the events of an answer. The only place it is written.

`scripts/generate_schema.py` turns this file into `shared-schema/wire.schema.json`; nothing else describes a message.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class Message(BaseModel):
    """The base of all that travels: unknown fields are refused, values do not change after parsing."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class HistoryTurn(Message):
    """An earlier turn, as the client remembers it."""

    role: Literal["user", "assistant"]
    text: str = Field(max_length=100_000)
    personal: bool = Field(
        default=False, description="Whether personal notes took part in that turn; its words then never reach the web."
    )


class AskRequest(Message):
    """A question. `include_personal` and `allow_web` are never both true."""

    question: str = Field(min_length=1, max_length=8_000, description="The user's own words.")
    history: tuple[HistoryTurn, ...] = Field(default=(), max_length=100, description="Earlier turns, oldest first.")
    note: str | None = Field(
        default=None,
        max_length=1_024,
        description="Vault path of the note the question is about: its passages come first, then those of the notes "
        "it links with, then the rest of the vault.",
    )
    selection: str | None = Field(
        default=None,
        max_length=8_000,
        description="Words of that note which the question is about. They reach a model, and never the web; where the "
        "note takes no part they are refused.",
    )
    k: int | None = Field(
        default=None, ge=1, le=50, description="The most passages the answer may rest on; by default as configured."
    )
    language: str | None = Field(
        default=None,
        max_length=35,
        pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$",
        description="Language of the answer, as a BCP 47 tag; by default the question's own.",
    )
    include_personal: bool = Field(default=False, description="Whether personal notes take part; this closes the web.")
    allow_web: bool | None = Field(
        default=None, description="Whether the web may help; by default the opposite of include_personal."
    )


class SessionRequest(Message):
    """The token, traded once for a cookie that scripts cannot read."""

    token: SecretStr = Field(min_length=1, max_length=1_024)


class SearchRequest(Message):
    """A search without an answer."""

    query: str = Field(max_length=8_000)
    k: int = Field(default=8, ge=1, le=100)
    include_personal: bool = False
    arm: Literal["hybrid", "vector", "text"] = "hybrid"


class Citation(Message):
    """A place in the vault that an answer rests on. Lines are 1-based, inclusive, frontmatter counted."""

    n: int
    path: str
    title: str
    heading: str | None
    heading_path: tuple[str, ...]
    block: str | None
    line_start: int
    line_end: int
    quote: str = Field(description="Verbatim text of those lines.")
    url: str = Field(description="An obsidian:// address that opens the note at the heading or block.")


class Source(Citation):
    """A passage the answer may cite, with why it was chosen. `quote` is the whole passage."""

    score: float
    provenance: Literal["vector", "text", "both", "expanded"] = Field(
        description="How it was found: by meaning, by words, by both, or by way of another note and nothing else."
    )
    via: str | None = Field(
        default=None,
        description="The note that led here, by a link, a tag, a topic or a rare name; null unless it was expanded.",
    )
    also: tuple[str, ...] = Field(default=(), description="Other notes that say the same in the same words.")
    personal: bool


class NamedDays(Message):
    """The time that a question names: its first and last day, such as 2026-03-09, and the words that name it."""

    first: str
    last: str
    words: str


class Understood(Message):
    """How a question was read beyond its words."""

    text: str = Field(description="What was searched for: the question without its filters.")
    filters: tuple[str, ...] = Field(description="Each as written, such as `tag:#work`; all of them have to fit.")
    days: NamedDays | None = Field(description="Passages of these days come first.")
    order: Literal["latest", "earliest", "often"] | None = Field(
        description="Which of the notes are wanted: the latest, the earliest, or how often there are any."
    )


class SourcesEvent(Message):
    """What the answer will be made from; sent first. `silent` means that the vault says nothing on this."""

    type: Literal["sources"] = "sources"
    sources: tuple[Source, ...]
    silent: bool
    personal_included: bool
    generator: str
    notices: tuple[str, ...] = Field(default=(), description="Sentences the reader should see beside the answer.")
    understood: Understood | None = Field(
        default=None, description="How the question was read; null where it is its words and nothing else."
    )


class DeltaEvent(Message):
    """The next piece of the answer's text."""

    type: Literal["delta"] = "delta"
    text: str
    part: Literal["vault", "web"] = Field(
        default="vault", description="What the words rest on; `[n]` counts sources in one, web results in the other."
    )


class WebResult(Message):
    """A page found on the web; never mixed with the vault's sources. All of it is plain text."""

    n: int
    title: str
    url: str
    snippet: str


class WebEvent(Message):
    """What the web gave, under its own heading; it follows the vault's part, and deltas of the web's part follow it."""

    type: Literal["web"] = "web"
    results: tuple[WebResult, ...]
    provider: str
    message: str = Field(description="Why the web was asked, or why it gave nothing; a sentence for the reader.")


class GroundingEvent(Message):
    """The answer checked against its sources: the citations it really makes, and how many were removed."""

    type: Literal["grounding"] = "grounding"
    citations: tuple[Citation, ...]
    removed: int = Field(description="Citations the model made up, taken out before they were shown.")
    refused: bool = Field(description="True when the vault is silent and the answer only says so.")


class DoneEvent(Message):
    """The answer is complete."""

    type: Literal["done"] = "done"
    seconds: float
    finish: Literal["stop", "length"]


class ErrorEvent(Message):
    """The answer ends here, incomplete. `message` is a sentence for the reader."""

    type: Literal["error"] = "error"
    code: str
    message: str
    retry: bool = Field(description="Whether trying the same again later may help.")


AnswerEvent = Annotated[
    SourcesEvent | DeltaEvent | WebEvent | GroundingEvent | DoneEvent | ErrorEvent, Field(discriminator="type")
]


class WebPart(Message):
    """What the web added to an answer. `answer` is empty where no model worded it; its `[n]` count `results`."""

    results: tuple[WebResult, ...]
    provider: str
    message: str
    answer: str


class AskResponse(Message):
    """A whole answer, for callers that do not stream. `web` is null where the web was not asked."""

    answer: str
    citations: tuple[Citation, ...]
    sources: tuple[Source, ...]
    silent: bool
    refused: bool
    personal_included: bool
    generator: str
    notices: tuple[str, ...]
    understood: Understood | None = None
    web: WebPart | None
    seconds: float
    finish: Literal["stop", "length"]


class SearchHit(Source):
    """A hit of a search, with the parts its score is made of."""

    trace: dict[str, float]


class SearchResponse(Message):
    """The hits, best first. `notices` says when an arm, or what was asked for, could not take part."""

    hits: tuple[SearchHit, ...]
    notices: tuple[str, ...]
    understood: Understood | None = Field(
        default=None, description="How the query was read; null where it is its words and nothing else."
    )
    seconds: float


class NoteProblem(Message):
    """Something the owner should mend in a note."""

    path: str
    code: str
    message: str
    line: int | None


class IndexProgress(Message):
    """The work that is going on, if any."""

    phase: Literal["idle", "listing", "indexing", "embedding", "waiting", "rebuilding", "failed"]
    done: int
    total: int
    rate: float = Field(description="Notes (or chunks, while embedding) a second.")
    seconds_left: float | None


class Freshness(Message):
    """How far the index is behind the vault. Times are UTC, such as 2026-05-01T10:00:00+00:00.

    A caller who may not see personal notes is told of the visible index alone: null, null and 0 for the rest.
    """

    lag: int | None = Field(description="Changes the vault holds that were not taken yet; null where nobody can tell.")
    last_change_seen: str | None = Field(description="When the vault last told of a change.")
    last_change_indexed: str | None = Field(description="When a note was last stored in the index.")
    waiting: int = Field(description="Notes whose newest version is not whole yet; the one before it is searched.")


class VaultStatus(Message):
    """The vault as the source sees it."""

    name: str
    kind: Literal["folder", "couchdb"]
    mode: str
    message: str
    freshness: Freshness


class EmbeddingStatus(Message):
    """The embedder, and what still waits for it."""

    model: str
    dimension: int | None
    ready: bool
    waiting: int = Field(description="Notes that are found by words alone until their vectors are made.")
    last_error: str | None
    next_try_seconds: float | None
    centred: bool
    rebuild_needed: str | None = Field(description="What to do when the stored vectors belong to another model.")


class GenerationStatus(Message):
    """Who words the answers, and who could."""

    generator: str
    local: bool
    offered: tuple[str, ...] = Field(description="Chat models found on this machine, usable once configured.")


class RerankerStatus(Message):
    """Who looks at the best passages again and puts them in order."""

    name: str
    local: bool = Field(description="Whether it runs on the owner's machines; if not, it is given open notes only.")


class WebStatus(Message):
    """Whether the web may help where the vault says little."""

    enabled: bool
    provider: str | None = Field(description="Who is sent the question then; null while the web is off.")
    keeps_question_home: bool = Field(description="Whether that is a server of the owner's own.")


class StatusResponse(Message):
    """How the daemon is doing. Counts are of what the caller may see; names need the owner's ceiling."""

    version: str
    vault: VaultStatus
    notes: int
    chunks: int
    last_indexed: str | None
    progress: IndexProgress
    embedding: EmbeddingStatus
    generation: GenerationStatus
    reranker: RerankerStatus | None = Field(default=None, description="Null where none is configured.")
    web: WebStatus
    personal_allowed: bool = Field(
        default=True, description="Whether a question here may include personal notes; each door says so for itself."
    )
    problems: tuple[NoteProblem, ...]
    problem_count: int
    rules: dict[str, int] = Field(description="How many notes each personal pattern matches.")
    warnings: tuple[str, ...]


class IndexEvent(Message):
    """The whole state of the index, sent when something about it changed. It names no note.

    A caller who may not see personal notes is told no figures of the work, since those count every note.
    """

    type: Literal["index"] = "index"
    progress: IndexProgress
    freshness: Freshness
    notes: int
    chunks: int
    waiting: int = Field(description="Notes that are found by words alone until their vectors are made.")
    last_indexed: str | None
    mode: str = Field(description="How changes reach the index: watching, polling, stand-in, waiting or stopped.")
    message: str = Field(description="The same in a sentence; while waiting, why.")


class NotesEvent(Message):
    """Notes whose indexed version is another one now. Paths are of the notes that the caller may see, and asked for.

    A note that stopped being visible is `gone`, whatever became of it.
    """

    type: Literal["notes"] = "notes"
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    more: bool = Field(description="True when more changed than is listed: then anything may have.")


class NoteState(Message):
    """How a note stands in the index. Times are UTC, such as 2026-05-01T10:00:00+00:00."""

    state: Literal["indexed", "words_only", "incomplete"] = Field(
        description="words_only: it is found by words alone until its vectors are made. incomplete: a newer version is "
        "not whole yet, and the one before it is searched."
    )
    indexed_at: str
    modified_at: str = Field(description="When the indexed version was last changed, as the device that wrote it says.")
    message: str = Field(description="The same in a sentence.")


class NoteResponse(Message):
    """Lines of a note as the index holds it. Lines are 1-based, inclusive, frontmatter counted."""

    path: str
    title: str
    personal: bool
    line_start: int = Field(
        description="The first line in `text`. Of the frontmatter only properties are held, so it may be a later one."
    )
    line_end: int
    line_count: int = Field(description="The last line that the index holds of the note.")
    text: str = Field(description="Verbatim text of those lines; empty where the index holds none of them.")
    index: NoteState


class RelatedNote(Message):
    """A note near another one, with its passage that comes nearest."""

    path: str
    title: str
    personal: bool
    score: float
    because: tuple[Literal["link", "backlink", "meaning"], ...] = Field(
        description="link: the note links to it. backlink: it links to the note. meaning: it speaks of the same."
    )
    heading: str | None
    block: str | None
    line_start: int
    line_end: int
    quote: str = Field(description="Verbatim text of those lines, a few at most.")


class RelatedResponse(Message):
    """The notes near one note, nearest first; the note itself is not among them."""

    path: str
    related: tuple[RelatedNote, ...]
    notices: tuple[str, ...]
    seconds: float


class HealthResponse(Message):
    """Alive, and nothing more: told to anyone."""

    status: Literal["ok"] = "ok"


class ErrorResponse(Message):
    """Why a request was refused or failed, in one sentence."""

    code: str
    message: str


class WireRoot(Message):
    """One of everything, so that one schema holds every message."""

    ask_request: AskRequest
    ask_response: AskResponse
    session_request: SessionRequest
    search_request: SearchRequest
    search_response: SearchResponse
    status_response: StatusResponse
    note_response: NoteResponse
    related_response: RelatedResponse
    health_response: HealthResponse
    error_response: ErrorResponse
    event: AnswerEvent
    index_event: IndexEvent
    notes_event: NotesEvent
