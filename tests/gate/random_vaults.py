"""Random vaults whose personal notes hold canaries in every place that a note has, and random requests about them.

A canary begins with `MARK`, which no other word does, and names its place and its note. Open notes hold none; they
may link to, embed and share a name with personal notes.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import quote

from hypothesis import strategies as st

from vault_ask.answering.conversation import Turn

MARK = "qzx"
CANARY = re.compile(rf"{MARK}\w*", re.IGNORECASE)

Notes = Mapping[str, str]
Generation = Literal["quotes", "local", "remote", "remote and a local one"]
AskDoor = Literal["stream", "json", "cli", "cli json", "cli sources"]
SearchDoor = Literal["get", "post", "cli", "cli json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vault:
    """The notes of a vault. `conflicts` are the versions of personal notes that lost; `cut` have not arrived whole."""

    open: Notes
    personal: Notes
    attachments: tuple[str, ...] = ()
    conflicts: Notes = field(default_factory=dict)
    cut: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How the house is set up: who words answers, what the web does, what else is personal, what goes wrong."""

    generation: Generation = "quotes"
    web: Literal["off", "pages", "nothing", "fails"] = "off"
    default: Literal["open", "personal"] = "open"
    questions: Literal["hash", "text", "none"] = "hash"
    centring: Literal["auto", "on", "off"] = "auto"
    embedder: Literal["well", "refuses personal", "away"] = "well"
    top_k: int = 8
    reranker: Literal["none", "own", "hosted"] = "none"
    still: bool = False
    """Whether statistics of the whole vault stand still: then nothing at all may depend on personal notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question at a door. A request with an open ceiling is the same request at a door that opens open notes only."""

    door: AskDoor
    question: str
    ceiling: Literal["open", "personal"] = "personal"
    personal: bool = False
    web: bool | None = None
    history: tuple[Turn, ...] = ()
    note: str | None = None
    k: int | None = None
    language: str | None = None
    selection: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search at a door."""

    door: SearchDoor
    query: str
    ceiling: Literal["open", "personal"] = "personal"
    personal: bool = False
    arm: Literal["hybrid", "vector", "text"] = "hybrid"
    k: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Any other request: the state of the house, addresses that are none, requests that do not fit."""

    method: Literal["GET", "POST"]
    address: str
    ceiling: Literal["open", "personal"] = "open"
    owner: bool = False
    body: Any = None

    @property
    def personal(self) -> bool:
        """Whether the caller may know of personal notes; the owner's key opens the states alone."""
        path, _, query = self.address.partition("?")
        if path in {"/api/status", "/api/events"}:
            return self.owner or self.ceiling == "personal"
        reads = path.startswith(("/api/notes/", "/api/related"))
        return reads and self.ceiling == "personal" and "include_personal=true" in query


Request = Ask | Search | Call

WORDS = ("rent", "barn", "lease", "harvest", "möte", "hyran", "家賃交渉", "c++", "money", "letter", "the", "what is")
TAGS = ("#work", "#work/urgent", "#åter")
NAMES = ("Alpha", "Beta", "Gamma", "Delta")
"""Names that open and personal notes share."""
SECRETS = ("Passport", "Therapy log")
"""Names of personal notes that an open note may tell: they are no canaries themselves."""
FOLDERS = ("Open", "Open/Deep", "")


def _text(words: Sequence[str], *, most: int = 10) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(words), max_size=most).map(" ".join)


_LINKS = tuple(f"{bang}[[{name}{rest}]]" for name in (*NAMES, *SECRETS) for bang, rest in (("", ""), ("!", "#Part")))
_OPEN_PARTS = (*WORDS, *TAGS, *_LINKS, "\n\n# Part\n\n", "\n\n", "[x](Passport.md)", "![[Trip.png]]")
_OPEN_HEADS = ("", "", "", "---\ntags: [work]\naliases: [Other]\n---\n", "---\ntitle: Shown\n\n", "# Heading\n\n")
OPEN_CANVAS = json.dumps({"nodes": [{"id": "a", "type": "text", "text": "rent and barn", "x": 0, "y": 0}], "edges": []})


