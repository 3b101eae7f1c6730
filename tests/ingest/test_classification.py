"""How personal each note is: by tags, default and copies, through every change of a note, of the rules, and of both."""

from collections.abc import Callable
from hashlib import blake2b
from threading import Event
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from ingest.bench import AWAY, OPEN, Bench
from vault_ask.errors import SourceUnreachable
from vault_ask.ingest import ingest as ingest_module
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import Sensitivity
from vault_ask.settings.vault import ChunkSettings
from vault_ask.sources.port import OtherVersion
from vault_building import Building, faults

Make = Callable[..., Bench]
COPY = "Note (Ann's conflicted copy 2026-01-02).md"

# Tags


def test_a_tag_rule_moves_notes_both_ways_on_every_arm_and_reads_nothing(bench: Make) -> None:
    work = bench(
        {
            "Inline.md": "canary quince #Private/health\n",
            "Front.md": "---\ntags: [x, private]\n---\ncanary quince\n",
            "Unclosed.md": "---\ntags: private\ncanary quince\n",
            "Opened.md": "---\nsensitivity: open\ntags: private\n---\ncanary quince\n",
            "Other.md": "canary quince #privateer [[private]]\n",
            "Board.canvas": '{"nodes": [{"id": "1", "type": "text", "text": "canary quince #private"}], "edges": []}',
        }
    )
    work.index_all()
    assert len(work.paths(OPEN)) == 6
    for rules, expected in (({"personal_tags": ["#private"]}, ["Opened.md", "Other.md"]), ({}, work.paths())):
        work.restart(**rules)
        work.forget_calls()
        assert work.ingest.reclassify() == 4
        assert work.ingest.reclassify() == 0
        assert work.paths(OPEN) == expected
        for arm in ("text", "vector"):
            assert sorted(work.found("canary quince", OPEN, arm=arm)) == expected
            assert len(work.found("canary quince", arm=arm)) == 6
        assert faults(work.writer) == []
        assert (work.embedder.embedded, work.source.reads) == ([], [])


def test_a_tag_that_is_written_into_a_note_closes_it_while_the_embedder_is_down(bench: Make) -> None:
    work = bench({"N.md": "canary\n"}, personal_tags=["diary"])
    work.index_all()
    assert work.found("canary", OPEN) == ["N.md"]
    work.embedder.fail_with(AWAY)
    work.source.put("N.md", "canary #diary/2026\n")
    work.follow()
    assert work.found("canary", OPEN) == []
    assert work.found("canary") == ["N.md"]
    work.source.put("N.md", "canary\n")
    work.follow()
    assert work.found("canary", OPEN) == ["N.md"]


def test_a_tag_in_the_beginning_of_a_note_that_is_not_whole_closes_it(bench: Make) -> None:
    work = bench({"N.md": "canary\n"}, personal_tags=["diary"])
    work.index_all()
    work.source.hold_back("N.md", "a piece is missing", b"---\ntags: diary\n---\nnew te")
    work.follow()
    assert work.found("canary", OPEN) == []
    assert work.found("canary") == ["N.md"]


def test_a_version_that_lost_a_conflict_counts_by_its_tags_under_the_rules_of_today(bench: Make) -> None:
    work = bench({"N.md": "canary\n", "O.md": "canary\n"})
    work.index_all()
    work.source.conflict("N.md", OtherVersion("N.md", b"the other device wrote #diary\n"))
    work.source.conflict("O.md", OtherVersion("O.md", b"the other device wrote nothing\n"))
    work.follow()
    assert work.paths(OPEN) == ["N.md", "O.md"]
    work.restart(personal_tags=["diary"])
    assert work.ingest.reclassify() == 1
    assert work.paths(OPEN) == ["O.md"]
    work.restart()
    work.ingest.reclassify()
    assert work.paths(OPEN) == ["N.md", "O.md"]


