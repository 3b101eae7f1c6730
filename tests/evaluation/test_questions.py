"""Files of questions, and the notes they name."""

from pathlib import Path

import pytest

from vault_ask.errors import BadRequest
from vault_ask.evaluation.naming import find_notes
from vault_ask.evaluation.questions import Asked, read_questions

LIST = """---
tags: [measuring]
---

## Trips
- When does the night train leave? [[Oslo]]
1. [ ] How long was the flat ours,  and what did we pay? [[Rent|the lease]] [[Flat/Deposit#Sum]]

# People ##
Who is coming?
"""
PATHS = [
    "Trips/Oslo.md",
    "Flat/Rent.md",
    "Old/Rent.md",
    "Old/Flat/Sum.md",
    "Home.md",
    "Old/Home.md",
    "A\u030asa.canvas",
]


def read(tmp_path: Path, text: str) -> list[Asked]:
    file = tmp_path / "questions"
    file.write_text(text, encoding="utf-8")
    return read_questions(file)


def test_a_list_is_read_as_one_would_write_it_in_a_note(tmp_path: Path) -> None:
    found = read(tmp_path, LIST)
    assert [(one["id"], one["kind"], one["question"], one["relevant"]) for one in found] == [
        ("line-6", "Trips", "When does the night train leave?", ["[[Oslo]]"]),
        (
            "line-7",
            "Trips",
            "How long was the flat ours, and what did we pay?",
            ["[[Rent|the lease]]", "[[Flat/Deposit#Sum]]"],
        ),
        ("line-10", "People", "Who is coming?", []),
    ]


def test_links_of_markdown_name_notes_and_an_address_is_a_word_of_the_question(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "- Nuts? [Hanna](People/Hanna%20Lind.md)\n"
        '- [the sum](<Flat/The sum.md#Paid> "as agreed") and ![[Rent]] since when?\n'
        "- Who wrote [this](https://example.org/a.md), [above](#Work)?\n",
    )
    assert [(one["question"], one["relevant"]) for one in found] == [
        ("Nuts?", ["[Hanna](People/Hanna%20Lind.md)"]),
        ("and since when?", ['[the sum](<Flat/The sum.md#Paid> "as agreed")', "[[Rent]]"]),
        ("Who wrote [this](https://example.org/a.md), [above](#Work)?", []),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "# Trips\n\n## Work\n", "---\ntags: [a]\n---\n", "- [[Oslo]]\n"])
def test_a_file_without_a_question_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadRequest, match="questions holds no question, so there is nothing to measure"):
        read(tmp_path, text)


def test_json_needs_a_question_alone_and_one_note_may_stand_by_itself(tmp_path: Path) -> None:
    found = read(
        tmp_path, '\n{"question": "When?", "relevant": "Oslo"}\n{"id": "b", "question": "How?", "kind": "k"}\n'
    )
    assert [(one["id"], one["question"], one["relevant"], one.get("kind")) for one in found] == [
        ("line-2", "When?", ["Oslo"], None),
        ("b", "How?", [], "k"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '{"question": "q", "asked_on": "spring"}',
        '{"question": 7}',
        '{"id": "b"}',
        '{"id": 7, "question": "q"}',
        "[1]",
        '{"question": "q", "relevant": [7]}',
        "no",
    ],
)
def test_a_line_that_does_not_fit_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadRequest, match="Line 2 of questions is no question"):
        read(tmp_path, f'{{"id": "a", "question": "q"}}\n{line}\n')


def test_an_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="have the id a, so"):
        read(tmp_path, '{"id": "a", "question": "q"}\n{"id": "a", "question": "r"}\n')


def asked(*relevant: str) -> list[Asked]:
    return [{"id": "q", "question": "?", "relevant": list(relevant), "also_ok": []}]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Trips/Oslo.md", "Trips/Oslo.md"),
        ("[[Oslo]]", "Trips/Oslo.md"),
        ("oslo", "Trips/Oslo.md"),
        ("[[trips/Oslo#Trains|the train]]", "Trips/Oslo.md"),
        ("/Flat/Rent", "Flat/Rent.md"),
        ("[[Home]]", "Home.md"),
        ("[[Old/Home]]", "Old/Home.md"),
        ("[the train](Trips/Oslo.md#Trains)", "Trips/Oslo.md"),
        ("[sum](<Old/Flat/Sum>)", "Old/Flat/Sum.md"),
        ("[\u00c5sa](%C3%85sa.canvas)", "A\u030asa.canvas"),
        ("[rent](./Flat/Rent.md)", "Flat/Rent.md"),
        ("./Home.md", "Home.md"),
        ("[[./Old/Home]]", "Old/Home.md"),
        ("\u00c5sa.canvas", "A\u030asa.canvas"),
    ],
)
def test_a_name_that_means_one_note_becomes_its_path(name: str, path: str) -> None:
    found = find_notes(asked(name), PATHS)
    assert (found.asked[0]["relevant"], found.doubts) == ([path], ())


def test_a_name_that_means_no_note_or_several_is_told_and_stays() -> None:
    found = find_notes(asked("Osol", "[[Rent]]", "[[Oslo]]", "Work/Oslo"), PATHS)
    assert found.asked[0]["relevant"] == ["Osol", "[[Rent]]", "Trips/Oslo.md", "Work/Oslo"]
    absent, several = found.doubts
    assert absent.startswith(
        "Named as an answer but not in the index, so counted as not found: Osol (q), Work/Oslo (q)."
    )
    assert "more than one such note, so counted as not found: [[Rent]] (q)." in several


def test_a_path_that_begins_at_the_vaults_folder_means_no_note_elsewhere() -> None:
    found = find_notes(asked("[[./Oslo]]", "[up](../Home.md)", "[[Oslo]]"), PATHS)
    assert found.asked[0]["relevant"] == ["[[./Oslo]]", "[up](../Home.md)", "Trips/Oslo.md"]
    assert "not in the index, so counted as not found: [[./Oslo]] (q), [up](../Home.md) (q)." in found.doubts[0]


def test_of_many_names_the_first_few_are_told() -> None:
    found = find_notes(asked(*(f"gone {number}" for number in range(9))), PATHS)
    assert "gone 4 (q) and 4 more." in found.doubts[0]


def test_an_array_of_json_is_told_where_it_is_no_line(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="Line 1 of questions is no question"):
        read(tmp_path, '[\n  {"question": "When?"}\n]\n')
    assert read(tmp_path, "[[Oslo]] is when?")[0]["question"] == "is when?"
