"""Case 18: packed pictures reach no prompt, also when their note is asked about, and no caption is lost."""

import random
import string
from pathlib import Path

import pytest

from cases.small_vaults import OPEN, ask, indexed
from fakes import ScriptedGenerator

_LETTERS = string.ascii_letters + string.digits + "+/"
PACKED = "".join(random.Random(18).choices(_LETTERS, k=60_000))  # noqa: S311 - any letters will do
ROWS = "\n".join(PACKED[at : at + 256] for at in range(0, len(PACKED), 256))
NOTES = {
    "Alone.md": f"sketch below\n\n![](data:image/png;base64,{PACKED})\n\nlegend: grey wagtail\n",
    "Alt.md": f"![kestrel](data:image/png;base64,{PACKED})\n",
    "Html.md": f'<img alt="plover" src="data:image/png;base64,{PACKED}" width=80>\n',
    "Inline.md": f"- bunting data:image/jpeg;base64,{PACKED}\n- then siskin\n",
    "Table.md": f"| a | b |\n|---|---|\n| dunlin | {PACKED} |\n",
    "Draw.excalidraw.md": (
        f"---\nexcalidraw-plugin: parsed\n---\n# Text Elements\nturnstone ^k1\n\n```compressed-json\n{ROWS}\n```\n"
    ),
}
CAPTIONS = {"wagtail": "Alone.md", "kestrel": "Alt.md", "plover": "Html.md", "bunting": "Inline.md",
            "siskin": "Inline.md", "dunlin": "Table.md", "turnstone": "Draw.excalidraw.md"}  # fmt: skip


def test_every_caption_is_found_by_its_words(tmp_path: Path) -> None:
    library = indexed(tmp_path, NOTES)
    found = {word: library.retrieve(word, scope=OPEN, arm="text").hits for word in CAPTIONS}
    assert {word: hits[0].path if hits else None for word, hits in found.items()} == CAPTIONS
    assert not any(PACKED[500:540] in hit.body for hits in found.values() for hit in hits)


@pytest.mark.parametrize("note", NOTES)
def test_a_question_about_the_note_itself_gets_none_of_it(tmp_path: Path, note: str) -> None:
    generator = ScriptedGenerator("A bird.")
    library = indexed(tmp_path, {note: NOTES[note], "Other.md": "a bird\n"}, generator=generator)
    answer = ask(library, "which bird is shown in it?", note=note)
    assert any(source.path == note for source in answer.sources)
    for said in (answer.model_dump_json(), repr(generator.prompts)):
        assert PACKED[500:540] not in said
        assert len(said) < 20_000
