"""Runs vault-ask as a script would: a process of its own, an empty folder, nothing of ours in its environment."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waiting import wait_until

SECONDS = 60


@dataclass(frozen=True)
class Said:
    """What a command left: its exit code, and what it wrote where."""

    code: int
    out: str
    err: str

    def sentence(self, *, code: int) -> str:
        """Give the one sentence that a command failed with; nothing else may have been written anywhere."""
        assert (self.code, self.out) == (code, ""), self
        assert self.err.startswith("vault-ask: "), self.err
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err.removeprefix("vault-ask: ").strip()


@dataclass(frozen=True)
class Commands:
    """vault-ask for one vault and one data folder; either may be left out."""

    folder: Path
    vault: Path | None = None
    data: Path | None = None
    config: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, **environment: str) -> Said:
        """Run a command to its end."""
        done = self.run(*arguments, **environment)
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end; what it wrote is left as it is."""
        return subprocess.run(
            self.line(*arguments),
            cwd=self.folder,
            env=self.clean() | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )

    @contextmanager
    def serving(self, *arguments: str, **environment: str) -> Iterator["Served"]:
        """Serve on a free port while the block runs; killed at its end if it still runs."""
        log = self.folder / f"serve-{len(list(self.folder.glob('serve-*.log')))}.log"
        with log.open("wb") as said:
            process = subprocess.Popen(
                self.line("serve", "--port", "0", *arguments),
                cwd=self.folder,
                env=self.clean() | environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
            )
        served = Served(process, log)
        try:
            wait_until(lambda: served.address is not None or process.poll() is not None)
            assert served.address, log.read_text(encoding="utf-8")
            yield served
        finally:
            process.kill()
            process.communicate()

    def line(self, name: str, *arguments: str) -> list[str]:
        """Give the command line."""
        options = {"--vault": self.vault, "--data": self.data, "--config": self.config}
        places = [part for option, path in options.items() if path for part in (option, str(path))]
        return [sys.executable, "-m", "vault_ask", name, *places, *arguments]

    def clean(self) -> dict[str, str]:
        """Give an environment without settings of ours, in which Python keeps its bytecode."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("VAULTASK_") and name != "PYTHONDONTWRITEBYTECODE"
        }
        return kept | dict(self.environment)


@dataclass(frozen=True)
class Served:
    """A daemon that runs."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def said(self) -> str:
        """All that it wrote to standard error so far."""
        return self.log.read_text(encoding="utf-8")

    @property
    def address(self) -> str | None:
        """The address it printed; None before it did."""
        found = re.search(r"http://\S+(?=/chat)", self.said)
        return found[0] if found else None


def write(folder: Path, notes: Mapping[str, str | bytes]) -> Path:
    """Write notes into a folder and give it."""
    for path, content in notes.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def state(folder: Path) -> dict[str, Any]:
    """Give what a folder holds: every path below it with its bytes."""
    return {
        str(file.relative_to(folder)): file.read_bytes() if file.is_file() else None
        for file in sorted(folder.rglob("*"))
        if not file.is_symlink()
    }
