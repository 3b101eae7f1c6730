"""scripts/run in a copy of the tree whose environment is there already, and whose `vault-ask` only says what it got."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAY = '#!/usr/bin/env bash\necho "in $PWD"\nprintf "<%s>\\n" "$@"\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree in a folder with a space, installed for what its locks say."""
    root = tmp_path / "vault ask"
    binaries = root / ".venv" / "bin"
    binaries.mkdir(parents=True)
    shutil.copytree(ROOT / "scripts", root / "scripts", ignore=shutil.ignore_patterns("data"))
    (binaries / "python").symlink_to(sys.executable)
    executable(binaries / "vault-ask", SAY)
    (root / ".venv" / "made-for").write_text(f"{root}\n", encoding="utf-8")
    for name in ("requirements.lock", "pyproject.toml", "config.yaml"):
        shutil.copy(ROOT / name, root / name)
        shutil.copy(ROOT / name, root / ".venv" / f"installed-{name}")
    return root


def executable(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


def run(tree: Path, *arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(tree / "scripts" / "run"), *arguments],
        cwd=cwd or tree,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def received(result: subprocess.CompletedProcess[str]) -> list[str]:
    assert result.returncode == 0, result.stderr
    return [line[1:-1] for line in result.stdout.splitlines() if line.startswith("<")]


def test_without_arguments_it_serves_what_config_yaml_says(tree: Path) -> None:
    result = run(tree)
    assert received(result) == ["serve", "--config", f"{tree}/config.yaml"]
    assert result.stdout.startswith(f"in {tree}\n")


def test_a_vault_is_the_callers_path_and_gets_an_index_of_its_own(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "my notes").mkdir()
    first = received(run(tree, "--vault", "my notes", cwd=tmp_path))
    second = received(run(tree, f"--vault={tmp_path}/other", cwd=tmp_path))
    assert first[3:5] == ["--vault", f"{tmp_path}/my notes"]
    assert first[5] == "--data"
    assert first[6].startswith(f"{tree}/data/my notes-")
    assert second[6].startswith(f"{tree}/data/other-")


def test_the_same_vault_keeps_its_index(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    spellings = [run(tree, "--vault", one, cwd=tmp_path) for one in ("notes", "./notes/", f"{tmp_path}/notes/")]
    assert len({received(result)[6] for result in spellings}) == 1


def test_a_chosen_data_folder_and_further_arguments_are_passed_on(tree: Path, tmp_path: Path) -> None:
    got = received(run(tree, "--data", "index", "--port", "9000", "--vault", "/notes", cwd=tmp_path))
    assert got[3:] == ["--vault", "/notes", "--data", f"{tmp_path}/index", "--port", "9000"]


def test_a_path_that_was_forgotten_is_asked_for(tree: Path) -> None:
    result = run(tree, "--vault")
    assert result.returncode == 2
    assert result.stderr == "--vault needs a path after it.\n"


def test_an_environment_of_another_folder_is_made_anew_and_a_python_too_old_is_named(tree: Path) -> None:
    (tree / ".venv" / "made-for").write_text("/elsewhere\n", encoding="utf-8")
    result = run(tree, PYTHON="false")
    assert result.returncode == 1
    assert "needs Python 3.11 or newer, and false is not that" in result.stderr
    assert result.stdout == ""


def test_an_install_that_was_broken_off_is_not_trusted(tree: Path) -> None:
    (tree / ".venv" / "unfinished").touch()
    assert "needs Python 3.11" in run(tree, PYTHON="false").stderr
    (tree / ".venv" / "unfinished").unlink()
    assert received(run(tree, PYTHON="false"))[0] == "serve"


def test_a_python_without_venv_gets_the_command_that_brings_it(tree: Path) -> None:
    (tree / ".venv" / "made-for").unlink()
    bare = tree / "bare-python"
    executable(bare, f'#!/bin/sh\ncase "$*" in *ensurepip*) exit 1 ;; esac\nexec "{sys.executable}" "$@"\n')
    result = run(tree, PYTHON=str(bare), PATH=f"{without_apt(tree)}:/usr/bin:/bin")
    assert result.returncode == 1
    assert f"sudo apt-get install python3.{sys.version_info.minor}-venv" in result.stderr


def without_apt(tree: Path) -> Path:
    """Hide apt-get from a test that may run as root: `id` says that somebody else asks."""
    folder = tree / "not-root"
    folder.mkdir()
    executable(folder / "id", "#!/bin/sh\necho 1000\n")
    return folder
