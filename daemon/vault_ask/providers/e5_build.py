"""Builds, once, what the embedded model runs from: an int8 ONNX encoder and a SentencePiece model.

Run as `python -m vault_ask.providers.e5_build OUT`, in a process of its own: the build peaks near 830 MB, which a
daemon would keep. The result is byte-identical when built again with the same library versions. OUT appears whole or
not at all, so two builds at once do not harm each other.
"""

import shutil
import sys
import tempfile
import time
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from sentencepiece import sentencepiece_model_pb2

from vault_ask.errors import ModelRefused
from vault_ask.providers.e5_files import ENCODER, TOKENIZER, checksum, is_whole, write_manifest
from vault_ask.providers.e5_weights import FILE_SHA256, E5Vocabulary, E5Weights, Floats, find_weights

# Gelu came with opset 20; IR 9 is read by every onnxruntime our dependencies allow.
_OPSET, _IR = 20, 9
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_UNIGRAM = 1
_STALE_SECONDS = 3600

# One inner channel of the feed-forward block of each of these layers (layer, channel) is far louder than the rest, up
# to 67 against 5, and would take most of the 256 steps that int8 has for a whole matrix. It stays float32, which costs
# nothing measurable: over 20 passages of 250 tokens in eight languages the cosine to float32 is .9994 with this and
# .9956 without. The quiet layers have no entry.
_LOUD = {0: 318, 1: 1462, 2: 354, 3: 408, 4: 778, 5: 658, 6: 1152, 7: 413, 8: 563}

# A matrix (inputs, outputs) and its bias (outputs,).
Linear = tuple[Floats, Floats]


def build(out: Path) -> None:
    """Build into a folder beside `out`, then rename it there. Raises ModelRefused, OSError."""
    weights_file = find_weights()
    if checksum(weights_file) != FILE_SHA256:
        raise ModelRefused(f"{weights_file} is damaged, so the model was not built. Install its package again.")
    out.parent.mkdir(parents=True, exist_ok=True)
    _sweep(out)
    partial = Path(tempfile.mkdtemp(prefix=f"{out.name}.partial-", dir=out.parent))
    try:
        weights = E5Weights(weights_file)
        _write_tokenizer(weights.vocabulary(), partial / TOKENIZER)
        _write_encoder(weights, partial)
        write_manifest(partial)
        _put_in_place(partial, out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _sweep(out: Path) -> None:
    """Remove what builds that were killed left behind; a young folder may belong to a build that is running."""
    for left in out.parent.glob(f"{out.name}.partial-*"):
        if time.time() - left.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


def _put_in_place(partial: Path, out: Path) -> None:
    if out.exists() and not is_whole(out):
        out.rename(partial / "damaged")
    try:
        partial.rename(out)
    except OSError:
        # A folder with files in it is never replaced by a rename: another build was first, and its result is ours.
        if not is_whole(out):
            raise
    shutil.rmtree(out / "damaged", ignore_errors=True)


def _write_tokenizer(vocabulary: E5Vocabulary, file: Path) -> None:
    """Write a SentencePiece model whose ids are the places in the vocabulary.

    It normalises nothing: the weights file holds the translation of characters as a table, which str.translate does.
    """
    model = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]  # its classes are made at import
    pieces, special = vocabulary.pieces, vocabulary.special
    # The last piece is <mask>, which a text must not be able to spell either.
    control = {special.bos, special.eos, special.pad, len(pieces) - 1}
    for place, piece in enumerate(pieces):
        kind = _CONTROL if place in control else _UNKNOWN if place == special.unk else _NORMAL
        model.pieces.add(piece=piece, score=float(vocabulary.scores[place]), type=kind)
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type, trainer.vocab_size = _UNIGRAM, len(pieces)
    trainer.bos_id, trainer.eos_id, trainer.pad_id, trainer.unk_id = astuple(special)
    trainer.bos_piece, trainer.eos_piece = pieces[special.bos], pieces[special.eos]
    trainer.pad_piece, trainer.unk_piece = pieces[special.pad], pieces[special.unk]
    normalizer.name = "identity"
    normalizer.add_dummy_prefix = normalizer.remove_extra_whitespaces = normalizer.escape_whitespaces = True
    file.write_bytes(model.SerializeToString(deterministic=True))


def _write_encoder(weights: E5Weights, folder: Path) -> None:
    whole = folder / "float32.onnx"
    encoder = _Encoder(weights)
    onnx.save(encoder.model(), whole)
    # The whole range of int8, though a processor without VNNI may saturate on it: on an emulated Haswell the cosine to
    # float32 was .9984 to .9990 over four texts, with reduce_range .9985 to .9990.
    quantize_dynamic(
        whole,
        folder / ENCODER,
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul"],
        nodes_to_exclude=encoder.kept_whole,
        extra_options={"MatMulConstBOnly": True},
    )
    whole.unlink()


