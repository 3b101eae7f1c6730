"""Cases 12 and 14: no text is an operator or an error, what has no word finds nothing, and names of code are found."""

from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from cases.small_vaults import OPEN, indexed
from cli.commands import Commands, write
from vault_ask.composition.library import Library
from waiting import wait_until

NOTES = {
    "A.md": "Bid for the rough-hewn shed. State: amber.\n",
    "B.md": "We weighed F# against C++ for the pump's firmware.\n",
    "C.md": "Ask Ingrid about the tenant's bond. The waiting time for the loft is two years.\n",
    "D.md": "lexer::tokens stands NEAR the weir.\n",
    "ja.md": "来週の契約更新の予定\n",
    "ko.md": "예산안 검토회의 자료\n",
    "zh.md": "那份报告的附录部分\n",
    "th.md": "กุญแจอยู่ใต้กระถาง\n",
    "mix.md": "昨晚部署sync-edge服务\n",
}
FOUND = {
    "rough-hewn": "A.md",
    "state: amber": "A.md",
    "C++": "B.md",
    "F#": "B.md",
    "tenant's bond": "C.md",
    "tenant’s bond": "C.md",
    "How long is the waiting time for my loft?": "C.md",
    "lexer::tokens": "D.md",
    "NEAR": "D.md",
    "契約": "ja.md",
    "更新": "ja.md",
    "예산": "ko.md",
    "报告": "zh.md",
    "录": "zh.md",
    "กระถาง": "th.md",
    "sync-edge": "mix.md",
}
WORDLESS = ["*", "(", "-", '""', "   ", "^", "{}:", "~/%_\\", "\x00", "\x1f", "\u200b\ufeff", "…?!", "\n\t"]
ODD = [
    *('"unclosed', "AND", "OR NOT", "weir OR", "path:A body:amber", "50% gone?", "#tag [[Note]]", "a\x00b"),
    *("é" * 8_000, "' OR 1=1 --", "und\x1famber", "🦊", "a " * 4_000, "\uffff", "amber*", "NEAR(weir, 2)"),
]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("case12")
    nobody = {"VAULTASK_EMBEDDING__PROVIDER": "ollama", "VAULTASK_EMBEDDING__MODEL": "m"}
    nobody["VAULTASK_EMBEDDING__OLLAMA_URL"] = "http://127.0.0.1:9"
    made = Commands(folder, write(folder / "vault", NOTES), folder / "data", environment=nobody)
    with made.serving() as served, httpx.Client(base_url=served.address or "", timeout=20) as http:
        wait_until(lambda: http.get("/api/status").json()["notes"] == len(NOTES))
        yield http


def test_the_word_arm_alone_finds_the_note_first(daemon: httpx.Client) -> None:
    first = {}
    for query in FOUND:
        hits = daemon.post("/api/search", json={"query": query, "arm": "text"}).json()["hits"]
        first[query] = hits[0]["path"] if hits else None
    assert first == FOUND


@pytest.mark.parametrize("query", [*WORDLESS, *ODD])
def test_any_text_is_answered_without_an_error(daemon: httpx.Client, query: str) -> None:
    posted = daemon.post("/api/search", json={"query": query, "arm": "text"})
    got = daemon.get(f"/api/search?arm=text&q={quote(query[:1_000])}")
    for answer in (posted, got):
        assert answer.status_code == 200, answer.text
        assert set(answer.json()) == {"hits", "notices", "understood", "seconds"}
        assert answer.json()["understood"] is None
        assert not any(word in answer.text.lower() for word in ("sqlite", "fts5", "syntax"))
    assert (posted.json()["hits"] == []) or query not in WORDLESS


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return indexed(tmp_path_factory.mktemp("vectors"), NOTES)


@pytest.mark.parametrize("query", WORDLESS)
def test_what_has_no_word_finds_nothing_by_meaning_either(library: Library, query: str) -> None:
    found = library.retrieve(query, scope=OPEN)
    assert (found.hits, found.notices) == ((), ())


def test_a_pictograph_still_has_a_meaning(library: Library) -> None:
    assert library.retrieve("🦊", scope=OPEN).hits
