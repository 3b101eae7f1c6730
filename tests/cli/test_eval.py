import json
from pathlib import Path
from typing import Any

import pytest

from cli.commands import Commands
from cli.conftest import Making
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index
from vault_ask.scope import OpenScope

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
    blocks = said.out.split("\n\n")
    assert [block.split("  ")[0] for block in blocks[:3]] == [
        "all, 3 questions",
        "no kind, 1 question",
        "single, 2 questions",
    ]
    figures = [line.split() for line in blocks[0].splitlines()[1:]]
    assert [(name, mean) for name, mean, *_ in figures] == [
        (name, "1.000") for name in ("recall@5", "all@5", "hit@1", "hit@5", "MRR@10", "nDCG@10")
    ]
    assert blocks[3].startswith("Intervals: 95 %")
    assert said.err == ""


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
    assert ["contains", "an", "answer", "1.000"] in [line.split()[:4] for line in said.out.splitlines()]


def test_a_note_that_holds_a_copy_of_a_passage_is_found_with_it(commands: Making, tmp_path: Path) -> None:
    text = "The boiler is bled every autumn, from the top floor down, with the pump off for ten minutes first.\n"
    vault_ask = commands({"Boiler.md": text, "Archive/Boiler.md": text, "Grundfos.md": "A boiler has a pump.\n"})
    vault_ask("index", "--no-embed")
    questions, out = tmp_path / "questions.jsonl", tmp_path / "results.jsonl"
    lines = [{"question": "when is the boiler bled?", "relevant": note} for note in ("Boiler.md", "Archive/Boiler.md")]
    questions.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    said = vault_ask("eval", str(questions), "--arm", "text", "--out", str(out), "--json")
    for row in rows(out):
        assert sorted(row["paths"]) == ["Archive/Boiler.md", "Boiler.md", "Grundfos.md"]
        assert row["paths"][-1] == "Grundfos.md"
    assert json.loads(said.out)["groups"]["all"]["figures"]["recall@5"]["mean"] == 1.0


def test_a_note_may_be_named_by_a_link_of_markdown(library: Commands, tmp_path: Path) -> None:
    questions = tmp_path / "Questions.md"
    questions.write_text("- When does the train leave? [the trip](./Trips/Oslo.md#Oslo)\n", encoding="utf-8")
    said = library("eval", str(questions), "--arm", "text", "--json")
    assert (said.code, said.err) == (0, "")
    assert json.loads(said.out)["groups"]["all"]["figures"]["hit@1"]["mean"] == 1.0


def test_a_file_without_a_question_is_refused_and_former_results_stay(library: Commands, tmp_path: Path) -> None:
    questions, out = tmp_path / "Questions.md", tmp_path / "results.jsonl"
    questions.write_text("# Trips\n\n", encoding="utf-8")
    out.write_text("kept\n", encoding="utf-8")
    for more in ((), ("--ask",)):
        sentence = library("eval", str(questions), "--out", str(out), *more).sentence(code=2)
        assert sentence.startswith("Questions.md holds no question, so there is nothing to measure.")
    assert out.read_text(encoding="utf-8") == "kept\n"


@pytest.mark.parametrize("more", [("--arm", "text"), ("--ask",)])
def test_a_line_that_names_no_note_is_told_and_counted_neither_in_rankings_nor_in_answers(
    library: Commands, tmp_path: Path, more: tuple[str, ...]
) -> None:
    questions = tmp_path / "Questions.md"
    questions.write_text("- When does the train leave? [[Oslo]]\n- How old is the whale?\n", encoding="utf-8")
    said = library("eval", str(questions), *more, "--json")
    assert (said.code, said.err) == (0, "Not measured, because no note is named that answers it: line-2.\n")
    assert {name: group["n"] for name, group in json.loads(said.out)["groups"].items()} == {"all": 1, "kind:None": 1}


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


def test_a_list_with_links_is_measured_and_nothing_is_written(library: Commands, tmp_path: Path) -> None:
    questions = tmp_path / "Questions.md"
    questions.write_text(
        "# Trips\n- When does the train leave? [[Oslo]]\nFrom memory.\n\n"
        "# Flat\n- How long is the notice period? [[Rent#Notice]]\n",
        encoding="utf-8",
    )
    said = library("eval", str(questions), "--arm", "text", "--json")
    told = json.loads(said.out)
    assert (said.code, list(tmp_path.iterdir())) == (0, [questions])
    assert said.err == "Not measured, because no note is named that answers it: line-3.\n"
    assert told["interval"] == {"share": 0.95, "resamples": 10_000, "seed": 0}
    assert {name: group["n"] for name, group in told["groups"].items()} == {"all": 2, "kind:Flat": 1, "kind:Trips": 1}
    figure = told["groups"]["all"]["figures"]["nDCG@10"]
    assert figure["mean"] == 1.0
    assert 0.2 < figure["interval"]["low"] < 0.7 < figure["interval"]["high"] == 1.0


