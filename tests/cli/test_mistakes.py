"""Whatever is wrong with a command or its settings is one sentence and an exit code."""

from dataclasses import replace
from pathlib import Path

import pytest

from cli.commands import Commands, write
from vault_building import Building


def bare(folder: Path, **places: Path) -> Commands:
    """Give vault-ask in an empty folder, with no configuration unless one is named."""
    (folder / "empty").mkdir(parents=True)
    return Commands(folder / "empty", **places)


@pytest.mark.parametrize("command", [("index",), ("index", "--dry-run"), ("serve",)])
def test_without_a_vault_it_says_where_to_name_one(tmp_path: Path, command: tuple[str, ...]) -> None:
    sentence = bare(tmp_path)(*command).sentence(code=2)
    assert sentence == "No vault is named. Set vault.path in config.yaml, or give --vault DIR."


def test_a_vault_that_is_not_there_is_said_and_nothing_is_indexed(tmp_path: Path) -> None:
    vault_ask = bare(tmp_path, vault=tmp_path / "nowhere", data=tmp_path / "data")
    assert vault_ask("index", "--no-embed").sentence(code=3)
    assert vault_ask("index", "--dry-run").sentence(code=3)


@pytest.mark.parametrize("place", ["vault/.index", "vault", "vault/deep/er"])
def test_a_data_folder_inside_the_vault_is_refused_before_anything_is_written(tmp_path: Path, place: str) -> None:
    vault = write(tmp_path / "vault", {"A.md": "a\n"})
    vault_ask = bare(tmp_path, vault=vault, data=tmp_path / place)
    for command in ("index", "serve"):
        assert "lies inside the vault" in vault_ask(command).sentence(code=2)
    assert [file.name for file in vault.iterdir()] == ["A.md"]


def test_a_data_folder_that_leads_into_the_vault_by_a_link_is_refused(tmp_path: Path) -> None:
    vault = write(tmp_path / "vault", {"A.md": "a\n"})
    (tmp_path / "data").symlink_to(vault)
    assert "lies inside the vault" in bare(tmp_path, vault=vault, data=tmp_path / "data")("index").sentence(code=2)


def test_a_data_folder_that_cannot_be_one_is_said(tmp_path: Path) -> None:
    vault = write(tmp_path / "vault", {"A.md": "a\n"})
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    told = bare(tmp_path, vault=vault, data=tmp_path / "file")("index", "--no-embed")
    assert "cannot be written" in told.sentence(code=2)


@pytest.mark.parametrize("option", ["--vault", "--data", "--config"])
def test_an_empty_path_as_of_an_unset_variable_is_refused(tmp_path: Path, option: str) -> None:
    said = bare(tmp_path)("index", option, "")
    assert (said.code, said.out) == (2, "")
    assert "the path is empty" in said.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("vault: [unclosed\n", "is not valid YAML"),
        ("- a\n- b\n", "holds no settings"),
        ("retreival:\n  top_k: 3\n", "retreival: is no setting of vault-ask"),
        ("retrieval:\n  top_k: many\n", "retrieval.top_k"),
        ("api_token: CANARY-TOKEN\n", "Move it to the environment as VAULTASK_API_TOKEN"),
        ("web:\n  brave_api_key: CANARY-TOKEN\n", "VAULTASK_BRAVE_API_KEY"),
        ("server:\n  api_token: CANARY-TOKEN\n", "VAULTASK_API_TOKEN"),
        ("chunks:\n  min_tokens: 999\n", "min_tokens <= target_tokens <= max_tokens"),
        ("\x00\x01", "is not valid YAML"),
    ],
)
def test_a_configuration_that_does_not_fit_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "bad.yaml").write_text(text, encoding="utf-8")
    sentence = bare(tmp_path, config=tmp_path / "bad.yaml")("status").sentence(code=2)
    assert told in sentence
    assert "CANARY-TOKEN" not in sentence


def test_a_configuration_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert "does not exist" in bare(tmp_path, config=tmp_path / "none.yaml")("status").sentence(code=2)


def test_a_mistyped_section_in_the_environment_is_named_with_the_likely_one(tmp_path: Path) -> None:
    sentence = bare(tmp_path)("status", VAULTASK_RETREIVAL__TOP_K="3").sentence(code=2)
    assert sentence.endswith("Did you mean VAULTASK_RETRIEVAL?")


def test_a_mistyped_key_in_the_environment_is_named(tmp_path: Path) -> None:
    assert "retrieval.topk: is no setting" in bare(tmp_path)("status", VAULTASK_RETRIEVAL__TOPK="3").sentence(code=2)


def test_an_embedding_host_of_the_internet_is_refused(tmp_path: Path) -> None:
    host = {"VAULTASK_EMBEDDING__PROVIDER": "ollama", "VAULTASK_EMBEDDING__OLLAMA_URL": "http://embed.example.org"}
    assert "not a private address" in bare(tmp_path)("status", **host).sentence(code=2)


@pytest.mark.parametrize("pattern", ["Pri[vate/**", "", "../Private", "{a,b"])
def test_a_personal_pattern_that_cannot_be_read_stops_every_command(tmp_path: Path, pattern: str) -> None:
    vault = write(tmp_path / "vault", {"Private/a.md": "CANARY-1\n"})
    (tmp_path / "rules.yaml").write_text(f"sensitivity:\n  personal_paths: ['{pattern}']\n", encoding="utf-8")
    good = bare(tmp_path, vault=vault, data=tmp_path / "data")
    bad = replace(good, config=tmp_path / "rules.yaml")
    building = Building(tmp_path / "data")
    building.put({"Private/a.md": "CANARY-1\n"})
    building.close()
    for command in (("index", "--no-embed"), ("serve",), ("search", "CANARY-1", "--arm", "text"), ("status",)):
        sentence = bad(*command).sentence(code=2)
        assert "sensitivity.personal_paths" in sentence


def test_help_and_version_need_no_vault(tmp_path: Path) -> None:
    vault_ask = bare(tmp_path)
    assert vault_ask("--help").out.startswith("Usage: ")
    assert vault_ask("--version").out.startswith("vault-ask, version ")
    assert vault_ask("no-such-command").code == 2
