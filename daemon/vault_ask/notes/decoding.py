"""Bytes to text, whatever wrote them. Never fails, never asks the locale, changes nothing but line ends and NULs."""

import codecs
from dataclasses import dataclass

from charset_normalizer import from_bytes

from vault_ask.notes.model import Problem

_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LEGACY = [
    *("cp1252", "cp1254", "cp1250", "cp1251", "cp1253", "cp1255", "cp1256", "cp1257", "cp1258", "cp874"),
    *("iso8859_2", "iso8859_15", "koi8_r", "koi8_u", "mac_roman", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
]
_SAMPLE = 64 * 1024
# Statistics fail on little text: charset-normalizer reads `Smörgås` as Big5. A word or two, or a short text that is
# mostly ASCII, is Western; a short text that is mostly not (Cyrillic, Czech, Chinese) shows its own pattern.
_FEW, _ENOUGH, _MOSTLY = 4, 64, 0.35
_TURKISH = frozenset(b"\xd0\xdd\xde\xf0\xfd\xfe")  # ĞİŞğış in cp1254, ÐÝÞðýþ in cp1252
_ICELANDIC = frozenset(b"\xc1\xc9\xcd\xd3\xda\xe1\xe9\xed\xf3\xfa")  # an Icelandic text has some of ÁÉÍÓÚáéíóú
_NOT_UTF8 = Problem(
    code="not-utf8",
    message="The file is not UTF-8; its text was decoded as well as could be guessed. Save it as UTF-8.",
)
_NUL = Problem(code="nul", message="The file holds NUL characters; they were read as spaces. Remove them.")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text with LF line ends, and what was odd about its bytes."""

    text: str
    problems: tuple[Problem, ...] = ()


def decode(content: bytes) -> Decoded:
    """Decode a note's bytes: by mark, as UTF-8, else by the best guess; the text is kept verbatim otherwise."""
    text, faithful = _text(content)
    problems = () if faithful else (_NOT_UTF8,)
    if "\x00" in text:
        text = text.replace("\x00", " ")
        problems = (*problems, _NUL)
    return Decoded(text.replace("\r\n", "\n").replace("\r", "\n"), problems)


def _text(content: bytes) -> tuple[str, bool]:
    """The text, and whether it is certain that these are the characters that were written."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _marked(content.removeprefix(mark), encoding)
    content = content.removeprefix(codecs.BOM_UTF8)
    if unmarked := _unmarked_utf16(content):
        return content.decode(unmarked, "replace"), False
    try:
        return content.decode("utf-8"), True
    except UnicodeDecodeError:
        return _best_effort(content), False


def _marked(content: bytes, encoding: str) -> tuple[str, bool]:
    try:
        return content.decode(encoding), True
    except UnicodeDecodeError:
        return content.decode(encoding, "replace"), False


def _unmarked_utf16(content: bytes) -> str | None:
    """Tell UTF-16 without a mark: every second byte of mostly Latin text is NUL, and only every second."""
    sample = content[:_SAMPLE]
    nuls = sample.count(0)
    if nuls < 2 or nuls * 4 < len(sample):  # noqa: PLR2004  # a lone NUL, or fewer than a quarter, is an accident
        return None
    odd = sample[1::2].count(0)
    if odd == nuls:
        return "utf-16-le"
    return "utf-16-be" if odd == 0 else None


def _best_effort(content: bytes) -> str:
    damaged = content.decode("utf-8", "replace")
    if _is_mostly_sound(damaged):
        # A few bytes were lost, or another program added a line of its own.
        return "\n".join(map(_line, content.split(b"\n")))
    encoding = _guess(content)
    return content.decode(encoding, "replace") if encoding else damaged


def _line(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    if "�" not in text or _is_mostly_sound(text):
        return text
    return content.decode(_western(bytes(byte for byte in content if byte > 0x7F)), "replace")  # noqa: PLR2004  # as below


def _is_mostly_sound(text: str) -> bool:
    """Tell whether most of what is not ASCII was good UTF-8."""
    lost = text.count("�")
    return lost < sum(char > "\x7f" for char in text) - lost


def _guess(content: bytes) -> str | None:
    high = bytes(byte for byte in content[:_SAMPLE] if byte > 0x7F)  # noqa: PLR2004  # ASCII ends here
    if len(high) < _FEW or (len(high) < _ENOUGH and len(high) < _MOSTLY * min(len(content), _SAMPLE)):
        return _western(high)
    best = from_bytes(content[:_SAMPLE], cp_isolation=_LEGACY).best()
    return best.encoding if best else _western(high)


def _western(high: bytes) -> str:
    """Windows-1252 holds nearly every short Western text; a few bytes are Turkish unless Icelandic stands beside."""
    seen = set(high)
    return "cp1254" if seen & _TURKISH and not seen & _ICELANDIC else "cp1252"
