"""Naming a note: every spelling that means one, and nothing that does not."""

import pytest

from answering.passages import hit
from vault_ask.answering.mentions import unmet_mentions

GARDEN = hit("Garden.md", "open beds")
BOARD = hit("Plans/Board.canvas", "open cards")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Sum up [[Private/Log]] now", "Private/Log"),
        ("[[Private/Log|the log]] and ![[Log#^b1]]", "Private/Log"),
        ("a table's [[Log\\|the log]]", "Log"),
        ("[[\nDivorce]]", "Divorce"),
        ("see [x](Private/Divorce%20(2024).md)", "Private/Divorce (2024)"),
        ("see [Diag](Private/Diagnosis)", "Private/Diagnosis"),
        ("see ![scan](<Private/scan.png>)", "Private/scan.png"),
        ("obsidian://open?vault=v&file=Private%2FLog", "Private/Log"),
        ("obsidian://open?path=%2Fhome%2Fme%2FLog", "/home/me/Log"),
        ("obsidian://advanced-uri?a=1&b=2&c=3&d=4&filepath=Private/Log", "Private/Log"),
        ("obsidian://vault/V/Private/Diagnosis", "V/Private/Diagnosis"),
        ("(OBSIDIAN://open?file=Log).", "Log"),
        ("Read Private/Diagnosis (2024).md please", "Private/Diagnosis (2024)"),
        ("Read Private/Diagnosis [old].md please", "Private/Diagnosis [old]"),
        ("what is in Private/Therapy.canvas", "Private/Therapy.canvas"),
        ("what is in Private/scan HIV.pdf", "Private/scan HIV.pdf"),
        ("Private/Diagnosis.mdには何がある", "Private/Diagnosis"),
        ("打开Diagnosis.md文件", "打开Diagnosis"),
        ("what about bees in Salary talk.md?", "Salary talk"),
        ("say what health.MD says", "health"),
        ('the file "Own log.md" says', "Own log"),
        ("what of Private/Finance/Garden.md", "Private/Finance/Garden"),
        ("obsidian://open?vault=v&file=Private%2FFinance%2FGarden", "Private/Finance/Garden"),
        ("[[Finance/Garden]]", "Finance/Garden"),
        ("read <Own/Session log.md> now", "Own/Session log"),
        ("read `Own/Session log.md` now", "Own/Session log"),
        ('"so" says Own/Session log.md', "Own/Session log"),
    ],
)
def test_a_note_that_is_named_and_gave_nothing_is_told(text: str, shown: str) -> None:
    assert unmet_mentions(text, None, [GARDEN, BOARD])[0] == shown


@pytest.mark.parametrize(
    "text",
    [
        "What does [[Garden]] say?",
        "What does [[GARDEN#Beds|it]] say?",
        "What does my old Garden.md say?",
        "see [it](Garden.md#beds) and obsidian://open?vault=v&file=Garden",
        "what is on Board.canvas, on [[Plans/Board.canvas]] and Plans/Board.canvas?",
        "see https://example.org/readme.md and [site](https://example.org/a.md)",
        "write to [me](mailto:a@b.example), a.mdx, x.md5 or x.md-file",
        "what is 3/4 of .md",
        "[a](#part) [b]() [[]] [[#Part]]",
    ],
)
def test_a_note_that_was_met_and_what_names_none_is_not(text: str) -> None:
    assert unmet_mentions(text, None, [GARDEN, BOARD]) == ()


def test_the_current_note_counts_as_named() -> None:
    assert unmet_mentions("explain this", "Private/Log.md", [GARDEN]) == ("Private/Log.md",)
    assert unmet_mentions("explain this", "Garden.md", [GARDEN]) == ()
    assert unmet_mentions("explain this", "Private/Garden.md", [GARDEN]) == ("Private/Garden.md",)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see [[Session log.md]]", ("Session log",)),
        ("see [[Session log.md|it]] and [[session log]]", ("Session log",)),
        ("see [x](Own/Session%20log.md)", ("Own/Session log",)),
        ("see [x](<Own/Session log.md>)", ("Own/Session log",)),
        ("obsidian://open?vault=v&file=Own%2FSession%20log.md", ("Own/Session log",)),
        ("obsidian://open?vault=v&file=Own%2FSession%20log", ("Own/Session log",)),
        ("[x](obsidian://open?vault=v&file=Own%2FSession%20log.md)", ("Own/Session log",)),
        ("see [[Log.md]] and Talks/Other.md", ("Log", "Talks/Other")),
        ("see [Log.md](#part) and [[#Part]]", ("Log",)),
    ],
)
def test_one_mention_is_told_once_however_it_is_written(text: str, shown: tuple[str, ...]) -> None:
    assert unmet_mentions(text, None, [GARDEN, BOARD]) == shown


def test_the_current_note_that_is_named_as_well_is_told_once() -> None:
    assert unmet_mentions("explain [[Private/Log]]", "Private/Log.md", [GARDEN]) == ("Private/Log",)
