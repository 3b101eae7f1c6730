"""Case 3: whatever form a link has, it leads to the note that Obsidian would open, and nothing else makes one.

(jackyzha0/quartz#1038, #997; BatterWorks/Hatchdoor#268; ChristopherKahler/base#162)
"""

from pathlib import Path

import pytest

from vault_building import PRIVATE, Building

NOTES = {
    "Plan C.md": "one\n",
    "Area/Your Note.md": "two\n",
    "v1.2 release.md": "three\n",
    "C#.md": "four\n",
    "Café.md": "five\n",
    "İzmir.md": "six\n",
    "日本/東京.md": "seven\n",
    "Person.md": "---\naliases: [Kim, K. Berg]\n---\neight\n",
    "Draw.excalidraw.md": "nine\n",
    "Board.canvas": '{"nodes": [], "edges": []}',
    "a/Twin.md": "ten\n",
    "b/Twin.md": "eleven\n",
}
LEADS_TO = {
    "| x | [[Plan C\\|the plan]] |\n|---|---|\n| y | z |": ["Plan C.md"],
    "| h | i |\n|---|---|\n| ![[Plan C\\|300]] | [[Plan C#Goals\\|g]] |": ["Plan C.md", "Plan C.md"],
    "no table: [[Plan C\\|the plan]]": ["Plan C.md"],
    "[c](Your%20Note.md#Part%20two)": ["Area/Your Note.md"],
    "[c](<Area/Your Note.md>)": ["Area/Your Note.md"],
    "[c](Area/Your%20Note)": ["Area/Your Note.md"],
    "[c](/Area/Your%20Note.md 'title')": ["Area/Your Note.md"],
    "[see][r] and [r]\n\n[r]: Area/Your%20Note.md": ["Area/Your Note.md", "Area/Your Note.md"],
    "[[YOUR NOTE.MD]]": ["Area/Your Note.md"],
    "[[v1.2 release]] [[v1.2 release.md|v]]": ["v1.2 release.md", "v1.2 release.md"],
    "[sharp](C%23.md)": ["C#.md"],
    "[[Cafe\u0301]] [c](Cafe%CC%81.md) [[CAFÉ]]": ["Café.md"] * 3,
    "[[izmir]] [[İZMİR]]": ["İzmir.md", "İzmir.md"],
    "[[東京]] [t](%E6%97%A5%E6%9C%AC/%E6%9D%B1%E4%BA%AC.md)": ["日本/東京.md", "日本/東京.md"],
    "[[k. berg|her]] [[Kim#^b1]]": ["Person.md", "Person.md"],
    "[[Draw.excalidraw]] ![[Board.canvas]]": ["Draw.excalidraw.md", "Board.canvas"],
    "==[[Plan C]]== **[[Plan C]]** ~~[[Plan C]]~~ [text [[Plan C]]": ["Plan C.md"] * 4,
    "> - [ ] [[Plan C]]\n\n[^1]: [[Kim]]": ["Plan C.md", "Person.md"],
    "---\nup: [[Plan C]]\nrelated: [[[Kim]], [[Plan C|p]]]\n---\n": ["Plan C.md", "Person.md", "Plan C.md"],
    '---\nto:\n  - "[[Plan C]]"\n  - [[Kim]]\nmap: {of: [[Plan C]]}\n---\n': ["Plan C.md", "Person.md", "Plan C.md"],
    "[[Board]] [[Plan C.pdf]] [[Ghost]] [x](Plan%20C.pdf)": [None] * 4,
    "[site](https://example.com/Plan%20C.md) [[https://example.com]] [[obsidian://open?file=Kim]] <Kim.md>": [],
    "[m](mailto:Kim) [f](file:///Kim.md) [p](//host/Kim.md) [[javascript:Kim]]": [],
    "`[[Kim]]` ``[[Kim]] ` `` $[[Kim]]$ %%[[Kim]]%% <!-- [[Kim]] --> \\[[Kim]]": [],
    "```\n[[Kim]]\n```\n\n    [[Kim]]\n\n~~~\n[[Kim]]\n~~~\n\n%%\n[[Kim]]\n%%\n\n$$\n[[Kim]]\n$$": [],
}


@pytest.mark.parametrize("text", LEADS_TO)
def test_a_link_leads_where_obsidian_leads(tmp_path: Path, text: str) -> None:
    building = Building(tmp_path)
    building.put({**NOTES, "Hub.md": f"{text}\n"})
    with building.open(PRIVATE) as view:
        edges = [edge for edge in view.links.edges_from("Hub.md") if edge.kind != "tag"]
        assert [edge.target_path for edge in edges] == LEADS_TO[text]
        for path in {path for path in LEADS_TO[text] if path}:
            assert {edge.source for edge in view.links.edges_to(path)} == {"Hub.md"}
    building.close()


@pytest.mark.parametrize(("folder", "target"), [("a", "a/Twin.md"), ("b", "b/Twin.md"), ("c", "a/Twin.md")])
def test_of_two_notes_of_a_name_the_one_in_the_same_folder_is_meant(tmp_path: Path, folder: str, target: str) -> None:
    building = Building(tmp_path)
    building.put({**NOTES, f"{folder}/Hub.md": "[[Twin]] [t](Twin.md) [[b/Twin]] [[../b/Twin]]\n"})
    with building.open(PRIVATE) as view:
        found = [edge.target_path for edge in view.links.edges_from(f"{folder}/Hub.md")]
    building.close()
    assert found == [target, target, "b/Twin.md", "b/Twin.md"]