def test_a_mistyped_note_is_told_and_counts_as_not_found(library: Commands, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        '{"id": "t", "question": "When does the train leave?", "relevant": ["Osol"]}', encoding="utf-8"
    )
    said = library("eval", str(questions), "--arm", "text", "--json")
    assert said.err.startswith("Named as an answer but not in the index, so counted as not found: Osol (t).")
    assert json.loads(said.out)["groups"]["all"]["figures"]["recall@5"]["mean"] == 0.0


def test_two_runs_are_compared_question_by_question(library: Commands, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "before.jsonl"
    out.write_text('{"id": "q1", "paths": ["Trips/Oslo.md", "Flat/Rent.md"]}\n', encoding="utf-8")
    said = library("eval", str(questions), "--arm", "text", "--against", str(out), "--verbose")
    assert (said.code, said.err) == (0, "")
    recall = next(line.split() for line in said.out.splitlines() if line.startswith("  recall@5"))
    assert (recall[1], recall[5], recall[6], recall[-2:]) == ("1.000", "0.333", "+0.667,", ["0.500", "2/0/1"])
    assert "recall@5: no difference that these 3 questions can tell (p = 0.50). Only 2 came out otherwise" in said.out
    assert "recall@5 better: q2, q3" in said.out
    assert "MRR@10 better: q1, q2, q3" in said.out


def test_another_configuration_answers_the_same_questions_over_the_same_index(
    library: Commands, questions: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("retrieval:\n  fusion: rrf\n", encoding="utf-8")
    said = library("eval", str(questions), "--against", str(other), "--json")
    told = json.loads(said.out)["groups"]["all"]
    assert (said.code, said.err) == (0, "")
    assert told["against"] == dict.fromkeys(told["figures"], 1.0)
    assert told["differences"]["MRR@10"]["p"] == 1.0
    # The other file names no personal notes, and would open them if the index were brought in line with it.
    assert library.data is not None
    with Index(IndexFiles(library.data)).open(OpenScope(web_allowed=False)) as view:
        assert "Flat/Rent.md" in view.notes.paths()
        assert "Private/Health.md" not in view.notes.paths()


def test_a_configuration_that_needs_an_index_of_its_own_is_refused(
    library: Commands, questions: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("embedding:\n  centring: 'off'\nchunks:\n  target_tokens: 128\n", encoding="utf-8")
    sentence = library("eval", str(questions), "--arm", "text", "--against", str(other)).sentence(code=2)
    assert sentence.startswith(
        "The two configurations differ in embedding.centring, chunks, which an index is built by"
    )


def test_what_is_neither_results_nor_a_configuration_is_refused(
    library: Commands, questions: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.txt").write_text("retrieval:\n", encoding="utf-8")
    said = library("eval", str(questions), "--arm", "text", "--against", str(tmp_path / "other.txt"))
    assert "other.txt cannot be compared with" in said.sentence(code=2)
    said = library("eval", str(questions), "--ask", "--against", str(questions))
    assert (said.code, said.out) == (2, "")
    assert "--against compares how notes are ranked, so it does not go with --ask" in " ".join(said.err.split())


def test_questions_that_are_a_note_of_the_vault_are_refused(commands: Making) -> None:
    vault_ask = commands({"Oslo.md": "The train.\n", "My questions.md": "- When does the train leave? [[Oslo]]\n"})
    vault_ask("index", "--no-embed")
    assert vault_ask.vault is not None
    said = vault_ask("eval", str(vault_ask.vault / "My questions.md"), "--arm", "text")
    assert said.sentence(code=2).startswith("My questions.md is a note of the vault")


def test_an_arm_that_took_no_part_is_told(commands: Making, questions: Path) -> None:
    vault_ask = commands()
    vault_ask("index", "--no-embed")
    said = vault_ask("eval", str(questions))
    assert said.code == 0
    assert said.err.startswith("Found by words alone: no passage has its vector yet.")
    assert said.err.endswith("(told of 4 questions)\n")
    assert said.err.count("Found by words alone") == 1


def test_a_question_is_asked_as_if_on_its_day(commands: Making, tmp_path: Path) -> None:
    notes = {f"Daily/2026-03-{day:02}.md": f"Walked with Dana, {day} kilometres.\n" for day in range(1, 29)}
    vault_ask = commands(notes)
    vault_ask("index", "--no-embed")
    lines = [
        {"id": day, "question": "How far did I walk yesterday?", "asked_on": day, "relevant": f"Daily/{note}.md"}
        for day, note in (("2026-03-20", "2026-03-19"), ("2026-03-05", "2026-03-04"))
    ]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    said = vault_ask("eval", str(questions), "--json")
    assert json.loads(said.out)["groups"]["all"]["figures"]["hit@1"]["mean"] == 1.0
