"""How a question was read, as it travels."""

from datetime import date

from vault_ask.retrieval.hits import Understanding
from vault_ask.wire import NamedDays, Understood


def understood(read: Understanding | None) -> Understood | None:
    """Word for the wire how a question was read."""
    if read is None:
        return None
    return Understood(text=read.text, filters=read.filters, days=_named(read), order=read.order)


def _named(read: Understanding) -> NamedDays | None:
    if read.days is None:
        return None
    first, last = (date.fromordinal(day).isoformat() for day in read.days)
    return NamedDays(first=first, last=last, words=read.days_words)
