"""scripts/measure_graph_expansion.py on a pack of linked notes, and what it counts by hand."""

import json
import sys
from pathlib import Path

import pytest

from scripts.packs import ROOT, run, with_models, written

sys.path.append(str(ROOT / "scripts"))
from measure_graph_expansion import Passages, _expansion


def test_links_are_followed_and_not_at_the_same_number_of_passages(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    packs, data = written(tmp_path / "packs", "tiny"), with_models(tmp_path / "data", pytestconfig)
    plot = tmp_path / "plots" / "links.png"
    measured = run("measure_graph_expansion.py", packs, "--data", str(data), "--json", "--plot", str(plot))
    assert measured.returncode == 0, measured.stderr
    tiny = json.loads(measured.stdout)["packs"]["tiny"]
    assert {group: figures["n"] for group, figures in tiny["figures"].items()} == {
        "all": 3,
        "kind:multihop": 1,
        "kind:single": 2,
    }
    recall = tiny["figures"]["kind:multihop"]["recall@5"]
    assert recall["links"] == 1.0
    assert recall["difference"] == recall["links"] - recall["none"]
    with_links, without = tiny["expansion"]["passages"]
    assert with_links == without > 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert plot.stat().st_size < 60 * 1024

    shown = run("measure_graph_expansion.py", packs, "--data", str(data), "--markdown")
    assert "| pack, questions | n | recall@5 | all@5 | MRR@10 | recall of the passages |" in shown.stdout
    assert "| tiny | 3 |" in shown.stdout


def test_notes_gained_by_links_and_lost_to_them_are_counted_by_question() -> None:
    one, two = {"relevant": ["a"]}, {"relevant": ["b", "c"]}
    seen = [
        # A link brought the note that answers; then one took the place of another that answers.
        (one, Passages(("x", "a"), frozenset({"a"})), Passages(("x", "y"), frozenset())),
        (two, Passages(("b", "z"), frozenset({"z"})), Passages(("b", "c"), frozenset())),
        (one, Passages(("a", "x"), frozenset()), Passages(("a", "x"), frozenset())),
    ]
    found = _expansion(seen)
    assert (found.questions, found.passages, found.by_links, found.by_links_right) == (3, (6, 6), 2, 1)
    assert (found.gained, found.lost) == (1, 1)


def test_without_a_pack_it_says_so(tmp_path: Path) -> None:
    measured = run("measure_graph_expansion.py", tmp_path)
    assert (measured.returncode, measured.stdout) == (1, "")
    assert measured.stderr.startswith("There is no question pack in ")
