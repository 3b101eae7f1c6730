import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.answering.sentences import LONGEST, sentences


def texts(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One here. Two there! Three? Four", ["One here.", "Two there!", "Three?", "Four"]),
        ("Dr. Smith met J. Doe at 5 p.m. on Monday.", ["Dr. Smith met J. Doe at 5 p.m. on Monday."]),
        ("It cost 3.50 kr. in v1.2 of it.", ["It cost 3.50 kr. in v1.2 of it."]),
        ('He said "Go!" and left. "Stay." She did.', ['He said "Go!" and left.', '"Stay."', "She did."]),
        ("Am 3. Mai kam er z.B. nicht. Er blieb.", ["Am 3. Mai kam er z.B. nicht.", "Er blieb."]),
        ("Det är bl.a. så. Nästa.", ["Det är bl.a. så.", "Nästa."]),
        ("Bu 19. yüzyılda oldu. 19. Madde bitti.", ["Bu 19. yüzyılda oldu.", "19. Madde bitti."]),
        ("Родился в 1828 г. в Туле. Умер в 1910.", ["Родился в 1828 г. в Туле.", "Умер в 1910."]),
        ("Lejár 2026. 05. 09. napján. Kész.", ["Lejár 2026. 05. 09. napján.", "Kész."]),
        ("It began in 2019. 12 people came.", ["It began in 2019.", "12 people came."]),
        ("1.200 EUR incl. VAT. It is fixed.", ["1.200 EUR incl. VAT.", "It is fixed."]),
        ("Von Dr. med. Anna Lind. Sie kam.", ["Von Dr. med. Anna Lind.", "Sie kam."]),
        ("Vad tog de med. Allt.", ["Vad tog de med.", "Allt."]),
        ("Frutas, p. ej. Peras. Nada.", ["Frutas, p. ej. Peras.", "Nada."]),
        ("Gör det ej. Aldrig.", ["Gör det ej.", "Aldrig."]),
        ("Etwa ca. Mitte Mai, bzw. Juni. Gut.", ["Etwa ca. Mitte Mai, bzw. Juni.", "Gut."]),
        ("Rum för max. 20 personer. That is the max. Go.", ["Rum för max. 20 personer.", "That is the max.", "Go."]),
        ("这是一句。第二句！“第三句？”末", ["这是一句。", "第二句！", "“第三句？”", "末"]),
        ("هل هذا سؤال؟ نعم. انتهى", ["هل هذا سؤال؟", "نعم.", "انتهى"]),
        ("यह एक है। दूसरा है।", ["यह एक है।", "दूसरा है।"]),
    ],
)
def test_sentences_end_where_their_language_ends_them(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Head\n\nText.\n\n---\n\nMore\n====\n", ["Text.", "More"]),
        ("- one\n- [x] two ^b1\n1. three\n   goes on", ["one", "[x] two", "three\n   goes on"]),
        ("- [x]\n- [ ] \n- [/] left", ["[/] left"]),
        ("> [!note] Title\n> Body text.", ["Title", "Body text."]),
        ("| a | b |\n|---|:-:|\n| x | 12 |\n| y | 13 |", ["| x | 12 |", "| y | 13 |"]),
        ("**Ann:** hi. Bye\n**Bo:** yo", ["**Ann:** hi.", "Bye", "**Bo:** yo"]),
        ("```sh\n# run\nls -la\n```\nAfter.", ["# run", "ls -la", "After."]),
        ("%% hidden %%\n<!-- too -->\nSeen.", ["Seen."]),
        ("- [[202309021015]]\n→ [[2024-03-14]] | [[2024-03-16|»]]\n- [[Lund]]\n[[1]] it", ["[[Lund]]", "[[1]] it"]),
        ("One.\n<br>\n> <br/> <hr />\n<details>\n\nTwo.\n\n</details>", ["One.", "Two."]),
        ("Seen. %%Hidden. Too%%\n%%\nHidden.\n\nToo. And\n%%\n%%not%% Seen as well.", ["Seen.", "Seen as well."]),
        ("Anna %%not%% pays. %% hidden", ["Anna %%not%% pays."]),
        ("See `%%this%%` here.", ["See `%%this%%` here."]),
        (
            "This line was wrapped by hand after about sixty characters\n%% hidden %%\nso far. On.",
            ["This line was wrapped by hand after about sixty characters", "so far.", "On."],
        ),
        ("Short line\nAnother short line", ["Short line", "Another short line"]),
        (
            "This line was wrapped by hand after about sixty characters,\nso its sentence ends here. Next.",
            ["This line was wrapped by hand after about sixty characters,\nso its sentence ends here.", "Next."],
        ),
        ("", []),
        ("***\n\n...\n", []),
    ],
)
def test_the_marks_of_markdown_are_no_part_of_a_sentence(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_an_over_long_sentence_is_cut_at_a_clause_or_a_word() -> None:
    text = ("a clause of some words, " * 60).strip()
    pieces = texts(text)
    assert all(len(piece) <= LONGEST for piece in pieces)
    assert all(piece.endswith(",") for piece in pieces)
    assert " ".join(pieces) == text


def test_a_line_of_a_megabyte_takes_no_time_to_speak_of() -> None:
    started = time.perf_counter()
    assert len(sentences("word " * 200_000)) > 2000
    assert len(sentences("a short line\n" * 50_000)) > 100
    assert time.perf_counter() - started < 5


@given(st.text(alphabet=st.sampled_from(list('ab A1.!?。؟\n>-|`#*[] ^:"')), max_size=200))
def test_sentences_are_in_order_apart_and_never_blank(text: str) -> None:
    spans = sentences(text)
    assert all(span.of(text).strip() == span.of(text) != "" for span in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))
