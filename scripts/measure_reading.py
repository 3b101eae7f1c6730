"""Measures how long it takes to read hostile questions, at one length and at twice that, and fails where one is slow.

    python scripts/measure_reading.py --characters 100000 --limit 50

Reading is all that is done with the words of a question before the index is asked: its filters and what was mistyped as
one, its time, its tasks, and what of a conversation it leans on. Times are of the processor, in milliseconds.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from vault_ask.answering.conversation import Turn, leans, remember
from vault_ask.notes.properties import as_words
from vault_ask.notes.written_dates import numeric_dates
from vault_ask.retrieval.filter_telling import slips, without_mistyped
from vault_ask.retrieval.filters import read_filters
from vault_ask.retrieval.todo import asked_state
from vault_ask.retrieval.when import follows_in_time, load_words, may_name_time, read_when
from vault_ask.retrieval.words import is_wordless
from vault_ask.scope import OpenScope, Question

NOW = datetime(2026, 3, 16, tzinfo=UTC)
SIGNS = (
    *(
        "[",
        "]",
        "[]",
        "(",
        "()",
        '"',
        "“",
        "“”",
        ",",
        "-",
        "–",
        "1",
        "\u0301",
        "a\u0301\u0302",
        "a",
        "a ",
        "😀",
        ":",
        "=",
    ),
    *("tag:", "tag: ", "tag:#a,", "tag:#x ", "tga:#x ", "path:a/", 'path:"a ', "[a:", "[a:b ", "[a:“x”", "[[a", "[a="),
    *("tag:a OR ", "(tag:a OR ", "-tag:a ", "-(", " OR ", "[a:b OR ", "\n", " ", "\t", "\u200b", "\x00", "\\", "'s"),
    *("2026-03-08 ", "8.3.2026 ", "1/2/", "1.", "2026-", "W10", "Q1 ", "1st ", "1%", "月", "1月", "した", "上周", "ที่"),
    *("last week ", "week ", "and the week before\n", "in April ", "not ", "open ", "to do ", "في "),
)
STARTED = ("tag:a", "[a:b", 'tag:"', "path:(", "[", "-")
READERS: Mapping[str, Callable[[str], object]] = {
    "filters": read_filters,
    "slips": slips,
    "without slips": without_mistyped,
    "time, English": lambda text: read_when(text, language="en", now=NOW),
    "time, Japanese": lambda text: read_when(text, language="ja", now=NOW),
    "time that follows": follows_in_time,
    "time in any language": may_name_time,
    "dates in numbers": numeric_dates,
    "tasks": asked_state,
    "words": is_wordless,
    "words of a value": as_words,
    "leaning": leans,
    "for the web": lambda text: remember((Turn(role="user", text="x"),), OpenScope(web_allowed=True)).web_question(
        Question(text)
    ),
}


def hostile(length: int) -> Iterator[tuple[str, str]]:
    """Give texts of a length, each by what it is made of: one sign over and over, or commas and letters behind it."""
    for sign in SIGNS:
        yield repr(sign), (sign * (length // len(sign) + 1))[:length]
    for begun in STARTED:
        for sign in (",", "a", " ", "“”"):
            yield f"{begun!r} + {sign!r}", begun + (sign * length)[:length] + "x"


def milliseconds(read: Callable[[str], object], text: str) -> float:
    """Measure one reading."""
    started = time.process_time()
    read(text)
    return (time.process_time() - started) * 1_000


def main() -> int:
    """Print what is slow; 1 where something is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, default=100_000)
    parser.add_argument("--limit", type=float, default=50.0, help="milliseconds that a reading may take")
    asked = parser.parse_args()
    load_words()
    leans("x")
    slow, worst = 0, 0.0
    for name, read in READERS.items():
        for (made_of, text), (_, twice) in zip(hostile(asked.characters), hostile(2 * asked.characters), strict=True):
            once = milliseconds(read, text)
            worst = max(worst, once)
            if once > asked.limit:
                slow += 1
                print(f"{name:22} {made_of:24} {once:8.0f} ms, twice as long {milliseconds(read, twice):8.0f} ms")
    print(
        f"The slowest reading of {asked.characters} characters took {worst:.0f} ms; {slow} took over {asked.limit:.0f}."
    )
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
