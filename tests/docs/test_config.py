"""config.yaml names every setting with a comment and says what the code says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from vault_ask.settings import Settings
from vault_ask.settings.loading import SECRETS, load_settings

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "config.yaml"
IN_THE_ENVIRONMENT: dict[str, Any] = {
    "api_token": True,
    "admin_api_key": True,
    "tavily_api_key": True,
    "brave_api_key": True,
    "vault": {"couchdb": {"password", "passphrase"}},
}
THE_SAMPLE_VAULTS = {"vault.path": "tests/vaults/sample", "sensitivity.personal_paths": ["Personal/**"]}


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Give every leaf under its dotted name."""
    leaves: dict[str, Any] = {}
    for key, value in values.items():
        leaves |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) and value else {prefix + key: value}
    return leaves


def defaults() -> dict[str, Any]:
    """The code's defaults, with no environment and no file."""
    return flat(Settings.model_construct().model_dump(mode="json", exclude=IN_THE_ENVIRONMENT))


def configured() -> dict[str, Any]:
    return flat(yaml.safe_load(CONFIG.read_text(encoding="utf-8")))


def test_every_setting_is_in_config_yaml_and_nothing_else() -> None:
    assert configured().keys() == defaults().keys()


def test_values_are_the_codes_defaults_but_for_the_sample_vaults_two() -> None:
    assert configured() == defaults() | THE_SAMPLE_VAULTS


def test_every_key_has_a_comment_right_above_it() -> None:
    lines = CONFIG.read_text(encoding="utf-8").splitlines()
    keys = [number for number, line in enumerate(lines) if re.match(r" *[a-z_]+:", line)]
    bare = [lines[number] for number in keys if not lines[number - 1].lstrip().startswith("# ")]
    assert len(keys) > 40
    assert bare == []


def test_editors_find_the_schema() -> None:
    first = CONFIG.read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=shared-schema/config.schema.json"
    assert (ROOT / "shared-schema" / "config.schema.json").is_file()


def test_the_file_loads_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VAULTASK_VAULT__PATH", raising=False)
    assert load_settings(config=CONFIG).sensitivity.personal_paths == ("Personal/**",)


def test_every_setting_says_in_the_code_what_it_is() -> None:
    told = dict(described(Settings))
    assert {"vault.couchdb.password", "vault.couchdb.url", "vault.path", "api_token", "data"} <= told.keys()
    assert [name for name, description in told.items() if not description] == []


def described(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str | None]]:
    """Give every setting's dotted name with what it says of itself."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from described(kind, f"{prefix}{name}.")
        else:
            yield prefix + name, field.description


def test_config_yaml_and_the_schema_have_no_place_for_a_secret() -> None:
    schema = json.loads((ROOT / "shared-schema" / "config.schema.json").read_text(encoding="utf-8"))
    places = [place[-1] for place in SECRETS.values()]
    offered = [name for section in (schema, *schema["$defs"].values()) for name in section["properties"]]
    assert "ca_file" in offered
    assert "headers" in offered
    assert sorted({*places} & {*offered, *json.dumps(schema["properties"]["vault"]).split('"')}) == []
    assert [name for name in configured() if name.rpartition(".")[2] in places] == []
