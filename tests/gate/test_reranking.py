"""Where a reranker takes part: nothing personal meets one that runs elsewhere, whatever is asked and whatever fails."""

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from fakes import ScriptedReranker
from journeys.houses import OPEN, PRIVATE, House, ask, embedded, retrieved
from rerank_stand_in import RerankStandIn
from vault_ask.answering.asked import Wishes
from vault_ask.answering.collect import collect
from vault_ask.composition.daemon import Daemon
from vault_ask.errors import BadRequest, ModelUnreachable
from vault_ask.scope import OpenScope, Question, Scope, Sensitivity
from vault_ask.wire import AskResponse, ErrorEvent, RerankerStatus
from waiting import PATIENCE

OPENLY = {
    "Rent.md": "The rent of the flat is 9200 crowns.\n",
    "Flat.md": "A flat with two rooms, near the lake. Its lease ends in May.\n",
    "Boat.md": "The boat is moored near the flat.\n",
}
PERSONALLY = {
    "Private/Loan.md": "The rent of the flat was paid with CANARYTEXT, a loan.\n",
    "Private/CANARYNAME.md": "# CANARYHEADING\n\nThe lease of the flat and the rent.\n",
}
QUESTION = "What is the rent of the flat?"


@contextmanager
def living(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    reranker: ScriptedReranker,
    *,
    notes: dict[str, str] | None = None,
) -> Iterator[Daemon]:
    """A daemon whose reranker is the given one."""
    monkeypatch.setattr("vault_ask.composition.parts.make_reranker", lambda *_: reranker)
    house = House(folder, notes or OPENLY | PERSONALLY)
    how = {"sensitivity": {"personal_paths": ["Private"]}, "rerank": {"timeout_seconds": PATIENCE}}
    with house.daemon(**how) as daemon:
        embedded(daemon)
        yield daemon


def remote(*script: object) -> ScriptedReranker:
    return ScriptedReranker(*script, name="cohere/rerank", is_local=False)


def wished(daemon: Daemon, question: str, wishes: Wishes, scope: Scope = OPEN) -> AskResponse:
    async def collected() -> AskResponse | ErrorEvent:
        return await collect(daemon.answer(Question(question), scope=scope, wishes=wishes))

    answer = asyncio.run(collected())
    assert isinstance(answer, AskResponse)
    return answer


def test_one_that_runs_elsewhere_reads_open_notes_and_none_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = remote()
    with living(tmp_path, monkeypatch, reranker) as daemon:
        open_hits = retrieved(daemon, QUESTION).hits
        given = list(reranker.read)
        private = ask(daemon, QUESTION, PRIVATE)
        found = asyncio.run(daemon.search("rent flat", scope=PRIVATE, k=8, arm="hybrid"))
    assert open_hits[0].path == "Rent.md"
    assert "rerank" in open_hits[0].trace
    assert [sorted(text.partition("\n")[0] for text in texts) for texts in given] == [["Boat", "Flat", "Rent"]]
    assert "CANARY" not in str(given)
    # Nothing at all was sent where personal notes took part, and that is said.
    assert reranker.read == given
    for notices in (private.notices, found.notices):
        assert [notice for notice in notices if notice.startswith("Not reranked: cohere/rerank does not run on your")]
    assert {hit.path for hit in found.hits} >= set(PERSONALLY)
    assert all("rerank" not in hit.trace for hit in found.hits)


def test_one_of_the_owners_reads_them_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = ScriptedReranker()
    with living(tmp_path, monkeypatch, reranker) as daemon:
        hits = retrieved(daemon, QUESTION, PRIVATE).hits
    assert "CANARYTEXT" in str(reranker.read)
    assert all("rerank" in hit.trace for hit in hits)


def test_the_owners_leave_to_send_personal_notes_to_a_remote_model_is_not_one_to_rerank_them_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = remote()
    monkeypatch.setattr("vault_ask.composition.parts.make_reranker", lambda *_: reranker)
    said = {"personal_paths": ["Private"], "personal_to_remote_model": True}
    with House(tmp_path, OPENLY | PERSONALLY).daemon(sensitivity=said) as daemon:
        embedded(daemon)
        retrieved(daemon, QUESTION, PRIVATE)
        assert reranker.read == []
        retrieved(daemon, QUESTION, OPEN)
        assert len(reranker.read) == 1


