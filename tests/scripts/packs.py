"""A question pack of a few linked notes, and a folder for its index that has the model's files."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from built_model import models_folder

ROOT = Path(__file__).resolve().parents[2]
NOTES: Mapping[str, str] = {
    "Oslo.md": "# Oslo\n\nThe night train leaves at 23:06 from platform four. See [[Tickets]].\n",
    "Tickets.md": "# Tickets\n\nTwo berths in car nine, paid by Dana. They went with [[Oslo]].\n",
    "Kettle.md": "# Kettle\r\n\r\nDescale the kettle with citric acid.\r\n",
    "Svamp.md": "# Svamp\n\nKantareller växer i mossan bakom kvarnen.\n",
    "Standup.md": "# Standup\n\nThe stand-up is at 9:40, in the small room behind the stairs.\n",
    "Chain.md": "# Chain\n\nThe chain of the blue bicycle was changed at 4,100 kilometres.\n",
    "Whale.md": "# Whale\n\nThe book was borrowed from a neighbour and has to go back in spring.\n",
}
QUESTIONS = (
    {"id": "1", "question": "When does the night train leave?", "relevant": ["Oslo.md"], "kind": "single"},
    {"id": "2", "question": "What descales the kettle?", "relevant": ["Kettle.md"], "kind": "single"},
    {
        "id": "3",
        "question": "Who paid for the night train?",
        "relevant": ["Oslo.md", "Tickets.md"],
        "kind": "multihop",
    },
    {"id": "4", "question": "Who won the league?", "relevant": [], "answerable": False, "kind": "unanswerable"},
)


def written(folder: Path, *names: str) -> Path:
    """Write a pack under each name and give the folder of the packs."""
    for name in names:
        vault = folder / name / "vault"
        vault.mkdir(parents=True)
        for path, text in NOTES.items():
            (vault / path).write_bytes(text.encode())
        lines = "".join(json.dumps(question) + "\n" for question in QUESTIONS)
        (vault.parent / "questions.dev.jsonl").write_text(lines, encoding="utf-8")
    return folder


def with_models(folder: Path, config: pytest.Config) -> Path:
    """Make a data folder that has the embedded model."""
    folder.mkdir()
    (folder / "models").symlink_to(models_folder(config), target_is_directory=True)
    return folder


def run(script: str, packs: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a measuring script over packs."""
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), "--packs", str(packs), *options],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
