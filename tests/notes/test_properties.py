"""What a property says, in the form in which it is compared."""

from typing import Any

import pytest

from vault_ask.notes.properties import Property, as_number, properties

SAID: list[tuple[Any, list[tuple[str, float | None]]]] = [
    ("Open", [("open", None)]),
    ("In  progress, mostly.", [("in progress mostly", None)]),
    (["A", "b", "a", None], [("a", None), ("b", None)]),
    (None, [("", None)]),
    ("", [("", None)]),
    ([], [("", None)]),
    ([[], {}], [("", None)]),
    (True, [("true", None)]),
    (4, [("4", 4.0)]),
    (4.5, [("4.5", 4.5)]),
    ("-4", [("-4", -4.0)]),
    ("007", [("007", 7.0)]),
    ("4,5", [("4,5", None)]),
    ("2026-03-01", [("2026-03-01", None)]),
    ("#work", [("work", None)]),
    ("[[People/Mira Holt|Mira]]", [("mira holt", None), ("mira", None)]),
    ("with [[Mira Holt#Part]]", [("with mira holt", None)]),
    ("C++", [("c++", None)]),
    ("A\u030are", [("åre", None)]),
    ("a\x00b \ud800", [("a b \ufffd", None)]),
    ({"k": ["x", {"y": "z"}]}, [("x", None), ("z", None)]),
]


@pytest.mark.parametrize(("value", "said"), SAID)
def test_a_value_is_its_words_and_its_number(value: Any, said: list[tuple[str, float | None]]) -> None:  # noqa: ANN401 - any JSON
    found = [(each.words, each.number) for each in properties({" Key ": value})]
    assert found == said


def test_keys_are_folded_and_each_is_told() -> None:
    assert list(properties({"Due Date": 1, "STRAẞE": "x"})) == [
        Property("due date", "1", 1.0),
        Property("strasse", "x"),
    ]


def test_a_value_that_is_nested_without_end_is_told_as_far_as_it_goes() -> None:
    deep: list[Any] = ["x"]
    for _ in range(3_000):
        deep = [deep]
    assert list(properties({"k": deep})) == [Property("k", "")]


@pytest.mark.parametrize("text", ["1e5", "inf", "nan", "1_000", "٤", "", "4 km", "1" * 400])
def test_what_yaml_would_not_call_a_number_is_none(text: str) -> None:
    assert as_number(text) is None
