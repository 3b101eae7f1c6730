"""Whatever a vault holds and whoever asks: no door shows a canary of a personal note, nor that there is such a note.

The full run is `scripts/measure_gate.py`; what is here is its sample of a fixed seed, and the proof that every door is
listened at.
"""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import structlog
from hypothesis import HealthCheck, given, settings

from gate.all_doors import House
from gate.random_vaults import MARK, Ask, Call, Request, Search, Setup, Vault, examples
from gate.said import Tally, judge, strays
from gate.trying import Example, try_example
from vault_ask.answering.conversation import Turn

LEAK = (
    f"---\ntitle: {MARK}title\naliases: [{MARK}alias]\ntags: [{MARK}tag]\nbad: [\n---\n# {MARK}heading\n\n"
    f"The rent of the barn is {MARK}body, said the letter about the lease.\n"
)
OPENED = LEAK.replace("bad: [\n", "")
SHOWN = Vault(open={f"{MARK}folder/Leak.md": OPENED}, personal={f"Private/{MARK}n.md": "hidden\n"})
QUESTION = "what is the rent of the barn?"
ASK = Ask(door="stream", question=QUESTION)
SEARCH = Search(door="get", query=QUESTION)
STATUS = Call(method="GET", address="/api/status")
NOTE = Call(method="GET", address=f"/api/notes/{MARK}folder/leak.md")
NEAR = Call(method="GET", address="/api/related?path=Open/Alpha.md")


@given(examples())
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_no_canary_gets_out_and_an_open_answer_is_the_same_without_personal_notes(
    tmp_path_factory: pytest.TempPathFactory, example: Example
) -> None:
    assert try_example(example, tmp_path_factory.mktemp("houses"), Tally()) == []


