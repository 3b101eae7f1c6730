"""A filter that names something hidden tells an open scope what a filter that names nothing tells."""

from collections.abc import Iterator
from typing import Any

import pytest

from cases.small_vaults import OPEN, PRIVATE, ask, indexed
from fakes import CannedWeb
from gate.furniture import PAGES
from vault_ask.composition.library import Library
from vault_ask.scope import OpenScope
from vault_ask.wire import AskResponse, SearchResponse

HIDDEN = (
    "---\ntags: [canarytag]\ncanarykey: canaryvalue\naliases: [canaryalias]\nup: '[[canarytopic]]'\nstatus: open\n---\n"
    "The rent of the barn is canarybody.\n- [ ] pay canarytask\n"
)
NOTES = {
    "Open/Rent.md": "---\ntags: [home]\nstatus: shut\n---\nThe rent of the barn is 9200.\n- [x] pay it\n",
    "Private/Canaryname.md": HIDDEN,
}
NOTHING = {
    "tag:#canarytag": "tag:#nowhere",
    "path:Private/": "path:Nowhere/",
    "file:canaryname": "file:nowhere",
    "[status:open]": "[status:nowhere]",
    '["canarykey"]': '["nowhere"]',
    "[canarykey:canaryvalue]": "[nowhere:nothing]",
    "[up:[[canarytopic]]]": "[up:[[nowhere]]]",
    "task-todo:": 'task-todo:"nowhere"',
    "task:canarytask": "task:nowhere",
    "tag:#canarytag OR path:Private/": "tag:#nowhere OR path:Nowhere/",
    "tag:#home tag:#canarytag": "tag:#home tag:#nowhere",
    "tag:#home -task-done:": "tag:#home -task:pay",
}
WORDS = ("what is the rent of the barn?", "")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = indexed(tmp_path_factory.mktemp("filters"), NOTES, personal_paths=["Private/**"])
    library.models.__dict__["web"] = CannedWeb(*PAGES)
    yield library
    library.close()


def shape(answer: AskResponse | SearchResponse) -> dict[str, Any]:
    """All that was answered, but for what echoes the question and how long it took."""
    told = answer.model_dump(mode="json", exclude={"seconds"})
    typed = told["understood"].pop("filters")
    assert typed
    for each in typed:
        told["notices"] = [notice.replace(each, "…") for notice in told["notices"]]
    return told


@pytest.mark.parametrize("filters", NOTHING)
@pytest.mark.parametrize("words", WORDS)
def test_an_open_answer_to_a_hidden_filter_is_that_to_a_filter_of_nothing(
    library: Library, filters: str, words: str
) -> None:
    hidden, nothing = (ask(library, f"{named} {words}") for named in (filters, NOTHING[filters]))
    assert shape(hidden) == shape(nothing)
    assert (hidden.answer, hidden.sources, hidden.web) == ("None of the notes in sight fits these filters.", (), None)
    found = [
        library.search_now(f"{named} {words}", scope=OPEN, k=9, arm="hybrid") for named in (filters, NOTHING[filters])
    ]
    assert shape(found[0]) == shape(found[1])
    assert found[0].hits == ()
    assert any(notice.startswith("No passage in sight fits") for notice in found[0].notices)


@pytest.mark.parametrize("filters", [name for name in NOTHING if "home" not in name])
@pytest.mark.parametrize("words", WORDS)
def test_the_owner_is_answered_from_the_note_that_fits(library: Library, filters: str, words: str) -> None:
    answer = ask(library, f"{filters} {words}", PRIVATE)
    assert {source.path for source in answer.sources} == {"Private/Canaryname.md"}
    assert not answer.silent


@pytest.mark.parametrize(
    "excluding", ["-tag:#canarytag", "-path:Private/", "-[status:open]", "-task-todo:", "-file:canary"]
)
def test_to_exclude_what_is_hidden_excludes_nothing_in_sight(library: Library, excluding: str) -> None:
    plain, narrowed = (
        ask(library, f"{named} {WORDS[0]}", OpenScope(web_allowed=False)) for named in ("tag:#home", excluding)
    )
    assert [source.path for source in narrowed.sources] == [source.path for source in plain.sources] == ["Open/Rent.md"]
    assert narrowed.answer == plain.answer
