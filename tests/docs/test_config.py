"""config.yaml names every setting with a comment and says what the code says."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from vault_ask.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "config.yaml"
SECRETS = {"api_token"}
THE_SAMPLE_VAULTS = {"vault.path": "tests/vaults/sample", "sensitivity.personal_paths": ["Personal/**"]}


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Give every leaf under its dotted name."""
    leaves: dict[str, Any] = {}
    for key, value in values.items():
        leaves |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return leaves


def defaults() -> dict[str, Any]:
    """The code's defaults, with no environment and no file."""
    return flat(Settings.model_construct().model_dump(mode="json", exclude=SECRETS))


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


@pytest.mark.parametrize("section", [name for name in Settings.model_fields if name not in SECRETS])
def test_every_setting_says_in_the_code_what_it_is(section: str) -> None:
    kind = Settings.model_fields[section].annotation
    fields = kind.model_fields if isinstance(kind, type) and issubclass(kind, BaseModel) else {}
    assert [name for name, field in fields.items() if not field.description] == []
    assert fields or Settings.model_fields[section].description
