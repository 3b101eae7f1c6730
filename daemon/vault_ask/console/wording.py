"""How counts, places, times and texts of strangers are written."""

import re

from vault_ask.wire import Citation

SHOWN_PATHS = 20
SNIPPET = 160
# A path may hold whatever a stranger's program put there: what starts a new line, steers a terminal, turns the
# direction of writing, or is half a letter (a lone surrogate, which no encoding has).
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Write how many there are."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or f'{noun}s'}"


def place(citation: Citation) -> str:
    """Write where a citation stands."""
    heading = "".join(f" › {part}" for part in citation.heading_path)
    one = citation.line_start == citation.line_end
    lines = f"line {citation.line_start}" if one else f"lines {citation.line_start}-{citation.line_end}"
    return f"{citation.path}{heading} ({lines})"


def snippet(text: str) -> str:
    """Write the beginning of a text on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= SNIPPET else flat[: SNIPPET - 1] + "…"


def duration(seconds: float) -> str:
    """Write how long something takes."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def escaped(text: str) -> str:
    """Write what must not be printed as JSON would; in JSON these signs stand in strings only."""
    return _UNPRINTABLE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
