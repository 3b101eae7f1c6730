"""What is stored of a personal note is stored as personal, by whatever way it comes and at every moment of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fakes import HashEmbedder, bag_of_words
from ingest.bench import AWAY, OPEN, PRIVATE, Bench
from vault_ask.errors import SourceUnreachable
from vault_ask.index.embedding import Refused, Vector
from vault_ask.ingest import ingest
from vault_ask.scope import Scope
from vault_ask.sources.port import Document, Unread, Upserted

DIMENSION = 384


class Looking(HashEmbedder):
    """Looks at what an open question would find while it embeds."""

    def __init__(self) -> None:
        super().__init__(dimension=DIMENSION)
        self.bench: Bench | None = None
        self.seen: list[tuple[list[str], list[str]]] = []

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        if self.bench is not None:
            self.seen.append((self.bench.paths(OPEN), self.bench.paths(PRIVATE)))
        return super().embed_passages(texts)


def near(bench: Bench, words: str, scope: Scope) -> list[str]:
    with bench.index.open(scope) as view:
        found = [chunk for chunk, _ in view.vectors.nearest(bag_of_words(words, DIMENSION), 99)]
    # Read without a ceiling, so that nothing but the vectors' own is looked at.
    with bench.index.open(PRIVATE) as view:
        return sorted(passage.path for passage in view.text.passages(found).values())


def test_a_note_that_became_personal_is_hidden_while_its_new_text_is_embedded(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"N.md": "the harvest", "Open.md": "the barn"}, embedder=(looking := Looking()))
    bench.index_all()
    assert bench.paths(OPEN) == ["N.md", "Open.md"]
    looking.bench = bench
    bench.source.put("N.md", "---\nsensitivity: personal\n---\nthe harvest was sold, and the money is hidden\n")
    bench.follow()
    assert looking.seen == [(["Open.md"], ["N.md", "Open.md"])]
    assert (near(bench, "harvest", OPEN), near(bench, "harvest", PRIVATE)) == (["Open.md"], ["N.md", "Open.md"])
    bench.close()


def test_personal_passages_that_waited_for_their_vectors_are_near_no_open_question(tmp_path: Path) -> None:
    notes = {"Private/N.md": "the harvest", "Open.md": "the barn"}
    bench = Bench(tmp_path, notes, personal=("Private",))
    bench.embedder.fail_with(AWAY)
    bench.sweep()
    assert near(bench, "harvest", PRIVATE) == []
    bench.embedder.recover()
    bench.index_all()
    assert near(bench, "harvest", OPEN) == ["Open.md"]
    assert near(bench, "harvest", PRIVATE) == ["Open.md", "Private/N.md"]
    bench.close()


def test_a_link_into_a_personal_folder_is_stored_as_what_it_leads_to(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"Private/Real.md": "the harvest", "Open.md": "the barn"}, personal=("Private",))
    bench.source.link("Alias.md", "Private/Real.md")
    bench.source.link("Other.md", "Open.md")
    bench.index_all()
    bench.ingest.apply([Upserted("Alias.md"), Upserted("Other.md")])
    assert bench.paths(OPEN) == ["Open.md", "Other.md"]
    assert bench.paths(PRIVATE) == ["Alias.md", "Open.md", "Other.md", "Private/Real.md"]
    bench.close()


def test_when_a_personal_note_was_stored_last_is_known_to_a_view_of_all_notes_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"Private/N.md": "the harvest", "Open.md": "the barn"}, personal=("Private",))
    bench.index_all()
    before = bench.counts(OPEN).last_indexed
    # A moment that no clock of the test could have told by itself.
    bench.writer.set_meta(changed_at="2099-01-01T00:00:00+00:00")
    assert bench.counts(PRIVATE).last_indexed == "2099-01-01T00:00:00+00:00"
    assert bench.counts(OPEN).last_indexed == before
    assert before is not None
    bench.close()


def cut_off_at(bench: Bench, path: str, patch: pytest.MonkeyPatch) -> None:
    """Let the vault go away when this note is to be read."""
    read_all = bench.source.read_all

    def reading(paths: Sequence[str]) -> Iterator[Document | Unread]:
        if path in paths:
            raise SourceUnreachable("The vault went away in the middle.")
        return read_all(paths)

    patch.setattr(bench.source, "read_all", reading)


def test_notes_found_in_a_personal_folder_are_open_at_their_former_places_at_no_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = {f"Journal/N{n}.md": f"the harvest of {n}" for n in range(10)}
    bench = Bench(tmp_path, {**notes, "Open.md": "the barn"}, personal=("Private",))
    bench.index_all()
    assert len(bench.paths(OPEN)) == 11
    monkeypatch.setattr(ingest, "GROUP", 4)
    with monkeypatch.context() as patch:
        # Nobody watched meanwhile, so that a comparison of everything has to find it, which is broken off.
        for n in range(10):
            bench.source.move(f"Journal/N{n}.md", f"Private/N{n}.md")
        cut_off_at(bench, "Private/N5.md", patch)
        with pytest.raises(SourceUnreachable):
            bench.sweep()
    assert bench.paths(OPEN) == ["Open.md"]
    assert {"Private/N0.md", "Journal/N9.md", "Open.md"} <= set(bench.paths(PRIVATE))
    bench.forget_calls()
    bench.index_all()
    assert bench.paths(PRIVATE) == ["Open.md", *(f"Private/N{n}.md" for n in range(10))]
    assert bench.embedder.embedded == []
    bench.close()


def test_a_note_that_was_thought_to_be_gone_and_is_there_again_is_open_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, {"N.md": "the harvest", "Open.md": "the barn"})
    bench.index_all()
    with monkeypatch.context() as patch:
        bench.source.move("N.md", "Away.md")
        cut_off_at(bench, "Away.md", patch)
        with pytest.raises(SourceUnreachable):
            bench.sweep()
    assert bench.paths(OPEN) == ["Open.md"]
    bench.source.move("Away.md", "N.md")
    bench.sweep()
    assert bench.paths(OPEN) == ["N.md", "Open.md"]
    bench.close()
