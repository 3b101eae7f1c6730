"""scripts/measure_search.py on a small pack and a small made-up index."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from scripts.packs import ROOT, run, with_models, written

sys.path.append(str(ROOT / "scripts"))
from synthetic_vault import DIMENSION, Randomly, SyntheticVault
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index
from vault_ask.scope import OpenScope


def test_searches_are_timed_with_links_without_and_on_a_made_up_index(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    packs, data = written(tmp_path / "packs", "tiny"), with_models(tmp_path / "data", pytestconfig)
    options = ("--data", str(data), "--only", "tiny", "--rounds", "2", "--synthetic", "50")
    measured = run("measure_search.py", packs, *options, "--json", "--profile")
    assert measured.returncode == 0, measured.stderr
    times = json.loads(measured.stdout)["ms"]
    assert {name: (found["chunks"], found["searches"]) for name, found in times.items()} == {
        "tiny": (7, 8),
        "tiny, links off": (7, 8),
        "made up, 50 chunks": (50, 200),
    }
    assert all(0 < found["median"] <= found["slow"] for found in times.values())
    assert "cumulative" in measured.stderr
    shown = run("measure_search.py", packs, *options, "--markdown")
    assert "| made up, 50 chunks | 50 | 200 |" in shown.stdout


def test_a_made_up_index_can_be_searched_by_words_by_meaning_and_along_links(tmp_path: Path) -> None:
    vault = SyntheticVault(40)
    vault.build(tmp_path)
    with Index(IndexFiles(tmp_path)).open(OpenScope(web_allowed=False)) as view:
        assert (view.state.counts().notes, view.words.tallies().chunks) == (8, 40)
        assert view.vectors.space == Randomly().space.fingerprint
        assert len(view.vectors.nearest(Randomly().embed_query("a"), 5)) == 5
        common = " OR ".join(f'"und\x1f{word}"' for word in next(vault.questions(1)).split())
        assert view.words.matching(common, 5)
        assert all(edge.target_path for path in view.notes.paths() for edge in view.links.edges_from(path))


def test_a_random_vector_is_of_unit_length_and_the_same_for_the_same_text() -> None:
    one, again, other = (Randomly().embed_query(text) for text in ("a", "a", "b"))
    assert one.shape == (DIMENSION,)
    assert np.linalg.norm(one) == pytest.approx(1)
    assert np.array_equal(one, again)
    assert abs(float(one @ other)) < 0.3
