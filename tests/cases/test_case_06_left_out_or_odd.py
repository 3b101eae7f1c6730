"""Cases 6, 20 and 34: a run ends with what should be mended, and what was left out is told with its name and reason."""

import os
from pathlib import Path

from cases.conftest import Making
from cases.small_vaults import indexed
from fakes import HashEmbedder
from vault_ask.scope import Sensitivity

NOTES: dict[str, str | bytes] = {
    "Old.md": "# Trädgård\nhjortron i skogen".encode("latin-1"),
    "Wide.md": "# Tomt\nkrusb\u00e4r".encode("utf-16"),
    "Nul.md": b"ab\x00cd vinbar\n",
    "Good.md": "good text with björnmossa\n",
    "No way.md": "---\nowner: @sam\n---\nsealed\n",
}


def test_a_run_under_the_c_locale_reads_all_and_counts_what_should_be_mended(commands: Making) -> None:
    made = commands(NOTES, LC_ALL="C", LANG="C")
    os.mkfifo(made.vault / "pipe.md")  # type: ignore[operator] # this one has a vault
    (made.vault / "out.md").symlink_to("/etc/hostname")  # type: ignore[operator]
    said = made("index", "--no-embed")
    assert said.code == 0
    assert "3 notes should be mended; `vault-ask status` names them." in said.err
    assert "Left out: out.md (the link leads out of the vault)" in said.err
    assert "Left out: pipe.md (it is a pipe, socket or device)" in said.err
    for word, path in {"hjortron": "Old.md", "krusbär": "Wide.md", "vinbar": "Nul.md", "björnmossa": "Good.md"}.items():
        assert made("search", "--arm", "text", word, PYTHONUTF8="1").out.startswith(f" 1. {path} ")
    status = made("status").out
    assert "Old.md not-utf8" in status
    assert "Nul.md nul" in status


def test_a_run_warns_of_a_pattern_that_protects_nothing(commands: Making) -> None:
    made = commands({"Private/a.md": "x\n"}, config='sensitivity: {personal_paths: ["Privat/**"]}\n')
    said = made("index", "--no-embed")
    assert said.code == 0
    assert "'Privat/**' matches no note" in said.err


def test_passages_that_the_embedder_refused_are_told_and_not_waiting(tmp_path: Path) -> None:
    library = indexed(
        tmp_path, {"Bad.md": "poison ivy\n", "Fine.md": "plain ivy\n"}, embedder=HashEmbedder(refuses=["poison"])
    )
    status = library.describe(Sensitivity.PERSONAL)
    assert [(problem.path, problem.code) for problem in status.problems] == [("Bad.md", "no-vector")]
    assert status.embedding.waiting == 0
    assert library.describe(Sensitivity.OPEN).problems == ()
