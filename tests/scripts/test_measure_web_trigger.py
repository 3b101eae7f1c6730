"""scripts/measure_web_trigger.py on two packs of three notes, and the arithmetic that it tells figures by."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from built_model import models_folder

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))
from separation import auc, auc_interval, fit, highest_threshold, histogram  # noqa: E402 - not on the tests' path

PACKS = {
    "house": {
        "Oslo.md": ("The night train to Oslo leaves at 23:06 from platform four.", "When does the Oslo train leave?"),
        "Kettle.md": ("Descale the kettle with citric acid.", "What descales the kettle?"),
        "Svamp.md": ("Kantareller växer i mossan bakom kvarnen.", "Var växer kantareller?"),
    },
    "science": {
        "Plague.md": ("Yersinia pestis is spread by the fleas of rats.", "Which animal's fleas spread the plague?"),
        "Prime.md": ("A prime has no divisors but one and itself.", "Which divisors has a prime number?"),
        "Oxygen.md": ("Liquid oxygen is pale blue and magnetic.", "What colour is liquid oxygen?"),
    },
}
MISS = {"id": "miss", "question": "Who drives the night train to Oslo?", "answerable": False, "relevant": []}


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    for name, notes in PACKS.items():
        vault = tmp_path / "packs" / name / "vault"
        vault.mkdir(parents=True)
        lines = [MISS] if name == "house" else []
        for path, (text, question) in notes.items():
            (vault / path).write_text(f"# {path.removesuffix('.md')}\n\n{text}\n", encoding="utf-8")
            lines.append({"id": path, "question": question, "relevant": [path], "answerable": True})
        (vault.parent / "questions.dev.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return tmp_path / "packs"


@pytest.fixture
def data(tmp_path: Path, pytestconfig: pytest.Config) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "models").symlink_to(models_folder(pytestconfig), target_is_directory=True)
    return folder


def measure(packs: Path, *options: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / "scripts" / "measure_web_trigger.py"
    return subprocess.run(
        [sys.executable, str(script), "--packs", str(packs), *options],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def test_every_pack_is_asked_its_own_questions_and_the_others(packs: Path, data: Path) -> None:
    measured = measure(packs, "--data", str(data), "--foreign", "2", "--fit", "--json")
    assert measured.returncode == 0, measured.stderr
    told: dict[str, Any] = json.loads(measured.stdout)
    assert told["model"] == "multilingual-e5-small"
    assert set(told["fit"]["weights"]) == {"covered", "cosine", "likeness", "crowd"}
    house, science = told["packs"]["house"], told["packs"]["science"]
    assert house["n"] == {"answerable": 3, "foreign": 2, "near miss": 1}
    assert science["n"] == {"answerable": 3, "foreign": 2, "near miss": 0}
    assert house["auc"] == science["auc"] == 1.0
    assert house["fired"]["answerable"] == 0.0
    assert (house["auc near miss"] is None, science["auc near miss"]) == (False, None)
    assert told["threshold_for_all"] == min(house["threshold"], science["threshold"]) > told["thin_below"]

    shown = measure(packs, "--data", str(data), "--only", "house", "--foreign", "2", "--markdown")
    assert shown.returncode == 0, shown.stderr
    assert "| house | 3 / 2 | 1.000 | 1.000 to 1.000 | yes | 0.000 | yes |" in shown.stdout
    assert "science" not in shown.stdout


def test_one_pack_alone_has_no_foreign_questions_and_that_is_said(packs: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    (packs / "house").rename(alone / "house")
    measured = measure(alone, "--json")
    assert (measured.returncode, measured.stdout) == (1, "")
    assert "no two question packs" in measured.stderr


def test_auc_counts_how_often_the_higher_group_is_higher_and_ties_half() -> None:
    assert auc(np.array([2.0, 3.0]), np.array([0.0, 1.0])) == 1.0
    assert auc(np.array([1.0, 1.0]), np.array([1.0])) == 0.5
    assert auc(np.array([0.0, 2.0]), np.array([1.0, 3.0])) == 0.25
    assert np.isnan(auc(np.array([]), np.array([1.0])))


def test_its_interval_holds_it_and_is_the_same_for_a_seed() -> None:
    random = np.random.default_rng(1)
    high, low = random.normal(1, 1, 60), random.normal(0, 1, 80)
    first, last = auc_interval(high, low, seed=3)
    assert 0.5 < first < auc(high, low) < last < 1
    assert (first, last) == auc_interval(high, low, seed=3) != auc_interval(high, low, seed=4)


@pytest.mark.parametrize(("number", "below"), [(36, 1), (40, 2), (19, 0), (1, 0)])
def test_the_highest_threshold_sends_no_larger_share_than_was_said(number: int, below: int) -> None:
    figures = np.random.default_rng(2).permutation(np.arange(number, dtype=float))
    assert (figures < highest_threshold(figures, 0.05)).sum() == below
    assert (figures < highest_threshold(figures, 0.05) + 0.5).sum() == below + 1


def test_a_histogram_draws_each_bar_by_the_tallest() -> None:
    assert histogram(np.array([0.1] * 8 + [0.6] * 4 + [0.9]), np.linspace(0, 1, 5)) == "█ ▄▁"


def test_a_fit_finds_the_column_that_tells_and_weighs_every_group_the_same() -> None:
    random = np.random.default_rng(6)

    def group(number: int) -> tuple[np.ndarray, np.ndarray]:
        tells = np.concatenate([random.normal(1, 0.5, number), random.normal(0, 0.5, 9 * number)])
        rows = np.column_stack([tells, random.normal(0, 1, 10 * number)])
        return rows[:number], rows[number:]

    found = fit([group(300), group(30)])
    assert found.weights[0] > 10 * abs(found.weights[1])
    own, foreign = group(400)
    assert auc(found.odds(own), found.odds(foreign)) > 0.9
    # Nine times as many foreign questions do not move the middle, which lies halfway.
    assert abs(found.odds(np.array([[0.5, 0.0]]))[0]) < 0.5
