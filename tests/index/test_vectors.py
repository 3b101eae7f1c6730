"""The vectors in the index file: means, centring, compaction, and what a reader sees of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from vault_ask.index import vectors
from vault_ask.index.embedding import EmbeddingSpace, Priors, Vector
from vault_ask.index.reading.vectors import MOST_NEAR
from vault_ask.index.statistics import ANISOTROPY, EVERYTHING, SHRINKAGE, Mean, estimate, make_centring, unit
from vault_building import OPEN, PRIVATE, Building, faults, made_by_hand, placed

WIDTH = 8
SPACE = EmbeddingSpace(model="by hand", dimension=WIDTH)


def spread_around(centre: Sequence[float], count: int, *, seed: int, noise: float = 0.3) -> list[Vector]:
    """Make unit vectors that lie around one direction, as an anisotropic model's do."""
    middle = np.zeros(WIDTH, np.float32)
    middle[: len(centre)] = centre
    scattered = middle + noise * np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)
    return list(unit(scattered))


def filled(
    data: Path, by_language: Mapping[str, list[Vector]], *, centring: str = "on", priors: Priors | None = None
) -> Building:
    building = Building(data)
    building.writer.use_space(SPACE, priors or Priors(), centring)
    for language, made in by_language.items():
        bodies = [f"{language} text {number}" for number in range(len(made))]
        drafts = [made_by_hand(f"{language}.md", *bodies, language=language)]
        building.writer.replace(drafts, placed(drafts, made))
    building.writer.refresh_statistics()
    return building


def stored(building: Building, path: str) -> np.ndarray:
    """Give what a search by meaning compares, which a view makes anew from the raw vectors."""
    with building.open(OPEN) as view:
        chunks = view.chunks.of(path)
        made = view.vectors.centred(chunks)
    rows = building.writer._db.execute("SELECT id, embedding FROM chunks_vec").fetchall()
    kept = {chunk: np.frombuffer(vector, "<f4") for chunk, vector in rows}
    found = np.stack([kept[chunk] for chunk in chunks])
    assert not found.any() or np.allclose(found, np.stack([made[chunk] for chunk in chunks]), atol=2e-3)
    return found


def test_each_language_is_centred_by_its_own_mean(tmp_path: Path) -> None:
    made = {"en": spread_around([1, 0], 60, seed=1), "sv": spread_around([0, 1], 60, seed=2)}
    building = filled(tmp_path, made)
    # Half of each mean is the broader one behind it: the vectors are few.
    assert np.abs(stored(building, "en.md").mean(axis=0)).max() < 0.4 < np.mean(made["en"], axis=0)[0]
    assert np.abs(stored(building, "sv.md").mean(axis=0)).max() < 0.4 < np.mean(made["sv"], axis=0)[1]
    with building.open(OPEN) as view:
        question = view.vectors.centring().centre_question(made["sv"][7], "sv")
        nearest, cosine = view.vectors.nearest(question, 1)[0]
        assert view.text.passages([nearest])[nearest].body == "sv text 7"
    assert cosine == pytest.approx(1, abs=1e-2)
    building.close()


def test_a_language_of_few_vectors_leans_on_all_of_them() -> None:
    overall = Mean(1000, np.full(WIDTH, 0.3, np.float32))
    few, many = Mean(2, np.zeros(WIDTH, np.float32)), Mean(10_000, np.zeros(WIDTH, np.float32))
    half = Mean(SHRINKAGE, np.zeros(WIDTH, np.float32))
    means = {EVERYTHING: overall, "en": many, "sv": few, "tr": half}
    passages = make_centring(means, Priors(), mode="on").passages
    assert passages["en"] == pytest.approx(np.zeros(WIDTH), abs=0.01)
    assert passages["sv"] == pytest.approx(np.full(WIDTH, 0.3), abs=0.02)
    assert passages["tr"] == pytest.approx(np.full(WIDTH, 0.15), abs=0.001)
    assert passages[EVERYTHING] == pytest.approx(overall.vector)


def test_the_means_of_the_model_stand_behind_those_of_a_small_vault() -> None:
    shipped = Priors(passages={"und": np.full(WIDTH, 0.5, np.float32), "sv": np.full(WIDTH, 0.4, np.float32)})
    means = {EVERYTHING: Mean(1, np.zeros(WIDTH, np.float32)), "sv": Mean(1, np.zeros(WIDTH, np.float32))}
    centring = make_centring(means, shipped, mode="on")
    assert centring.passages["sv"] == pytest.approx(np.full(WIDTH, 0.4), abs=0.01)
    assert centring.passages[EVERYTHING] == pytest.approx(np.full(WIDTH, 0.5), abs=0.02)


def test_questions_have_means_of_their_own_where_the_model_ships_them() -> None:
    shipped = Priors(questions={"und": np.eye(WIDTH, dtype=np.float32)[0], "sv": np.eye(WIDTH, dtype=np.float32)[1]})
    centring = make_centring({EVERYTHING: Mean(9, np.ones(WIDTH, np.float32))}, shipped, mode="on")
    question = np.ones(WIDTH, np.float32)
    assert centring.centre_question(question, "sv")[1] == pytest.approx(0)
    assert centring.centre_question(question, "tr")[0] == pytest.approx(0)


