"""scripts/measure_retrieval.py on a pack of three notes, with the packs' own score.py where it is at hand."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from built_model import models_folder
from scripts.packs import run, with_models, written

ROOT = Path(__file__).resolve().parents[2]
SCORE = ROOT.parent / "shared" / "packs" / "score.py"
NOTES = {
    "Oslo.md": "---\ntags: [trip]\n---\n# Oslo\n\nThe night train leaves at 23:06 from platform four.\n",
    "Kettle.md": "# Kettle\r\n\r\nDescale the kettle with citric acid.\r\n",
    "Svamp.md": "# Svamp\n\nKantareller växer i mossan bakom kvarnen.\n",
}
QUESTIONS = (
    {"id": "1", "question": "When does the night train leave?", "relevant": ["Oslo.md"], "answers": ["23:06"]},
    {"id": "2", "question": "What descales the kettle?", "relevant": ["Kettle.md"], "answers": ["citric acid"]},
)


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    vault = tmp_path / "packs" / "tiny" / "vault"
    vault.mkdir(parents=True)
    for name, text in NOTES.items():
        (vault / name).write_bytes(text.encode())
    lines = (json.dumps({**question, "kind": "single"}) for question in QUESTIONS)
    (vault.parent / "questions.dev.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return vault.parent.parent


def measure(packs: Path, data: Path, *options: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / "scripts" / "measure_retrieval.py"
    places = ("--packs", str(packs), "--data", str(data))
    return subprocess.run(
        [sys.executable, str(script), *places, *options], capture_output=True, text=True, timeout=110, check=False
    )


def test_json_is_one_object_with_every_arm_and_the_answers(
    packs: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    if SCORE.is_file():
        shutil.copy(SCORE, packs)
    data = tmp_path / "data"
    data.mkdir()
    (data / "models").symlink_to(models_folder(pytestconfig), target_is_directory=True)
    measured = measure(packs, data, "--json")
    assert measured.returncode == 0, measured.stderr
    tiny: dict[str, Any] = json.loads(measured.stdout)["packs"]["tiny"]
    assert set(tiny["arms"]) == {"hybrid", "vector", "text", "rrf", "hybrid uncentred", "vector uncentred"}
    assert {arm: figures["all"]["hit@1"] for arm, figures in tiny["arms"].items() if "un" not in arm} == {
        "hybrid": 1.0,
        "vector": 1.0,
        "text": 1.0,
        "rrf": 1.0,
    }
    assert tiny["hybrid_holds"] == {"all": True, "kind:single": True}
    answers = tiny["answers"]["all"]
    assert (answers["n"], answers["verbatim"], answers["contains an answer"]) == (2.0, 1.0, 1.0)


def test_a_score_that_disagrees_stops_the_measurement(packs: Path, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    (packs / "score.py").write_text('print("all n=   2 recall@5 0.123")\n', encoding="utf-8")
    data = tmp_path / "data"
    data.mkdir()
    (data / "models").symlink_to(models_folder(pytestconfig), target_is_directory=True)
    measured = measure(packs, data, "--json")
    assert (measured.returncode, measured.stdout) == (1, "")
    assert "disagree" in measured.stderr


def test_without_a_pack_it_says_so(tmp_path: Path) -> None:
    measured = measure(tmp_path, tmp_path / "data")
    assert (measured.returncode, measured.stdout) == (1, "")
    assert measured.stderr.startswith("There is no question pack in ")


def test_each_part_is_put_out_of_use_in_turn_and_compared(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    linked, data = written(tmp_path / "packs", "tiny", "other"), with_models(tmp_path / "data", pytestconfig)
    plot = tmp_path / "parts.png"
    places = ("--data", str(data), "--only", "tiny", "--plot", str(plot))
    measured = run("measure_retrieval.py", linked, *places, "--ablate", "--json")
    assert measured.returncode == 0, measured.stderr
    found = json.loads(measured.stdout)["ablation"]
    assert list(found) == ["tiny"]
    assert found["tiny"]["whole"]["recall@5"] == 1.0
    without = found["tiny"]["without"]
    assert {"vectors", "words", "centring", "links", "fusion: coverage"} <= set(without)
    of_words = without["vectors"]["recall@5"]
    assert of_words["mean"] == pytest.approx(1.0 + of_words["difference"])
    assert 0 < of_words["p"] <= 1
    assert plot.read_bytes().startswith(b"\x89PNG")
    shown = run("measure_retrieval.py", linked, "--data", str(data), "--only", "tiny", "--ablate", "--markdown")
    assert "| without | tiny |" in shown.stdout
    assert "| nothing | 1.000 / 1.000 |" in shown.stdout


def test_figures_come_with_their_intervals_and_a_plot(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    linked, data = written(tmp_path / "packs", "seekstone"), with_models(tmp_path / "data", pytestconfig)
    plot = tmp_path / "plots" / "retrieval.png"
    measured = run("measure_retrieval.py", linked, "--data", str(data), "--no-answers", "--plot", str(plot))
    assert measured.returncode == 0, measured.stderr
    goal = next(line for line in measured.stdout.splitlines() if line.startswith("seekstone: MRR@10"))
    assert goal.split()[-5:] == ["1.000", ".469", "to", "1.000", "yes"]
    assert plot.stat().st_size < 60 * 1024
