import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_ask.notes.chunker import chunk
from vault_ask.notes.model import PROPERTIES, Chunk, Note
from vault_ask.notes.parse import parse
from vault_ask.notes.sensitivity import Rules
from vault_ask.settings.vault import ChunkSettings

RULES = Rules.compile(["Private/**"], "sensitivity")
SMALL = ChunkSettings(target_tokens=32, max_tokens=48, min_tokens=8, overlap_tokens=8)
PACKS = Path(__file__).parents[3] / "shared" / "packs"


def count(text: str) -> int:
    return (len(text.encode()) + 2) // 3


def note(text: str | bytes, path: str = "Folder/Note.md") -> Note:
    return parse(path, text if isinstance(text, bytes) else text.encode(), RULES)


def chunks(text: str | bytes, path: str = "Folder/Note.md", options: ChunkSettings | None = None) -> list[Chunk]:
    return chunk(note(text, path), count=count, options=options or ChunkSettings())


def holds(parsed: Note, made: list[Chunk]) -> None:
    """The laws of chunks: exact lines, verbatim bodies, nothing lost, nothing twice, preludes never blank."""
    text = [one for one in made if one.ordinal < PROPERTIES]
    said = made[len(text) :]
    for one in made:
        assert one.line_start <= one.line_end
        assert one.prelude.strip()
        assert count(one.prelude) <= 130
    for one in text:
        assert one.body in "\n".join(parsed.lines[one.line_start - 1 : one.line_end])
    for one in said:
        assert one.line_end < parsed.body_line
        lines = parsed.lines[one.line_start - 1 : one.line_end]
        assert all(line in ("", whole) for line, whole in zip(one.body.split("\n"), lines, strict=True))
    new = "".join("".join(one.body[one.overlap :].split()) for one in text)
    assert new == "".join(parsed.body.split())
    assert [one.ordinal for one in made] == [*range(len(text)), *range(PROPERTIES, PROPERTIES + len(said))]
    assert len({one.id for one in made}) == len(made)


def test_heading_paths_are_exact_and_code_keeps_its_indentation() -> None:
    text = (
        "# Setup\nintro alpha\n\n~~~sh\n# not a heading 1\n~~~\n\n````md\n```\n# not a heading 2\n"
        "```\n# not a heading 3\n````\n"
        "\n## C#\nsharp text\n\n---\n\nbetween the rules: kiwi\n\n---\n\n## Tail ##\nend text\n\n```python\n"
        "# unclosed fence, not a heading 4\n\tlast line mango\n"
    )
    made = chunks(text, "Setup.md")
    assert [one.heading_path for one in made] == [("Setup",), ("Setup", "C#"), ("Setup", "Tail")]
    assert "kiwi" in made[1].body
    assert "\n\tlast line mango" in made[2].body
    assert [(one.line_start, one.line_end) for one in made] == [(1, 13), (15, 22), (24, 29)]


def test_headings_without_text_go_with_the_section_below() -> None:
    made = chunks("# Alpha\n## Beta\n### Gamma\n")
    assert [(one.heading_path, one.body) for one in made] == [
        (("Alpha", "Beta", "Gamma"), "# Alpha\n## Beta\n### Gamma")
    ]


def test_a_last_heading_without_text_joins_the_passage_before() -> None:
    made = chunks("# A\nsome text\n\n## Empty\n")
    assert [(one.heading_path, one.body) for one in made] == [(("A",), "# A\nsome text\n\n## Empty")]


def test_a_runt_joins_the_passage_before_it_in_its_section() -> None:
    text = "# A\n" + "word " * 150 + "\n\nfew words\n"
    made = chunks(text, options=ChunkSettings(target_tokens=256, max_tokens=384, min_tokens=32))
    assert len(made) == 1
    assert made[0].body.endswith("few words")


@pytest.mark.parametrize("text", ["", "\ufeff", "---\ntags: [home]\n---\n", "\n   \n\t\n", "\n"])
def test_a_note_without_text_is_found_by_its_title(text: str) -> None:
    made = chunks(text, "Wifi code.md")
    assert [(one.body, one.embeddable, one.line_start, one.line_end) for one in made] == [("", True, 1, 1)]
    assert made[0].prelude.startswith("Wifi code")


def test_a_note_of_packed_data_only_is_found_by_its_title() -> None:
    made = chunks("iVBORw0KGgo" * 5000, "Scan.md")
    assert [(bool(one.body), one.embeddable) for one in made] == [(False, True), (True, False)]


def test_a_long_paragraph_is_cut_at_sentences_with_overlap() -> None:
    text = "# K\n\n" + "The kiln was fired slowly and the glaze ran. " * 200 + "the spare key is under the kiln"
    parsed, made = note(text), chunks(text)
    holds(parsed, made)
    assert made[-1].body.endswith("the spare key is under the kiln")
    assert all(one.tokens <= 384 for one in made)
    assert all(one.body.rstrip().endswith("ran.") for one in made[:-1])
    assert all(one.overlap > 0 for one in made[1:])
    assert made[1].body[: made[1].overlap] in made[0].body + " "


def test_thai_text_without_spaces_is_cut_on_whole_characters() -> None:
    text = "ก็ค้างทำน้ำ" * 400 + "เตาเผา"
    made = chunks(text)
    holds(note(text), made)
    assert made[-1].body.endswith("เตาเผา")
    assert all(one.embeddable and one.tokens <= 384 for one in made)
    assert not any(one.body[one.overlap] in "\u0e31\u0e34\u0e35\u0e47\u0e49\u0e33" for one in made)


