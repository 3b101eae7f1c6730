"""Edges from parsed notes through writer and view: cases 3, 4 and 5, and names that come and go."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_ask.index.reading.links import EdgeView
from vault_building import OPEN, PRIVATE, Building, faults, tagged


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path)
    yield building
    assert faults(building.writer) == []
    building.close()


def edges_from(building: Building, path: str, *, tags: bool = False) -> list[EdgeView]:
    with building.open(PRIVATE) as view:
        return [edge for edge in view.links.edges_from(path) if tags or edge.kind != "tag"]


def meant(building: Building, path: str = "Hub.md") -> dict[str, str | None]:
    """What each link of a note, as written, means now."""
    return {edge.target: edge.target_path for edge in edges_from(building, path)}


def with_tag(building: Building, tag: str) -> list[str]:
    with building.open(PRIVATE) as view:
        return tagged(view, tag)


def test_every_form_of_a_link_becomes_an_edge(building: Building) -> None:
    building.put(
        {
            "Plan B.md": "target one\n",
            "Area/My Note.md": "target two\n",
            "Hub.md": "| what | where |\n|---|---|\n| x | [[Plan B\\|the plan]] |\n\n"
            "[a](Area/My%20Note.md) and [b](<Area/My Note.md>) and [c](My%20Note.md#Part%20two)\n"
            "[[Plan B#Goals|goals]] ![[Plan B]] [[Plan B#^b1]]\n"
            "[site](https://example.org/My%20Note.md) [[obsidian://open?file=x]]\n",
        }
    )
    edges = edges_from(building, "Hub.md")
    assert {edge.target_path for edge in edges} == {"Plan B.md", "Area/My Note.md"}
    assert {edge.kind for edge in edges if edge.target_path == "Plan B.md"} == {"wikilink", "embed"}
    assert not any("\\" in edge.target or "%20" in edge.target for edge in edges)
    assert [(edge.heading, edge.block, edge.alias, edge.line) for edge in edges] == [
        (None, None, "the plan", 3),
        (None, None, "a", 5),
        (None, None, "b", 5),
        ("Part two", None, "c", 5),
        ("Goals", None, "goals", 6),
        (None, None, None, 6),
        (None, "b1", None, 6),
    ]
    with building.open(OPEN) as view:
        assert {(edge.source, edge.kind) for edge in view.links.edges_to("Plan B.md")} == {
            ("Hub.md", "wikilink"),
            ("Hub.md", "embed"),
        }
        assert {edge.kind for edge in view.links.edges_to("Area/My Note.md")} == {"markdown"}


def test_code_and_comments_hold_no_tags_and_no_links(building: Building) -> None:
    building.put(
        {
            "T.md": 'Order #42 and `#ff8800` and <span style="color:#eeeeaa">x</span> and https://example.org/p#frag\n'
            "[part #2/5](https://example.org)\n```\n#codetag [[Ghost Code]]\n```\n%% #hidden [[Ghost Comment]] %%\n"
            "Inline `[[Ghost Inline]]`\nReal: #Work/Urgent #åter/möte [[Real]]\n",
            "Real.md": "r\n",
            "U.md": "#workshop only\n",
            "V.md": "---\ntags: [work]\n---\nv\n",
            "W.md": "#WORK again #work_shop\n",
        }
    )
    assert [edge.target for edge in edges_from(building, "T.md")] == ["Real"]
    assert [edge.target for edge in edges_from(building, "T.md", tags=True) if edge.kind == "tag"] == [
        "work/urgent",
        "åter/möte",
    ]
    assert with_tag(building, "work") == ["T.md", "V.md", "W.md"]
    assert with_tag(building, "work/urgent") == with_tag(building, "åter") == ["T.md"]
    assert with_tag(building, "wor") == with_tag(building, "%") == with_tag(building, "") == []


def test_properties_of_every_kind_give_edges_and_aliases(building: Building) -> None:
    building.put(
        {
            "1.md": "---\ntags: 2024\ntitle: 2026-05-02\n---\none\n",
            "2.md": "---\ntags:\naliases:\n---\ntwo\n",
            "3.md": "---\ntags: food, #travel\nAliases: Kim, K. Berg\n---\nthree\n",
            "4.md": '---\nup: [[Parent]]\nrel:\n  - [[Kid]]\n  - "[[Kid two|second]]"\n---\nfour\n',
            "5.md": "---\non: yes\nwhen: 12:30:45\n? [a, b]\n: x\n---\nfive\n",
            "Parent.md": "p\n",
            "Kid.md": "k\n",
            "Kid two.md": "k2\n",
            "Q.md": "[[K. Berg]] [[kim]]\n",
        }
    )
    assert set(meant(building, "4.md").values()) == {"Parent.md", "Kid.md", "Kid two.md"}
    assert meant(building, "Q.md") == {"K. Berg": "3.md", "kim": "3.md"}
    assert with_tag(building, "food") == with_tag(building, "travel") == ["3.md"]
    with building.open(PRIVATE) as view:
        assert len(view.notes.paths()) == 9
        titles = {passage.path: passage.title for passage in view.text.passages(range(1, 20)).values()}
    assert titles["1.md"] == "2026-05-02"


def test_a_link_finds_its_note_when_it_comes_and_loses_it_when_it_goes(building: Building) -> None:
    building.put({"Hub.md": "[[Later]]"})
    assert meant(building) == {"Later": None}
    building.put({"Later.md": "x"})
    assert meant(building) == {"Later": "Later.md"}
    building.put({"Later.md": "x reworded"})
    assert meant(building) == {"Later": "Later.md"}
    building.put({}, gone=["Later.md"])
    assert meant(building) == {"Later": None}


def test_a_rename_takes_the_links_along_that_mean_the_new_name(building: Building) -> None:
    building.put({"Hub.md": "[[Old]] [[New]]", "Old.md": "x"})
    building.put({"New.md": "x"}, gone=["Old.md"])
    assert meant(building) == {"Old": None, "New": "New.md"}


def test_links_follow_a_rename_of_letters_case(building: Building) -> None:
    building.put({"Hub.md": "[[geometry]]", "math/geometry.md": "angles"})
    building.put({"Math/Geometry.md": "angles"}, gone=["math/geometry.md"])
    assert meant(building) == {"geometry": "Math/Geometry.md"}


def test_an_alias_that_is_given_or_taken_turns_the_links_to_it(building: Building) -> None:
    building.put({"Hub.md": "[[Kim]]", "Berg.md": "x"})
    assert meant(building) == {"Kim": None}
    building.put({"Berg.md": "---\naliases: [Kim]\n---\nx"})
    assert meant(building) == {"Kim": "Berg.md"}
    building.put({"Kim.md": "the note itself wins over an alias"})
    assert meant(building) == {"Kim": "Kim.md"}
    building.put({"Berg.md": "x"}, gone=["Kim.md"])
    assert meant(building) == {"Kim": None}


def test_an_alias_is_meant_whole(building: Building) -> None:
    building.put(
        {
            "Band.md": "---\naliases: [AC/DC]\n---\nx",
            "Boss.md": "---\naliases: [Plan]\n---\nx",
            "Hub.md": "[[AC/DC]] [[DC]] [[Archive/Plan]] [[plan]]",
        }
    )
    assert meant(building) == {"AC/DC": "Band.md", "DC": None, "Archive/Plan": None, "plan": "Boss.md"}


def test_twins_in_two_folders_are_told_apart(building: Building) -> None:
    building.put(
        {
            "A/Same.md": "a",
            "B/Same.md": "b",
            "B/Deep/Here.md": "[[Same]] [[A/Same]] [[B/Same]] [[../Same]]",
            "B/Near.md": "[[Same]]",
            "Hub.md": "[[Same]]",
        }
    )
    assert meant(building, "B/Near.md") == {"Same": "B/Same.md"}
    assert meant(building, "B/Deep/Here.md") == {
        "Same": "A/Same.md",
        "A/Same": "A/Same.md",
        "B/Same": "B/Same.md",
        "../Same": "B/Same.md",
    }
    building.put({}, gone=["B/Same.md"])
    assert meant(building, "B/Near.md") == {"Same": "A/Same.md"}
    building.put({"Same.md": "at the root"})
    assert meant(building) == {"Same": "Same.md"}


def test_a_note_that_loses_its_links_loses_its_edges(building: Building) -> None:
    building.put({"Hub.md": "[[Real]] #tag", "Real.md": "r"})
    building.put({"Hub.md": "none"})
    assert edges_from(building, "Hub.md", tags=True) == []
    assert with_tag(building, "tag") == []
    with building.open(PRIVATE) as view:
        assert view.links.edges_to("Real.md") == []


def test_a_link_to_a_place_in_the_same_note_is_no_edge(building: Building) -> None:
    building.put({"Hub.md": "[[#Part]] [[Hub#Part]]"})
    assert meant(building) == {"Hub": "Hub.md"}


def test_a_canvas_is_linked_by_its_full_name(building: Building) -> None:
    building.put({"Board.canvas": '{"nodes": [], "edges": []}', "Hub.md": "[[Board.canvas]] [[Board]]"})
    assert meant(building) == {"Board.canvas": "Board.canvas", "Board": None}
