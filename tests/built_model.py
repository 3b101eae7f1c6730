"""Where the tests keep the built files of the embedded model, so that they are built once and not once a run."""

from pathlib import Path

import pytest


def models_folder(config: pytest.Config) -> Path:
    """Give a folder in pytest's cache; `pytest --cache-clear` empties it."""
    if config.cache is None:
        raise RuntimeError("The tests of the embedded model need pytest's cache; do not turn its plugin off.")
    return config.cache.mkdir("vault-ask-models")
