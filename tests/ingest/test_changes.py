"""Single changes are followed as they come: renames, bursts, departures, and notes that change their sensitivity."""

from collections.abc import Callable
from threading import Event

import pytest

from ingest.bench import AWAY, OPEN, Bench
from vault_ask.errors import SourceUnreachable
from vault_ask.ingest import ingest as ingest_module
from vault_ask.sources.port import Deleted, Rescan, Upserted

Make = Callable[..., Bench]


def test_a_rename_is_one_step_that_embeds_nothing(bench: Make) -> None:
    work = bench({"A.md": "# Angles\n\nText of quince and compass.\n", "B.md": "other\n"})
    work.index_all()
    work.forget_calls()
    work.source.move("A.md", "Moved/C.md")
    report = work.follow()
    assert (report.new, report.deleted) == (1, 1)
    assert work.paths() == ["B.md", "Moved/C.md"]
    assert work.embedder.embedded == []
    assert work.counts().waiting_notes == 0


def test_a_note_deleted_and_written_anew_in_one_batch_stays(bench: Make) -> None:
    work = bench({"A.md": "as it was\n"})
    work.index_all()
    work.source._store("A.md", "as it is now\n")
    work.ingest.apply([Deleted("A.md"), Upserted("A.md")])
    assert work.found("as it is now") == ["A.md"]


def test_the_departure_of_a_note_that_is_not_indexed_counts_for_nothing(bench: Make) -> None:
    work = bench({"A.md": "text\n"})
    work.index_all()
    assert not work.ingest.apply([Deleted("never/there.md")]).anything


def test_an_arrival_that_is_gone_when_it_is_read_leaves_the_index_alone(bench: Make) -> None:
    work = bench({"A.md": "text\n"})
    work.index_all()
    report = work.ingest.apply([Upserted("Gone.md")])
    assert report.failed == {"Gone.md": "vanished"}
    assert work.paths() == ["A.md"]


def test_a_change_of_many_notes_is_stored_in_groups(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_module, "GROUP", 4)
    work = bench({f"Old/N{n}.md": f"number {n} of quince\n" for n in range(10)})
    work.index_all()
    work.forget_calls()
    for n in range(10):
        work.source.move(f"Old/N{n}.md", f"New/N{n}.md")
    report = work.follow()
    assert (report.new, report.deleted) == (10, 10)
    assert work.paths() == sorted(f"New/N{n}.md" for n in range(10))
    assert work.embedder.embedded == []


def test_notes_that_move_in_many_groups_are_hidden_until_all_of_them_are_stored(
    bench: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "GROUP", 4)
    work = bench({f"Old/N{n}.md": f"number {n} of quince\n" for n in range(10)}, personal=("Private",))
    work.index_all()
    assert len(work.paths(OPEN)) == 10
    for n in range(10):
        work.source.move(f"Old/N{n}.md", f"Private/N{n}.md")
    read_all = work.source.read_all

    def cut_off(paths: list[str]) -> object:
        if "Private/N5.md" in paths:
            raise SourceUnreachable("The vault went away in the middle.")
        return read_all(paths)

    monkeypatch.setattr(work.source, "read_all", cut_off)
    with pytest.raises(SourceUnreachable):
        work.follow()
    assert work.paths(OPEN) == []
    assert "Old/N9.md" in work.paths()


def test_a_stand_in_opens_no_note_and_the_vaults_own_source_may(bench: Make) -> None:
    work = bench({"Diary.md": "---\nsensitivity: personal\n---\nquince\n", "Open.md": "medlar\n"})
    work.index_all()
    work.source.is_stand_in = True
    work.source.put("Diary.md", "quince, as an older copy has it\n")
    work.source.put("Open.md", "medlar, changed\n")
    work.follow()
    assert work.found("quince older copy") == ["Diary.md"]
    assert work.paths(OPEN) == ["Open.md"]
    assert work.found("medlar changed", OPEN) == ["Open.md"]
    work.source.is_stand_in = False
    assert work.sweep().changed == 1
    assert work.paths(OPEN) == ["Diary.md", "Open.md"]


def test_the_time_of_the_last_change_does_not_go_back_with_a_note_that_goes(bench: Make) -> None:
    work = bench({"A.md": "text\n", "B.md": "---\nsensitivity: personal\n---\n"})
    work.index_all()
    work.writer._db.execute("UPDATE notes SET indexed_at = '2020-01-01T00:00:00+00:00'")
    work.source.remove("B.md")
    work.follow()
    assert (work.counts().last_indexed or "") > "2026"
    assert work.counts(OPEN).last_indexed == "2020-01-01T00:00:00+00:00"


