"""Records made by hand, and the files they end up in."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from vault_ask.audit import AuditLog, Record
from vault_ask.scope import OpenScope
from vault_ask.settings.serving import AuditSettings

QUESTION = "How many kilos did the CANARY-Q give?"
RECORD = Record(
    door="rest",
    action="ask",
    scope=OpenScope(web_allowed=False),
    question=QUESTION,
    notes=("Garden/Allotment.md",),
    model="extractive",
    web=None,
    outcome="done",
    seconds=0.25,
)

WRITER = """
import os, resource, sys
from dataclasses import replace
from pathlib import Path
from audit.records import RECORD, log_of
from vault_ask.settings.serving import AuditSettings

def write(folder, name, how_many, **settings):
    log = log_of(Path(folder), **settings)
    for number in range(how_many):
        log.write(replace(RECORD, notes=(f"{name}/{number}.md",), question=f"{name} {number}"))
        assert log.trouble is None, log.trouble
    log.close()
"""
"""The beginning of a process that writes as the daemon or a command would."""


def log_of(data: Path, **settings: object) -> AuditLog:
    """The record of a data folder."""
    data.mkdir(exist_ok=True)
    return AuditLog(data / "audit", AuditSettings.model_validate(settings))


def lines(data: Path, name: str = "audit.jsonl") -> list[dict[str, Any]]:
    """Parse a file as a strict reader would: a line ends in a line feed, is ASCII, and holds one whole object."""
    text = (data / "audit" / name).read_bytes()
    assert text.endswith(b"\n")
    parsed = [json.loads(line.decode("ascii")) for line in text.removesuffix(b"\n").split(b"\n")]
    assert json.dumps(parsed, ensure_ascii=False).encode()  # no half letter has an encoding
    return parsed


def start(code: str, *arguments: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
    """Start a process that knows `write`, in a folder if one is named."""
    tests = Path(__file__).parent.parent
    path = os.pathsep.join((str(tests), str(tests.parent / "daemon")))
    command = [sys.executable, "-c", WRITER + code, *arguments]
    return subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE)


def ended_well(process: subprocess.Popen[bytes]) -> bool:
    """Wait for the end of a process, and show what it complained of."""
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint.decode()
    return True