def test_a_misplaced_block_is_kept_for_the_rules_that_ask_for_it(bench: Make) -> None:
    work = bench({"N.md": "\n---\nprivat: true\n---\ncanary\n", "O.md": "canary\n"})
    work.index_all()
    assert work.paths(OPEN) == ["N.md", "O.md"]
    work.restart(key="privat")
    assert work.ingest.reclassify() == 1
    assert work.found("canary", OPEN) == ["O.md"]


def test_an_index_from_before_tags_were_kept_is_read_once_more_and_embedded_no_more(bench: Make) -> None:
    work = bench({"N.md": "\n---\ntags: [diary]\n---\ncanary\n", "O.md": "canary\n"})
    work.index_all()
    former = blake2b(f"1 {ChunkSettings().model_dump_json()}".encode(), digest_size=8).hexdigest()
    work.writer.set_meta(recipe=former)
    work.forget_calls()
    assert work.sweep().changed == 2
    assert sorted(work.source.reads) == ["N.md", "O.md"]
    assert work.embedder.embedded == []
    assert work.sweep().changed == 0


# The default


def test_a_personal_default_closes_all_that_does_not_open_itself_and_reads_nothing(bench: Make) -> None:
    work = bench({"N.md": "canary\n", "Opened.md": "---\nsensitivity: open\n---\ncanary\n"})
    work.index_all()
    work.restart(default=Sensitivity.PERSONAL)
    work.forget_calls()
    assert work.ingest.reclassify() == 1
    assert work.found("canary", OPEN) == ["Opened.md"]
    work.source.put("New.md", "canary, new\n")
    work.follow()
    assert work.paths(OPEN) == ["Opened.md"]
    assert len(work.found("canary")) == 3
    work.restart()
    assert work.ingest.reclassify() == 2
    assert len(work.found("canary", OPEN)) == 3


# Moves


def test_a_move_into_a_personal_folder_closes_a_note_whose_text_is_the_same(bench: Make) -> None:
    work = bench({"N.md": "canary quince\n", "O.md": "canary\n"}, personal=("Private",))
    work.index_all()
    work.forget_calls()
    work.source.move("N.md", "Private/N.md")
    work.follow()
    assert work.paths(OPEN) == ["O.md"]
    assert "Private/N.md" not in work.found("canary quince", OPEN, arm="vector")
    assert work.found("quince") == ["Private/N.md"]
    work.source.move("Private/N.md", "Back/N.md")
    work.follow()
    assert work.found("quince", OPEN) == ["Back/N.md"]
    assert work.embedder.embedded == []


# Embeds


def test_an_embed_carries_nothing_of_the_note_it_shows(bench: Make) -> None:
    work = bench(
        {
            "Trip.md": "Packing list\n![[Private/Passport]]\n![[Private/Passport#Number|n]]\n",
            "Private/Passport.md": "# Number\ncanary 991122\n",
            "Chain.md": "![[Trip]]\n",
            "Board.canvas": '{"nodes": [{"id": "1", "type": "file", "file": "Private/Passport.md"}], "edges": []}',
        }
    )
    work.index_all()
    before = {path: [passage.body for passage in work.passages(path)] for path in ("Trip.md", "Chain.md")}
    assert "canary" not in repr([before, work.passages("Board.canvas")])
    assert not [text for text in work.embedder.embedded if "canary" in text and "Passport" not in text.split("\n")[0]]
    work.restart(personal=("Private/**",))
    work.forget_calls()
    assert work.ingest.reclassify() == 1
    assert work.found("canary 991122", OPEN) == []
    assert work.found("canary 991122") == ["Private/Passport.md"]
    assert before == {path: [passage.body for passage in work.passages(path)] for path in before}
    assert (work.embedder.embedded, work.source.reads) == ([], [])


# Conflict copies


def test_a_copy_in_a_sweep_is_never_stored_before_its_original(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_module, "GROUP", 1)
    copies = [f"{n} (conflict).md" for n in range(3)]
    originals = {f"{n}.md": "---\nsensitivity: personal\n---\ncanary\n" for n in range(3)}
    work = bench(dict.fromkeys(copies, "canary\n") | originals)
    seen: list[str] = []
    work.progress.notes._changed = lambda *_: seen.extend(work.paths(OPEN))
    work.index_all()
    assert seen == []
    assert work.paths() == sorted([*copies, *originals])


