"""What scripts/test does about Node: installs its packages once, and says in a sentence what is missing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAY_VERSION = "#!/bin/sh\nexit {old}\n"
INSTALL = '#!/bin/sh\necho "$*" >>npm-was-called\nmkdir -p node_modules\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree whose npm and node only do as if."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "environment.sh", tmp_path / "scripts")
    shutil.copy(ROOT / "package-lock.json", tmp_path)
    program(tmp_path, "id", "#!/bin/sh\necho 1000\n")
    program(tmp_path, "npm", INSTALL)
    program(tmp_path, "node", SAY_VERSION.format(old=0))
    for name in ("cmp", "cp", "rm", "mkdir", "tail", "dirname"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    return tmp_path


def program(tree: Path, name: str, text: str) -> None:
    file = tree / "bin" / name
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


def install(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/bash", "-c", f"source {tree}/scripts/environment.sh && install_node_packages"],
        env=os.environ | {"PATH": f"{tree}/.venv/bin:{tree}/bin"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_packages_are_installed_once_and_again_when_the_lock_changes(tree: Path) -> None:
    assert install(tree).returncode == install(tree).returncode == 0
    assert (tree / "npm-was-called").read_text().splitlines() == ["ci --loglevel=error"]
    (tree / "package-lock.json").write_text("{}")
    assert install(tree).returncode == 0
    assert len((tree / "npm-was-called").read_text().splitlines()) == 2


def take_node_away(tree: Path, fault: str) -> None:
    if fault == "no npm":
        (tree / "bin" / "npm").unlink()
    else:
        program(tree, "node", SAY_VERSION.format(old=1))


@pytest.mark.parametrize("fault", ["no npm", "an old node"])
def test_without_npm_or_with_an_old_node_that_of_pypi_is_used(tree: Path, fault: str) -> None:
    take_node_away(tree, fault)
    wheel, venv = tree / "wheel", tree / ".venv" / "bin"
    for folder in (wheel / "bin", wheel / "lib/node_modules/npm/bin", venv):
        folder.mkdir(parents=True)
    (wheel / "bin" / "node").write_text(SAY_VERSION.format(old=0), encoding="utf-8")
    (wheel / "bin" / "node").chmod(0o755)
    for name in ("npm", "npx"):
        (wheel / "lib/node_modules/npm/bin" / f"{name}-cli.js").write_text(INSTALL, encoding="utf-8")
    pip = f'#!/bin/sh\n[ "$1" = -c ] && echo {wheel} || echo "$*" >>{tree}/pip-was-called\n'
    (venv / "python").write_text(pip, encoding="utf-8")
    (venv / "python").chmod(0o755)
    for name in ("ln", "chmod"):
        (tree / "bin" / name).symlink_to(shutil.which(name) or "")
    result = install(tree)
    assert result.returncode == 0, result.stderr
    assert "--require-hashes" in (tree / "pip-was-called").read_text()
    assert (tree / "npm-was-called").read_text().splitlines() == ["ci --loglevel=error"]


@pytest.mark.parametrize("fault", ["no npm", "an old node"])
def test_where_that_of_pypi_cannot_be_had_either_what_is_missing_is_said(tree: Path, fault: str) -> None:
    take_node_away(tree, fault)
    result = install(tree)
    assert result.returncode == 1
    assert "Node 20.19 or newer with npm is missing" in result.stderr
    assert not (tree / "node_modules").exists()


def test_an_install_that_fails_is_said_with_npms_words_and_tried_again(tree: Path) -> None:
    program(tree, "npm", "#!/bin/sh\necho no such package\nexit 1\n")
    result = install(tree)
    assert result.returncode == 1
    assert "no such package" in result.stderr
    assert "npm could not install" in result.stderr
    program(tree, "npm", INSTALL)
    assert install(tree).returncode == 0
    assert (tree / "npm-was-called").exists()
