"""What has to be done is decided from two lists alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.errors import SourceRefused, SourceUnreachable
from vault_ask.index.reading.notes import Known
from vault_ask.ingest.ingest import checked
from vault_ask.ingest.plan import AnotherVault, Plan, SuddenlyEmpty, make_plan
from vault_ask.scope import Sensitivity
from vault_ask.sources.port import Entry


def entry(path: str, revision: str = "1") -> Entry:
    return Entry(path, revision, 1, 0.0)


def known(*paths: str, revision: str = "1", content: bytes = b"hash") -> dict[str, Known]:
    return {
        path: Known(path=path, revision=revision, content_hash=content, sensitivity=Sensitivity.OPEN) for path in paths
    }


def test_new_changed_and_gone_notes_are_told_apart() -> None:
    plan = make_plan(
        [entry("same.md"), entry("edited.md", "2"), entry("fresh.md")], known("same.md", "edited.md", "old.md")
    )
    assert plan == Plan(new=("fresh.md",), changed=("edited.md",), gone=("old.md",))


def test_a_note_that_was_closed_is_read_again_though_nothing_tells_of_a_change() -> None:
    assert make_plan([entry("a.md")], known("a.md", content=b"")) == Plan((), ("a.md",), ())


def test_notes_below_an_unreadable_folder_stay() -> None:
    indexed = known("Closed/a.md", "Closed/deep/b.md", "Closedness/c.md", "open.md")
    plan = make_plan([entry("open.md")], indexed, unreadable=("Closed",))
    assert plan == Plan((), (), gone=("Closedness/c.md",))


def test_an_unreadable_root_keeps_everything() -> None:
    plan = make_plan([entry("a.md")], known("a.md", "b.md"), unreadable=("",))
    assert plan == Plan((), (), ())


def test_rereading_takes_every_listed_note_again() -> None:
    plan = make_plan([entry("a.md"), entry("b.md"), entry("c.md")], known("a.md", "b.md"), reread=True)
    assert plan == Plan(new=("c.md",), changed=("a.md", "b.md"), gone=())


def test_an_empty_listing_of_an_indexed_vault_deletes_nothing() -> None:
    plan = make_plan([], known("a.md", "b.md"))
    assert plan == SuddenlyEmpty(2)
    with pytest.raises(SourceUnreachable, match="no notes although 2 are indexed"):
        checked(plan)


def test_an_empty_listing_of_an_empty_index_is_nothing_to_do() -> None:
    assert make_plan([], {}) == Plan((), (), ())


def test_a_vault_elsewhere_with_other_notes_is_refused() -> None:
    plan = make_plan([entry("a.md"), entry("x.md")], known("a.md", "b.md", "c.md"), moved=True)
    assert plan == AnotherVault(indexed=3, found=1)
    with pytest.raises(SourceRefused, match="Only 1 of the 3"):
        checked(plan)


def test_a_vault_that_was_moved_with_most_of_its_notes_is_the_same_one() -> None:
    plan = make_plan([entry("a.md"), entry("b.md")], known("a.md", "b.md", "c.md", "d.md"), moved=True)
    assert plan == Plan((), (), gone=("c.md", "d.md"))


def test_a_vault_in_its_place_may_lose_most_of_its_notes() -> None:
    plan = make_plan([entry("a.md")], known("a.md", "b.md", "c.md", "d.md"))
    assert plan == Plan((), (), gone=("b.md", "c.md", "d.md"))


PATHS = st.sampled_from(["a.md", "b.md", "F/c.md", "F/d.md", "G/e.md"])
REVISIONS = st.sampled_from(["1", "2"])


@given(st.dictionaries(PATHS, REVISIONS, min_size=1), st.dictionaries(PATHS, REVISIONS))
def test_carrying_out_a_plan_makes_the_index_equal_the_listing(listed: dict[str, str], indexed: dict[str, str]) -> None:
    before = {path: known(path, revision=revision)[path] for path, revision in indexed.items()}
    plan = checked(make_plan([entry(path, revision) for path, revision in listed.items()], before))
    after = {path: revision for path, revision in indexed.items() if path not in plan.gone}
    after |= {path: listed[path] for path in plan.to_read}
    assert after == listed
    assert not set(plan.new) & set(plan.changed)
