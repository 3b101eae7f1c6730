"""One document to a note ready to be stored: parsed, classified with its other versions, and cut."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b

from vault_ask.index.drafts import Draft, OtherClaim
from vault_ask.notes.chunker import chunk
from vault_ask.notes.days import Dating, heading_days, note_days
from vault_ask.notes.language import LanguageDetector
from vault_ask.notes.model import Chunk, FrontmatterState, Note
from vault_ask.notes.parse import parse
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import Sensitivity
from vault_ask.settings.vault import ChunkSettings
from vault_ask.sources.port import Document, OtherVersion, Unread

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Undrafted:
    """A document that could not be made a note of, by the name of the error: its message may hold text."""

    path: str
    error: str


_AS_USUAL = Dating()


class Drafter:
    """Makes drafts by one set of rules. It can be pickled where `count` can, and then loads its models anew."""

    def __init__(self, rules: Rules, chunks: ChunkSettings, count: Count, dating: Dating = _AS_USUAL) -> None:
        self._rules = rules
        self._chunks = chunks
        self._count = count
        self._dating = dating
        self._languages = LanguageDetector()

    def __reduce__(self) -> tuple[type["Drafter"], tuple[Rules, ChunkSettings, Count, Dating]]:
        """Leave the language model behind: it cannot be pickled, and whoever needs it loads it."""
        return Drafter, (self._rules, self._chunks, self._count, self._dating)

    def draft(self, document: Document, digest: bytes) -> Draft | Undrafted:
        """Make a draft. One odd note must not keep the others from being indexed, whatever is wrong with it."""
        try:
            return self._draft(document, digest)
        except Exception as error:  # noqa: BLE001 - told as a value; the note before it stays
            return Undrafted(document.entry.path, type(error).__name__)

    def is_personal_already(self, unread: Unread) -> bool:
        """Say whether what has arrived of a newer version, or another version of it, makes the note personal."""
        if any(said_by(self._rules, self._claim(other)) is Sensitivity.PERSONAL for other in unread.others):
            return True
        if not (unread.beginning or unread.moved_to):
            return False
        newest = parse(unread.path, unread.beginning, self._rules, resolved_path=unread.moved_to)
        return newest.sensitivity is Sensitivity.PERSONAL

    def _draft(self, document: Document, digest: bytes) -> Draft:
        note = parse(document.entry.path, document.content, self._rules, resolved_path=document.resolved_path)
        others = tuple(self._claim(other) for other in document.others)
        note = replace(
            note,
            language=self._languages.detect(note.body),
            sensitivity=max(note.sensitivity, *(said_by(self._rules, other) for other in others), Sensitivity.OPEN),
            days=note_days(note, self._dating),
        )
        return Draft(
            note=note,
            chunks=tuple(self._dated(part, note) for part in chunk(note, count=self._count, options=self._chunks)),
            resolved_path=document.resolved_path,
            content_hash=digest,
            revision=document.entry.revision,
            mtime=document.entry.mtime,
            size=document.entry.size,
            others=others,
        )

    def _dated(self, part: Chunk, note: Note) -> Chunk:
        return replace(part, days=heading_days(part.heading_path, note.days, self._dating))

    def _claim(self, other: OtherVersion) -> OtherClaim:
        if other.content is None:
            return OtherClaim(path=other.path, frontmatter={}, state=FrontmatterState.UNREADABLE)
        note = parse(other.path, other.content, self._rules)
        return OtherClaim(path=other.path, frontmatter=note.frontmatter, state=note.frontmatter_state, tags=note.tags)


def said_by(rules: Rules, other: OtherClaim) -> Sensitivity:
    """Decide what a version that lost a conflict would be by itself."""
    return rules.classify(other.path, None, other.frontmatter, other.state, other.tags)


def content_hash(document: Document) -> bytes:
    """Name a document's bytes, with the place a link inside the vault led to and the versions that lost a conflict."""
    digest = blake2b(document.content, digest_size=16)
    if document.resolved_path != document.entry.path:
        digest.update(b"\x00" + document.resolved_path.encode())
    for other in document.others:
        digest.update(b"\x01" + other.path.encode())
        digest.update(b"\x02" if other.content is None else blake2b(other.content, digest_size=16).digest())
    return digest.digest()


def count_words(text: str) -> int:
    """Estimate tokens where no embedder is at hand: a third of the UTF-8 bytes, which no tokenizer exceeds by much."""
    return len(text.encode()) // 3 + 1
