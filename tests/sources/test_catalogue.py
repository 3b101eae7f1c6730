"""What is known of the documents of a database, and that it survives being kept with the index."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_ask.sources.catalogue import KEY, Catalogue, Fact, fact_of, revisions
from vault_ask.sources.livesync import Metadata


def fact(path: str, revision: str = "1-a", *, mtime: float = 1.0, whole: bool = True) -> Fact:
    return Fact(revision, path, 3, mtime, whole)


facts = st.builds(
    Fact,
    revision=st.from_regex(r"[1-9]-[0-9a-f]{4}(![1-9]-[0-9a-f]{4}(,[1-9]-[0-9a-f]{4})?)?", fullmatch=True),
    path=st.text(st.characters(codec="utf-8"), min_size=1),
    size=st.none() | st.integers(0, 2**63 - 1),
    mtime=st.floats(0, 2.6e11),
    whole=st.booleans(),
)


@given(facts)
def test_fact_survives_being_kept(known: Fact) -> None:
    assert Fact.load(known.dump()) == known


@settings(max_examples=30)
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), facts, max_size=8))
def test_catalogue_survives_being_kept(known: dict[str, Fact]) -> None:
    kept = Catalogue(known).dump()
    again = Catalogue.load(kept | {"checkpoint": "[]", "salts": "[]"})
    assert {doc_id: again.get(doc_id) for doc_id in again} == known
    assert again.contested() == Catalogue(known).contested()


@pytest.mark.parametrize("value", ["", "{", "[]", "null", '["1-a", "a.md"]', '["1-a", "a.md", 3, "soon", true]'])
def test_value_that_is_not_ours_is_left_out_and_the_rest_is_kept(value: str) -> None:
    kept = Catalogue({"good.md": fact("good.md")}).dump() | {KEY + "bad.md": value}
    assert list(Catalogue.load(kept)) == ["good.md"]


def test_revision_names_the_winner_and_the_losers_in_an_order_of_its_own() -> None:
    known = fact("a.md", revisions("3-c", ["2-b", "1-a"]))
    assert (known.winner, known.lost) == ("3-c", ("1-a", "2-b"))
    assert revisions("3-c", ["2-b", "1-a"]) == revisions("3-c", ["1-a", "2-b"]) != revisions("3-c", [])
    assert fact("a.md", revisions("3-c", [])).lost == ()


def test_paths_are_shown_composed_and_kept_as_the_device_spells_them() -> None:
    known = fact("U\u0308ber.md")
    catalogue = Catalogue({"u\u0308ber.md": known})
    assert catalogue.paths() == ["\u00dcber.md"]
    assert catalogue.ids_at("\u00dcber.md") == ("u\u0308ber.md",)
    assert catalogue.get("u\u0308ber.md") == known
    assert json.loads(catalogue.dump()[KEY + "u\u0308ber.md"])[1] == "U\u0308ber.md"


def test_of_several_documents_at_a_path_the_newest_counts_and_a_tie_is_settled_by_the_id() -> None:
    catalogue = Catalogue({"b": fact("N.md", mtime=5.0), "c": fact("N.md", mtime=9.0), "a": fact("N.md", mtime=5.0)})
    assert catalogue.ids_at("N.md") == ("c", "a", "b")
    assert catalogue.paths() == catalogue.contested() == ["N.md"]
    catalogue.drop("c")
    assert catalogue.ids_at("N.md")[0] == "a"
    catalogue.drop("b")
    assert catalogue.contested() == []
    catalogue.drop("a")
    assert catalogue.ids_at("N.md") == ()
    assert catalogue.paths() == []


def test_path_with_a_version_that_lost_is_contested_until_it_is_resolved() -> None:
    catalogue = Catalogue({"n.md": fact("N.md", "2-b!1-a")})
    assert catalogue.contested() == ["N.md"]
    catalogue.put("n.md", fact("N.md", "3-c"))
    assert catalogue.contested() == []


def test_document_that_changes_its_path_leaves_nothing_at_the_old_one() -> None:
    catalogue = Catalogue({"n.md": fact("N.md", "2-b!1-a")})
    catalogue.put("n.md", fact("n.md"))
    assert catalogue.paths() == ["n.md"]
    assert catalogue.contested() == []
    assert len(catalogue) == 1


def test_only_what_was_not_whole_before_is_news_when_it_is_confirmed() -> None:
    catalogue = Catalogue({"a.md": fact("a.md"), "b.md": fact("b.md", whole=False)})
    for doc_id in ("a.md", "b.md", "unknown.md"):
        catalogue.confirm(doc_id)
    assert catalogue.news == {"b.md"}
    known = catalogue.get("b.md")
    assert known
    assert known.whole


def test_fact_of_a_document_is_not_whole_before_it_was_read() -> None:
    metadata = Metadata("n.md", "2-b", "N.md", True, (), None, 7.5, False, {}, None)  # noqa: FBT003 - as it is made
    assert fact_of(metadata, ["1-a"]) == Fact("2-b!1-a", "N.md", None, 7.5, whole=False)
