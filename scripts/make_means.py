"""Make the mean vectors that ship with the embedded model, from questions of our own in many languages.

Reads scripts/data/questions/<language>.txt (one question a line, MIT like the rest) and writes
daemon/vault_ask/providers/data/e5_means.npz: float32 arrays of shape (384,) named `question:<ISO 639-1 code>`, the mean
of unit vectors of questions asked, and `passage:<code>`, of the same sentences embedded as passages: a first guess of
where a language's notes lie, for vaults that hold too few to tell. `und` is the mean over the languages. Run it again
when the model, a prefix or the questions change.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vault_ask.index.embedding import Vector
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.settings.models import EmbeddingSettings

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = ROOT / "scripts" / "data" / "questions"
OUT = ROOT / "daemon" / "vault_ask" / "providers" / "data" / "e5_means.npz"


def main() -> None:
    """Embed every sentence both ways and store the means; a models folder may be named to save the build."""
    with tempfile.TemporaryDirectory() as temporary:
        embedder = EmbeddedEmbedder(EmbeddingSettings(), Path(sys.argv[1] if sys.argv[1:] else temporary))
        means: dict[str, Vector] = {}
        for file in sorted(QUESTIONS.glob("*.txt")):
            lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
            means[f"question:{file.stem}"] = mean([embedder.embed_query(line) for line in lines])
            passages = embedder.embed_passages(lines)
            means[f"passage:{file.stem}"] = mean([vector for vector in passages if isinstance(vector, np.ndarray)])
    for kind in ("question", "passage"):
        means[f"{kind}:und"] = mean([vector for name, vector in means.items() if name.startswith(f"{kind}:")])
    OUT.parent.mkdir(exist_ok=True)
    np.savez(OUT, **means)
    print(f"{len(means) // 2 - 1} languages, {OUT.stat().st_size:,} bytes in {OUT.relative_to(ROOT)}")


def mean(vectors: Sequence[Vector]) -> Vector:
    """Average vectors of shape (dimension,)."""
    average: Vector = np.mean(vectors, axis=0, dtype=np.float32)
    return average


if __name__ == "__main__":
    main()
