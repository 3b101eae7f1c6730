import pytest

from vault_ask.notes.links import choose, link_key, tag_key


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("My Note.md", "Area/my note.md"),
        ("area/MY NOTE", "Area/My Note.md"),
        ("A\u0308pple", "x/äpple.md"),
        ("İş", "iş.md"),
        ("v1.2 release", "v1.2 release.md"),
        ("Board.canvas", "x/board.canvas"),
        (" Plan B ", "Plan B.md"),
        ("Plan\u00a0B", "Plan B.md"),
        ("Plan B", "x/Plan\u202fB.md"),
    ],
)
def test_a_link_and_the_note_it_means_meet_under_one_key(target: str, path: str) -> None:
    assert link_key(target) == link_key(path)


def test_names_of_different_notes_do_not_meet() -> None:
    assert len({link_key(name) for name in ("sınır", "sinir", "Board.canvas", "Board", "v1.2", "v1.3")}) == 6


def test_tags_compare_without_case_and_sharp() -> None:
    assert [tag_key(tag) for tag in ("#Work/Urgent", "ÅTER/möte/", " İş ")] == ["work/urgent", "åter/möte", "iş"]


@pytest.mark.parametrize(
    ("target", "source", "candidates", "chosen"),
    [
        ("Plan B", "Hub.md", ["X/Plan B.md", "Plan B.md"], "Plan B.md"),
        ("plan b", "X/Hub.md", ["X/Plan B.md", "Plan B.md"], "Plan B.md"),
        ("My Note.md", "Hub.md", ["Area/My Note.md"], "Area/My Note.md"),
        ("My\u00a0Note", "Hub.md", ["Area/My Note.md"], "Area/My Note.md"),
        ("n", "A/h.md", ["B/n.md", "A/n.md"], "A/n.md"),
        ("n", "Z/h.md", ["A/B/n.md", "LongFolder/n.md"], "LongFolder/n.md"),
        ("n", "Z/h.md", ["B/n.md", "A/n.md"], "A/n.md"),
        ("b/n", "A/h.md", ["Q/B/R/n.md", "Z/B/n.md"], "Z/B/n.md"),
        ("sub/n", "A/h.md", ["sub/x/n.md", "A/sub/n.md", "B/sub/n.md"], "A/sub/n.md"),
        ("wrong/n", "A/h.md", ["A/n.md"], None),
        ("../x.md", "a/b.md", ["x.md", "a/x.md"], "x.md"),
        ("./x", "a/b.md", ["x.md", "a/x.md"], "a/x.md"),
        ("./x", "c/b.md", ["x.md", "a/x.md"], None),
        ("../../x", "a/b.md", ["x.md"], None),
        ("/x", "a/b.md", ["a/x.md", "x.md"], "x.md"),
        ("N\u0061\u0308me", "h.md", ["NÄme.md"], "NÄme.md"),
        ("n", "h.md", [], None),
        ("", "h.md", ["a.md"], None),
    ],
)
def test_the_note_that_obsidian_would_open_is_chosen(
    target: str, source: str, candidates: list[str], chosen: str | None
) -> None:
    assert choose(target, source, candidates) == chosen
    assert choose(target, source, candidates[::-1]) == chosen
