"""Where a list of texts is wanted, anything else is refused in a sentence that shows how a list is written."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from vault_ask.errors import ConfigError
from vault_ask.settings import Settings
from vault_ask.settings.loading import load_settings

WANTED = 'a list is wanted, in brackets even where it holds one text, such as ["first", "second"].'


def lists(section: type[BaseModel], *above: str) -> Iterator[tuple[str, ...]]:
    """Give the places of all settings that are lists of texts."""
    for name, field in section.model_fields.items():
        kinds = (field.annotation, *get_args(field.annotation))
        if tuple[str, ...] in kinds:
            yield (*above, name)
        for kind in kinds:
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from lists(kind, *above, name)


def nested(place: tuple[str, ...], value: object) -> dict[str, Any]:
    for name in reversed(place):
        value = {name: value}
    assert isinstance(value, dict)
    return value


PLACES = tuple(lists(Settings))


def test_the_lists_are_found_in_sections_of_sections_too() -> None:
    assert {("topics", "paths"), ("vault", "exclude"), ("time", "properties")} < set(PLACES)


@pytest.mark.parametrize("place", PLACES, ids=".".join)
def test_one_text_in_place_of_a_list_is_told_how_to_be_written(place: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(overrides=nested(place, "Topics/**"))
    assert str(caught.value).endswith(f"does not fit: {'.'.join(place)}: {WANTED}")


def test_it_is_the_same_in_the_file_and_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text('topics: {paths: "Topics/**"}\n', encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_settings(config=tmp_path / "config.yaml")
    assert f"topics.paths: {WANTED}" in str(caught.value)
    monkeypatch.setenv("VAULTASK_TOPICS__PATHS", '"Topics/**"')
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert f"topics.paths: {WANTED}" in str(caught.value)


def test_a_list_as_the_sentence_writes_it_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text('topics: {paths: ["Topics/**"]}\n', encoding="utf-8")
    assert load_settings(config=tmp_path / "config.yaml").topics.paths == ("Topics/**",)
    monkeypatch.setenv("VAULTASK_TOPICS__PATHS", '["Maps/**"]')
    assert load_settings().topics.paths == ("Maps/**",)
