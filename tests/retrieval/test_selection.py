"""A note never takes more than its share, links no more than theirs, and nothing better is passed over otherwise."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from vault_ask.index.reading.text import Passage
from vault_ask.retrieval.candidates import Candidate
from vault_ask.retrieval.fusion import Evidence
from vault_ask.retrieval.selection import select, share_out
from vault_ask.scope import Sensitivity

RANKED = st.lists(st.tuples(st.integers(0, 200), st.sampled_from("abcd")), unique_by=lambda item: item[0])
QUOTA = st.integers(1, 4)
PLACES = st.integers(0, 12)


def note_of(candidate: tuple[int, str]) -> str:
    return candidate[1]


@given(RANKED, QUOTA, PLACES)
def test_selection_never_breaks_its_quotas(ranked: list[tuple[int, str]], per_note: int, k: int) -> None:
    taken = select(ranked, note_of=note_of, per_note=per_note, k=k)
    assert len(taken) <= k
    assert max(Counter(map(note_of, taken)).values(), default=0) <= per_note


@given(RANKED, QUOTA, PLACES)
def test_selection_keeps_the_order_and_passes_over_full_notes_only(
    ranked: list[tuple[int, str]], per_note: int, k: int
) -> None:
    taken = select(ranked, note_of=note_of, per_note=per_note, k=k)
    assert taken == [candidate for candidate in ranked if candidate in taken]
    if len(taken) < k:
        full = {note for note, count in Counter(map(note_of, taken)).items() if count == per_note}
        assert all(note_of(candidate) in full for candidate in ranked if candidate not in taken)


def test_a_third_passage_of_a_note_makes_room_for_the_next_note() -> None:
    ranked = [(1, "a"), (2, "a"), (3, "a"), (4, "b")]
    assert select(ranked, note_of=note_of, per_note=2, k=3) == [(1, "a"), (2, "a"), (4, "b")]


def candidate(chunk: int, note: int, *, linked: bool) -> Candidate:
    passage = Passage(
        chunk=chunk, note=note, path=f"N{note}.md", title=f"N{note}", heading_path=(), block=None, prelude="",
        body="text", line_start=1, line_end=1, tokens=1, language="en", sensitivity=Sensitivity.OPEN,
    )  # fmt: skip
    known = Evidence(z=None, bm25=1.0, coverage=0.1)
    return Candidate(
        passage, {"bm25": 1.0}, known, 0.0, "expanded" if linked else "text", via="S.md" if linked else None
    )


FOUND = st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=30)


@given(FOUND, st.integers(1, 10), st.integers(1, 4), st.integers(0, 4))
def test_what_only_links_led_to_takes_no_more_than_its_places_unless_there_is_nothing_else(
    found: list[tuple[int, bool]], k: int, per_note: int, places: int
) -> None:
    ranked = [candidate(chunk, note, linked=linked) for chunk, (note, linked) in enumerate(found)]
    direct = select([c for c in ranked if c.via is None], note_of=lambda c: c.passage.note, per_note=per_note, k=k)
    taken = share_out(ranked, None, per_note=per_note, k=k, expanded=places).all
    linked = [c for c in taken if c.via is not None]
    assert len(taken) <= k
    assert taken == sorted(taken, key=ranked.index)
    assert max(Counter(c.passage.note for c in taken).values(), default=0) <= per_note
    if len(linked) > places:
        assert len(direct) < k


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 10), st.integers(0, 4))
def test_links_never_take_a_place_of_the_best_that_were_found_directly(found: list[bool], k: int, places: int) -> None:
    ranked = [candidate(chunk, chunk, linked=linked) for chunk, linked in enumerate(found)]
    best = [c.chunk for c in ranked if c.via is None][: max(k - places, 0)]
    taken = [c.chunk for c in share_out(ranked, None, per_note=1, k=k, expanded=places).all]
    assert set(best) <= set(taken)
