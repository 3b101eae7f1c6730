"""`vault-ask search`: what it prints of a hit, and that an explained score is the sum of what is printed."""

import json
import re
from pathlib import Path

import pytest

from cli.commands import Commands, write

TEXT = "The boiler is bled every autumn, from the top floor down, with the pump switched off for ten minutes first."
NOTES = {
    "Boiler.md": f"{TEXT} See [[Grundfos]].\n",
    "Archive/Boiler.md": f"{TEXT} See [[Grundfos]].\n",
    "Grundfos.md": "The pump runs at 0.8 bar in autumn.\n",
    "Oven.md": "The oven is old.\n",
}
QUESTION = "when is the boiler bled, and at what pressure does its pump run?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Commands:
    folder: Path = tmp_path_factory.mktemp("search")
    commands = Commands(folder, write(folder / "vault", NOTES))
    assert commands("index").code == 0
    return commands


def test_an_explained_score_is_the_sum_of_its_parts(library: Commands) -> None:
    said = library("search", QUESTION, "--explain").out
    scores = [float(score) for score in re.findall(r"\[(-?\d+\.\d+);", said)]
    sums = [
        sum(float(part) for part in re.findall(r" (-?\d+\.\d+)", line))
        for line in said.splitlines()
        if line.lstrip().startswith("= ")
    ]
    assert len(scores) == len(sums) == len(json.loads(library("search", QUESTION, "--json").out)["hits"]) > 1
    assert sums == pytest.approx(scores, abs=0.005)
    assert "links" in said


def test_without_being_asked_no_part_is_shown_and_hits_are_the_same(library: Commands) -> None:
    plain, explained = library("search", QUESTION).out, library("search", QUESTION, "--explain").out
    assert "Boiler.md" in plain
    assert [line for line in explained.splitlines() if not line.lstrip().startswith("= ")] == plain.splitlines()
    assert len(explained.splitlines()) > len(plain.splitlines())


def test_a_copy_is_named_beside_the_hit(library: Commands) -> None:
    hits = json.loads(library("search", QUESTION, "--json").out)["hits"]
    assert {hit["path"] for hit in hits if hit["also"]} | {path for hit in hits for path in hit["also"]} == {
        "Boiler.md",
        "Archive/Boiler.md",
    }
    assert "the same in" in library("search", QUESTION).out


def test_filters_without_a_word_are_a_search_of_their_own(library: Commands) -> None:
    hits = json.loads(library("search", "path:Archive/", "--json").out)["hits"]
    assert [hit["path"] for hit in hits] == ["Archive/Boiler.md"]
    assert library("search", "path:Nowhere/").code == 4
