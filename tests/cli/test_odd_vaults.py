"""Vaults as they are found on real disks: any encoding, any locale, links, pipes and strange names."""

import os
from pathlib import Path

import pytest

from cli.commands import Commands
from cli.conftest import Making

ENCODINGS = {
    "Old.md": bytes.fromhex("2320536df67267e5730a68616c6c6f6e"),
    "Utf16.md": bytes.fromhex("fffe23002000530065007800740069006f000a006b0061006e0074006100720065006c006c000a00"),
    "Nul.md": bytes.fromhex("6162006364206b7275736261720a"),
    "Good.md": "good text björnbär\n",
    "Türkçe/Ağaç.md": "incir ağacı\n",
}
LOCALES = (
    {"LC_ALL": "C"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "ascii"},
)


@pytest.mark.parametrize("locale", LOCALES, ids=("C", "C without UTF-8 mode", "ASCII output"))
def test_notes_of_any_encoding_are_found_in_any_locale(commands: Making, locale: dict[str, str]) -> None:
    vault_ask = commands(ENCODINGS)
    indexed = vault_ask("index", "--no-embed", **locale)
    assert (indexed.code, indexed.out.split(";", maxsplit=1)[0]) == (0, "5 new, 0 changed, 0 deleted, 0 reclassified")
    for word, path in (("hallon", "Old.md"), ("björnbär", "Good.md"), ("kantarell", "Utf16.md"), ("krusbar", "Nul.md")):
        found = vault_ask("search", word, "--arm", "text", **locale)
        assert (found.code, path in found.out) == (0, True), (word, found)
    status = vault_ask("status", **locale)
    assert status.code == 0
    assert "Old.md" in status.out


@pytest.fixture
def linked(commands: Making) -> Commands:
    """Case 34: links inside the vault, out of it and round in circles, and a pipe."""
    vault_ask = commands({"Private/a.md": "CANARYS lingon\n", "Work/w.md": "plum\n"})
    assert vault_ask.vault is not None
    outside = vault_ask.folder / "outside.md"
    outside.write_text("CANARYOUT rhubarb\n", encoding="utf-8")
    work = vault_ask.vault / "Work"
    (work / "alias.md").symlink_to("../Private/a.md")
    (work / "out.md").symlink_to(outside)
    (work / "loop").symlink_to("..")
    (work / "away").symlink_to(vault_ask.folder)
    os.mkfifo(work / "pipe.md")
    return vault_ask


def test_links_and_pipes_end_the_scan_and_leak_nothing(linked: Commands) -> None:
    indexed = linked("index", "--no-embed")
    assert (indexed.code, indexed.out.split(";", maxsplit=1)[0]) == (0, "2 new, 0 changed, 0 deleted, 0 reclassified")
    assert linked("search", "plum", "--arm", "text").code == 0
    assert linked("search", "rhubarb", "--arm", "text", "--personal").code == 4
    assert linked("search", "lingon", "--arm", "text").code == 4
    assert "Private/a.md" in linked("search", "lingon", "--arm", "text", "--personal").out


def test_a_vault_that_is_itself_a_link_is_read(commands: Making, tmp_path: Path) -> None:
    vault_ask = commands({"A.md": "plum\n"})
    assert vault_ask.vault is not None
    (tmp_path / "link").symlink_to(vault_ask.vault)
    assert vault_ask("index", "--no-embed", "--vault", str(tmp_path / "link")).out.startswith("1 new")


def test_names_that_look_like_paths_options_or_markup_are_names(commands: Making) -> None:
    names = (
        "a..%2f..%2fetc.md",
        "a...md.md",
        "[bold]x[/bold].md",
        "-rf.md",
        "Guide #7 to knots!.md",
        "ä\u0301 %s {0}.md",
    )
    vault_ask = commands({f"Odd/{name}": f"quince {number}\n" for number, name in enumerate(names)})
    assert vault_ask("index", "--no-embed").out.startswith(f"{len(names)} new")
    found = vault_ask("search", "quince", "--arm", "text", "--k", "20").out
    assert [name for name in names if f"Odd/{name}" not in found] == []
