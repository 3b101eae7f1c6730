"""Results as they are written, read and scored."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vault_ask.errors import BadRequest, IndexFailed
from vault_ask.evaluation.figures import ranking_figures
from vault_ask.evaluation.questions import Asked
from vault_ask.evaluation.running import Results, read_rankings, score, score_into

ASKED: list[Asked] = [
    {"id": "a", "question": "?", "relevant": ["A.md"], "kind": "one"},
    {"id": "b", "question": "?", "relevant": ["B.md"]},
]


def lines() -> Iterator[tuple[Asked, dict[str, Any]]]:
    for question in ASKED:
        yield question, {"id": question["id"], "paths": ["A.md"]}


def test_results_that_were_written_are_read_again_with_the_same_figures(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    scored = score_into(Results(lines(), ranking_figures), out)
    assert [(one.id, one.kind, one.figures["hit@1"]) for one in scored] == [("a", "one", 1.0), ("b", None, 0.0)]
    assert [json.loads(line) for line in out.read_text().splitlines()] == [line for _, line in lines()]
    assert score(read_rankings(out, ASKED), lambda _line: None) == scored


def test_a_question_without_results_found_nothing(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    out.write_text('{"id": "b", "paths": ["B.md"], "more": 1}\n\n', encoding="utf-8")
    scored = score(read_rankings(out, ASKED), lambda _line: None)
    assert [one.figures["hit@1"] for one in scored] == [0.0, 1.0]


@pytest.mark.parametrize("text", ["no json", '{"id": "a"}', '["a"]', '{"id": "a", "paths": 7}'])
def test_what_holds_no_results_is_refused(tmp_path: Path, text: str) -> None:
    out = tmp_path / "results.jsonl"
    out.write_text(text, encoding="utf-8")
    with pytest.raises(BadRequest, match=r"results\.jsonl cannot be compared with"):
        read_rankings(out, ASKED)


def test_former_results_stay_where_the_first_question_fails(tmp_path: Path) -> None:
    def failing() -> Iterator[tuple[Asked, dict[str, Any]]]:
        raise IndexFailed("The index could not be used.")
        yield

    out = tmp_path / "results.jsonl"
    out.write_text("kept\n", encoding="utf-8")
    with pytest.raises(IndexFailed):
        score_into(Results(failing(), ranking_figures), out)
    assert out.read_text(encoding="utf-8") == "kept\n"
