"""A note never takes more than its share, and nothing better is passed over for another reason."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from vault_ask.retrieval.selection import select

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