@pytest.mark.parametrize("length", [ANISOTROPY - 0.1, ANISOTROPY + 0.1])
def test_auto_centres_only_where_vectors_lie_near_one_direction(length: float) -> None:
    means = {EVERYTHING: Mean(1000, length * np.eye(WIDTH, dtype=np.float32)[0])}
    assert make_centring(means, Priors(), mode="auto").active is (length > ANISOTROPY)
    assert make_centring(means, Priors(), mode="on").active
    assert not make_centring(means, Priors(), mode="off").active


@pytest.mark.parametrize("length", [ANISOTROPY - 0.1, ANISOTROPY + 0.1])
@pytest.mark.parametrize("own", [None, 0.0, 1.0])
def test_where_the_model_ships_means_they_decide_whatever_the_vault_holds(length: float, own: float | None) -> None:
    direction = np.eye(WIDTH, dtype=np.float32)[0]
    means = {} if own is None else {EVERYTHING: Mean(100_000, own * direction)}
    shipped = Priors(passages={"und": length * direction, "sv": direction})
    decided = length > ANISOTROPY
    for mode, active in {"auto": decided, "on": True, "off": False}.items():
        centring = make_centring(means, shipped, mode=mode)
        assert (centring.active, centring.by_model) == (active, active)


def test_for_another_model_the_vault_decides_and_by_the_model_alone_nothing_is_decided() -> None:
    means = {EVERYTHING: Mean(9, np.eye(WIDTH, dtype=np.float32)[0])}
    decided = {mode: make_centring(means, Priors(), mode=mode) for mode in ("auto", "on", "off")}
    assert [centring.active for centring in decided.values()] == [True, True, False]
    undecided = {mode: make_centring({}, Priors(), mode=mode) for mode in decided}
    assert not any(centring.active for centring in undecided.values())
    for mode, by_model in {"auto": False, "on": True, "off": False}.items():
        assert decided[mode].by_model == undecided[mode].by_model == by_model


def test_without_vectors_the_means_of_the_model_stand_alone_for_every_language() -> None:
    shipped = Priors(passages={"und": np.full(WIDTH, 0.5, np.float32), "sv": np.full(WIDTH, 0.4, np.float32)})
    alone = make_centring({}, shipped, mode="auto").passages
    assert alone[EVERYTHING] == pytest.approx(shipped.passages["und"])
    assert alone["sv"] == pytest.approx(shipped.passages["sv"])
    first = make_centring({EVERYTHING: Mean(1, np.zeros(WIDTH, np.float32))}, shipped, mode="auto").passages
    assert first["sv"] == pytest.approx(alone["sv"])
    assert first[EVERYTHING] == pytest.approx(alone[EVERYTHING], abs=0.02)


