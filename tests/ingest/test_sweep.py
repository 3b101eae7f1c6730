"""A sweep compares the whole vault with the index, reads what may have changed and embeds what did."""

from collections.abc import Callable
from threading import Event

import pytest

from fakes import FakeSource
from ingest.bench import AWAY, OPEN, Bench
from vault_ask.errors import SourceRefused, SourceUnreachable
from vault_ask.ingest import drafting as drafting_module
from vault_ask.ingest import ingest as ingest_module
from vault_ask.settings.vault import ChunkSettings

Make = Callable[..., Bench]
NOTES = {"Rent.md": "The rent is 9200 from May.\n", "Boat.md": "The boat needs a new sail.\n", "Hub.md": "[[Rent]]\n"}


def test_a_first_sweep_and_a_second_one_count_what_they_did(bench: Make) -> None:
    work = bench(NOTES)
    first = work.index_all()
    assert (first.new, first.changed, first.unchanged, first.deleted) == (3, 0, 0, 0)
    work.forget_calls()
    second = work.index_all()
    assert not second.anything
    assert (work.source.reads, work.embedder.embedded) == ([], [])


def test_touching_a_note_reads_it_and_embeds_nothing(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    work.forget_calls()
    with work.index.open(OPEN) as view:
        before = view.notes.note("Rent.md")
    work.source.put("Rent.md", NOTES["Rent.md"])
    report = work.index_all()
    assert (report.changed, report.unchanged) == (0, 1)
    with work.index.open(OPEN) as view:
        now = view.notes.note("Rent.md")
    assert before
    assert now
    assert now.modified_at > before.modified_at, "the note would be said to wait for its newest version"
    assert (work.source.reads, work.embedder.embedded) == (["Rent.md"], [])
    work.forget_calls()
    work.index_all()
    assert work.source.reads == [], "the new revision was not remembered"


def test_an_edit_embeds_only_the_passages_it_changed(bench: Make) -> None:
    sections = [f"# Part {n}\n\n{' '.join(f'w{n}x{i}' for i in range(120))}\n" for n in range(6)]
    work = bench({"Long.md": "\n".join(sections)})
    work.index_all()
    whole = len(work.passages("Long.md"))
    assert whole >= 4
    work.forget_calls()
    sections[3] = sections[3].replace("w3x7", "marzipan")
    work.source.put("Long.md", "\n".join(sections))
    report = work.index_all()
    assert report.changed == 1
    assert len(work.embedder.embedded) == 1
    assert "marzipan" in work.embedder.embedded[0]


def test_a_changed_recipe_reads_everything_again_and_embeds_nothing_again(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    work.forget_calls()
    work.restart(chunks=ChunkSettings(target_tokens=200))
    report = work.index_all()
    assert sorted(work.source.reads) == sorted(NOTES)
    assert report.changed == 3
    assert work.embedder.embedded == []
    work.forget_calls()
    work.index_all()
    assert work.source.reads == [], "the new recipe was not remembered"


def test_an_interrupted_first_sweep_remembers_its_recipe(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_module, "GROUP", 1)
    work = bench(NOTES)
    stop = Event()
    work.ingest._progress._changed = lambda: stop.set() if work.progress.snapshot.done else None
    work.sweep(stop)
    assert len(work.paths()) == 1
    read_before = list(work.source.reads)
    work.restart(chunks=ChunkSettings(target_tokens=200))
    work.forget_calls()
    work.sweep()
    assert set(read_before) < set(work.source.reads) == set(NOTES)


def test_an_interrupted_sweep_goes_on_where_it_stopped(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_module, "GROUP", 1)
    work = bench(NOTES)
    stop = Event()
    work.ingest._progress._changed = lambda: stop.set() if work.progress.snapshot.done else None
    work.sweep(stop)
    work.restart()
    work.forget_calls()
    assert work.sweep().new == 2
    assert len(work.source.reads) == 2


def test_an_interrupted_sweep_deletes_nothing(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    work.source.remove("Boat.md")
    stop = Event()
    stop.set()
    assert work.sweep(stop).deleted == 0
    assert "Boat.md" in work.paths()


def test_a_deleted_note_is_gone_with_its_words_and_vectors(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    assert work.found("new sail") == ["Boat.md"]
    work.source.remove("Boat.md")
    assert work.index_all().deleted == 1
    assert work.found("new sail") == []
    assert "Boat.md" not in work.found("The boat needs a new sail", arm="vector")
    assert work.counts().notes == 2


def test_a_note_renamed_while_nobody_looked_is_not_embedded_again(bench: Make) -> None:
    work = bench({"A/Old name.md": "# Angles\n\nText of quince and compass.\n", **NOTES})
    work.index_all()
    work.forget_calls()
    work.source.move("A/Old name.md", "B/New name.md")
    report = work.index_all()
    assert (report.new, report.deleted) == (1, 1)
    assert work.embedder.embedded == []
    assert work.found("text of quince and compass", arm="vector")[0] == "B/New name.md"
    assert "A/Old name.md" not in work.paths()


def test_a_case_only_rename_keeps_one_note_its_vectors_and_its_links(bench: Make) -> None:
    work = bench(
        {"geometry.md": "angles text quince\n", "Hub.md": "[[geometry]]\n", "math/sets.md": "a set of pears\n"}
    )
    work.index_all()
    work.forget_calls()
    work.source.move("geometry.md", "Geometry.md")
    work.source.move("math/sets.md", "Math/sets.md")
    work.follow()
    work.backlog.drain(Event())
    assert work.paths() == ["Geometry.md", "Hub.md", "Math/sets.md"]
    assert work.embedder.embedded == []
    assert work.found("where are angles explained?", arm="hybrid")[0] == "Geometry.md"
    with work.index.open(OPEN) as view:
        assert [edge.target_path for edge in view.links.edges_from("Hub.md")] == ["Geometry.md"]


def test_a_suddenly_empty_vault_leaves_the_index_as_it_was(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    for path in NOTES:
        work.source.remove(path)
    with pytest.raises(SourceUnreachable):
        work.sweep()
    assert work.paths() == sorted(NOTES)


def test_an_absent_vault_leaves_the_index_as_it_was(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    work.source.go_away()
    with pytest.raises(SourceUnreachable):
        work.sweep()
    assert work.paths() == sorted(NOTES)
    assert work.progress.snapshot.phase == "idle"


def test_notes_in_a_closed_folder_stay_until_it_opens(bench: Make) -> None:
    work = bench({"Closed/a.md": "alpha\n", "b.md": "beta\n", "c.md": "gamma\n"})
    work.index_all()
    work.source.close("Closed")
    work.source.remove("c.md")
    assert work.sweep().deleted == 1
    assert work.paths() == ["Closed/a.md", "b.md"]


def test_an_index_of_another_vault_is_not_emptied(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    work.close()
    other = bench(source=FakeSource({"Else.md": "another vault\n"}, name="other"))
    with pytest.raises(SourceRefused):
        other.sweep()
    assert other.paths() == sorted(NOTES)
    work._open((), None)


def test_a_note_that_vanishes_between_listing_and_reading_harms_no_other(bench: Make) -> None:
    work = bench(NOTES)
    listing = work.source.listing()
    work.source.listing = lambda: listing  # type: ignore[method-assign]
    work.source.remove("Boat.md")
    report = work.sweep()
    assert report.failed == {"Boat.md": "vanished"}
    assert work.paths() == ["Hub.md", "Rent.md"]


def test_a_note_that_cannot_be_parsed_keeps_its_text_and_is_closed(
    bench: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = bench(NOTES)
    work.index_all()
    parse = drafting_module.parse

    def fail_on_rent(path: str, *args: object, **how: object) -> object:
        if path == "Rent.md":
            raise RecursionError
        return parse(path, *args, **how)

    monkeypatch.setattr(drafting_module, "parse", fail_on_rent)
    work.source.put("Rent.md", "something that no parser stands\n")
    work.source.put("Boat.md", "The boat is sold.\n")
    report = work.sweep()
    assert report.failed == {"Rent.md": "RecursionError"}
    assert work.found("boat sold") == ["Boat.md"]
    assert work.found("9200 from May") == ["Rent.md"]
    assert work.found("9200 from May", OPEN) == []
    monkeypatch.undo()
    work.sweep()
    assert work.found("no parser stands", OPEN)[0] == "Rent.md"


def test_without_an_embedder_at_hand_everything_is_found_by_words(bench: Make) -> None:
    work = bench(NOTES)
    work.embedder.fail_with(AWAY)
    work.sweep()
    assert not work.backlog.drain(Event())
    assert work.found("new sail") == ["Boat.md"]
    assert work.counts().waiting_notes == 3


def test_the_links_of_a_note_whose_date_is_read_in_another_order_are_resolved(bench: Make) -> None:
    work = bench(
        {
            "Clear.md": "---\ndate: 13/04/2026\n---\nfirst\n",
            "Unclear.md": "---\ndate: 03/04/2026\n---\nsee [[Target]]\n",
            "Target.md": "goal\n",
        }
    )
    work.index_all()
    with work.index.open(OPEN) as view:
        assert [edge.target_path for edge in view.links.edges_from("Unclear.md")] == ["Target.md"]
