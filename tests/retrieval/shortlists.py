"""Hand-made candidates for whoever tests what becomes of a ranking."""

from vault_ask.index.reading.text import Passage
from vault_ask.retrieval.candidates import Candidate
from vault_ask.retrieval.fusion import Evidence
from vault_ask.retrieval.rerank import Shortlist
from vault_ask.scope import Sensitivity


def passage(
    chunk: int, body: str, *, path: str = "", headings: tuple[str, ...] = (), personal: bool = False
) -> Passage:
    path = path or f"Note {chunk}.md"
    return Passage(
        chunk=chunk,
        note=chunk,
        path=path,
        title=path.rpartition("/")[2].removesuffix(".md"),
        heading_path=headings,
        block=None,
        prelude="",
        body=body,
        line_start=1,
        line_end=1 + body.count("\n"),
        tokens=len(body.split()),
        language="en",
        sensitivity=Sensitivity.PERSONAL if personal else Sensitivity.OPEN,
    )


def candidate(chunk: int, body: str, score: float, **how: object) -> Candidate:
    """A candidate whose score has two parts."""
    parts = {"vector": score / 4, "bm25": 3 * score / 4}
    return Candidate(passage(chunk, body, **how), parts, Evidence(z=1.0, bm25=1.0, coverage=0.5), 0.1, "both")


def shortlist(*bodies: str, personal: bool = False) -> Shortlist:
    return Shortlist(tuple(passage(at, body, personal=personal) for at, body in enumerate(bodies, start=1)))