@pytest.mark.parametrize(
    ("request_", "setup", "door"),
    [
        (ASK, Setup(), "ask, stream"),
        (replace(ASK, door="json"), Setup(), "ask, json"),
        (replace(ASK, door="cli"), Setup(), "ask, cli"),
        (replace(ASK, door="cli json"), Setup(), "ask, cli json"),
        (replace(ASK, door="cli sources"), Setup(), "ask, cli sources"),
        (SEARCH, Setup(), "search, get"),
        (replace(SEARCH, door="post"), Setup(), "search, post"),
        (replace(SEARCH, door="cli"), Setup(), "search, cli"),
        (replace(SEARCH, door="cli json"), Setup(), "search, cli json"),
        (replace(SEARCH, arm="text"), Setup(), "search, get"),
        (replace(SEARCH, arm="vector"), Setup(), "search, get"),
        (ASK, Setup(), "audit"),
        (SEARCH, Setup(), "audit"),
        (ASK, Setup(generation="local"), "prompt of made/local"),
        (ASK, Setup(generation="remote"), "prompt of made/remote"),
        (ASK, Setup(generation="remote"), "ask, stream"),
        (replace(ASK, question="zebra giraffe?"), Setup(web="pages"), "beside the web"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_canary_in_an_open_note_is_heard_at_every_door_of_answers(
    tmp_path: Path, request_: Request, setup: Setup, door: str
) -> None:
    heard = {one.door: one for one in hear(tmp_path, SHOWN, setup, request_)}
    assert strays(heard[door].text, "") != []
    assert (door, "canary") in {(found.door, found.kind) for found in findings(tmp_path, SHOWN, setup, request_)}


@pytest.mark.parametrize("where", ["own", "hosted"])
@pytest.mark.parametrize("request_", [ASK, SEARCH], ids=["ask", "search"])
def test_a_canary_in_an_open_note_is_heard_by_a_reranker(
    tmp_path: Path, request_: Request, where: Literal["own", "hosted"]
) -> None:
    vault = Vault(open=SHOWN.open | {"Open/Alpha.md": "The rent of the barn.\n"}, personal=SHOWN.personal)
    setup = Setup(reranker=where)
    heard = {one.door: one for one in hear(tmp_path, vault, setup, request_)}
    assert strays(heard[f"{where} reranker"].text, "") != []
    found = {(found.door, found.kind) for found in findings(tmp_path, vault, setup, request_)}
    assert (f"{where} reranker", "canary") in found


@pytest.mark.parametrize(
    ("request_", "door"), [(NOTE, "/api/notes"), (NEAR, "/api/related"), (NOTE, "audit"), (NEAR, "audit")]
)
@pytest.mark.parametrize("ceiling", ["open", "personal"])
def test_a_canary_in_an_open_note_is_heard_where_notes_are_read(
    tmp_path: Path, request_: Call, door: str, ceiling: Literal["open", "personal"]
) -> None:
    vault = Vault(open=SHOWN.open | {"Open/Alpha.md": "[[Leak]] of the barn\n"}, personal=SHOWN.personal)
    asked = replace(request_, ceiling=ceiling)
    heard = {one.door: one for one in hear(tmp_path, vault, Setup(), asked)}
    assert strays(heard[door].text, "") != []
    assert (door, "canary") in {(found.door, found.kind) for found in findings(tmp_path, vault, Setup(), asked)}


@pytest.mark.parametrize("address", [f"/api/notes/Private/{MARK}n.md?", f"/api/related?path=private/{MARK}n.MD&"])
def test_a_hidden_note_is_read_with_the_switch_under_a_personal_ceiling_and_never_otherwise(
    tmp_path: Path, address: str
) -> None:
    call = Call(method="GET", address=f"{address}include_personal=true", ceiling="personal")
    assert hear(tmp_path, SHOWN, Setup(), call)[0].text.startswith("200")
    for other in (
        replace(call, ceiling="open"),
        replace(call, ceiling="open", owner=True),
        replace(call, address=f"{address}include_personal=false"),
    ):
        assert hear(tmp_path, SHOWN, Setup(), other)[0].text.startswith("404")
        assert [found.kind for found in findings(tmp_path, SHOWN, Setup(still=True), other)] == []


@pytest.mark.parametrize("door", ["web", "embedder", "prompt of made/local"])
def test_what_the_user_types_is_heard_where_it_goes(tmp_path: Path, door: str) -> None:
    question = f"zebra {MARK}own giraffe?"
    setup = Setup(generation="local", web="pages")
    heard = {one.door: one for one in hear(tmp_path, SHOWN, setup, replace(ASK, question=question))}
    assert f"{MARK}own" in strays(heard[door].text, "zebra")
    assert f"{MARK}own" not in strays(heard[door].text, question)
    private = Turn(role="user", text=f"about {MARK}own", personal=True)
    follow_up = replace(ASK, question="And how much?", history=(private,))
    said = {one.door: one for one in hear(tmp_path, SHOWN, setup, follow_up)}
    assert said["web"].text == "And how much?"
    assert f"{MARK}own" in said["embedder"].text


def test_the_states_tell_of_every_note_that_may_be_seen(tmp_path: Path) -> None:
    vault = Vault(open={"Open/Alpha.md": "rent\n"}, personal={f"Private/{MARK}p.md": LEAK})
    for address in ("/api/status", "/api/events"):
        call = Call(method="GET", address=address, ceiling="personal")
        assert '"notes":2' in hear(tmp_path, vault, Setup(), call)[0].text
        assert '"notes":1' in hear(tmp_path, vault, Setup(), replace(call, ceiling="open"))[0].text
        assert [found.kind for found in findings(tmp_path, vault, Setup(), call)] == []
    owner = replace(STATUS, owner=True)
    assert f"Private/{MARK}p.md" in hear(tmp_path, vault, Setup(), owner)[0].text
    assert '"problem_count":1' in hear(tmp_path, vault, Setup(), owner)[0].text
    assert '"problem_count":0' in hear(tmp_path, vault, Setup(), STATUS)[0].text


def test_what_is_logged_at_any_level_is_heard(tmp_path: Path) -> None:
    with House(tmp_path, SHOWN, Setup(), with_personal=True).open() as house:
        house.hear(STATUS)
        structlog.get_logger().debug("a note", path=f"{MARK}path")
        logging.getLogger("anybody").debug("a note at %s", f"{MARK}place")
        assert strays(house.built().text, "") == [f"{MARK}path", f"{MARK}place"]
        of_a_command = house.hear(replace(SEARCH, door="cli"))
        structlog.get_logger().debug("after a command", path=f"{MARK}later")
        assert f"{MARK}later" in house.built().text
        assert [one.text for one in of_a_command if one.door == "log" and MARK in one.text] == []


def test_the_index_and_the_record_are_read_whole(tmp_path: Path) -> None:
    linking = Vault(open={"Open/Alpha.md": f"[[{MARK}link]] #work\n", "Open/Beta.md": OPENED}, personal={"P.md": ""})
    with House(tmp_path, linking, Setup(questions="text"), with_personal=True).open() as house:
        house.hear(replace(ASK, question=f"rent of {MARK}asked"))
        assert strays(house.index_seen().text, "") == [f"{MARK}title", f"{MARK}link", f"{MARK}tag"]
        assert strays(house.record_read().text, "") == [f"{MARK}asked"]
        assert "Open/Beta.md" in house.record_read().text


def test_one_more_open_note_is_told_as_a_difference_at_every_door_that_counts(tmp_path: Path) -> None:
    vault = Vault(open={"Open/Alpha.md": "rent and barn\n"}, personal={"Open/More.md": "rent and barn\n"})
    for request, door in (
        (SEARCH, "search, get"),
        (replace(SEARCH, door="cli"), "search, cli"),
        (ASK, "ask, stream"),
        (STATUS, "/api/status"),
        (Call(method="GET", address="/api/events"), "/api/events"),
        (NEAR, "/api/related"),
        (Call(method="GET", address="/api/notes/Open/More.md"), "/api/notes"),
    ):
        assert (door, "difference") in {(f.door, f.kind) for f in findings(tmp_path, vault, Setup(still=True), request)}


def hear(folder: Path, vault: Vault, setup: Setup, request: Request, *, with_personal: bool = True) -> list[Any]:
    number = len(list(folder.iterdir()))
    with House(folder / str(number), vault, setup, with_personal=with_personal).open() as house:
        return house.hear(request)


def findings(folder: Path, vault: Vault, setup: Setup, request: Request) -> list[Any]:
    full, bare = (hear(folder, vault, setup, request, with_personal=flag) for flag in (True, False))
    return list(judge(request, setup, full, bare))