@pytest.mark.parametrize(
    "data",
    [
        "data:image/png;base64," + "iVBORw0KGgo" * 3000,
        "data:image/svg+xml;utf8,%3Csvg" + "%20d=%22M1,2%22" * 300,
        "data:image/svg+xml;charset=utf-8," + "%3Cpath/%3E" * 9,
    ],
)
def test_text_beside_packed_data_on_one_line_is_kept(data: str) -> None:
    text = f"before ![]({data}) caption: blue heron"
    made = chunks(text)
    holds(note(text), made)
    assert [("data:" in one.body, one.embeddable) for one in made] == [(False, True), (True, False), (False, True)]
    assert "blue heron" in made[2].body


@pytest.mark.parametrize(
    "block",
    ["```\n" + "x = 1\n" * 12 + "```", "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 6, "- item\n" + "  - below it\n" * 6],
)
def test_no_boundary_falls_inside_a_block_that_fits(block: str) -> None:
    text = "Some words before it that fill the chunk up to near its target size.\n\n" + block.strip() + "\n\nAfter."
    assert any(block.strip() in one.body for one in chunks(text, options=SMALL))


def test_a_fence_over_the_limit_is_cut_between_lines() -> None:
    text = "```\n" + "\n".join(f"line {n:03} = value" for n in range(60)) + "\n```"
    parsed, made = note(text), chunks(text, options=SMALL)
    holds(parsed, made)
    for one in made:
        assert one.body == "\n".join(parsed.lines[one.line_start - 1 : one.line_end])


def test_the_same_note_gives_the_same_ids_and_equal_passages_different_ones() -> None:
    text = "# A\nsame\n\n# A\nsame\n"
    assert [one.id for one in chunks(text)] == [one.id for one in chunks(text)]
    assert len({one.id for one in chunks(text)}) == 2
    assert {one.id for one in chunks(text)}.isdisjoint(one.id for one in chunks(text, "Other.md"))


def test_a_passage_knows_its_block_id() -> None:
    made = chunks("# A\nfirst ^a1\n\n# B\nsecond\n\n^b-2\n\n# C\nthird")
    assert [one.block for one in made] == ["a1", "b-2", None]


def test_the_prelude_tells_title_aliases_folders_headings_and_topics_once() -> None:
    text = "---\ntitle: Plan B\naliases: [The plan, Plan B]\nup: '[[Area/Home|Home]]'\n"
    text += "tags: [x/y]\n---\n# Plan B\n## Goals\ntext"
    assert chunks(text, "Work/Deep/Plan.md")[-1].prelude == "Plan B (The plan)\nWork/Deep\nGoals\nHome, x/y"


def test_a_prelude_never_outgrows_its_share() -> None:
    text = (
        "---\naliases: ["
        + ", ".join(f"name number {n}" for n in range(200))
        + "]\n---\n# "
        + "long heading " * 60
        + "\nx"
    )
    made = chunks(text, "/".join(["folder name"] * 20) + "/" + "T" * 240 + ".md")
    assert count(made[0].prelude) <= 110
    assert made[0].prelude.startswith("TTTT")


def test_an_embed_brings_no_text_of_the_other_note() -> None:
    made = chunks("Packing list\n![[Private/Passport]]\n![[Private/Passport#Number|n]]\n", "Trip.md")
    assert [one.body for one in made] == ["Packing list\n![[Private/Passport]]\n![[Private/Passport#Number|n]]"]


LINES = [
    "# h",
    "## C# ##",
    "Some text that goes on. It has two sentences!",
    "word " * 40,
    "",
    "",
    "- item",
    "  - below",
    "```",
    "~~~",
    "| a | b |",
    "|---|---|",
    "---",
    "> quote",
    "%%",
    "<div>",
    "[a]: b",
    "\tcode",
    "家賃交渉のメモ。" * 12,
    "x" * 300,
    "end ^id",
    "ก็ค้าง" * 30,
]


def test_a_heading_whose_beginning_is_the_denser_part_keeps_the_prelude_in_its_room() -> None:
    made = chunks("# " + "ก็ค้าง" * 30 + " " + "x" * 800 + "\n\ntext\n")
    assert max(count(one.prelude) for one in made) <= 130
    assert "ก็ค้าง" in made[-1].prelude


@settings(deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=30))
def test_chunks_rebuild_the_note(lines: list[str]) -> None:
    text = "\n".join(lines)
    parsed = note(text)
    made = chunk(parsed, count=count, options=SMALL)
    holds(parsed, made)
    assert all(one.tokens <= SMALL.max_tokens for one in made)


@settings(deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_cut_without_loss(text: str) -> None:
    parsed = note(text.encode("utf-8", "surrogatepass"))
    holds(parsed, chunk(parsed, count=count, options=SMALL))


def test_a_large_note_is_cut_in_a_few_seconds() -> None:
    text = "# Big\n\n" + "Lorem ipsum dolor sit amet, consectetur [[Adipiscing]] elit #tag.\n" * 60 + "\n"
    start = time.process_time()
    parsed = note(text * 1_200)
    made = chunk(parsed, count=count, options=ChunkSettings())
    assert time.process_time() - start < 20
    assert len(parsed.lines) > 70_000
    assert "".join(made[-1].body.split()).endswith("#tag.")


@pytest.mark.skipif(not PACKS.is_dir(), reason="the shared packs are not beside this checkout")
def test_real_vaults_obey_the_laws() -> None:
    files = sorted(path for pack in PACKS.glob("*/vault") for path in pack.rglob("*.md"))[::12]
    assert files
    for file in files:
        parsed = note(file.read_bytes(), file.name)
        holds(parsed, chunk(parsed, count=count, options=ChunkSettings()))