def test_a_rescan_in_a_batch_finds_what_no_change_told(bench: Make) -> None:
    work = bench({"A.md": "text\n"})
    work.index_all()
    work.source._store("B.md", "unheard of\n")
    assert work.ingest.apply([Upserted("A.md"), Rescan("lost events")]).new == 1
    assert work.found("unheard") == ["B.md"]


def test_a_link_follows_the_note_it_means(bench: Make) -> None:
    work = bench({"Hub.md": "[[Target]]\n", "Target.md": "first\n"})
    work.index_all()
    work.source.remove("Target.md")
    work.follow()
    with work.index.open(OPEN) as view:
        assert [edge.target_path for edge in view.links.edges_from("Hub.md")] == [None]
    work.source.put("Elsewhere/Target.md", "second\n")
    work.follow()
    with work.index.open(OPEN) as view:
        assert [edge.target_path for edge in view.links.edges_from("Hub.md")] == ["Elsewhere/Target.md"]


# Sensitivity


def test_a_new_personal_rule_closes_notes_at_once_and_embeds_nothing(bench: Make) -> None:
    work = bench({"Diary/Jan.md": "CANARY quarrel\n", "Open.md": "canary birds\n"})
    work.index_all()
    assert set(work.found("canary", OPEN)) == {"Diary/Jan.md", "Open.md"}
    work.restart(personal=("Diary/**",))
    work.forget_calls()
    assert work.ingest.reclassify() == 1
    assert work.found("canary", OPEN) == ["Open.md"]
    assert "Diary/Jan.md" not in work.found("CANARY quarrel", OPEN, arm="vector")
    assert work.found("CANARY quarrel", arm="vector")[0] == "Diary/Jan.md"
    assert (work.embedder.embedded, work.source.reads) == ([], [])
    assert work.ingest.reclassify() == 0


def test_a_rule_that_was_taken_away_opens_its_notes_again(bench: Make) -> None:
    work = bench({"Diary/Jan.md": "CANARY quarrel\n"}, personal=("Diary/**",))
    work.index_all()
    assert work.found("canary", OPEN) == []
    work.restart()
    work.forget_calls()
    assert work.sweep().reclassified == 1
    assert work.found("canary", OPEN) == ["Diary/Jan.md"]
    assert work.embedder.embedded == []


def test_a_notes_own_word_outlives_a_changed_rule(bench: Make) -> None:
    work = bench({"Diary/Trip.md": "---\nsensitivity: open\n---\ncanary islands\n"})
    work.index_all()
    work.restart(personal=("Diary/**",))
    assert work.ingest.reclassify() == 0
    assert work.found("canary", OPEN) == ["Diary/Trip.md"]


def test_a_rule_reaches_a_note_by_where_its_link_leads(bench: Make) -> None:
    work = bench({"Private/Real.md": "CANARY\n", "x.md": "x\n"})
    work.source.link("Alias.md", "Private/Real.md")
    work.index_all()
    work.ingest.apply([Upserted("Alias.md")])
    assert "Alias.md" in work.found("canary", OPEN)
    work.restart(personal=("Private",))
    work.ingest.reclassify()
    assert work.found("canary", OPEN) == []
    assert set(work.found("canary")) == {"Alias.md", "Private/Real.md"}


def test_rules_that_changed_during_an_unfinished_first_index_hold_for_what_is_there(bench: Make) -> None:
    work = bench({"Diary/Jan.md": "CANARY\n", "z.md": "z\n"})
    stop = Event()
    work.ingest._progress._changed = lambda: stop.set() if work.progress.snapshot.done else None
    work.sweep(stop)
    work.restart(personal=("Diary",))
    work.ingest.reclassify()
    assert work.found("canary") == ["Diary/Jan.md"]
    assert work.found("canary", OPEN) == []


def test_a_note_made_personal_while_the_embedder_is_down_is_closed_as_soon_as_it_is_read(bench: Make) -> None:
    work = bench({"N.md": "CANARY open for now\n"})
    work.index_all()
    work.embedder.fail_with(AWAY)
    work.source.put("N.md", "---\nsensitivity: personal\n---\nCANARY open for now\n")
    work.follow()
    assert work.found("canary", OPEN) == []
    assert work.found("canary") == ["N.md"]


def test_a_note_that_is_opened_is_open_only_with_its_new_text(bench: Make) -> None:
    work = bench({"N.md": "---\nsensitivity: personal\n---\nCANARY\n"})
    work.index_all()
    work.source.put("N.md", "---\nsensitivity: open\n---\nharmless\n")
    work.follow()
    assert work.found("harmless", OPEN) == ["N.md"]
    assert work.found("canary", OPEN) == []
