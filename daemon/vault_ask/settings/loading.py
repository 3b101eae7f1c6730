"""How the configuration is built from the command line, the environment and config.yaml, and what mistakes say."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsError

from vault_ask.errors import ConfigError
from vault_ask.settings import ENV_PREFIX, Settings

SECRETS = {
    "VAULTASK_API_TOKEN": ("api_token",),
    "VAULTASK_ADMIN_API_KEY": ("admin_api_key",),
    "VAULTASK_TAVILY_API_KEY": ("tavily_api_key",),
    "VAULTASK_BRAVE_API_KEY": ("brave_api_key",),
    "VAULTASK_VAULT__COUCHDB__PASSWORD": ("vault", "couchdb", "password"),
    "VAULTASK_VAULT__COUCHDB__PASSPHRASE": ("vault", "couchdb", "passphrase"),
}
"""Environment names of secrets, and where they would stand in config.yaml, which refuses them."""
CONFIG_NAME = "VAULTASK_CONFIG"
SAMPLE = "tests/vaults/sample"
"""The vault that config.yaml comes with."""
_IN_OUR_WORDS = {
    "extra_forbidden": "is no setting of vault-ask",
    "tuple_type": 'a list is wanted, in brackets even where it holds one text, such as ["first", "second"]',
}
"""What is said of pydantic's kinds of errors that speak of Python."""


def load_settings(*, config: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Build the configuration from its four sources.

    `config` names a YAML file that must exist; without it VAULTASK_CONFIG is used, then ./config.yaml if there is
    one. `overrides` are nested values of the command line. Raises ConfigError with one line a mistake.
    """
    file = _config_file(config, os.environ)
    values = _anchored(_without_sample(_read_yaml(file), os.environ), file) if file else {}
    _refuse_unknown_names(os.environ)

    class Loaded(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library passes it by name
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library passes it by name
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return (init_settings, env_settings, InitSettingsSource(settings_cls, init_kwargs=values))

    try:
        return Loaded(**dict(overrides or {}))
    except ValidationError as error:
        raise ConfigError(_sentences(error, file)) from None
    except SettingsError as error:
        raise ConfigError(
            f"{error}. Write lists and pairs in the environment as JSON, such as "
            'VAULTASK_SENSITIVITY__PERSONAL_PATHS=["Private/**"] and '
            'VAULTASK_VAULT__COUCHDB__HEADERS={"Name": "value"}.'
        ) from None


def _config_file(config: Path | None, environment: Mapping[str, str]) -> Path | None:
    named = config or (Path(environment[CONFIG_NAME]) if environment.get(CONFIG_NAME) else None)
    if named is None:
        return Path("config.yaml") if Path("config.yaml").is_file() else None
    if not named.is_file():
        raise ConfigError(f"The configuration file {named} does not exist. Name an existing file or leave it out.")
    return named


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        raise ConfigError(
            f"{file} is not valid YAML{line}, so nothing in it was used. Mend it and start again."
        ) from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{file} holds no settings: it should be a list of sections such as `vault:`.")
    _refuse_secrets(values, file)
    return values


def _refuse_secrets(values: Mapping[str, Any], file: Path) -> None:
    for name, place in SECRETS.items():
        section: Any = values
        for part in place[:-1]:
            section = section.get(part) if isinstance(section, Mapping) else None
        # A flat name may stand where its owner thought it belonged, such as web.tavily_api_key.
        others = values.values() if len(place) == 1 else ()
        if any(isinstance(part, Mapping) and place[-1] in part for part in (section, *others)):
            raise ConfigError(f"{file} holds a secret. Move it to the environment as {name} and remove it here.")


def _without_sample(values: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Leave the sample vault out where a CouchDB is named: nobody wants it indexed in place of their own notes."""
    vault = values.get("vault")
    if not isinstance(vault, dict) or vault.get("path") != SAMPLE:
        return values
    couch = vault.get("couchdb")
    given = {name.upper(): value for name, value in environment.items()}
    named = given.get("VAULTASK_VAULT__COUCHDB__URL") or (couch.get("url") if isinstance(couch, dict) else None)
    if not named or given.get("VAULTASK_VAULT__SOURCE", vault.get("source")) == "folder":
        return values
    return {**values, "vault": {key: value for key, value in vault.items() if key != "path"}}


def _anchored(values: dict[str, Any], file: Path) -> dict[str, Any]:
    """Let relative folders of a configuration file mean the same from wherever vault-ask is started."""
    folder = file.resolve().parent
    if isinstance(values.get("data"), str):
        values["data"] = folder / Path(values["data"]).expanduser()
    vault = values.get("vault")
    if isinstance(vault, dict) and isinstance(vault.get("path"), str):
        vault["path"] = folder / Path(vault["path"]).expanduser()
    couch = vault.get("couchdb") if isinstance(vault, dict) else None
    if isinstance(couch, dict) and isinstance(couch.get("ca_file"), str):
        couch["ca_file"] = folder / Path(couch["ca_file"]).expanduser()
    return values


def _refuse_unknown_names(environment: Mapping[str, str]) -> None:
    """Refuse a mistyped section, which pydantic-settings would pass over in silence."""
    known = {*Settings.model_fields, CONFIG_NAME.removeprefix(ENV_PREFIX).lower()}
    for name in environment:
        upper = name.upper()
        if upper.startswith(ENV_PREFIX) and upper.removeprefix(ENV_PREFIX).split("__")[0].lower() not in known:
            near = get_close_matches(upper.removeprefix(ENV_PREFIX).split("__")[0].lower(), known, n=1)
            hint = f" Did you mean {ENV_PREFIX}{near[0].upper()}?" if near else ""
            raise ConfigError(f"The environment sets {name}, which is no setting of vault-ask.{hint}")


def _sentences(error: ValidationError, file: Path | None) -> str:
    lines = []
    for item in error.errors(include_url=False, include_input=False):
        where = ".".join(str(part) for part in item["loc"]) or "settings"
        what = _IN_OUR_WORDS.get(item["type"], item["msg"].removeprefix("Value error, "))
        lines.append(f"{where}: {what}.")
    origin = f"{file} or the environment" if file else "the environment or the command line"
    return f"A setting in {origin} does not fit: " + " ".join(lines)
