"""An index under construction, for tests that need no other kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_building import Building


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def building(tmp_path: Path, embedder: HashEmbedder) -> Iterator[Building]:
    building = Building(tmp_path, embedder)
    yield building
    building.close()