class _Encoder:
    """The graph of the transformer over one sequence, without padding: (tokens, hidden) in, the mean (hidden,) out.

    Matrices lie (inputs, outputs). The three of attention are one, which takes one pass over the state, not three.
    """

    def __init__(self, weights: E5Weights) -> None:
        self._weights = weights
        self._shape = weights.shape
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}
        self.kept_whole: list[str] = []

    def model(self) -> onnx.ModelProto:
        heads, hidden = self._shape.heads, self._shape.hidden
        self._constant("split", np.array([0, heads, hidden // heads], np.int64))
        self._constant("join", np.array([0, hidden], np.int64))
        self._constant("tokens", np.array([0], np.int64))
        self._constant("scale", np.array((hidden // heads) ** -0.5, np.float32))
        state = self._norm("rows", "emb.ln")
        for layer in range(self._shape.layers):
            state = self._layer(layer, state)
        self._node("ReduceMean", [state, "tokens"], "mean", keepdims=0)
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["n", hidden])],
            [helper.make_tensor_value_info("mean", TensorProto.FLOAT, [hidden])],
            list(self._constants.values()),
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)

    def _layer(self, layer: int, state: str) -> str:
        name = f"l{layer}"
        mixed = self._linear(f"{name}.ao", self._attention(name, state), *self._weight(f"{name}.ao"))
        state = self._norm(self._node("Add", [mixed, state], f"{name}.mixed"), f"{name}.aln")
        fed = self._feed_forward(name, state, _LOUD.get(layer))
        return self._norm(self._node("Add", [fed, state], f"{name}.fed"), f"{name}.oln")

    def _attention(self, name: str, state: str) -> str:
        parts = [self._weight(f"{name}.{part}") for part in "qkv"]
        matrix = np.concatenate([part[0] for part in parts], axis=1)
        every = self._linear(f"{name}.qkv", state, matrix, np.concatenate([part[1] for part in parts]))
        query, key, value = (f"{name}.{part}" for part in "qkv")
        self._nodes.append(helper.make_node("Split", [every], [query, key, value], axis=-1, num_outputs=3))
        turned = self._heads(query, [1, 0, 2]), self._heads(key, [1, 2, 0])
        likeness = self._node("Mul", [self._node("MatMul", [*turned], f"{name}.qk"), "scale"], f"{name}.scaled")
        weight = self._node("Softmax", [likeness], f"{name}.weight", axis=-1)
        seen = self._node("MatMul", [weight, self._heads(value, [1, 0, 2])], f"{name}.seen")
        return self._node("Reshape", [self._transpose(seen, [1, 0, 2]), "join"], f"{name}.joined")

    def _heads(self, state: str, order: list[int]) -> str:
        return self._transpose(self._node("Reshape", [state, "split"], f"{state}.split"), order)

    def _feed_forward(self, name: str, state: str, loud: int | None) -> str:
        wide, narrow = self._weight(f"{name}.fi", rows=self._shape.feed_forward), self._weight(f"{name}.fo")
        if loud is None:
            return self._expand(name, state, wide, narrow)
        channel = [loud]
        apart = (wide[0][:, channel], wide[1][channel]), (narrow[0][channel], np.zeros_like(narrow[1]))
        # Gelu(0) is 0, so a channel of zeros takes no part in the int8 matrices.
        wide[0][:, channel], wide[1][channel], narrow[0][channel] = 0, 0, 0
        self.kept_whole += [f"{name}.loud.fi.product", f"{name}.loud.fo.product"]
        return self._node(
            "Add",
            [self._expand(name, state, wide, narrow), self._expand(f"{name}.loud", state, *apart)],
            f"{name}.both",
        )

    def _expand(self, name: str, state: str, wide: Linear, narrow: Linear) -> str:
        inner = self._node("Gelu", [self._linear(f"{name}.fi", state, *wide)], f"{name}.gelu")
        return self._linear(f"{name}.fo", inner, *narrow)

    def _weight(self, name: str, *, rows: int | None = None) -> Linear:
        matrix = self._weights.matrix(f"{name}.w", rows or self._shape.hidden)
        return matrix.T.copy(), self._weights.floats(f"{name}.b").copy()

    def _linear(self, name: str, state: str, matrix: Floats, bias: Floats) -> str:
        product = self._node("MatMul", [state, self._constant(f"{name}.w", matrix)], f"{name}.product")
        return self._node("Add", [product, self._constant(f"{name}.b", bias)], f"{name}.biased")

    def _norm(self, state: str, name: str) -> str:
        parts = [self._constant(f"{name}.{part}", self._weights.floats(f"{name}.{part}")) for part in "wb"]
        return self._node("LayerNormalization", [state, *parts], name, axis=-1, epsilon=self._shape.epsilon)

    def _transpose(self, state: str, order: list[int]) -> str:
        return self._node("Transpose", [state], f"{state}.turned", perm=order)

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:  # noqa: ANN401  as in onnx
        self._nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def _constant(self, name: str, values: Floats | NDArray[np.int64]) -> str:
        self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name


def main() -> None:
    """Build into the folder named on the command line; the last line on stderr says why it failed."""
    try:
        build(Path(sys.argv[1]))
    except (ModelRefused, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
