"""Case 2: whatever is wrong with a personal note's frontmatter, a real daemon keeps it closed and says what to mend."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from cases.conftest import prepared
from cli.commands import Served
from waiting import wait_until

NOTES: dict[str, str | bytes] = {
    "A.md": "---\ntitle: Lawyer: first letter\nprivat: true\n---\nCANARYA the claim was lost\n",
    "B.md": "---\nprivat: true\nwhen: 2025-02-31\n---\nCANARYB the debt to Ove\n",
    "C.md": "---\nprivat: true\nby: @ove\n---\nCANARYC the wage of June\n",
    "D.md": "---\nprivat: true\nCANARYD this block has no end\n",
    "E.md": "---\ntitle: Walk: south\n---\nCANARYE plain words of chanterelle\n",
    "F.md": "\n---\nPrivat: true\n---\nCANARYF below a blank line\n",
    "G.md": '\ufeff---\r\n"Privat" : [yes]\r\n---\r\nCANARYG with a mark and CRLF\r\n',
    "H.md": "---\nprivat: true\n---\nCANARYH in UTF-16\n".encode("utf-16"),
    "Open.md": "---\nprivat: open\n---\nan open note of herring\n",
    "Plain.md": "another open note of mackerel\n",
}
CANARIES = {f"CANARY{letter}": f"{letter}.md" for letter in "ABCDEFGH"}


@pytest.fixture(scope="module")
def daemon(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[tuple[httpx.Client, Served]]:
    environment = {"VAULTASK_SENSITIVITY__FRONTMATTER_KEY": "privat", "VAULTASK_LOG__LEVEL": "debug"}
    made = prepared(tmp_path_factory.mktemp("case2"), pytestconfig, NOTES, environment=environment)
    with made.serving() as served, httpx.Client(base_url=served.address or "", timeout=20) as http:
        wait_until(lambda: _is_indexed(http.get("/api/status").json()))
        yield http, served


def _is_indexed(status: dict[str, Any]) -> bool:
    return status["notes"] == len(NOTES) and status["embedding"]["waiting"] == 0


def test_no_word_of_it_comes_out_and_every_word_is_found_when_asked_for(
    daemon: tuple[httpx.Client, Served],
) -> None:
    http, served = daemon
    said = []
    for canary, path in CANARIES.items():
        for body in ({}, {"allow_web": False}):
            asked = http.post("/api/ask", json={"question": f"What of {canary}?", **body})
            said.append(asked.text)
            assert "event: done" in asked.text
        said.append(http.get("/api/search", params={"q": canary}).text)
        found = http.post("/api/search", json={"query": canary, "include_personal": True, "arm": "text"}).json()
        assert [hit["path"] for hit in found["hits"]] == [path]
    assert not any(canary in text for canary in CANARIES for text in said)
    assert "herring" in http.get("/api/search", params={"q": "open note herring"}).text
    assert not any(canary in served.said for canary in CANARIES)


def test_the_status_names_note_and_line(daemon: tuple[httpx.Client, Served]) -> None:
    http, _ = daemon
    problems = {(p["path"], p["line"]): p["code"] for p in http.get("/api/status").json()["problems"]}
    assert problems == {
        ("A.md", 2): "frontmatter-unreadable",
        ("C.md", 3): "frontmatter-unreadable",
        ("D.md", 1): "frontmatter-unclosed",
        ("E.md", 2): "frontmatter-unreadable",
        ("F.md", 2): "frontmatter-misplaced",
        ("G.md", 2): "sensitivity-value",
    }
    assert "CANARY" not in json.dumps(http.get("/api/status").json())