@pytest.mark.parametrize("note", ["Private/Loan.md", "Private/Absent.md", None])
def test_selected_words_that_nobody_can_tell_whose_they_are_reach_no_reranker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, note: str | None
) -> None:
    reranker = remote()
    with living(tmp_path, monkeypatch, reranker) as daemon:
        with pytest.raises(BadRequest):
            wished(daemon, "What of this?", Wishes(note=note, selection="CANARYSELECTED rent"))
        assert "CANARYSELECTED" not in f"{reranker.asked}{reranker.read}"
        # Words of a note in sight are sent, as they are to a model.
        wished(daemon, "What of this?", Wishes(note="Rent.md", selection="9200 crowns"))
        assert "9200 crowns" in reranker.asked[-1]


@pytest.mark.parametrize("fails", [False, True])
def test_hidden_notes_change_nothing_of_what_it_is_given_or_of_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    heard = []
    for name, notes in (("bare", OPENLY), ("full", OPENLY | PERSONALLY)):
        reranker = remote(*[ModelUnreachable("Nobody answers.")] * 9 if fails else [])
        with living(tmp_path / name, monkeypatch, reranker, notes=notes) as daemon:
            found = [retrieved(daemon, question) for question in (QUESTION, "CANARYTEXT loan", "boat lake May")]
        told = [one.notices for one in found]
        heard.append(([sorted(texts) for texts in reranker.read], reranker.asked, told))
    assert heard[0] == heard[1]
    assert len(heard[0][0]) == 3
    assert all(bool(notices) is fails for notices in heard[0][2])


def test_no_log_tells_what_was_asked_or_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reranker = ScriptedReranker(RuntimeError("CANARYTEXT in an error"), ModelUnreachable("Nobody answers."))
    with caplog.at_level("DEBUG"), capture_logs() as logs:
        with living(tmp_path, monkeypatch, reranker) as daemon:
            found = [retrieved(daemon, "CANARYASKED rent flat", PRIVATE) for _ in range(3)]
        logging.getLogger("control").debug("the control is logged")
    said = str(logs) + str([record.getMessage() for record in caplog.records]) + str([one.notices for one in found])
    assert [bool(one.notices) for one in found] == [True, True, False]
    assert "the control is logged" in said
    assert "reranking failed" in said
    assert "CANARY" not in said


def test_the_record_names_whoever_was_given_passages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with living(tmp_path, monkeypatch, remote(ModelUnreachable("It broke off."))) as daemon:
        ask(daemon, QUESTION, OPEN)
        asyncio.run(daemon.search(QUESTION, scope=OPEN, k=8, arm="hybrid"))
        ask(daemon, QUESTION, PRIVATE)
        asyncio.run(daemon.search(QUESTION, scope=OPEN, k=8, arm="text"))
    kept = [json.loads(line) for line in (tmp_path / "data/audit/audit.jsonl").read_text().splitlines()]
    told = [(line["action"], line["scope"], line.get("reranker")) for line in kept]
    assert told == [
        ("ask", "open", "cohere/rerank"),
        ("search", "open", "cohere/rerank"),
        ("ask", "personal", None),
        ("search", "open", None),
    ]


@pytest.mark.parametrize("ceiling", list(Sensitivity))
def test_the_status_names_it_and_where_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ceiling: Sensitivity
) -> None:
    with living(tmp_path, monkeypatch, remote()) as daemon:
        assert daemon.describe(ceiling).reranker == RerankerStatus(name="cohere/rerank", local=False)


def test_a_status_without_one_says_so(tmp_path: Path) -> None:
    with House(tmp_path, {"Rent.md": "The rent."}).daemon() as daemon:
        assert daemon.describe(Sensitivity.OPEN).reranker is None
        assert daemon.describe(Sensitivity.OPEN).notes == 1


def test_a_server_of_the_owners_is_told_personal_notes_and_a_gateway_in_its_place_is_not(tmp_path: Path) -> None:
    house = House(tmp_path, OPENLY | PERSONALLY)
    with RerankStandIn() as server:
        rerank = {"model": "infinity/m", "api_base": server.url, "timeout_seconds": 3 * PATIENCE}
        how = {"sensitivity": {"personal_paths": ["Private"]}, "rerank": rerank}
        with house.daemon(**how) as daemon:
            embedded(daemon)
            assert not retrieved(daemon, QUESTION, PRIVATE).notices
            assert "CANARYTEXT" in str(server.requests)
        server.requests.clear()
        server.headers["x-litellm-version"] = "1"
        with house.daemon(**how) as daemon:
            for scope in (PRIVATE, OpenScope(web_allowed=False)):
                (notice,) = retrieved(daemon, QUESTION, scope).notices
                assert notice.startswith("Not reranked: The server of infinity/m is a gateway")
            assert server.requests == []
