import os
import subprocess
import sys

import pytest

from vault_ask.notes.decoding import decode


def codes(content: bytes) -> list[str]:
    return [problem.code for problem in decode(content).problems]


def test_a_latin_1_note_is_readable_and_said_to_be_not_utf8() -> None:
    decoded = decode(bytes.fromhex("2320536df67267e5730a68616c6c6f6e"))
    assert decoded.text == "# Smörgås\nhallon"
    assert [problem.code for problem in decoded.problems] == ["not-utf8"]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Çok güzel bir gün, yağmur yağıyor. Şimdi İstanbul'dayım.", "cp1254"),
        ("ürün", "cp1254"),
        ("“quoted” – dash café", "cp1252"),
        ("Ég er íslensk þjóð", "cp1252"),
        ("Привет, как дела? Это заметка о саде.", "cp1251"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy", "cp1250"),
        ("日本語のメモです。来月の家賃交渉", "shift_jis"),
    ],
)
def test_a_text_of_an_old_code_page_comes_out_as_it_was_written(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-8"])
def test_a_mark_tells_the_encoding_and_is_no_part_of_the_text(encoding: str) -> None:
    decoded = decode("kantarell åäö 家\n".encode(encoding))
    assert (decoded.text, decoded.problems) == ("kantarell åäö 家\n", ())


def test_big_endian_marks_are_known() -> None:
    assert decode(b"\xfe\xff" + "hej".encode("utf-16-be")).text == "hej"
    assert decode(b"\x00\x00\xfe\xff" + "hej".encode("utf-32-be")).text == "hej"


def test_utf16_without_a_mark_is_not_read_as_letters_split_by_nuls() -> None:
    assert decode("kantarell åäö".encode("utf-16-le")).text == "kantarell åäö"
    assert decode("kantarell åäö".encode("utf-16-be")).text == "kantarell åäö"


def test_text_after_a_nul_is_kept() -> None:
    content = bytes.fromhex("6162006364206b7275736261720a")
    assert decode(content).text == "ab cd krusbar\n"
    assert codes(content) == ["nul"]


def test_a_utf8_note_with_one_lost_byte_keeps_all_its_other_letters() -> None:
    decoded = decode("björnbär ".encode() + b"\xff" + " åäö".encode())
    assert decoded.text == "björnbär � åäö"
    assert [problem.code for problem in decoded.problems] == ["not-utf8"]


def test_a_line_that_an_old_program_added_to_a_utf8_note_is_readable_too() -> None:
    note = decode("# Räksmörgås på åtta sätt\r\n".encode() + "smörgås med bönor\n".encode("cp1252") + "Ö.\n".encode())
    assert note.text == "# Räksmörgås på åtta sätt\nsmörgås med bönor\nÖ.\n"
    assert [problem.code for problem in note.problems] == ["not-utf8"]


def test_every_line_end_becomes_lf() -> None:
    assert decode(b"a\r\nb\rc\nd").text == "a\nb\nc\nd"


def test_decomposed_letters_stay_as_they_were_written() -> None:
    assert decode("a\u0308".encode()).text == "a\u0308"


@pytest.mark.parametrize(
    "content", [b"", b"\xef\xbb\xbf", bytes(range(256)), b"\xff\xfe\x41", b"\xff" * 999, b"\0" * 9]
)
def test_any_bytes_give_a_text_without_nul(content: bytes) -> None:
    assert "\x00" not in decode(content).text


def test_the_c_locale_changes_nothing() -> None:
    code = "from vault_ask.notes.decoding import decode; print(ascii(decode(bytes.fromhex('62c3a472')).text))"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, timeout=60)
    assert done.stdout.decode("ascii").strip() == r"'b\xe4r'"
