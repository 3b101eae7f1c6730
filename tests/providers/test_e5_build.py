import json
import os
import shutil
from pathlib import Path

import pytest

from built_model import models_folder
from vault_ask.errors import ModelRefused
from vault_ask.providers import e5_build
from vault_ask.providers.e5_build import build
from vault_ask.providers.e5_files import ENCODER, MANIFEST, ensure_built, is_whole
from vault_ask.providers.e5_weights import E5Weights, find_weights


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest) -> Path:
    return ensure_built(models_folder(request.config), lambda _message: None)


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """A copy of the built folder, to be harmed."""
    return Path(shutil.copytree(built, tmp_path / built.name))


def test_the_weights_file_has_the_shape_of_e5_small() -> None:
    weights = E5Weights(find_weights())
    assert (weights.shape.hidden, weights.shape.layers, weights.shape.positions) == (384, 12, 512)
    assert len(weights.vocabulary().pieces) == 250_002
    assert weights.vocabulary().pieces[:4] == ("<s>", "<pad>", "</s>", "<unk>")


def test_rows_of_the_word_table_are_read_one_by_one_as_they_stand_in_the_whole() -> None:
    weights = E5Weights(find_weights())
    whole = weights.matrix("emb.word", weights.shape.vocabulary)
    assert (weights.word_rows([0, 250_001, 17, 17]) == whole[[0, 250_001, 17, 17]]).all()


def test_a_second_build_makes_the_same_bytes_and_leaves_nothing_else(built: Path, tmp_path: Path) -> None:
    again = ensure_built(tmp_path, lambda _message: None)
    assert (again / MANIFEST).read_bytes() == (built / MANIFEST).read_bytes()
    assert [item.name for item in tmp_path.iterdir()] == [again.name]
    assert sum(file.stat().st_size for file in again.iterdir()) < 30e6, "the float32 model of 85 MB is gone"


def test_a_whole_folder_is_used_without_building(built: Path) -> None:
    said: list[str] = []
    assert ensure_built(built.parent, said.append) == built
    assert said == []


@pytest.mark.parametrize("harm", ["cut", "changed", "missing", "no manifest", "broken manifest"])
def test_a_half_built_or_damaged_folder_is_never_used(copy: Path, harm: str) -> None:
    encoder, manifest = copy / ENCODER, copy / MANIFEST
    data = encoder.read_bytes()
    match harm:
        case "cut":
            encoder.write_bytes(data[:-1])
        case "changed":
            encoder.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        case "missing":
            encoder.unlink()
        case "no manifest":
            manifest.unlink()
        case _:
            manifest.write_text("[1, 2")
    assert not is_whole(copy)


def test_a_damaged_folder_is_replaced(copy: Path, built: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(built, damaged)
    (damaged / ENCODER).write_bytes(b"half")
    e5_build._put_in_place(copy, damaged)
    assert is_whole(damaged)
    assert sorted(item.name for item in damaged.iterdir()) == sorted(item.name for item in built.iterdir())


def test_the_later_of_two_builds_leaves_the_earlier_one_alone(copy: Path, built: Path, tmp_path: Path) -> None:
    first = Path(shutil.copytree(built, tmp_path / "first"))
    stamp = (first / ENCODER).stat().st_ino
    e5_build._put_in_place(copy, first)
    assert is_whole(first)
    assert (first / ENCODER).stat().st_ino == stamp


def test_leftovers_of_a_killed_build_are_swept_and_a_running_one_is_not(tmp_path: Path) -> None:
    old, young = tmp_path / "model.partial-old", tmp_path / "model.partial-young"
    for folder in (old, young):
        folder.mkdir()
    os.utime(old, (0, 0))
    e5_build._sweep(tmp_path / "model")
    assert [item.name for item in tmp_path.iterdir()] == [young.name]


def test_damaged_weights_are_not_built_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "weights.bin"
    bad.write_bytes(b"E5S1" + bytes(100))
    monkeypatch.setattr(e5_build, "find_weights", lambda: bad)
    with pytest.raises(ModelRefused, match="is damaged"):
        build(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_build_that_fails_says_why(tmp_path: Path) -> None:
    blocked = tmp_path / "models"
    blocked.write_text("a file where the folder should be")
    with pytest.raises(ModelRefused, match=r"could not be built: .*models.*found by words alone"):
        ensure_built(blocked, lambda _message: None)


def test_the_manifest_names_both_files(built: Path) -> None:
    assert set(json.loads((built / MANIFEST).read_text())) == {"encoder.int8.onnx", "tokenizer.model"}
