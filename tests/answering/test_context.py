from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from answering.passages import hit
from vault_ask.answering.context import assemble, excerpt_tokens, tokens
from vault_ask.scope import Sensitivity

A1 = hit("A.md", "first", line_start=1, score=0.5)
A9 = hit("A.md", "ninth", line_start=9, score=0.9)
B = hit("B.md", "other", score=0.7)


def test_notes_stand_by_rank_and_passages_by_line() -> None:
    context = assemble((A9, B, A1), room=None)
    assert context.hits == (A1, A9, B)
    assert [(e.n, e.text) for e in context.excerpts] == [(1, "first"), (2, "ninth"), (3, "other")]


def test_an_excerpt_tells_whose_link_led_to_it() -> None:
    context = assemble((A9, replace(B, via="A.md")), room=None)
    assert [(one.path, one.via) for one in context.excerpts] == [("A.md", None), ("B.md", "A.md")]


def test_an_excerpt_tells_what_its_time_speaks_for() -> None:
    found = replace(B, trace={"vector": 0.3, "dated": 1.0, "timely": 0.5})
    assert assemble((found,), room=None).excerpts[0].timely == 1.5
    assert assemble((B,), room=None).excerpts[0].timely == 0.0


def test_the_lowest_ranked_passage_is_left_out() -> None:
    context = assemble((A9, B, A1), room=excerpt_tokens(A9) + excerpt_tokens(B))
    assert context.hits == (A9, B)
    assert context.left_out == 1


def test_a_smaller_lower_passage_may_take_the_room_of_a_bigger_one() -> None:
    big = hit("Big.md", "word " * 500, score=0.8)
    assert assemble((A9, big, B), room=excerpt_tokens(A9) + excerpt_tokens(B)).hits == (A9, B)


def test_the_best_passage_loses_lines_rather_than_its_place() -> None:
    long = hit("Long.md", "\n".join(f"line {i} of it" for i in range(200)), line_start=5)
    context = assemble((long, B), room=200)
    (kept, *_) = context.hits
    assert kept.path == "Long.md"
    assert long.body.startswith(kept.body)
    assert kept.line_end == 5 + kept.body.count("\n")
    assert excerpt_tokens(kept) <= 200


def test_nothing_is_taken_where_nothing_fits() -> None:
    assert assemble((A9, B), room=3).hits == ()


def test_the_context_is_as_personal_as_its_most_personal_passage() -> None:
    secret = hit("P.md", "x", sensitivity=Sensitivity.PERSONAL)
    assert assemble((A9, secret), room=None).sensitivity is Sensitivity.PERSONAL
    assert assemble((A9,), room=None).sensitivity is Sensitivity.OPEN


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 300)), max_size=12), st.integers(0, 3000))
def test_what_is_taken_fits_and_is_numbered_without_gaps(found: list[tuple[int, int]], room: int) -> None:
    hits = tuple(
        hit(f"N{note}.md", "word " * length, line_start=i, score=-i) for i, (note, length) in enumerate(found, 1)
    )
    context = assemble(hits, room=room)
    assert sum(map(excerpt_tokens, context.hits)) <= room
    assert [e.n for e in context.excerpts] == list(range(1, len(context.hits) + 1))
    assert len(context.hits) + context.left_out == len(hits)


def test_tokens_are_counted_rather_too_many() -> None:
    assert tokens("a b c d e f") >= 6
    assert tokens("知识库知识库") >= 6
    assert tokens("Donaudampfschifffahrtsgesellschaft") >= 8
