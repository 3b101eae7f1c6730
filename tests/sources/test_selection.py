import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.sources.selection import Selection, is_note_name, name_text, path_parts, shown_names

COMPOSED, DECOMPOSED = "caf\u00e9.md", "cafe\u0301.md"


@pytest.mark.parametrize(
    "name", ["a.md", "A.MD", "Board.canvas", "~ideas.md", "a b.md", "日記.md", "a.tmp.md", "#1.md"]
)
def test_notes_and_canvases_are_notes(name: str) -> None:
    assert is_note_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("a.md~", ".a.md.swp", "a.md.tmp", "a.md.tmp-83", ".tmp-a.md", ".#a.md", "#a.md#", ".a.md.icloud", "._a.md"),
        *("~$a.md", ".syncthing.a.md.tmp", "~syncthing~a.md.tmp", "~syncthing~a.md", ".~lock.a.md#", "a.md.crdownload"),
        *("a.txt", "a.png", "md", ".md", "a.markdown", "a.mdx", "a"),
    ],
)
def test_temporary_hidden_and_other_files_are_not(name: str) -> None:
    assert not is_note_name(name)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("Archive", ["Archive/a.md", "archive/deep/a.md"], ["Archives/a.md", "Work/Archive/a.md"]),
        ("Archive/", ["Archive/a.md"], ["a.md"]),
        ("/Archive/**", ["ARCHIVE/x/a.md"], ["Work/Archive/a.md"]),
        ("./Archive/**", ["Archive/a.md"], ["a.md"]),
        ("**/Archive", ["Archive/a.md", "Work/Archive/deep/a.md"], ["Work/a.md"]),
        ("*.md", ["a.md", "A.MD"], ["Work/a.md", "a.canvas"]),
        ("**/*.canvas", ["a.canvas", "x/y/a.canvas"], ["a.md"]),
        ("Daily/2026-??.md", ["daily/2026-01.md"], ["Daily/2026-001.md"]),
        ("Ku\u0308che/**", ["K\u00fcche/a.md", "k\u00fcche/a.md"], ["Kuche/a.md"]),
        ("STRASSE", ["straße/a.md"], ["strase/a.md"]),
        ("Work/[draft]*", ["Work/d1.md"], ["Work/x1.md"]),
    ],
)
def test_pattern_stands_for_files_and_folders_from_the_root(
    pattern: str, inside: list[str], outside: list[str]
) -> None:
    excluding, including = Selection.of([], [pattern]), Selection.of([pattern], [])
    assert [path for path in inside + outside if including.lists(path)] == inside
    assert [path for path in inside + outside if excluding.lists(path)] == outside


def test_exclude_wins_over_include() -> None:
    selection = Selection.of(["Work/**"], ["Work/Drafts"])
    assert selection.lists("Work/a.md")
    assert not selection.lists("Work/Drafts/a.md")


def test_blank_patterns_mean_nothing() -> None:
    assert Selection.of(["", "/", " "], ["", "/"]).lists("a.md")


def test_hidden_folders_are_never_entered_even_if_included() -> None:
    selection = Selection.of(["**", ".trash/**"], [])
    assert selection.enters("Work")
    assert not selection.enters(".trash")
    assert not selection.lists("Work/.obsidian/a.md")


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/etc/hostname", "../a.md", "Work/../a.md", "Work/./a.md", "Work//a.md", "Work/", ".", ".."),
        *("Work\\..\\a.md", "work/W.MD\x00.png", "a\nb.md", "a\u2028b.md", "a\udcff.md"),
    ],
)
def test_paths_that_climb_or_confuse_are_no_paths(path: str) -> None:
    assert path_parts(path) is None


def test_ordinary_paths_are_cut_at_slashes() -> None:
    assert path_parts("Work/100%.md") == ["Work", "100%.md"]


def test_bytes_that_are_no_utf8_are_no_name() -> None:
    with pytest.raises(ValueError, match="UTF-8"):
        name_text("caf\udce9.md")
    with pytest.raises(ValueError, match="line break"):
        name_text("a\nb.md")


def test_decomposed_name_is_shown_composed() -> None:
    assert shown_names([DECOMPOSED]) == {DECOMPOSED: COMPOSED}


def test_two_files_that_differ_by_normalisation_stay_two() -> None:
    assert shown_names([DECOMPOSED, COMPOSED]) == {COMPOSED: COMPOSED, DECOMPOSED: DECOMPOSED}


@given(st.sets(st.text("eé\u0301\u0327ạ", min_size=1, max_size=4), max_size=12))
def test_no_two_names_are_ever_shown_alike(names: set[str]) -> None:
    shown = shown_names(names)
    assert shown.keys() == names
    assert len(set(shown.values())) == len(names)
