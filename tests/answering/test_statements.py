"""What can be quoted of a note's properties: each with what stands below its key, verbatim."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.answering.statements import alone, statements


def entries(text: str, longest: int = 400) -> list[str]:
    return [span.of(text) for span in statements(text, longest, of_properties=True)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("status: open\ndue: 2026-12-24", ["status: open", "due: 2026-12-24"]),
        ("status: open\n\n\ndue: x", ["status: open", "due: x"]),
        ("people:\n  - Ann\n  - Bo\ndue: x", ["people:\n  - Ann\n  - Bo", "due: x"]),
        ("people:\n- Ann\n- Bo\ndue: x", ["people:\n- Ann\n- Bo", "due: x"]),
        ("at:\n  street: Long Road 5\n  city: Uppsala", ["at:\n  street: Long Road 5\n  city: Uppsala"]),
        ("sum: |\n  One.\n\n  Two.\ndue: x", ["sum: |\n  One.\n\n  Two.", "due: x"]),
        ('  "due": "x",\n\n  "status": "open"', ['"due": "x",', '"status": "open"']),
        ("", []),
    ],
)
def test_a_property_is_one_statement_with_what_stands_below_its_key(text: str, said: list[str]) -> None:
    assert entries(text) == said


def test_of_a_property_that_is_too_long_its_sentences_are_statements() -> None:
    text = "due: x\nsum: >\n  " + "The barn is red. " * 30
    assert entries(text, 60)[:3] == ["due: x", "sum: >", "The barn is red."]
    assert all(len(one) <= 60 for one in entries(text, 60))


def test_a_property_is_read_with_the_name_of_its_note_and_its_words_apart() -> None:
    assert alone("dueDate: onHold", "Shed", of_properties=True) == "Shed: due Date: on Hold"
    assert alone("[ ] call Ann", "Shed", of_properties=False) == "call Ann"


LINES = st.sampled_from(
    ["due: x", "people:", "  - Ann", "- Bo", "  k: v", "", "  ", "x" * 90, '"a": 1,', "    deep: y"]
)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_statements_of_properties_are_in_order_apart_and_bare(text: str) -> None:
    spans = statements(text, 50, of_properties=True)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(span.of(text) == span.of(text).strip() and 0 < span.end - span.start <= 50 for span in spans)
    assert {line.strip() for line in text.split("\n") if ":" in line} <= {
        line.strip() for span in spans for line in span.of(text).split("\n")
    }
