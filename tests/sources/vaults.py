"""Vaults on a real disk, as the tests of this folder need them."""

from collections.abc import Mapping
from pathlib import Path

from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.filesystem import FolderSource
from vault_ask.sources.port import VaultSource
from vault_ask.sources.watchers import Arm, arm_native


def fill(vault: Path, notes: Mapping[str, str]) -> Path:
    """Write notes into a vault, which is made where it is not there."""
    for path, text in notes.items():
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return vault


def folder_source(vault: Path, *, arm: Arm = arm_native, **settings: object) -> FolderSource:
    """Make a source that settles quickly, so that tests do."""
    values = {"path": vault, "settle_seconds": 0.1, "poll_seconds": 0.1, **settings}
    return FolderSource(VaultSettings.model_validate(values), arm=arm)


def listed(source: VaultSource) -> list[str]:
    return [entry.path for entry in source.listing()]
