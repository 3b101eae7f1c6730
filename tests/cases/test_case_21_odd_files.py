"""Cases 6, 18 and 21: empty, tiny, packed and badly encoded files are found by what they say, and nothing waits.

(jsgrrchg/NeverWrite#55; brianpetro/obsidian-smart-connections#1244, #1184; nbramia/LifeOS#83)
"""

import base64
import random
from collections.abc import Iterator

import pytest

from cases.small_vaults import OPEN, indexed
from fakes import HashEmbedder
from vault_ask.composition.library import Library
from vault_ask.scope import Sensitivity

PACKED = base64.b64encode(random.Random(21).randbytes(60_000)).decode()  # noqa: S311 - the same in every run
NOTES: dict[str, str | bytes] = {
    "Zero.md": "",
    "Mark only.md": b"\xef\xbb\xbf",
    "Gate code.md": "---\ntags: [home]\n---\n",
    "Blank.md": "\n  \n\t\u00a0\n",
    "Rules only.md": "---\n\n***\n",
    "Headings.md": "# Delta\n## Epsilon\n### Zeta\n",
    "Tag only.md": "#osprey\n",
    "Link only.md": "[[Zero]]\n",
    "Fence only.md": "```\n```\n",
    "Long.md": "# One\n" + "Nothing in particular is said here. " * 300 + "the spare key is under the kiln\n",
    "No space.md": "x" * 9_000 + " the needle is zanzibar\n",
    "Word.md": "Donaudampfschifffahrtsgesellschaft" * 40 + " dunlin\n",
    "Thai.md": "ก" * 4_000 + "เตาเผา\n",
    "Picture.md": f"diagram below\n![](data:image/png;base64,{PACKED})\ncaption: blue heron\n",
    "Inline.md": f"before ![](data:image/png;base64,{PACKED[:5_000]}) and flamingo afterwards\n",
    "Address.md": "see https://example.org/" + "a/b?c=d&" * 400 + " then cormorant\n",
    "Json.md": "```json\n" + '{"k": "v", ' * 3_000 + "\n```\nbelow it a puffin\n",
    "Table.md": "|a|b|\n|--|--|\n" + "".join(f"|{row}|row{row}|\n" for row in range(1_500)) + "\nalbatross below\n",
    "Draw.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n## Text Elements\nspoonbill ^abc\n"
    f"%%\n## Drawing\n```compressed-json\n{PACKED[:20_000]}\n```\n%%\n",
    "Latin.md": "Sm\xf6rg\xe5s med hallon".encode("latin-1"),
    "Japanese.md": "これは日本語のメモです。りんごとみかん".encode("cp932"),
    "Chinese.md": "这是一份中文的笔记，关于违约金条款".encode("gb18030"),
    "Wide.md": "kantarell".encode("utf-16-be"),
    "Wider.md": "\ufeffrussula".encode("utf-32-le"),
    "Damaged.md": "god text å ä ö ".encode() + b"\xe5\xe4\xf6 tjader\n",
    "Cut.md": "lingon och å".encode()[:-1],
    "Returns.md": b"one\rtwo godwit\r",
    "Nul.md": b"ab\x00cd krusbar\n",
    "Surrogate.md": b"\xed\xa0\x80 turnstone\n",
}
FOUND = {
    "Zero": "Zero.md",
    "mark only": "Mark only.md",
    "gate code": "Gate code.md",
    "blank": "Blank.md",
    "rules only": "Rules only.md",
    "epsilon": "Headings.md",
    "osprey": "Tag only.md",
    "fence only": "Fence only.md",
    "kiln": "Long.md",
    "zanzibar": "No space.md",
    "dunlin": "Word.md",
    "เตาเผา": "Thai.md",
    "blue heron": "Picture.md",
    "flamingo": "Inline.md",
    "cormorant": "Address.md",
    "puffin": "Json.md",
    "albatross": "Table.md",
    "row1499": "Table.md",
    "spoonbill": "Draw.excalidraw.md",
    "hallon": "Latin.md",
    "りんご": "Japanese.md",
    "违约金": "Chinese.md",
    "kantarell": "Wide.md",
    "russula": "Wider.md",
    "tjader": "Damaged.md",
    "lingon": "Cut.md",
    "godwit": "Returns.md",
    "krusbar": "Nul.md",
    "turnstone": "Surrogate.md",
}


@pytest.fixture(scope="module")
def embedder() -> HashEmbedder:
    return HashEmbedder(dimension=384)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, embedder: HashEmbedder) -> Iterator[Library]:
    library = indexed(tmp_path_factory.mktemp("odd"), NOTES, embedder=embedder)
    yield library
    library.close()


def test_each_file_is_found_by_what_it_says(library: Library) -> None:
    hits = {query: library.retrieve(query, scope=OPEN, arm="text").hits for query in FOUND}
    assert {query: found[0].path if found else None for query, found in hits.items()} == FOUND


def test_nothing_blank_and_nothing_packed_is_embedded_and_nothing_waits(
    library: Library, embedder: HashEmbedder
) -> None:
    assert all(text.strip() for text in embedder.embedded)
    assert not any(PACKED[start : start + 80] in text for text in embedder.embedded for start in (0, 4_000, 19_000))
    assert any("blue heron" in text for text in embedder.embedded)
    assert max(map(embedder.count_tokens, embedder.embedded)) <= embedder.max_tokens
    status = library.describe(Sensitivity.PERSONAL)
    assert (status.notes, status.embedding.waiting) == (len(NOTES), 0)


def test_each_file_that_is_no_clean_utf_8_is_named(library: Library) -> None:
    told = {(problem.path, problem.code) for problem in library.describe(Sensitivity.PERSONAL).problems}
    guessed = ("Latin", "Japanese", "Chinese", "Wide", "Damaged", "Cut", "Surrogate")
    assert told == {("Nul.md", "nul"), *((f"{name}.md", "not-utf8") for name in guessed)}
