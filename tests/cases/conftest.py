"""Vaults like those of the known cases, asked through the real commands, the real daemon or the answering core."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from built_model import models_folder
from cli.commands import Commands, write
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.settings.models import EmbeddingSettings

Making = Callable[..., Commands]


@pytest.fixture
def commands(tmp_path: Path, pytestconfig: pytest.Config) -> Making:
    """Make a vault with a configuration and the embedded model's files; nothing is indexed yet."""

    def make(notes: Mapping[str, str | bytes], *, config: str = "", **environment: str) -> Commands:
        return prepared(tmp_path, pytestconfig, notes, config=config, environment=environment)

    return make


@pytest.fixture(scope="session")
def embedder(pytestconfig: pytest.Config) -> EmbeddedEmbedder:
    """The embedded model, loaded once."""
    return EmbeddedEmbedder(EmbeddingSettings(), models_folder(pytestconfig))


def prepared(
    folder: Path,
    pytestconfig: pytest.Config,
    notes: Mapping[str, str | bytes],
    *,
    config: str = "",
    environment: Mapping[str, str],
) -> Commands:
    """Put a vault and its configuration into a folder."""
    data = folder / "data"
    data.mkdir()
    (data / "models").symlink_to(models_folder(pytestconfig), target_is_directory=True)
    (folder / "settings.yaml").write_text(config, encoding="utf-8")
    return Commands(folder, write(folder / "vault", notes), data, folder / "settings.yaml", environment)
