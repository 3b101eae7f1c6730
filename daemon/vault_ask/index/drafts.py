"""What is stored, as values on the way into the index: a note ready to go in, and what its sensitivity rests on."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from vault_ask.index.chunk_state import ChunkState
from vault_ask.index.embedding import Vector
from vault_ask.notes.model import Chunk, FrontmatterState, Note
from vault_ask.scope import Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherClaim:
    """What a version of a note that lost a conflict says of how personal the note is; `tags` None: nobody can tell."""

    path: str
    frontmatter: Mapping[str, object]
    state: FrontmatterState
    tags: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A note ready to be stored: parsed, classified (with what its `others` say), cut and hashed."""

    note: Note
    chunks: tuple[Chunk, ...]
    resolved_path: str
    content_hash: bytes
    revision: str
    mtime: float
    size: int
    others: tuple[OtherClaim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a note's sensitivity is decided from, as stored, so that new rules need no reading of the vault.

    `sensitivity` is what it came to for this note by itself; what it is a conflict copy of may make it personal.
    """

    id: int
    path: str
    resolved_path: str
    frontmatter: Mapping[str, object]
    state: FrontmatterState
    tags: tuple[str, ...]
    others: tuple[OtherClaim, ...]
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True)
class Waiting:
    """A chunk whose vector is still to be made: `text` is what the embedder gets."""

    chunk: int
    embed_hash: bytes
    text: str


def embedding_text(chunk: Chunk) -> str:
    """Give what the embedder reads: the prelude and the passage under it."""
    return f"{chunk.prelude}\n{chunk.body}".strip()


def embedding_hash(chunk: Chunk) -> bytes:
    """Name the text that is embedded, without case: a case-only rename needs no new vector."""
    return blake2b(embedding_text(chunk).casefold().encode(), digest_size=16).digest()


def text_hash(chunk: Chunk) -> bytes:
    """Name the passage without its prelude, so that a renamed note finds its vectors again."""
    parts = "\x1f".join((*chunk.heading_path, chunk.body))
    return blake2b(parts.encode(), digest_size=16).digest()


class Found:
    """A chunk with its hashes and what the embedder made of it, if it was asked."""

    def __init__(self, chunk: Chunk, made: Mapping[bytes, Vector], refused: frozenset[bytes]) -> None:
        self.chunk = chunk
        self.embed_hash = embedding_hash(chunk)
        self.text_hash = text_hash(chunk)
        self.vector = made.get(self.embed_hash) if chunk.embeddable else None
        if not chunk.embeddable:
            self.state = ChunkState.PACKED
        elif self.embed_hash in refused:
            self.state = ChunkState.REFUSED
        else:
            self.state = ChunkState.WAITING


def stored_claims(others: Iterable[OtherClaim]) -> str:
    """Write claims as one value of the index."""
    return json.dumps(
        [(other.path, other.frontmatter, other.state, other.tags) for other in others], ensure_ascii=False
    )


def other_claims(stored: str) -> tuple[OtherClaim, ...]:
    """Read what `stored_claims` wrote, also before it wrote tags."""
    return tuple(
        OtherClaim(path=path, frontmatter=frontmatter, state=FrontmatterState(state), tags=_told(*tags))
        for path, frontmatter, state, *tags in json.loads(stored)
    )


def _told(tags: list[str] | None = None) -> tuple[str, ...] | None:
    return None if tags is None else tuple(tags)
