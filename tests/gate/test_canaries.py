"""Whatever a vault holds: personal notes change nothing of what an open scope is given, and no canary gets out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import HashEmbedder, bag_of_words
from vault_ask.index.view import VaultView
from vault_ask.scope import S
from vault_building import OPEN, PRIVATE, Building, tagged

WORDS = ["rent", "barn", "lease", "harvest", "möte", "家賃交渉", "c++"]
NAMES = ["alpha", "beta", "gamma", "delta", "hidden1", "hidden2"]
TAGS = ["#work", "#work/urgent", "#åter"]
DIMENSION = 32


@dataclass(frozen=True, slots=True)
class Vault:
    open: Mapping[str, str]
    personal: Mapping[str, str]


def texts(canary: str) -> st.SearchStrategy[str]:
    parts = st.sampled_from(
        [*WORDS, *TAGS, *(f"[[{name}]]" for name in NAMES), *(f"![[{name}]]" for name in NAMES), "\n# Part\n", "\n\n"]
    )
    return st.lists(parts, max_size=12).map(lambda chosen: " ".join((*chosen, canary)))


def folder(names: list[str], place: str, canary: str, head: str) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from(names).map(lambda name: f"{place}{name}.md"), texts(canary)).map(
        lambda notes: {path: head + text for path, text in notes.items()}
    )


# A personal note may lie in the personal folder, or anywhere and say so itself.
VAULTS = st.builds(
    lambda open_, inside, outside: Vault(open_, inside | outside),
    folder(NAMES[:4], "Open/", "", ""),
    folder(NAMES[4:5], "Private/", "canaryword", "---\naliases: [canaryalias]\ntags: [work, canarytag]\n---\n"),
    folder(NAMES[5:], "Open/", "canaryword", "---\ntitle: canarytitle\nsensitivity: personal\nx: [\n---\n"),
)


def seen(view: VaultView[S]) -> dict[str, Any]:
    """Everything that can be read through a view, without scores."""
    paths = view.notes.paths()
    chunks = [chunk for path in (*paths, "Private/hidden1.md", "Open/hidden2.md") for chunk in view.chunks.of(path)]
    return {
        "paths": paths,
        "known": sorted(view.notes.known()),
        "resolved": view.notes.resolved_paths(),
        "counts": (view.state.counts().notes, view.state.counts().chunks),
        "problems": view.state.problems(),
        "passages": view.text.passages(chunks),
        "vectors": sorted(view.vectors.centred(range(1, 60))),
        "every id": sorted(view.text.passages(range(1, 60))),
        "nearest": sorted(chunk for chunk, _ in view.vectors.nearest(bag_of_words("rent barn", DIMENSION), 999)),
        "matching": [
            sorted(chunk for chunk, _ in view.words.matching(f'"{word}"', 999)) for word in ("rent", "家賃", "c++")
        ],
        "from": [view.links.edges_from(f"Open/{name}.md") for name in NAMES],
        "to": [view.links.edges_to(path) for path in (*paths, "Private/hidden1.md", "Open/hidden2.md")],
        "tagged": [tagged(view, tag) for tag in ("work", "work/urgent", "åter", "canarytag")],
    }


def found(building: Building, view: VaultView[S], arm: str) -> list[str]:
    retrieved = building.retriever().retrieve(view, "rent barn 家賃 c++ canaryword", k=50, per_note=50, arm=arm)
    assert "canary" not in repr(retrieved.hits) or view.scope == PRIVATE
    return sorted((hit.path, hit.body) for hit in retrieved.hits)


@given(VAULTS)
@settings(max_examples=100, deadline=None)
def test_personal_notes_change_nothing_an_open_scope_sees(
    tmp_path_factory: pytest.TempPathFactory, vault: Vault
) -> None:
    building = Building(tmp_path_factory.mktemp("vault"), HashEmbedder(dimension=DIMENSION))
    building.put(vault.open)
    with building.open(OPEN) as view:
        before = seen(view)
        hits = [found(building, view, arm) for arm in ("hybrid", "text")]
    building.put(vault.personal)
    with building.open(OPEN) as view:
        assert seen(view) == before
        assert "canary" not in repr(seen(view))
        assert view.words.matching('"canaryword"', 9) == []
        assert [found(building, view, arm) for arm in ("hybrid", "text")] == hits
    with building.open(PRIVATE) as view:
        everything = seen(view)
        assert everything["paths"] == sorted({**vault.open, **vault.personal})
        assert ("canaryword" in repr(everything)) is bool(vault.personal)
    building.writer.reclassify({claim.id: level for claim in building.writer.claims() for level in [1]})
    with building.open(OPEN) as view:
        assert seen(view)["passages"] == {}
        assert found(building, view, "hybrid") == []
    building.close()


def test_the_canaries_of_this_suite_would_be_seen(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder(dimension=DIMENSION))
    building.put({"Open/leak.md": "---\ntags: [canarytag]\naliases: [canaryalias]\n---\ncanaryword"})
    with building.open(OPEN) as view:
        assert repr(seen(view)).count("canary") >= 3
    building.close()
