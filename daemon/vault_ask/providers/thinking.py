"""Takes what a model thinks aloud, `<think>...</think>` at the start of its reply, out of a stream split anywhere."""

import re

_NAMES = ("think", "thinking", "reasoning")
_OPEN = re.compile(rf"\s*<({'|'.join(_NAMES)})>", re.IGNORECASE)


class ThoughtFilter:
    """Feed it pieces; it gives back what is the reply."""

    def __init__(self) -> None:
        self._held: str | None = ""
        self._closing = ""
        self._thought = False

    def feed(self, piece: str) -> str:
        """Take the next piece and give what of the reply is now known; it may be empty."""
        if self._held is None:
            return piece
        self._held += piece
        while opened := self._skip_thought() and _OPEN.match(self._held):
            self._closing, self._thought = f"</{opened[1].casefold()}>", True
            self._held = self._held[opened.end() :]
        return "" if self._closing or self._may_open(self._held) else self._release()

    def close(self) -> str:
        """Give what was held; the rest of a thought that never ended is no reply."""
        return "" if self._closing or self._held is None else self._release()

    def _skip_thought(self) -> bool:
        """Drop what is known to be a thought; True when none is open any more."""
        held = self._held or ""
        if not self._closing:
            return True
        end = held.casefold().find(self._closing)
        if end < 0:
            # Only its tail can still matter: keep no whole train of thought.
            self._held = held[-len(self._closing) :]
            return False
        self._held, self._closing = held[end + len(self._closing) :], ""
        return True

    @staticmethod
    def _may_open(held: str) -> bool:
        start = held.lstrip().casefold()
        return any(f"<{name}>".startswith(start) for name in _NAMES)

    def _release(self) -> str:
        reply, self._held = self._held or "", None
        return reply.lstrip() if self._thought else reply
