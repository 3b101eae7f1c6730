"""Make the mean question vector of every language for the embedded model, from public-domain questions of our own.

Reads scripts/data/questions/<language>.txt (one question a line) and writes
daemon/vault_ask/providers/data/e5_question_means.npz: float32 arrays of shape (384,) by ISO 639-1 code, and `und`, the
mean over the languages. Run it again when the model, the prefix or the questions change.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from vault_ask.index.embedding import Vector
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.settings import EmbeddingSettings

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = ROOT / "scripts" / "data" / "questions"
OUT = ROOT / "daemon" / "vault_ask" / "providers" / "data" / "e5_question_means.npz"


def main() -> None:
    """Embed every question and store the means; a models folder may be named to save the build."""
    with tempfile.TemporaryDirectory() as temporary:
        embedder = EmbeddedEmbedder(EmbeddingSettings(), Path(sys.argv[1] if sys.argv[1:] else temporary))
        means = {file.stem: mean_of(embedder, file) for file in sorted(QUESTIONS.glob("*.txt"))}
    means["und"] = np.mean(list(means.values()), axis=0, dtype=np.float32)
    OUT.parent.mkdir(exist_ok=True)
    np.savez(OUT, **means)
    print(f"{len(means) - 1} languages, {OUT.stat().st_size:,} bytes in {OUT.relative_to(ROOT)}")


def mean_of(embedder: EmbeddedEmbedder, file: Path) -> Vector:
    """Average the unit vectors of one language's questions."""
    questions = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    mean: Vector = np.mean([embedder.embed_query(question) for question in questions], axis=0, dtype=np.float32)
    return mean


if __name__ == "__main__":
    main()