def _path(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


_OPEN_PATHS = st.builds(_path, st.sampled_from(FOLDERS), st.sampled_from(NAMES).map(lambda name: f"{name}.md"))
_OPEN_TEXTS = st.builds("{}{}\n".format, st.sampled_from(_OPEN_HEADS), _text(_OPEN_PARTS, most=14))
_SOME, _ANY = (st.dictionaries(_OPEN_PATHS, _OPEN_TEXTS, min_size=least, max_size=5) for least in (2, 0))
_OPEN_NOTES: st.SearchStrategy[dict[str, str]] = st.one_of(_SOME, _SOME, _SOME, _ANY, st.just({}))


class _Canaries:
    """The canaries of one note, a word for each place."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __getattr__(self, place: str) -> str:
        return f"{MARK}{place}{self._number}"


def _head(c: _Canaries, *own: str) -> str:
    lines = (f"title: {c.title}", f"aliases: [{c.alias}]", f"tags: [work, {c.tag}]", f"{c.key}: {c.value}", *own)
    return "\n".join(("---", *lines, f"up: '[[{c.topic}]]'", "---", ""))


def _body(c: _Canaries, text: str) -> str:
    return (
        f"# {c.heading}\n\n{text} {c.body} #{c.inline} [[Alpha]] [[{c.link}|{c.label}]] ![[{c.embed}#{c.part}]]\n\n"
        f"![[{c.picture}.png]] [{c.shown}](https://example.org/{c.url}) %%{c.comment}%%\n\n"
        f"{text} ^{c.block}\n\n- [ ] {c.task}\n"
    )


def _canvas(c: _Canaries, text: str) -> str:
    cards = [
        {"id": "a", "type": "text", "text": f"# {c.heading}\n{text} {c.card}", "x": 0, "y": 0},
        {"id": "b", "type": "file", "file": f"{c.file}.md", "x": 9, "y": 0},
    ]
    edge = {"id": "e", "fromNode": "a", "toNode": "b", "label": c.edge}
    return json.dumps({"nodes": cards, "edges": [edge]}, ensure_ascii=False)


CROWD = 45
"""Sections of a long personal note: more than make a word common in a small vault."""


def _crowd(c: _Canaries, text: str) -> str:
    return "".join(f"# {c.heading} {number}\n\n{text} {c.body} {number}\n\n" for number in range(CROWD))


@dataclass(frozen=True, slots=True)
class _Personal:
    """One personal note: where and its text; `lost` is the version of it that lost a conflict, `copy` a copy of it."""

    path: str
    text: str
    lost: str = ""
    copy: str = ""

    @property
    def notes(self) -> Notes:
        """The files of it."""
        copied = f"{self.path.removesuffix('.md')} (conflicted copy 2026-01-02).md"
        return {self.path: self.text} | ({copied: self.copy} if self.copy else {})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a note may lie: in a personal folder, in a copy of it, or beside open notes and says itself what it is.

    `before` is nearer to the root than an open note of the same name, so that links by this name mean it.
    """

    inside: str
    copied: str
    beside: str
    before: str


def _marked(c: _Canaries, text: str) -> str:
    return _head(c, "sensitivity: personal") + _body(c, text)


WAYS: Mapping[str, Callable[[_Canaries, _Place, str], _Personal]] = {
    "folder": lambda c, at, text: _Personal(f"{at.inside}.md", _head(c) + _body(c, text)),
    "key": lambda c, at, text: _Personal(f"{at.beside}.md", _marked(c, text)),
    "namesake": lambda c, at, text: _Personal(f"{at.before}.md", _marked(c, text)),
    "odd key": lambda c, at, text: _Personal(f"{at.beside}.md", _head(c, f"Sensitivity: [{c.odd}]") + _body(c, text)),
    "tag": lambda c, at, text: _Personal(f"{at.beside}.md", f"#diary/{c.tagged} {_body(c, text)}"),
    "broken": lambda c, at, text: _Personal(f"{at.beside}.md", f"---\ntitle: {c.title}\nx: [\n---\n{text} {c.body}\n"),
    "conflict": lambda c, at, text: _Personal(f"{at.beside}.md", _body(c, text), lost=_marked(c, c.lost)),
    "copy": lambda c, at, text: _Personal(f"{at.beside}.md", _marked(c, text), copy=f"# {c.copied}\n\n{text}\n"),
    "copied folder": lambda c, at, text: _Personal(f"{at.copied}.md", _head(c) + _body(c, text)),
    "canvas": lambda c, at, text: _Personal(f"{at.inside}.canvas", _canvas(c, text)),
    "crowd": lambda c, at, text: _Personal(f"{at.inside}.md", _head(c) + _crowd(c, text or "rent")),
    "cut": lambda c, at, text: _Personal(f"{at.inside} cut.md", _head(c) + _body(c, text)),
    "swedish": lambda c, at, text: _Personal(f"{at.inside}.md", f"{_SWEDISH} {c.body} {text}\n\n# {c.heading}\n\n"),
    "nul": lambda c, at, text: _Personal(f"{at.inside}.md", f"{text} {c.body}\n\0\x01 {c.control}\n"),
}
"""How a note comes to be personal, and what else may be odd about it."""

PERSONAL_FOLDERS = ("Private", "private", "Work/PRIVATE")


def _personal(way: str, number: int, name: str, folder: str, text: str) -> _Personal:
    c = _Canaries(number)
    called = name or c.name
    inside, copied = f"{folder}/{c.folder}/{called}", f"{folder} (conflicted copy 2026-01-02)/{c.folder}/{called}"
    return WAYS[way](c, _Place(inside, copied, f"Open/{called} {number}", f"A/{name or NAMES[number % 2]}"), text)


_SWEDISH = "Jag skrev om hyran och mötet med värden igår, och han svarade att han inte kan sänka den före sommaren."

_PERSONAL_NOTES = st.lists(
    st.tuples(
        st.sampled_from(("folder", "namesake", *WAYS)),
        st.sampled_from(("", "", *NAMES[:2], *SECRETS)),
        st.sampled_from(PERSONAL_FOLDERS),
        _text((*WORDS, *TAGS), most=8),
    ),
    min_size=1,
    max_size=4,
).map(lambda drawn: [_personal(way, n, name, folder, text) for n, (way, name, folder, text) in enumerate(drawn, 1)])


def _said_open(text: str) -> str:
    """Have a note say itself that it is open."""
    head, rest = ("---\n", text[4:]) if text.startswith("---\n") else ("---\n", f"---\n{text}")
    return f"{head}sensitivity: open\n{rest}"


def _vault(open_: Notes, personal: Sequence[_Personal], *, canvas: bool) -> Vault:
    more = {"Open/Board.canvas": OPEN_CANVAS} if canvas else {}
    return Vault(
        open={**open_, **more},
        personal={path: text for one in personal for path, text in one.notes.items()},
        attachments=tuple(f"Private/{MARK}picture{n}.png" for n in range(1, len(personal) + 1)),
        conflicts={one.path: one.lost for one in personal if one.lost},
        cut=frozenset(one.path for one in personal if one.path.endswith(" cut.md")),
    )


VAULTS = st.builds(_vault, _OPEN_NOTES, _PERSONAL_NOTES, canvas=st.sampled_from((False, False, True)))

SETUPS = st.builds(
    Setup,
    generation=st.sampled_from(("quotes", "local", "local", "remote", "remote and a local one")),
    web=st.sampled_from(("off", "pages", "pages", "nothing", "fails")),
    default=st.sampled_from(("open", "open", "personal")),
    questions=st.sampled_from(("hash", "text", "none")),
    centring=st.sampled_from(("auto", "on", "off")),
    embedder=st.sampled_from(("well", "well", "well", "refuses personal", "away")),
    top_k=st.sampled_from((2, 8, 50)),
    reranker=st.sampled_from(("none", "none", "own", "hosted")),
    still=st.booleans(),
)

_TYPED = tuple(f"{MARK}{place}{n}" for place in ("body", "title", "alias", "tag", "name", "heading") for n in (1, 2))
_MENTIONS = ("[[Passport]]", "[[therapy LOG#Part]]", "Read Private/Passport.md", "[[Nobody]]", "[[Alpha]]", "#diary")
_ADDRESS = f"obsidian://open?vault=v&file=Private%2F{MARK}folder1%2FPassport"
_QUESTION_WORDS = (*WORDS, *WORDS, *WORDS, *_MENTIONS, *_TYPED, _ADDRESS)
_FOLLOW_UPS = ("And how much?", "What about it?", "?", "tell me more", "zebra giraffe", "何ですか")
_WORDED = st.lists(st.sampled_from(_QUESTION_WORDS), min_size=1, max_size=5).map(" ".join)
_PLAIN = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
_FILTERS = (
    *(
        "tag:#work",
        "-tag:#work",
        "tag:åter",
        "tag:#diary",
        f"tag:{MARK}tag1",
        f"tag:#{MARK}inline2",
        "tag:#work OR path:Private/",
    ),
    *(
        "path:Open/",
        "path:Private/",
        f'path:"private/{MARK}folder1"',
        "file:alpha",
        "file:Passport",
        f"file:{MARK}name1",
    ),
    *(
        "[aliases:Other]",
        "[sensitivity:personal]",
        '["sensitivity"]',
        f"[{MARK}key1:{MARK}value1]",
        f"[aliases:{MARK}alias1]",
    ),
    *("task-todo:", f"task-todo:{MARK}task1", "-task-todo:", 'task:""', f"[up:[[{MARK}topic1]]]"),
)
"""Filters of what open notes have, personal notes alone have, and nothing has."""
_FILTERED = st.builds(
    lambda filters, words: " ".join((*filters, words)),
    st.lists(st.sampled_from(_FILTERS), min_size=1, max_size=2),
    st.one_of(st.just(""), _PLAIN, _WORDED),
)
QUESTIONS = st.one_of(_PLAIN, _PLAIN, _WORDED, _WORDED, _FILTERED, st.sampled_from(_FOLLOW_UPS))

SAID_IN_PRIVATE = " ".join(f"{MARK}{place}{n}" for place in ("body", "value", "former") for n in (1, 2, 3, 4))
"""What an earlier answer from personal notes said; the client sends it back as history."""

_TURNS = st.one_of(
    st.builds(Turn, role=st.just("user"), text=QUESTIONS, personal=st.booleans()),
    st.builds(Turn, role=st.just("assistant"), text=st.just(SAID_IN_PRIVATE), personal=st.booleans()),
    st.just(Turn(role="user", text=f"my {MARK}typed9 rent", personal=True)),
)
_ANSWERED = (Turn(role="user", text="rent"), Turn(role="assistant", text=SAID_IN_PRIVATE, personal=True))
HISTORIES = st.one_of(st.just(()), st.just(_ANSWERED), st.lists(_TURNS, min_size=1, max_size=4).map(tuple))


def _noted(vault: Vault) -> st.SearchStrategy[str | None]:
    paths = (*vault.open, *vault.open, *vault.personal, *vault.personal)
    there = st.builds(lambda path, spell: spell(path), st.sampled_from(paths), st.sampled_from(_SPELLINGS))
    nowhere = st.sampled_from((f"Private/{MARK}folder1/Nothing.md", "Nothing.md"))
    return st.one_of(st.none(), there, there, nowhere)


_SPELLINGS: tuple[Callable[[str], str], ...] = (str, str, str.upper, "/{}".format, lambda path: path[:-3])
"""How a note in question may be written."""


def _wishes(vault: Vault) -> Mapping[str, st.SearchStrategy[Any]]:
    return {
        "note": _noted(vault),
        "k": st.sampled_from((None, None, 1, 3, 50)),
        "language": st.sampled_from((None, None, "sv", "zh-Hant", "tlh")),
    }


def _asks(vault: Vault) -> st.SearchStrategy[Ask]:
    at_rest = st.builds(
        Ask,
        door=st.sampled_from(("stream", "json")),
        question=QUESTIONS,
        ceiling=st.sampled_from(("open", "personal")),
        personal=st.sampled_from((False, False, True)),
        web=st.sampled_from((None, None, False, True)),
        history=HISTORIES,
        selection=st.one_of(st.none(), st.none(), _PLAIN),
        **_wishes(vault),
    ).map(_allowed)
    typed = st.builds(
        Ask,
        door=st.sampled_from(("cli", "cli json", "cli sources")),
        question=QUESTIONS,
        personal=st.sampled_from((False, False, True)),
        web=st.sampled_from((None, None, False, True)),
        **_wishes(vault),
    ).map(_allowed)
    return st.one_of(at_rest, at_rest, typed)


def _allowed(ask: Ask) -> Ask:
    """Leave the web open to nobody who includes personal notes; that request is refused, and is among the calls."""
    return replace(ask, web=None) if ask.personal and ask.web else ask


_SEARCHES = st.builds(
    Search,
    door=st.sampled_from(("get", "post", "cli", "cli json")),
    query=QUESTIONS,
    ceiling=st.sampled_from(("open", "personal")),
    personal=st.sampled_from((False, False, True)),
    arm=st.sampled_from(("hybrid", "vector", "text")),
    k=st.sampled_from((100, 100, 100, 8, 2)),
).map(lambda search: replace(search, ceiling="personal") if search.door.startswith("cli") else search)
"""A command is its owner's: no ceiling narrows it."""


def _calls(vault: Vault) -> st.SearchStrategy[Call]:
    bad = {"question": 7, "note": next(iter(vault.personal))}
    both = {"question": "rent?", "include_personal": True, "allow_web": True}
    odd = {"question": "rent?", f"{MARK}field": 1}
    hidden = quote(next(iter(vault.personal)))
    states = st.sampled_from(
        (
            Call(method="GET", address="/api/status"),
            Call(method="GET", address="/api/status"),
            Call(method="GET", address="/api/status", owner=True),
            Call(method="GET", address="/api/events"),
            Call(method="GET", address="/api/events"),
            Call(method="GET", address="/api/events", ceiling="personal"),
            Call(method="GET", address="/healthz"),
            Call(method="GET", address="/openapi.json"),
            Call(method="GET", address="/chat"),
            Call(method="GET", address=f"/api/notes/{hidden}"),
            Call(method="GET", address=f"/{hidden}"),
            Call(method="GET", address="/api/search?q=rent&arm=Passport"),
            Call(method="GET", address=f"/api/search?q={MARK}body1&k=0"),
            Call(method="POST", address="/api/ask", body=bad),
            Call(method="POST", address="/api/ask", body=both),
            Call(method="POST", address="/api/ask", body=odd),
            Call(method="POST", address="/api/search", body=[hidden]),
            Call(method="GET", address="/api/ask"),
        )
    )
    return st.one_of(states, _reads(vault))


_SWITCHES = ("", "include_personal=false", "include_personal=true")


def _reads(vault: Vault) -> st.SearchStrategy[Call]:
    """Look at a note, at what is near it, or at which notes change, in sight or hidden or none, and in any spelling."""
    known = (*vault.open, *vault.open, *vault.personal, "Open/Alpha.md", "Private/Passport.md", "Nothing.md")
    spelled = st.sampled_from(known).flatmap(lambda path: st.sampled_from((path, path, path.upper(), path.lower())))
    addresses = st.one_of(
        st.builds("/api/notes/{}?{}".format, spelled.map(quote), st.sampled_from(("", "from=2&to=3&", "from=900&"))),
        st.builds("/api/related?path={}&{}".format, spelled.map(quote), st.sampled_from(("", "k=50&", "k=1&"))),
        st.just("/api/events?"),
    )
    return st.builds(
        lambda address, switch, ceiling, owner: Call(
            method="GET", address=f"{address}{switch}", ceiling=ceiling, owner=owner
        ),
        addresses,
        st.sampled_from(_SWITCHES),
        st.sampled_from(("open", "personal")),
        st.sampled_from((False, False, True)),
    )


def requests_to(vault: Vault) -> st.SearchStrategy[tuple[Request, ...]]:
    """Give a few requests of each kind to a vault."""
    return st.tuples(
        st.lists(_asks(vault), min_size=3, max_size=5),
        st.lists(_SEARCHES, min_size=2, max_size=4),
        st.lists(_calls(vault), min_size=2, max_size=5),
    ).map(lambda kinds: tuple(request for kind in kinds for request in kind))


@st.composite
def examples(draw: st.DrawFn) -> tuple[Vault, Setup, tuple[Request, ...]]:
    """Draw a vault, the house it is kept in, and requests to it."""
    setup, vault = draw(SETUPS), draw(VAULTS)
    if setup.default == "personal":
        marked = {path: _said_open(text) for path, text in vault.open.items() if path.endswith(".md")}
        loose = _Canaries(9)
        unsaid = {f"Open/{loose.folder}/{loose.name}.md": _body(loose, "rent barn")}
        vault = replace(vault, open=marked, personal={**vault.personal, **unsaid})
    return vault, setup, draw(requests_to(vault))
