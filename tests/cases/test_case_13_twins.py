"""Case 13: of two notes with the same text, one hidden, the open one is found by its own name and never by the other's.

A note made from a template, or empty but for its name, has the text of every other such note.
"""

from pathlib import Path

import pytest

from fakes import HashEmbedder
from ingest.bench import OPEN, PRIVATE, Bench

TEXTS = {"empty": "", "a template": "---\ntags: [stub]\n---\n## To do\n"}
OTHERS = {"Boiler.md": "the boiler was serviced\n", "Books.md": "books to read aloud\n"}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("hidden", ["Private/Divorce lawyer.md", None])
def test_what_stands_in_a_hidden_notes_name_leads_to_no_open_note(
    tmp_path: Path, hidden: str | None, text: str
) -> None:
    notes = {**OTHERS, **({hidden: TEXTS[text]} if hidden else {})}
    bench = Bench(tmp_path, notes, embedder=HashEmbedder(dimension=2_048), personal=("Private/**",))
    bench.index_all()
    bench.source.put("Garden shed.md", TEXTS[text])
    bench.follow()
    bench.index_all()
    assert bench.found("garden shed", OPEN, arm="vector")[0] == "Garden shed.md"
    assert bench.found("boiler divorce lawyer", OPEN, arm="vector")[0] == "Boiler.md"
    everything = bench.found("divorce lawyer", PRIVATE, arm="vector")
    assert hidden is None or everything[0] == hidden
    bench.close()


@pytest.mark.parametrize("text", TEXTS)
def test_a_renamed_note_without_a_text_of_its_own_is_found_by_its_new_name(tmp_path: Path, text: str) -> None:
    bench = Bench(tmp_path, {**OTHERS, "Tax return.md": TEXTS[text]}, embedder=HashEmbedder(dimension=2_048))
    bench.index_all()
    bench.source.move("Tax return.md", "Sourdough bread.md")
    bench.follow()
    bench.index_all()
    assert bench.found("sourdough bread", OPEN, arm="vector")[0] == "Sourdough bread.md"
    assert bench.found("boiler tax return", OPEN, arm="vector")[0] == "Boiler.md"
    bench.close()
