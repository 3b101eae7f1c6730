"""The settings of the CouchDB: each mistake is a sentence that names its place, and no secret is ever said."""

from pathlib import Path

import pytest

from vault_ask.errors import ConfigError
from vault_ask.settings.loading import load_settings
from vault_ask.settings.vault import CouchSettings

PASSWORD, PASSPHRASE = "VAULTASK_VAULT__COUCHDB__PASSWORD", "VAULTASK_VAULT__COUCHDB__PASSPHRASE"
WHOLE = "url: https://couch.example:6984/\n    database: notes\n"


def load(folder: Path, couchdb: str, vault: str = "") -> CouchSettings:
    """Load a config.yaml with this section."""
    file = folder / "settings.yaml"
    file.write_text(f"vault:\n{vault}  couchdb:\n    {couchdb}\n", encoding="utf-8")
    return load_settings(config=file).vault.couchdb


def mistake(folder: Path, couchdb: str, vault: str = "") -> str:
    with pytest.raises(ConfigError) as told:
        load(folder, couchdb, vault)
    assert "CANARY" not in str(told.value)
    return str(told.value)


@pytest.mark.parametrize(
    ("couchdb", "told"),
    [
        ("url: couch.example:6984\n    database: notes", "vault.couchdb.url: the address must look like https://"),
        ("url: ftp://couch.example\n    database: notes", "vault.couchdb.url: the address must look like https://"),
        ("url: https://\n    database: notes", "vault.couchdb.url: the address must look like https://"),
        (
            "url: https://me:CANARY@couch.example\n    database: notes",
            (
                "vault.couchdb.url: the address holds a user or password. Set vault.couchdb.user, and the password in "
                f"the environment as {PASSWORD}."
            ),
        ),
        ("url: https://couch.example?a=CANARY\n    database: notes", "must end before any ? or #"),
        ("url: https://couch.example#CANARY\n    database: notes", "must end before any ? or #"),
        ("url: https://couch.example", "vault.couchdb: url is set and database is not. Name the database"),
        ("database: notes", "vault.couchdb: database is set and url is not. Name the server's address."),
        ("db: notes", "vault.couchdb.db: is no setting of vault-ask."),
        ("headers: [CANARY]", "vault.couchdb.headers: "),
        ("headers: {X-Token: [CANARY]}", "vault.couchdb.headers.X-Token: "),
    ],
)
def test_a_setting_that_does_not_fit_is_told_with_its_place(tmp_path: Path, couchdb: str, told: str) -> None:
    assert told in mistake(tmp_path, couchdb)


def test_the_couchdb_as_the_source_must_be_named(tmp_path: Path) -> None:
    told = mistake(tmp_path, "user: me", vault="  source: couchdb\n")
    assert "vault: source is couchdb, and couchdb.url names no server. Set couchdb.url and couchdb.database." in told
    assert load(tmp_path, WHOLE, vault="  source: couchdb\n").database == "notes"


@pytest.mark.parametrize(("name", "variable"), [("password", PASSWORD), ("passphrase", PASSPHRASE)])
def test_a_secret_in_config_yaml_is_refused_and_names_its_variable(tmp_path: Path, name: str, variable: str) -> None:
    for value in ("CANARY-SECRET", "null", "[CANARY]"):
        told = mistake(tmp_path, f"{name}: {value}")
        assert f"holds a secret. Move it to the environment as {variable} and remove it here." in told


def test_the_secrets_come_from_the_environment_and_are_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSWORD, "CANARY-1")
    monkeypatch.setenv(PASSPHRASE, " CANARY 2 ")
    couch = load(tmp_path, f"{WHOLE}    headers: {{X-Token: CANARY-3}}")
    assert couch.password is not None
    assert couch.passphrase is not None
    assert (couch.password.get_secret_value(), couch.passphrase.get_secret_value()) == ("CANARY-1", " CANARY 2 ")
    assert couch.headers["X-Token"].get_secret_value() == "CANARY-3"
    assert "CANARY" not in f"{couch!r} {couch} {couch.model_dump_json()}"


def test_what_is_blank_is_not_set_and_a_relative_certificate_lies_beside_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSWORD, "")
    couch = load(tmp_path, "url: ' '\n    database: ''\n    user: ' '\n    ca_file: certificates/own.pem")
    assert (couch.url, couch.database, couch.user, couch.password) == (None, None, None, None)
    assert couch.ca_file == tmp_path / "certificates" / "own.pem"
    assert load(tmp_path, WHOLE).url == "https://couch.example:6984"
