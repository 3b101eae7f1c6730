"""Which notes changed, told under an open scope: whatever happens to personal notes, it is as if there were none."""

from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_ask.news import notes_event
from vault_ask.scope import OpenScope, PrivateScope
from vault_building import OPEN, PRIVATE, Building

PATHS = ("Alpha.md", "Deep/Beta.md", "Möte.md", "Private/Diary.md", "Private/家賃.md")
PERSONAL = "---\nsensitivity: personal\n---\n"
Step = Mapping[str, str | None]
"""What a batch does: the new text of each note, or None where it is deleted."""

_TEXTS = st.sampled_from((None, "rent", "barn", f"{PERSONAL}rent", f"{PERSONAL}barn"))
STEPS = st.lists(st.dictionaries(st.sampled_from(PATHS), _TEXTS, max_size=3), max_size=8)


@pytest.fixture(scope="module")
def building(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    made = Building(tmp_path_factory.mktemp("index"))
    yield made
    made.close()


def versions(building: Building, scope: OpenScope | PrivateScope) -> dict[str, int]:
    with building.open(scope) as view:
        return view.notes.versions()


def take(building: Building, step: Step) -> None:
    kept = {path: text for path, text in step.items() if text is not None}
    building.put(kept, gone=[path for path, text in step.items() if text is None])


def open_notes(vault: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in vault.items() if not path.startswith("Private/") and text in {"rent", "barn"}}


@given(steps=STEPS)
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_an_open_reader_is_told_of_open_notes_alone_and_of_all_of_them(
    building: Building, steps: Sequence[Step]
) -> None:
    take(building, dict.fromkeys(PATHS))
    vault: dict[str, str] = {}
    for step in steps:
        seen, before = versions(building, OPEN), open_notes(vault)
        take(building, step)
        vault = {path: text for path, text in (vault | step).items() if text is not None}
        now = open_notes(vault)
        told = notes_event(seen, versions(building, OPEN))
        assert set(told.gone) == before.keys() - now.keys()
        # A note that is stored again counts as another version, as the time of its file is another.
        stored = {path for path in step if path in now}
        assert {path for path in now if before.get(path) != now[path]} <= set(told.changed) <= stored
        if not stored and not told.gone:
            assert versions(building, OPEN) == seen


@given(steps=STEPS)
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_the_owner_is_told_of_every_note(building: Building, steps: Sequence[Step]) -> None:
    take(building, dict.fromkeys(PATHS))
    vault: dict[str, str] = {}
    for step in steps:
        seen, before = versions(building, PRIVATE), vault
        take(building, step)
        vault = {path: text for path, text in (vault | step).items() if text is not None}
        told = notes_event(seen, versions(building, PRIVATE))
        assert set(told.gone) == before.keys() - vault.keys()
        assert {path for path in vault if before.get(path) != vault[path]} <= set(told.changed) <= step.keys()
