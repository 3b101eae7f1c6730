"""Names of conflict copies, as sync programs give them, and names that only look like one."""

import time

import pytest

from vault_ask.notes.copies import original_of, originals_first

COPIES = [
    "Note.sync-conflict-20260102-030405-ABCDEFG.md",
    "Note.sync-conflict-20260102-030405.md",
    "Note (conflict 2026-01-02).md",
    "Note (Ann's conflicted copy 2026-01-02).md",
    "Note (John (Mac)'s conflicted copy 2026-01-02 (1)).md",
    "Note (Ann's conflicted copy 2026-01-02) (2).md",
    "Note (conflicted copy 2026-01-02 030405).md",
    "Note_conflict-20260102-030405.md",
    "Note (Conflicted copy phone 202601020304).md",
    "NOTE [conflicted].MD",
    "Note.conflict.md",
    "Note_PC_Jan-02-0304-2026_Conflict.md",
    "Note_Ann-PC_Jan-03-0901-2013_CaseConflict_1.md",
    "Note (SFConflict ann@example.org 2026-01-02-03-04-05).md",
    "Note (In Konflikt stehende Kopie von Ann 2026-01-02).md",
    "Note (Anns konfliktkopia 2026-01-02).md",
    "Note (Copie en conflit de Ann 2026-01-02).md",
    "Note (Copia en conflicto de Ann 2026-01-02).md",
    "Note (Copia in conflitto di Ann 2026-01-02).md",
    "Note (конфликтующая копия Ann 2026-01-02).md",
    "Note (Ann kullanıcısının çakışan kopyası 2026-01-02).md",
    "Note (Ann の競合コピー 2026-01-02).md",
    "Note（Ann 的冲突副本 2026-01-02）.md",
    "Note (Ann의 충돌된 복사본 2026-01-02).md",
]


@pytest.mark.parametrize("path", COPIES)
def test_a_conflict_copy_is_known_by_its_name(path: str) -> None:
    assert original_of(path) == ("note.md", 1)
    assert original_of(f"A/Ö/{path}") == ("a/ö/note.md", 1)


@pytest.mark.parametrize(
    "path",
    [
        "Note.md",
        "Note 2.md",
        "Note (1).md",
        "Conflict.md",
        "(conflict).md",
        "Conflict (2026).md",
        "On (the conflict) of laws.md",
        "The conflict 2014.md",
        "Conflicted/Note.md",
        "Note )conflict).md",
        "Note (draft).md",
        "",
    ],
)
def test_other_names_are_their_own(path: str) -> None:
    assert original_of(path) == (path.lower(), 0)


def test_copies_of_copies_and_in_copied_folders_are_counted() -> None:
    assert original_of("Trip (2024) (conflict).md") == ("trip (2024).md", 1)
    assert original_of("Note (conflict) (Ann's conflicted copy 2026-01-02).md") == ("note.md", 2)
    assert original_of("Note.sync-conflict-20260102-030405-A.sync-conflict-20260103-030405-B.md") == ("note.md", 2)
    assert original_of("Diary (conflicted copy)/May (conflict)/1 (conflict).md") == ("diary/may/1.md", 3)
    assert original_of("Board (conflict).canvas") == ("board.canvas", 1)
    assert original_of("Map.excalidraw (conflict).md") == ("map.excalidraw.md", 1)


def test_originals_come_before_their_copies_and_else_the_order_stays() -> None:
    paths = ["z.md", "a (conflict) (conflict).md", "a (conflict).md", "b.md", "a.md"]
    assert originals_first(paths) == ["z.md", "b.md", "a.md", "a (conflict).md", "a (conflict) (conflict).md"]


def test_a_name_made_to_be_slow_is_not() -> None:
    started = time.process_time()
    for part in ("(", "(conflict", "_conflict-2026-01-02", " 1", "_a_jan-01-0000-2026_", "conflict)"):
        original_of(part * 5_000 + "conflict.md")
    assert time.process_time() - started < 3