def test_a_vault_of_one_note_is_centred_as_it_will_be_once_it_has_means(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.writer.use_space(SPACE, Priors(passages={"und": np.eye(WIDTH, dtype=np.float32)[0]}), "auto")
    made = spread_around([1], 1, seed=9)
    drafts = [made_by_hand("one.md", "one")]
    building.writer.replace(drafts, placed(drafts, made))
    before = stored(building, "one.md")
    assert float(before[0] @ made[0]) < 0.9
    assert building.writer.refresh_statistics()
    assert float(before[0] @ stored(building, "one.md")[0]) > 0.99
    building.close()


def test_what_was_centred_in_another_way_is_centred_anew_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    building = filled(tmp_path, {"en": spread_around([1], 20, seed=4)})
    good = stored(building, "en.md")
    building.writer._db.execute("UPDATE chunks_vec SET embedding = zeroblob(32)")
    building.writer.use_space(SPACE, Priors(), "on")
    assert not stored(building, "en.md").any()
    monkeypatch.setattr(vectors, "_RECIPE", "another")
    building.writer.use_space(SPACE, Priors(), "on")
    assert stored(building, "en.md") == pytest.approx(good, abs=1e-6)
    building.close()


def test_without_centring_vectors_only_keep_their_length() -> None:
    means = {EVERYTHING: Mean(9, np.ones(WIDTH, np.float32))}
    centring = make_centring(means, Priors(), mode="off")
    made = np.stack(spread_around([1], 3, seed=1))
    assert (centring.centre_passages(made, ["en"] * 3) == made).all()
    assert (centring.centre_question(made[0], "en") == made[0]).all()


def test_means_are_averages_by_language_over_all_batches() -> None:
    first, second = np.ones((2, WIDTH), np.float32), np.zeros((1, WIDTH), np.float32)
    means = estimate([(first, ["en", "sv"]), (second, ["en"])], WIDTH)
    assert {name: mean.count for name, mean in means.items()} == {EVERYTHING: 3, "en": 2, "sv": 1}
    assert means["en"].vector == pytest.approx(np.full(WIDTH, 0.5))
    assert means[EVERYTHING].vector == pytest.approx(np.full(WIDTH, 2 / 3))


def test_switching_centring_changes_what_is_stored_and_back_again(tmp_path: Path) -> None:
    building = filled(tmp_path, {"en": spread_around([1], 80, seed=3)}, centring="off")
    plain = stored(building, "en.md")
    building.writer.use_space(SPACE, Priors(), "on")
    assert np.abs(stored(building, "en.md") - plain).max() > 0.1
    building.writer.use_space(SPACE, Priors(), "off")
    assert stored(building, "en.md") == pytest.approx(plain, abs=1e-3)
    building.close()


def test_new_means_of_a_model_reach_what_is_stored_already(tmp_path: Path) -> None:
    made = {"en": spread_around([1], 20, seed=4)}
    shipped = Priors(passages={"und": np.eye(WIDTH, dtype=np.float32)[3]})
    fresh = filled(tmp_path / "fresh", made, priors=shipped)
    later = filled(tmp_path / "later", made)
    assert np.abs(stored(later, "en.md") - stored(fresh, "en.md")).max() > 0.1
    later.writer.use_space(SPACE, shipped, "on")
    assert stored(later, "en.md") == pytest.approx(stored(fresh, "en.md"), abs=1e-3)
    fresh.close()
    later.close()


def test_means_are_estimated_anew_when_the_vault_has_grown_or_shrunk(tmp_path: Path) -> None:
    building = filled(tmp_path, {"en": spread_around([1], 100, seed=5)})
    assert not building.writer.refresh_statistics()
    few = [made_by_hand("few.md", *(f"few {number}" for number in range(20)))]
    building.writer.replace(few, placed(few, spread_around([0, 1], 20, seed=6)))
    assert not building.writer.refresh_statistics()
    many = [made_by_hand("many.md", *(f"many {number}" for number in range(20)), language="sv")]
    building.writer.replace(many, placed(many, spread_around([0, 0, 1], 20, seed=7)))
    with building.open(OPEN) as view:
        assert "sv" not in view.vectors.centring().passages
    assert building.writer.refresh_statistics()
    with building.open(OPEN) as view:
        assert "sv" in view.vectors.centring().passages
    building.writer.delete(["en.md"])
    assert building.writer.refresh_statistics()
    assert building.writer.refresh_statistics(force=True)
    assert faults(building.writer) == []
    building.close()


def test_the_spread_of_a_question_is_that_of_its_cosines(tmp_path: Path) -> None:
    building = filled(tmp_path, {"en": spread_around([1], 200, seed=8)})
    question = unit(np.arange(WIDTH, dtype=np.float32))
    with building.open(OPEN) as view:
        cosines = [cosine for _, cosine in view.vectors.nearest(question, 200)]
        mean, deviation = view.vectors.centring().spread(question)
    assert mean == pytest.approx(np.mean(cosines), abs=1e-3)
    assert deviation == pytest.approx(np.std(cosines), abs=1e-3)
    building.close()


def test_an_index_without_vectors_has_a_centring_that_does_nothing(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({"A.md": "text"})
    assert not building.writer.refresh_statistics(force=True)
    with building.open(PRIVATE) as view:
        assert not view.vectors.centring().active
    building.close()


def test_holes_among_the_vectors_are_closed_at_leisure(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.writer.use_space(SPACE, Priors(), "off")
    made = {}
    for number in range(16):
        made[number] = spread_around([1], 250, seed=number, noise=2)
        drafts = [made_by_hand(f"{number}.md", *(f"text {number} {at}" for at in range(250)), personal=number == 0)]
        building.writer.replace(drafts, placed(drafts, made[number]))
    building.writer.delete([f"{number}.md" for number in range(16) if number % 4])
    question = made[8][123]
    with building.open(OPEN) as view:
        before = view.vectors.nearest(question, 40)
        assert _places(building) == 4_096
        building.writer.optimize()
        assert view.vectors.nearest(question, 40) == before
    with building.open(OPEN) as view:
        assert [chunk for chunk, _ in view.vectors.nearest(question, 40)] == [chunk for chunk, _ in before]
        assert len(view.vectors.nearest(question, 4_000)) == 750
    with building.open(PRIVATE) as view:
        assert len(view.vectors.nearest(question, 4_000)) == 1_000
    assert _places(building) == 1_024
    assert not vectors.compact(building.writer._db)
    assert faults(building.writer) == []
    building.close()


def _places(building: Building) -> int:
    return building.writer._db.execute("SELECT sum(size) FROM chunks_vec_chunks").fetchall()[0][0]


def test_more_neighbours_than_the_table_gives_at_a_time_are_as_many_as_it_gives(tmp_path: Path) -> None:
    building = filled(tmp_path, {"en": spread_around([1.0, 0.0], 12, seed=1)}, centring="off")
    with building.open(OPEN) as view:
        question = unit(np.eye(1, WIDTH, dtype=np.float32))[0]
        assert len(view.vectors.nearest(question, MOST_NEAR + 1)) == 12
        assert len(view.vectors.nearest_besides(question, MOST_NEAR + 1, ())) == 12
    building.close()
