from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """Makes benches over a data folder of the test, and closes them."""
    made: list[Bench] = []

    def make(*args: object, **how: object) -> Bench:
        made.append(Bench(tmp_path / "data", *args, **how))
        return made[-1]

    yield make
    for each in made:
        each.close()
