"""Case 5: properties in whatever form an owner, a keyboard or a plugin writes them: all indexed, named and linked."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cases.small_vaults import OPEN, PRIVATE, indexed
from vault_ask.composition.library import Library
from vault_building import Building

NOTES = {
    "Twice.md": "---\ntitle: First name\ntitle: Second name\naliases: Uno\naliases: [Dos, Tres]\n---\nsparrow\n",
    "Comma.md": '---\nALIASES: ["Berg, Kim", 007]\nTags: "#music, #Work/Urgent"\n---\nstarling\n',
    "Json.md": '---\n{"title": "As JSON", "tags": ["music"], "aliases": ["Jay"]}\n---\nmagpie\n',
    "Bare.md": "---\r\nup: [[Comma]], [[Json|j]]\r\nseen: ![[Twice]]\r\n---\r\njackdaw\r\n",
    "Bomb.md": "---\na: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a]\nc: [*b, *b, *b]\n---\nwagtail\n",
    "Odd.md": "---\n? {a: b}\n: [[Jay]]\nwhen: !!timestamp 2026-02-30\n~: nothing\n---\nbunting\n",
    "Board.canvas": json.dumps(
        {
            "nodes": [{"type": "text", "text": "siskin [[Uno]]"}],
            "metadata": {"frontmatter": {"tags": ["music"], "aliases": ["Wall"]}},
        }
    ),
    "Hub.md": "[[berg, kim]] [[Dos]] [[jay]] [[007]] [[wall]]\n",
    "Two words.md": "---\nsee: [[Hard\u00a0blank]]\n---\nx\n",
    "Hard blank.md": "robin\n",
}
LINKS = {
    "Hub.md": ["Comma.md", "Twice.md", "Json.md", "Comma.md", "Board.canvas"],
    "Bare.md": ["Comma.md", "Json.md", "Twice.md"],
    "Odd.md": ["Json.md"],
    "Board.canvas": ["Twice.md"],
    "Two words.md": ["Hard blank.md"],
}
WORDS = {"sparrow": "Twice.md", "starling": "Comma.md", "magpie": "Json.md", "jackdaw": "Bare.md",
         "wagtail": "Bomb.md", "bunting": "Odd.md", "siskin": "Board.canvas"}  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = indexed(tmp_path_factory.mktemp("properties"), NOTES)
    yield library
    library.close()


def test_every_note_is_found_by_its_text(library: Library) -> None:
    hits = {word: library.retrieve(word, scope=PRIVATE, arm="text").hits for word in WORDS}
    assert {word: [hit.path for hit in found] for word, found in hits.items()} == {w: [p] for w, p in WORDS.items()}
    assert hits["sparrow"][0].title == "First name"


def test_tags_in_any_form_fit_the_filter(library: Library) -> None:
    fitting = {hit.path for hit in library.retrieve("tag:music", scope=OPEN).hits}
    assert fitting == {"Comma.md", "Json.md", "Board.canvas"}


def test_names_and_links_among_them_lead_to_their_notes(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put(NOTES)
    with building.open(PRIVATE) as view:
        found = {path: [e.target_path for e in view.links.edges_from(path) if e.kind != "tag"] for path in LINKS}
    building.close()
    assert found == LINKS
