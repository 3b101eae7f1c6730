"""Languages by BCP 47 tags (`sv`, `pt-BR`, `zh-Hant-TW`): what a model calls one, and which of some is nearest."""

import re
from collections.abc import Container

_SAME = {
    "nb": "no",
    "nn": "no",
    "iw": "he",
    "in": "id",
    "cmn": "zh",
    "yue": "zh",
    "wuu": "zh",
    "arb": "ar",
    "fas": "fa",
}
"""Codes of one language under another's: its written standards, its former code, the language it is counted to."""

_NAMES = {
    "af": "Afrikaans", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali",
    "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian",
    "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean", "la": "Latin",
    "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi",
    "ms": "Malay", "my": "Burmese", "ne": "Nepali", "nl": "Dutch", "no": "Norwegian", "pa": "Punjabi", "pl": "Polish",
    "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian",
    "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai",
    "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese",
    "zh": "Chinese",
}  # fmt: skip
"""What small models know a language by; many take a tag such as `sv` for a country or for nothing."""

_SCRIPTS = frozenset(
    ("arab", "armn", "beng", "cyrl", "deva", "geor", "grek", "guru", "hans", "hant", "hebr", "hira", "jpan", "kana",
     "kore", "latn", "mong", "mymr", "taml", "telu", "thai", "tibt")
)  # fmt: skip
"""Scripts by their codes of ISO 15924; any other four letters may as well be a word."""
_REGION = re.compile(r"[A-Za-z]{2}|[0-9]{3}")


def name_of(tag: str) -> str:
    """Name a language for a model: `Swedish (sv)`, `Portuguese (pt-BR)`, or its tag alone.

    Of the tag, language, script and region are told and no more: the rest may be words, and would stand in the rules.
    """
    name, tag = _NAMES.get(_primary(tag)), _told_of(tag)
    return f"{name} ({tag})" if name else f"the language with the BCP 47 tag {tag}"


def _told_of(tag: str) -> str:
    """Keep language, script and region of a tag, in their order and as they are written."""
    primary, *rest = tag.replace("_", "-").split("-")
    kept = [primary]
    if rest and rest[0].casefold() in _SCRIPTS:
        kept.append(rest.pop(0))
    if rest and _REGION.fullmatch(rest[0]):
        kept.append(rest[0])
    return "-".join(kept)


def nearest(tag: str, known: Container[str]) -> str | None:
    """Find the language of a tag among known ones, whatever its region and script; None where it is not known."""
    primary = _primary(tag)
    return primary if primary in known else None


def _primary(tag: str) -> str:
    primary = tag.replace("_", "-").partition("-")[0].casefold()
    return _SAME.get(primary, primary)
