import json
from pathlib import Path
from typing import Any

import pytest

from cli.commands import Commands
from cli.conftest import Making

QUESTIONS = (
    {
        "id": "q1",
        "question": "How long is the notice period?",
        "relevant": ["Flat/Rent.md"],
        "answers": ["three months"],
    },
    {"id": "q2", "question": "When does the train leave?\u2028", "relevant": ["Trips/Oslo.md"], "kind": "single"},
    {"id": "q3", "question": "What was the blood pressure?", "relevant": ["Private/Health.md"], "kind": "single"},
    {"id": "q4", "question": "Who won the league in Brazil?", "relevant": [], "answerable": False, "kind": "none"},
)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in QUESTIONS), encoding="utf-8")
    return file


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def test_rankings_are_the_ten_best_distinct_notes_of_each_question_personal_ones_included(
    library: Commands, questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "results.jsonl"
    said = library("eval", str(questions), "--out", str(out))
    found = rows(out)
    assert (said.code, [list(row) for row in found]) == (0, [["id", "paths"]] * 4)
    assert [row["id"] for row in found] == ["q1", "q2", "q3", "q4"]
    assert all(len(row["paths"]) == len(set(row["paths"])) == 10 for row in found)
    assert found[2]["paths"][0] == "Private/Health.md"
    summary = {line.split()[0]: line for line in said.out.splitlines()}
    assert "n=   3 recall@5 1.000  all@5 1.000  hit@1 1.000  hit@5 1.000  MRR@10 1.000" in summary["all"]
    assert set(summary) == {"all", "kind:None", "kind:single"}


def test_a_vault_whose_best_notes_are_long_still_gives_ten_distinct_notes(commands: Making, tmp_path: Path) -> None:
    # The word arm first looks at chunks of the one long note only; so many others, or quince were a common word.
    long = "\n\n".join(f"## Part {part}\n\n{'The quince tree bears fruit. ' * 30}" for part in range(50))
    short = {
        f"N{number}.md": f"A quince, seen once among other things by the way, on day {number}.\n"
        for number in range(12)
    }
    others = {f"Other/{number}.md": f"Day {number} was like any other.\n" for number in range(700)}
    notes = {"Quince.md": long, **short, **others}
    vault_ask, out = commands(notes), tmp_path / "results.jsonl"
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "a", "question": "quince tree fruit"}\n', encoding="utf-8")
    vault_ask("index", "--no-embed")
    assert vault_ask("eval", str(questions), "--out", str(out), "--arm", "text").code == 0
    assert len(rows(out)[0]["paths"]) == 10
    assert rows(out)[0]["paths"][0] == "Quince.md"


def test_answers_carry_verbatim_quotes_with_their_lines(library: Commands, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    said = library("eval", str(questions), "--ask", "--out", str(out))
    answers = rows(out)
    assert said.code == 0
    assert [list(answer) for answer in answers] == [["id", "answer", "citations", "refused", "seconds"]] * 4
    assert [answer["refused"] for answer in answers] == [False, False, False, True]
    assert library.vault is not None
    cited = [citation for answer in answers for citation in answer["citations"]]
    assert {tuple(citation) for citation in cited} == {("path", "heading", "line_start", "line_end", "quote")}
    for citation in cited:
        lines = (library.vault / citation["path"]).read_text(encoding="utf-8").split("\n")
        assert 1 <= citation["line_start"] <= citation["line_end"] <= len(lines)
        assert citation["quote"].strip()
        assert citation["quote"] in "\n".join(lines[citation["line_start"] - 1 : citation["line_end"]])
    first = answers[0]["citations"][0]
    assert (first["path"], first["heading"], first["line_start"]) == ("Flat/Rent.md", "Notice", 8)
    assert "contains an answer 1.000" in said.out


def test_an_arm_goes_with_rankings_only(library: Commands, questions: Path, tmp_path: Path) -> None:
    said = library("eval", str(questions), "--ask", "--arm", "text", "--out", str(tmp_path / "out"))
    assert (said.code, said.out) == (2, "")
    assert "--arm chooses how notes are ranked" in said.err


def test_a_line_that_is_no_question_is_named_and_former_results_stay(library: Commands, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    out.write_text("kept\n", encoding="utf-8")
    for text in ('{"id": "a", "question": "q"}\nno json\n', '{"id": "a", "question": "q"}\n{"id": 7}\n'):
        (tmp_path / "bad.jsonl").write_text(text, encoding="utf-8")
        sentence = library("eval", str(tmp_path / "bad.jsonl"), "--out", str(out)).sentence(code=2)
        assert sentence.startswith("Line 2 of bad.jsonl is no question")
    (tmp_path / "bad.jsonl").write_bytes(b'{"id": "a", "question": "\xe4"}\n')
    assert "not UTF-8" in library("eval", str(tmp_path / "bad.jsonl"), "--out", str(out)).sentence(code=2)
    assert out.read_text(encoding="utf-8") == "kept\n"


def test_without_an_index_former_results_stay(commands: Making, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    out.write_text("kept\n", encoding="utf-8")
    commands()("eval", str(questions), "--out", str(out), "--arm", "text").sentence(code=2)
    assert out.read_text(encoding="utf-8") == "kept\n"


def test_results_that_cannot_be_written_are_told_in_a_sentence(
    library: Commands, questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "no" / "such" / "folder.jsonl"
    assert "cannot be written" in library("eval", str(questions), "--out", str(out), "--arm", "text").sentence(code=2)
