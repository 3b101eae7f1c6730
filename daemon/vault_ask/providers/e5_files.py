"""Keeps the built files of the embedded model: finds them whole, or has them built in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path

from vault_ask.errors import ModelRefused

# Raise it whenever the build makes other bytes on purpose: the old folder is then left alone and a new one is made.
RECIPE = 2
ENCODER = "encoder.int8.onnx"
TOKENIZER = "tokenizer.model"
MANIFEST = "manifest.json"
BUILD_SECONDS = 900

Progress = Callable[[str], None]


def ensure_built(models_folder: Path, progress: Progress) -> Path:
    """Give the folder of the built files, building them first where they are missing or damaged.

    Raises ModelRefused when they cannot be built here.
    """
    folder = models_folder / f"multilingual-e5-small-{RECIPE}"
    if is_whole(folder):
        return folder
    progress("Preparing the embedded model; this happens once and takes some seconds.")
    _build_apart(folder)
    if not is_whole(folder):
        raise ModelRefused(
            f"The embedded model was built in {folder} and does not match its own checksums. Check that disk."
        )
    progress("The embedded model is ready.")
    return folder


def is_whole(folder: Path) -> bool:
    """Say whether every file is there with the size and checksum it was written with."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return bool(manifest == _checksums(folder))
    except (OSError, ValueError):
        return False


def write_manifest(folder: Path) -> None:
    """Write down the checksums, as the last step of a build."""
    (folder / MANIFEST).write_text(json.dumps(_checksums(folder), indent=1), encoding="utf-8")


def checksum(file: Path) -> str:
    """Give the SHA-256 of a file in hexadecimal. Raises OSError."""
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()


def _checksums(folder: Path) -> dict[str, str]:
    return {name: checksum(folder / name) for name in (ENCODER, TOKENIZER)}


def _build_apart(folder: Path) -> None:
    command = [sys.executable, "-P", "-m", "vault_ask.providers.e5_build", str(folder)]
    # -P keeps a stray numpy.py in the current folder from being run; our own path must then be told in words.
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    try:
        done = subprocess.run(  # noqa: S603  our own interpreter and module, no shell
            command,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ModelRefused(
            f"Building the embedded model took over {BUILD_SECONDS // 60} minutes and was stopped. Try again when the "
            "machine is less busy, or set embedding.provider to ollama."
        ) from None
    if done.returncode:
        raise ModelRefused(_why(done))


def _why(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        # SIGILL on an old processor, SIGKILL when memory runs out.
        reason = f"its process was ended by signal {-done.returncode}; it needs about 900 MB of free memory"
    else:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return (
        f"The embedded model could not be built: {reason.rstrip('.')}. Until that is mended notes are found by words "
        "alone; another way is to set embedding.provider to ollama."
    )
