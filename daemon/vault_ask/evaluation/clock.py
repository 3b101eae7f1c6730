"""The time as if a question were asked on another day: what `last week` means should not age with the file."""

from datetime import UTC, date, datetime, time, tzinfo


class AsIfThen:
    """A clock that shows the time, or noon of the day it was turned to, in the owner's time zone."""

    def __init__(self, zone: tzinfo | None) -> None:
        self._zone = zone
        self._day: date | None = None

    def turn_to(self, day: str | None) -> None:
        """Turn to a day, `2026-08-30`; None is now."""
        self._day = date.fromisoformat(day) if day else None

    def __call__(self) -> datetime:
        """Tell the time."""
        if self._day is None:
            return datetime.now(UTC)
        then = datetime.combine(self._day, time(12))
        return then.replace(tzinfo=self._zone) if self._zone else then.astimezone()
