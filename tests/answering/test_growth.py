"""Excerpts grow where there is room: best first, never twice the same, never at another's cost, always real lines."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answering.passages import hit
from fakes import HashEmbedder
from retrieval.test_widening import piece
from vault_ask.answering.context import ALL_GROWTH, MOST_GROWTH, assemble
from vault_ask.answering.grounding import citation, sources
from vault_ask.answering.growth import grow
from vault_ask.answering.regions import Span
from vault_ask.index.reading.text import Piece
from vault_ask.retrieval.hits import Hit
from vault_ask.retrieval.widening import REACH, section
from vault_ask.settings.vault import ChunkSettings
from vault_building import OPEN, Building

SECTION = tuple(piece(chunk, f"line {chunk}", chunk) for chunk in range(1, 6))


def at(chunk: int, *, path: str = "Rent.md", around: tuple[Piece, ...] = SECTION) -> Hit:
    made: Hit = hit(path, f"line {chunk}", line_start=chunk)
    return replace(made, chunk_id=chunk, around=around)


def one_each(_piece: Piece) -> int:
    return 1


def grown(*hits: Hit, room: int = 99, most: int = 99) -> list[tuple[str, int, int]]:
    return [(one.body, one.line_start, one.line_end) for one in grow(hits, room, one_each, most=most)]


def test_an_excerpt_grows_after_and_before_by_turns_as_far_as_there_is_room() -> None:
    assert grown(at(3), room=0) == [("line 3", 3, 3)]
    assert grown(at(3), room=1) == [("line 3\nline 4", 3, 4)]
    assert grown(at(3), room=2) == [("line 2\nline 3\nline 4", 2, 4)]
    assert grown(at(3)) == [("line 1\nline 2\nline 3\nline 4\nline 5", 1, 5)]
    assert grown(at(3), most=1) == [("line 3\nline 4", 3, 4)]
    assert grown(at(5), room=1) == [("line 4\nline 5", 4, 5)]


def test_the_best_hit_grows_first() -> None:
    other = tuple(piece(chunk, f"line {chunk}", chunk) for chunk in range(1, 4))
    best, second = at(3), at(2, path="Flat.md", around=other)
    assert grown(best, second, room=2) == [("line 2\nline 3\nline 4", 2, 4), ("line 2", 2, 2)]
    assert grown(second, best, room=3) == [("line 1\nline 2\nline 3", 1, 3), ("line 3\nline 4", 3, 4)]


def test_hits_that_touch_become_one_excerpt_and_the_best_ones_rank_stays() -> None:
    assert grown(at(4), at(3), room=0) == [("line 3\nline 4", 3, 4)]
    assert grown(at(1), at(9, path="Flat.md", around=()), at(3), room=1) == [
        ("line 1\nline 2\nline 3", 1, 3),
        ("line 9", 9, 9),
    ]
    merged = grow([at(1), at(3)], 1, one_each, most=99)[0]
    assert (merged.chunk_id, merged.tokens) == (1, 6)


def test_hits_with_something_between_them_stay_two_and_share_no_line() -> None:
    assert grown(at(1), at(5), room=2) == [("line 1\nline 2\nline 3", 1, 3), ("line 5", 5, 5)]
    assert grown(at(1), at(5), room=3) == [("line 1\nline 2\nline 3\nline 4\nline 5", 1, 5)]
    assert grown(at(3), at(1)) == [("line 1\nline 2\nline 3\nline 4\nline 5", 1, 5)]


def test_neighbours_of_another_section_or_note_do_not_touch() -> None:
    other = (piece(4, "line 4", 4, heading='["Other"]'),)
    assert len(grown(at(3, around=SECTION[:3]), at(4, around=other))) == 2
    assert len(grown(at(3), at(4, path="Zoo.md"), room=0)) == 2


def test_a_hit_of_which_no_more_is_known_stays_as_it_is() -> None:
    alone = hit("Rent.md", "The rent is 9200.")
    assert grow([alone], 99, one_each, most=99) == [alone]


def test_a_block_that_came_with_the_text_can_be_linked_to() -> None:
    around = (piece(1, "The rent.", 1), replace(piece(2, "It is 9200. ^rent", 3), block="rent"))
    widened = grow([at(1, around=around)], 99, one_each, most=99)[0]
    where = widened.body.index("It is")
    assert citation(1, widened, Span(where, where + 11), "V").block == "rent"
    assert citation(1, widened, Span(0, 9), "V").block is None


def test_no_hit_is_pushed_out_by_anothers_growth() -> None:
    long = tuple(piece(chunk, f"word{chunk} " * 60, chunk) for chunk in range(1, 6))
    best, last = at(3, around=long), hit("Last.md", "The last one. " * 20, score=0.5)
    tight = 560
    context = assemble((best, last), room=tight)
    assert {one.path for one in context.hits} == {"Rent.md", "Last.md"}
    assert context.left_out == 0
    widened = assemble((best, last), room=6_000)
    assert {one.path for one in widened.hits} == {"Rent.md", "Last.md"}
    assert len(widened.hits[0].body) > len(context.hits[0].body)


def test_a_hit_that_lost_its_last_lines_does_not_grow_around_the_gap() -> None:
    body = "\n".join(f"{n} is a line of nine words or rather ten" for n in range(40))
    around = (replace(piece(1, body, 1), tokens=500), piece(2, "next", 41))
    for room in range(300, 330):
        context = assemble((replace(at(1, around=around), body=body, line_end=40, tokens=500),), room=room)
        (cut,) = context.hits
        assert body.startswith(cut.body)
        assert 1 < cut.line_end < 40
    assert assemble((replace(at(1, around=around), body=body),), room=3_000).hits[0].body.endswith("\nnext")


def test_where_nothing_limits_the_room_nothing_grows() -> None:
    assert assemble((at(3),), room=None).hits[0].body == "line 3"
    assert assemble((at(3),), room=4_000).hits[0].body.count("\n") == 4


def test_excerpts_gain_only_so_much_each_and_together() -> None:
    def big(path: str) -> Hit:
        around = tuple(piece(chunk, "word " * 300, chunk) for chunk in range(1, 8))
        return at(4, path=path, around=around)

    hits = [big(f"{n}.md") for n in range(6)]
    gains = [one.tokens - 300 for one in assemble(tuple(hits), room=60_000).hits if one.around and "\n" in one.body]
    assert gains
    assert max(gains) <= MOST_GROWTH
    assert sum(gains) <= ALL_GROWTH


def test_citations_and_sources_of_a_grown_excerpt_land_on_their_lines() -> None:
    context = assemble((at(3),), room=4_000)
    (source,) = sources(context.hits, "V")
    assert (source.line_start, source.line_end, source.quote) == (1, 5, "line 1\nline 2\nline 3\nline 4\nline 5")
    where = context.hits[0].body.index("line 2")
    cited = citation(1, context.hits[0], Span(where, where + 6), "V")
    assert (cited.line_start, cited.line_end, cited.quote) == (2, 2, "line 2")


SMALL = ChunkSettings(target_tokens=32, max_tokens=48, min_tokens=0, overlap_tokens=8)
WORDS = st.text("abcdeåı汉 ", min_size=1, max_size=12)
PARAGRAPHS = st.lists(WORDS, min_size=1, max_size=60).map(" ".join)
BLOCKS = st.one_of(PARAGRAPHS, st.sampled_from(["# One", "## Two", "# One", "- a\n- b", "", "```\ncode\n\ncode\n```"]))
NOTES = st.lists(BLOCKS, min_size=1, max_size=12).map("\n\n".join)


@pytest.fixture(scope="module")
def room_for_notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    building = Building(tmp_path_factory.mktemp("grown"), HashEmbedder(), chunks=SMALL)
    yield building
    building.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=NOTES, room=st.integers(0, 400), data=st.data())
def test_whatever_grows_is_the_notes_own_text_once(
    room_for_notes: Building, text: str, room: int, data: st.DataObject
) -> None:
    room_for_notes.put({"Note.md": text})
    with room_for_notes.open(OPEN) as view:
        ids = view.chunks.of("Note.md")
        chosen = data.draw(st.lists(st.sampled_from(ids), unique=True, min_size=1, max_size=6))
        passages, pieces = view.text.passages(chosen), view.text.pieces(chosen, REACH)
    hits = [
        replace(
            hit("Note.md", passages[one].body, line_start=passages[one].line_start),
            chunk_id=one,
            around=section(pieces[one], one, {piece.chunk for piece in pieces[one]}),
        )
        for one in chosen
    ]
    results = grow(hits, room, lambda one: one.tokens, most=200)
    lines = text.split("\n")
    for result in results:
        stretch = "\n".join(lines[result.line_start - 1 : result.line_end])
        assert result.body.count("\n") == result.line_end - result.line_start
        assert result.body in stretch
    by_place = sorted(results, key=lambda result: result.line_start)
    assert all(one.line_end <= other.line_start for one, other in pairwise(by_place))
    for one in chosen:
        assert any(passages[one].body in result.body for result in results)
    assert sum(result.tokens for result in results) <= room + sum(
        piece.tokens for one in chosen for piece in pieces[one] if piece.chunk == one
    ) + sum(one.tokens for one in hits)
