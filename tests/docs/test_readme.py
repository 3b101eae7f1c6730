"""The README names every command, option, exit code and route that exists, and none that does not."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest
from starlette.routing import BaseRoute, Route

from vault_ask import __version__, cli
from vault_ask.adapters.doors import Doors
from vault_ask.adapters.http import make_http
from vault_ask.scope import Sensitivity
from vault_ask.settings.serving import ServerSettings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EVERYWHERE = {"--vault", "--data", "--config", "--help", "--version"}


def commands() -> dict[str, click.Command]:
    group = cli.main
    assert isinstance(group, click.Group)
    return {name: command for name, command in group.commands.items() if not command.hidden}


def command_rows() -> dict[str, str]:
    return dict(re.findall(r"^\| `vault-ask (\w+)[^`]*` \| (.+) \|$", README, re.MULTILINE))


def options(command: click.Command) -> set[str]:
    names = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return {name for name in names if name.startswith("--")} - EVERYWHERE


def test_both_commands_of_the_readme_can_be_run() -> None:
    fence = README.split("```sh\n")[1].split("```")[0]
    scripts = [line.split()[0] for line in fence.splitlines()]
    assert scripts == ["scripts/run", "scripts/test"]
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)


def test_every_command_has_a_row_and_every_row_is_a_command() -> None:
    assert command_rows().keys() == commands().keys()


@pytest.mark.parametrize("name", ["index", "ask", "search", "status", "audit", "serve", "eval"])
def test_every_option_of_a_command_is_in_its_row(name: str) -> None:
    row = re.search(rf"^\| `vault-ask {name}.*$", README, re.MULTILINE)
    assert row
    assert set(re.findall(r"--[a-z-]+", row[0])) == options(commands()[name])


def test_every_exit_code_has_a_row() -> None:
    rows = re.findall(r"^\| (\d+) \| ", README, re.MULTILINE)
    codes = {value for name, value in vars(cli).items() if name.startswith("EXIT_")}
    assert {int(row) for row in rows} == codes | {0}


def test_every_route_has_a_row_and_every_row_is_a_route() -> None:
    app = make_http(_NoHouse(), server=ServerSettings(), ceiling=Sensitivity.OPEN, token=None)
    routes = {(method, route.path_format) for route in flat(app.routes) for method in route.methods - {"HEAD"}}
    rows = re.findall(r"`(GET|POST) (/[a-z/.{}]*)", README)
    assert set(rows) | {("GET", "/")} == routes


def flat(routes: Sequence[BaseRoute]) -> Iterator[Route]:
    """Give the routes of an application, those of its routers included."""
    for route in routes:
        if isinstance(route, Route):
            yield route
        else:
            yield from flat(route.original_router.routes)


class _NoHouse(Doors):
    """Doors that nobody walks through: only the routes are looked at."""

    vault_name = "none"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_the_changelog_speaks_of_this_version() -> None:
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
