"""What counts as a local model is spoken to where the owner said, and by a library that tells nobody else of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import vault_ask
from prompting import prompt_of
from vault_ask.providers.litellm_models import OLLAMA, LitellmGenerator
from vault_ask.providers.own_network import veiled
from vault_ask.settings.models import ModelSettings

LISTENERS = ["callbacks", "input_callback", "success_callback", "failure_callback", "_async_success_callback"]
LOGGERS = ["LiteLLM", "openai", "httpx"]
# A process of its own, since litellm changes the filters of warnings while it is imported.
PROGRAM = """
import json, logging, sys
from vault_ask.providers.litellm_quiet import quiet_litellm

def heard():
    return [len(getattr(litellm, name)) for name in listeners], [
        logging.getLogger(name).isEnabledFor(logging.ERROR) for name in loggers
    ]

listeners, loggers = json.loads(sys.argv[1])
litellm = quiet_litellm()
for name in listeners:
    getattr(litellm, name).append(print)
for name in loggers:
    logging.getLogger(name).setLevel(logging.DEBUG)
before = heard()
quiet_litellm()
print(json.dumps([before, heard()]))
"""


def test_without_an_address_of_its_own_ollama_is_asked_on_this_machine_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OLLAMA_API_BASE", "OLLAMA_HOST", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://203.0.113.5:11434")
    model = LitellmGenerator(ModelSettings(), "ollama_chat/m")
    assert model.is_local
    assert model._request(prompt_of("What is the rent?"))["api_base"] == veiled(OLLAMA)


def test_whoever_listens_to_litellm_is_taken_away_before_each_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(vault_ask.__file__).parents[1]))
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([LISTENERS, LOGGERS])],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    before, after = json.loads(told.stdout.splitlines()[-1])
    assert before == [[1] * len(LISTENERS), [True] * len(LOGGERS)]
    assert after == [[0] * len(LISTENERS), [False] * len(LOGGERS)]
