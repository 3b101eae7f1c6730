"""Case 4: tags are what Obsidian takes for tags, and a filter by one gives its notes and those of the tags below it.

With it the whole kind: each filter at each door, what is left where nothing fits, and text that only looks like one.
"""

import json
from collections.abc import Iterator

import httpx
import pytest

from cases.small_vaults import OPEN, ask, cited, indexed
from cli.commands import Commands, write
from vault_ask.answering.conversation import Turn
from vault_ask.composition.library import Library
from waiting import wait_until

NOTES = {
    "T.md": (
        'Ticket #42 and `#aa7700` and <span style="color:#ddeebb">x</span> and https://example.com/q#part\n'
        "[page #3/7](https://example.com)\n```\n#fenced [[Ghost Fence]]\n```\n%% #unseen [[Ghost Remark]] %%\n"
        "Inline `[[Ghost Span]]`\nReal: #Job/Rush #över/träff [[Real]]\n"
    ),
    "Real.md": "r\n",
    "U.md": "#jobshop only\n",
    "V.md": "---\ntags: [job]\nstatus: open\nDue date: 2026-05-04\n---\nThe mill is to be painted green.\n",
    "Area/Mill.md": (
        "---\nstatus: shut\n---\n# Mill\n\nThe mill was painted blue.\n\n- [ ] order paint\n- [x] order brushes\n"
    ),
    "Area/Weir.md": "The weir leaks.\n\n1. [/] mend the weir\n",
}
FOUND = {
    "tag:job": {"T.md", "V.md"},
    "tag:#job/rush": {"T.md"},
    "tag:över": {"T.md"},
    "tag:fenced": set(),
    "tag:unseen": set(),
    "path:Area/": {"Area/Mill.md", "Area/Weir.md"},
    "[status:open]": {"V.md"},
    '["Due date":2026-05]': {"V.md"},
    "task-todo:": {"Area/Mill.md", "Area/Weir.md"},
    "task-todo:paint": {"Area/Mill.md"},
    "task-done:paint": set(),
    "-path:Area/ -tag:job": {"Real.md", "U.md"},
    "mill path:Area/": {"Area/Mill.md", "Area/Weir.md"},
    "mill [status:open]": {"V.md"},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = indexed(tmp_path_factory.mktemp("case4"), NOTES)
    yield library
    library.close()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Commands]]:
    folder = tmp_path_factory.mktemp("case4doors")
    nobody = {"VAULTASK_EMBEDDING__PROVIDER": "ollama", "VAULTASK_EMBEDDING__MODEL": "m"}
    nobody["VAULTASK_EMBEDDING__OLLAMA_URL"] = "http://127.0.0.1:9"
    made = Commands(folder, write(folder / "vault", NOTES), folder / "data", environment=nobody)
    with made.serving() as served, httpx.Client(base_url=served.address or "", timeout=20) as http:
        wait_until(lambda: http.get("/api/status").json()["notes"] == len(NOTES))
        yield http, made


def test_tags_and_links_are_those_that_obsidian_sees(library: Library) -> None:
    with library.open_view(OPEN) as view:
        assert set(view.notes.tags()["T.md"]) == {"job/rush", "över/träff"}
        assert [edge.target_path for edge in view.links.edges_from("T.md") if edge.kind != "tag"] == ["Real.md"]


@pytest.mark.parametrize("query", FOUND)
def test_a_filter_narrows_every_search(library: Library, query: str) -> None:
    found = library.search_now(query, scope=OPEN, k=50, arm="hybrid")
    assert {hit.path for hit in found.hits} == FOUND[query]
    assert found.understood is not None
    assert found.understood.filters


def test_a_filter_narrows_at_every_door_and_is_told_there(daemon: tuple[httpx.Client, Commands]) -> None:
    http, commands = daemon
    query = "mill path:Area/ -[status:open]"
    told = {"text": "mill", "filters": ["path:Area/", "-[status:open]"], "days": None, "order": None}
    got = http.get("/api/search", params={"q": query}).json()
    posted = http.post("/api/search", json={"query": query}).json()
    asked = http.post("/api/ask", json={"question": query}, headers={"accept": "application/json"}).json()
    for answer in (got, posted, asked):
        assert answer["understood"] == told
        assert {hit["path"] for hit in answer.get("hits", answer.get("sources"))} == {"Area/Mill.md"}
    printed = commands("search", query)
    assert "Read as: mill · path:Area/ · -[status:open]" in printed.err
    assert "Area/Mill.md" in printed.out
    assert "Read as: mill · path:Area/ · -[status:open]" in commands("ask", query).err
    assert json.loads(commands("ask", query, "--json").out)["understood"] == told


