import os
import subprocess

from cli.commands import Commands
from vault_ask.wire import SearchResponse


def paths(out: str) -> list[str]:
    return [hit.path for hit in SearchResponse.model_validate_json(out).hits]


def test_hits_are_listed_with_place_score_parts_and_a_line_of_text(library: Commands) -> None:
    said = library("search", "descale the kettle")
    first, snippet = said.out.splitlines()[:2]
    assert (said.code, said.err) == (0, "")
    assert first.startswith(" 1. Kitchen/Kettle.md › Kettle (lines 1-3)  [")
    assert "bm25" in first
    assert snippet.strip().startswith("# Kettle Descale the kettle with citric acid")


def test_k_is_the_number_of_passages_and_out_of_range_is_refused(library: Commands) -> None:
    assert len(paths(library("search", "the", "--arm", "vector", "--k", "3", "--json").out)) == 3
    refused = library("search", "the", "--k", "0")
    assert (refused.code, refused.out) == (2, "")


def test_each_arm_searches_in_its_own_way(library: Commands) -> None:
    assert library("search", "mushrooms", "--arm", "text").code == 4
    assert paths(library("search", "mushrooms", "--arm", "vector", "--json").out)[0] == "Svenska/Svamp.md"
    hits = SearchResponse.model_validate_json(library("search", "Kantareller", "--arm", "text", "--json").out).hits
    assert [(hit.path, hit.provenance, set(hit.trace)) for hit in hits] == [("Svenska/Svamp.md", "text", {"bm25"})]


def test_personal_notes_are_not_there_unless_asked_for(library: Commands) -> None:
    hidden = library("search", "blood pressure", "--arm", "text", "--json")
    assert (hidden.code, paths(hidden.out)) == (4, [])
    assert paths(library("search", "blood pressure", "--arm", "text", "--json", "--personal").out) == [
        "Private/Health.md"
    ]


def test_nothing_found_is_said_on_standard_error_with_code_4(library: Commands) -> None:
    said = library("search", "zyzzyva", "--arm", "text")
    assert (said.code, said.out, said.err) == (4, "", "Nothing found.\n")


def test_a_reader_that_leaves_early_is_no_failure_of_ours(library: Commands) -> None:
    # `vault-ask search ... | head -0`: the pipe is closed before anything is written.
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run(
        library.line("search", "kettle", "--arm", "text"),
        env=library.clean(),
        cwd=library.folder,
        stdout=written,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(written)
    assert b"Traceback" not in done.stderr
    assert done.stderr == b""