def test_copies_and_originals_that_move_in_one_batch_are_never_open(
    bench: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "GROUP", 1)
    work = bench({"A/Note.md": "#diary canary\n", f"A/{COPY}": "canary\n"}, personal_tags=["diary"])
    work.index_all()
    work.source.move(f"A/{COPY}", f"B/{COPY}")
    work.source.move("A/Note.md", "B/Note.md")
    read = work.source.read_all

    def watched(paths: list[str]) -> object:
        assert work.paths(OPEN) == []
        return read(paths)

    monkeypatch.setattr(work.source, "read_all", watched)
    work.follow()
    assert work.paths() == sorted(["B/Note.md", f"B/{COPY}"])
    assert work.paths(OPEN) == []


def test_a_copy_is_closed_as_soon_as_its_original_is_read_and_opened_with_its_new_text(bench: Make) -> None:
    work = bench({"Note.md": "canary\n", COPY: "canary\n"})
    work.index_all()
    work.embedder.fail_with(AWAY)
    work.source.put("Note.md", "---\nsensitivity: personal\n---\ncanary\n")
    work.follow()
    assert work.paths(OPEN) == []
    work.source.put("Note.md", "canary, harmless\n")
    work.follow()
    assert work.paths(OPEN) == sorted(["Note.md", COPY])


def test_a_copy_closed_by_a_rule_about_its_original_follows_the_rule(bench: Make) -> None:
    work = bench({"Note.md": "canary #diary\n", COPY: "canary\n", "Other.md": "canary\n"})
    work.index_all()
    work.restart(personal_tags=["diary"])
    assert work.ingest.reclassify() == 2
    assert work.paths(OPEN) == ["Other.md"]
    work.restart()
    assert work.ingest.reclassify() == 2
    assert len(work.paths(OPEN)) == 3


def test_a_copy_closed_by_its_original_is_also_closed_by_rules_that_mean_it(bench: Make) -> None:
    work = bench({"Note.md": "canary #diary\n", COPY: "canary\n"}, personal_tags=["diary"])
    work.index_all()
    assert work.paths(OPEN) == []
    work.restart(default=Sensitivity.PERSONAL)
    work.ingest.reclassify()
    work.source.put("Note.md", "---\nsensitivity: open\n---\ncanary\n")
    work.follow()
    assert work.paths(OPEN) == ["Note.md"]


@pytest.mark.parametrize("named", [None, "Named.md"])
def test_a_copy_stays_closed_when_its_original_is_deleted_or_renamed(bench: Make, named: str | None) -> None:
    work = bench({"Note.md": "canary #diary\n", COPY: "canary\n"}, personal_tags=["diary"])
    work.index_all()
    if named:
        work.source.move("Note.md", named)
    else:
        work.source.remove("Note.md")
    work.follow()
    assert "Note.md" not in work.paths()
    assert COPY in work.paths()
    assert work.paths(OPEN) == []
    work.sweep()
    assert work.paths(OPEN) == []
    work.source.move(COPY, "Resolved.md")
    work.follow()
    assert work.paths(OPEN) == ["Resolved.md"]


# What is told


def test_patterns_that_match_nothing_are_logged_once_at_the_start(bench: Make) -> None:
    rules = {"personal": ("Privat/**", "Private"), "personal_tags": ["diery", "diary"]}
    idle = [("personal pattern matches no note", "Privat/**"), ("personal pattern matches no note", "#diery")]
    work = bench({"Private/N.md": "x\n", "O.md": "#diary\n"}, **rules)
    for _ in range(2):
        with capture_logs() as logs:
            work.ingest.reclassify()
            work.source.come_back()
            work.follow()
            work.source.come_back()
            work.follow()
        assert [(entry["event"], entry["pattern"]) for entry in logs if "pattern" in entry] == idle
        work.restart(**rules)


