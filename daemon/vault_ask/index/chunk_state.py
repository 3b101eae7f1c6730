"""Where a chunk stands with the embedder."""

from enum import IntEnum


class ChunkState(IntEnum):
    """The states, as stored."""

    WAITING = 0
    EMBEDDED = 1
    PACKED = 2
    """No text to read, such as an image in base64: neither embedded nor quoted."""
    REFUSED = 3
    """The embedder would not take it: found by its words alone."""
