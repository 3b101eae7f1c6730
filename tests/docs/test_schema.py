"""What travels is described by shared-schema, and the examples there are messages of today."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from vault_ask.wire import AnswerEvent, WireRoot

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / "shared-schema"
EXAMPLES = sorted((SHARED / "examples").glob("*.json"))


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "generate_schema.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def message_name(example: Path) -> str:
    return example.name.split(".")[0]


def adapter(name: str) -> TypeAdapter[Any]:
    field = WireRoot.model_fields[name]
    return TypeAdapter(AnswerEvent if name == "event" else field.annotation)


def test_schema_files_are_what_the_code_says() -> None:
    result = generate("--check")
    assert result.returncode == 0, result.stdout


def test_a_stale_schema_is_named_in_a_sentence(tmp_path: Path) -> None:
    copy = tmp_path / "scripts"
    copy.mkdir()
    (tmp_path / "shared-schema").mkdir()
    script = copy / "generate_schema.py"
    script.write_bytes((ROOT / "scripts" / "generate_schema.py").read_bytes())
    command = [sys.executable, str(script), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert "shared-schema/wire.schema.json is not what the code says" in result.stdout
    assert "Run scripts/generate_schema.py" in result.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_a_message_of_the_wire(example: Path) -> None:
    parsed = adapter(message_name(example)).validate_json(example.read_bytes())
    assert parsed is not None


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_fits_the_published_schema(example: Path) -> None:
    schema = json.loads((SHARED / "wire.schema.json").read_text(encoding="utf-8"))
    message = {message_name(example): json.loads(example.read_text(encoding="utf-8"))}
    assert [error.message for error in Draft202012Validator(schema).iter_errors(message)] == []


def test_every_message_and_every_event_has_an_example() -> None:
    events = {
        json.loads(path.read_text(encoding="utf-8"))["type"] for path in EXAMPLES if path.name.startswith("event.")
    }
    union, _discriminator = get_args(AnswerEvent)
    assert events == {event.model_fields["type"].default for event in get_args(union)}
    assert {message_name(path) for path in EXAMPLES} == set(WireRoot.model_fields)


def test_a_request_may_leave_out_what_has_a_default_and_a_response_may_not() -> None:
    definitions = json.loads((SHARED / "wire.schema.json").read_text(encoding="utf-8"))["$defs"]
    assert definitions["AskRequest"]["required"] == ["question"]
    assert definitions["DoneEvent"]["required"] == list(definitions["DoneEvent"]["properties"])


def test_an_unknown_field_is_refused_by_the_wire() -> None:
    with pytest.raises(ValidationError, match="scope"):
        adapter("ask_request").validate_json('{"question": "?", "scope": "all"}')