def test_an_interrupted_first_sweep_is_no_reason_to_call_a_pattern_idle(bench: Make) -> None:
    work = bench({"A.md": "x\n", "Private/N.md": "x\n"}, personal=("Private",))
    stop = Event()
    stop.set()
    work.sweep(stop)
    with capture_logs() as logs:
        work.restart(personal=("Private",))
        work.ingest.reclassify()
        work.source.go_away()
        with pytest.raises(SourceUnreachable):
            work.sweep()
    assert logs == []


# Rules and notes at random: what is indexed and reclassified is what a new index would be

FOLDERS = ["", "Diary/", "Work/Deep/", "Diary (conflict)/"]
NAMES = ["Note", "Note (conflict)", "Note (conflict) (Ann's conflicted copy 2026-01-02)", "note 2", "Öl"]
PATHS = [f"{folder}{name}.md" for folder in FOLDERS for name in NAMES]
VALUES = ["open", "personal", "true", "", "[open]", "no", "OPEN"]
KEYS = ["sensitivity", "Privat", "privat"]
TAGS = ["private", "Private/x", "diary", "work/secret", "privateer"]

entries = st.one_of(
    st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)).map(": ".join),
    st.lists(st.sampled_from(TAGS), min_size=1, max_size=2).map(lambda tags: f"tags: [{', '.join(tags)}]"),
    st.just("by: @ann"),
    st.just("title: plain"),
)
fences = st.sampled_from([("---\n", "---\n"), ("\n---\n", "---\n"), ("---\n", ""), ("", "")])
texts = st.builds(
    lambda fence, lines, tags: fence[0] + "".join(f"{line}\n" for line in lines) + fence[1] + " ".join(["word", *tags]),
    fences,
    st.lists(entries, max_size=3),
    st.lists(st.sampled_from(TAGS).map("#{}".format), max_size=1),
)
vaults = st.dictionaries(st.sampled_from(PATHS), texts, min_size=1, max_size=6)
rule_sets = st.fixed_dictionaries(
    {
        "personal_paths": st.lists(st.sampled_from(["Diary", "**/Note.md", "Work/*", "öl.md"]), max_size=2),
        "frontmatter_key": st.sampled_from(["sensitivity", "privat", "tags"]),
        "personal_tags": st.lists(st.sampled_from(["#private", "diary", "work/*", "*"]), max_size=2),
        "default": st.sampled_from(Sensitivity),
    }
)


def levels(building: Building) -> dict[str, Sensitivity]:
    assert faults(building.writer) == []
    return {path: known.sensitivity for path, known in building.writer.known().items()}


@given(vaults, st.lists(rule_sets, min_size=2, max_size=3), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_reclassifying_gives_what_a_new_index_would_be(
    tmp_path_factory: pytest.TempPathFactory,
    notes: dict[str, str],
    rule_sets: list[dict[str, Any]],
    chance: Any,  # noqa: ANN401 - hypothesis' Random
) -> None:
    first, *later = (Rules.compile(**one) for one in rule_sets)
    followed = Building(tmp_path_factory.mktemp("followed"), rules=first)
    shuffled = chance.sample(sorted(notes), len(notes))
    for path in shuffled:
        followed.put({path: notes[path]})
    for rules in later:
        ingest_module.reclassify(followed.writer, rules)
    fresh = Building(tmp_path_factory.mktemp("fresh"), rules=later[-1])
    fresh.put(notes)
    assert levels(followed) == levels(fresh)
    assert set(levels(fresh)) == set(notes)
    followed.close()
    fresh.close()


@given(vaults, vaults, rule_sets)
@settings(max_examples=25, deadline=None)
def test_edits_give_what_a_new_index_would_be(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str], rules: dict[str, Any]
) -> None:
    everything = before | after
    followed = Building(tmp_path_factory.mktemp("followed"), rules=Rules.compile(**rules))
    followed.put(before)
    for path, text in after.items():
        followed.put({path: text})
    fresh = Building(tmp_path_factory.mktemp("fresh"), rules=Rules.compile(**rules))
    fresh.put(everything)
    assert levels(followed) == levels(fresh)
    followed.close()
    fresh.close()