def test_a_question_of_filters_alone_is_answered_by_what_fits(library: Library) -> None:
    answer = ask(library, "task-todo:")
    assert not answer.silent
    assert sorted(cited(answer)) == ["Area/Mill.md", "Area/Weir.md"]
    assert "“[ ] order paint”" in answer.answer
    assert "“[/] mend the weir”" in answer.answer
    assert "brushes" not in answer.answer


@pytest.mark.parametrize(
    "question", ["What colour is the mill? tag:#elsewhere", "tag:#elsewhere", "mill -path:Area/ tag:över/x"]
)
def test_where_nothing_fits_the_answer_says_so_and_nothing_else(library: Library, question: str) -> None:
    answer = ask(library, question, language="en")
    assert (answer.answer, answer.sources, answer.silent) == (
        "None of the notes in sight fits these filters.",
        (),
        True,
    )
    assert ask(library, question, language="sv").answer == "Ingen av de synliga anteckningarna passar dessa filter."


def test_where_something_fits_and_says_nothing_of_it_the_vault_is_silent_as_ever(library: Library) -> None:
    answer = ask(library, "What is the salary of the zookeeper? path:Area/", language="en")
    assert answer.silent
    assert "fits these filters" not in answer.answer
    assert {source.path for source in answer.sources} <= {"Area/Mill.md", "Area/Weir.md"}


def test_filters_are_those_of_the_turn_they_were_typed_in(library: Library) -> None:
    history = (
        Turn(role="user", text="What colour is the mill? [status:open]"),
        Turn(role="assistant", text="Green [1]."),
    )
    later = ask(library, "And what about it?", history=history)
    assert later.understood is None
    assert {source.path for source in later.sources} >= {"V.md", "Area/Mill.md"}
    narrowed = ask(library, "path:Area/", history=history)
    assert narrowed.understood is not None
    assert narrowed.understood.filters == ("path:Area/",)
    assert "Area/Mill.md" in {source.path for source in narrowed.sources} <= {"Area/Mill.md", "Area/Weir.md"}


@pytest.mark.parametrize("query", ["mill [status:open]", "[status:open]"])
def test_the_note_in_question_and_what_it_links_to_have_to_fit_as_well(library: Library, query: str) -> None:
    plain = library.retrieve("mill", scope=OPEN, note="Area/Mill.md")
    assert plain.hits[0].path == "Area/Mill.md"
    narrowed = library.retrieve(query, scope=OPEN, note="Area/Mill.md")
    assert {hit.path for hit in narrowed.hits} == {"V.md"}
    answer = ask(library, query, note="Area/Mill.md")
    assert ({source.path for source in answer.sources}, answer.notices) == ({"V.md"}, ())


def test_a_link_leads_to_no_note_that_does_not_fit(tmp_path_factory: pytest.TempPathFactory) -> None:
    notes = {
        "Hub.md": "---\ntags: [job]\n---\nThe wharf rents the crane. [[Spoke]] [[Inside]]\n",
        "Spoke.md": "The crane is green, and the wharf too.\n",
        "Inside.md": "---\ntags: [job]\n---\nThe crane is heavy.\n",
    }
    library = indexed(tmp_path_factory.mktemp("linked"), notes)
    everything = {hit.path for hit in library.retrieve("wharf crane", scope=OPEN).hits}
    narrowed = {hit.path for hit in library.retrieve("wharf crane tag:#job", scope=OPEN).hits}
    library.close()
    assert everything == set(notes)
    assert narrowed == {"Hub.md", "Inside.md"}


def test_selected_words_of_a_note_are_no_filters(library: Library) -> None:
    answer = ask(library, "What does this mean?", note="Area/Mill.md", selection="tag:#job [status:open] painted blue")
    assert answer.understood is None
    assert "Area/Mill.md" in {source.path for source in answer.sources}
