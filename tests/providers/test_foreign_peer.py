"""Names that lead to another machine between the check and the connection, with real sockets on both."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import vault_ask
from foreign_peer import NOT_PERMITTED

TESTS = Path(__file__).parents[1]
REFUSED = "ModelRefused: The address in {} sounds private and leads to a machine outside your network"


@pytest.fixture(scope="module")
def scenes() -> dict[str, dict[str, Any]]:
    code = Path(vault_ask.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, TESTS / "foreign_peer.py"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(code)])},
    )
    if done.returncode == NOT_PERMITTED:
        pytest.skip("this system lets nobody make a network of their own; test_own_transport looks through the seam")
    assert done.returncode == 0, done.stderr
    result: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_both_machines_answer_when_they_may(scenes: dict[str, dict[str, Any]]) -> None:
    assert (scenes["stays"]["told"], scenes["stays"]["own"]) == ("Rent is 9200.", 1)
    assert (scenes["listed"]["told"], scenes["listed"]["foreign_heard"]) == ("stolen", 2)


def test_a_name_that_leads_outside_is_not_even_connected_to(scenes: dict[str, dict[str, Any]]) -> None:
    scene = scenes["foreign_from_the_start"]
    assert scene["told"].startswith(REFUSED.format("models.api_base"))
    assert scene["foreign_connections"] == 0


@pytest.mark.parametrize(
    ("name", "key", "asked"),
    [
        ("ollama_changes", "models.api_base", ["/api/show"]),
        ("openai_changes", "models.api_base", ["/v1/models", "/api/show"]),
        ("embedder_changes", "embedding.ollama_url", ["/api/show"]),
    ],
)
def test_a_name_that_changes_after_the_check_gets_nothing(
    scenes: dict[str, dict[str, Any]], name: str, key: str, asked: list[str]
) -> None:
    scene = scenes[name]
    assert scene["own_described"] == asked, "the owner's server was checked"
    assert scene["told"].startswith(REFUSED.format(key))
    assert (scene["own"], scene["foreign_connections"]) == (0, 0)


@pytest.mark.parametrize("name", ["lying_lookup", "detour"])
def test_a_socket_that_reached_another_machine_is_closed_before_a_byte_is_sent(
    scenes: dict[str, dict[str, Any]], name: str
) -> None:
    scene = scenes[name]
    assert scene["told"].startswith(REFUSED.format("models.api_base"))
    assert (scene["foreign_connections"], scene["foreign_heard"]) == (1, 0)


def test_models_of_another_machine_are_not_offered(scenes: dict[str, dict[str, Any]]) -> None:
    assert (scenes["offers_change"]["told"], scenes["offers_change"]["foreign_connections"]) == ("[]", 0)
