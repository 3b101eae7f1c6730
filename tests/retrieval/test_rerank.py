"""A reranker gives an order and nothing else; whatever goes wrong with it, the order of fusion stands and is told."""

import math
from threading import Event, active_count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from fakes import ScriptedReranker
from retrieval.shortlists import candidate
from vault_ask.errors import ModelUnreachable
from vault_ask.retrieval.candidates import Candidate
from vault_ask.retrieval.rerank import AT_ONCE, MOST_CHARACTERS, Reranked, Reranking, reordered
from vault_ask.scope import OpenScope, PrivateScope, Scope
from vault_ask.settings.retrieval import RerankSettings
from waiting import PATIENCE, wait_until

OPEN, PRIVATE = OpenScope(web_allowed=False), PrivateScope()
RANKED = [
    candidate(1, "The boat needs a sail.", 1.3),
    candidate(2, "The rent of the flat is 9200.", 0.9),
    candidate(3, "A lease.", 0.9),
    candidate(4, "The flat has two rooms.", 0.4),
]
SCORES = st.floats(min_value=-1e6, max_value=1e6)


def rerank(reranker: ScriptedReranker, *, scope: Scope = OPEN, seconds: float = PATIENCE, **settings: int) -> Reranked:
    settings = {"model": "m", "timeout_seconds": seconds, **settings}
    return Reranking(reranker, RerankSettings(**settings)).rerank("What is the rent of the flat?", RANKED, scope)


def chunks(found: Reranked) -> list[int]:
    return [one.chunk for one in found.ranked]


@pytest.mark.parametrize("scope", [OPEN, PRIVATE])
def test_the_best_come_in_the_order_of_the_reranker_and_the_others_stay_behind_them(scope: Scope) -> None:
    reranker = ScriptedReranker([0.1, -3.0, 7.5])
    found = rerank(reranker, scope=scope, candidates=3)
    assert chunks(found) == [3, 1, 2, 4]
    assert (found.notice, found.given_to) == (None, "scripted/reranker")
    assert reranker.asked == ["What is the rent of the flat?"]
    assert reranker.read == [[f"Note {at}\n\n{one.passage.body}" for at, one in enumerate(RANKED[:3], start=1)]]


def test_the_parts_still_sum_to_the_score_and_scores_fall_as_before() -> None:
    found = rerank(ScriptedReranker([0.0, 1.0, 3.0, 2.0]))
    for one in found.ranked:
        assert math.isclose(sum(one.parts.values()), one.score)
    assert [one.score for one in found.ranked] == pytest.approx([1.3, 0.9, 0.9, 0.4])
    first = found.ranked[0]
    assert (first.parts["vector"], first.parts["bm25"]) == (RANKED[2].parts["vector"], RANKED[2].parts["bm25"])
    assert first.parts["rerank"] == pytest.approx(0.4)


@given(st.lists(st.tuples(st.floats(min_value=0, max_value=10), SCORES), max_size=12))
def test_reranking_loses_nobody_and_orders_by_score(scored: list[tuple[float, float]]) -> None:
    ranked = [candidate(at, "text", score) for at, (score, _) in enumerate(scored)]
    found = reordered(ranked, [score for _, score in scored])
    assert sorted(one.chunk for one in found) == list(range(len(scored)))
    # A stable order: equal scores keep their places.
    assert [one.chunk for one in found] == sorted(range(len(scored)), key=lambda at: -scored[at][1])
    assert all(math.isclose(sum(one.parts.values()), one.score) for one in found)


def test_a_passage_is_read_with_its_title_and_headings_and_only_so_far() -> None:
    long = Candidate(
        candidate(9, "x" * 9_000, 1.0, path="Home/Rent.md", headings=("Rent", "Costs")).passage,
        {},
        RANKED[0].evidence,
        0.0,
        "both",
    )
    reranker = ScriptedReranker([1.0, 2.0])
    Reranking(reranker, RerankSettings(model="m")).rerank("?", [long, RANKED[0]], OPEN)
    assert reranker.read[0][0].startswith("Rent > Costs\n\nxxx")
    assert len(reranker.read[0][0]) == MOST_CHARACTERS


@pytest.mark.parametrize("ranked", [[], RANKED[:1]])
def test_where_there_is_no_order_to_find_nobody_is_asked(ranked: list[Candidate]) -> None:
    reranker = ScriptedReranker([1.0, 2.0])
    reranking = Reranking(reranker, RerankSettings(model="m"))
    assert reranking.rerank("?", ranked, OPEN) == Reranked(ranked)
    assert reranker.asked == []
    assert chunks(reranking.rerank("?", RANKED[:2], OPEN)) == [2, 1]


def test_a_remote_reranker_is_given_open_passages_and_in_the_private_scope_nothing_at_all() -> None:
    reranker = ScriptedReranker(name="cohere/rerank", is_local=False)
    private = rerank(reranker, scope=PRIVATE)
    assert (reranker.asked, reranker.read) == ([], [])
    assert (chunks(private), private.given_to) == ([1, 2, 3, 4], None)
    assert private.notice
    assert private.notice.startswith("Not reranked: cohere/rerank does not run on your machines")
    assert chunks(rerank(reranker, scope=OPEN))[0] == 2


@pytest.mark.parametrize(
    "answer",
    [[], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, math.nan, 2.0, 3.0], [1.0, math.inf, 2.0, 3.0]],
    ids=["none", "too few", "too many", "nan", "infinite"],
)
def test_scores_that_are_no_order_leave_the_order_as_it_was(answer: list[float]) -> None:
    found = rerank(ScriptedReranker(answer))
    assert found.ranked == RANKED
    assert found.notice
    assert "did not give every passage a score" in found.notice
    assert found.given_to == "scripted/reranker"


def test_a_reranker_that_is_away_is_told_and_the_order_stays() -> None:
    found = rerank(ScriptedReranker(ModelUnreachable("Nobody answers at its address.")))
    assert (found.ranked, found.notice) == (RANKED, "Not reranked: Nobody answers at its address.")


def test_a_mistake_of_ours_costs_the_order_alone_and_the_log_tells_no_text() -> None:
    with capture_logs() as logs:
        found = rerank(ScriptedReranker(RuntimeError("CANARY of a passage")))
    assert found.ranked == RANKED
    assert found.notice
    assert "unforeseen" in found.notice
    assert [(entry["event"], entry["kind"]) for entry in logs] == [("reranking failed", "RuntimeError")]
    assert "CANARY" not in f"{logs}{found}"


def test_one_that_is_late_is_not_waited_for_and_the_next_question_is_reranked_again() -> None:
    hold = Event()
    reranker = ScriptedReranker(hold)
    reranking = Reranking(reranker, RerankSettings(model="m", timeout_seconds=0.01))
    late = reranking.rerank("?", RANKED, OPEN)
    assert late.ranked == RANKED
    assert late.notice == (
        "Not reranked: scripted/reranker did not answer within 0.01 seconds. Look at its server, or raise "
        "rerank.timeout_seconds."
    )
    assert late.given_to == "scripted/reranker"
    hold.set()
    wait_until(lambda: chunks(reranking.rerank("rent of the flat", RANKED, OPEN))[0] == 2)


def test_late_calls_never_pile_up_and_whoever_comes_meanwhile_is_not_kept_waiting() -> None:
    hold = Event()
    reranker = ScriptedReranker(*[hold] * 50)
    reranking = Reranking(reranker, RerankSettings(model="m", timeout_seconds=0.01))
    before = active_count()
    found = [reranking.rerank("?", RANKED, OPEN) for _ in range(AT_ONCE + 5)]
    assert active_count() - before <= AT_ONCE
    assert len(reranker.asked) == AT_ONCE
    assert [one.given_to for one in found] == ["scripted/reranker"] * AT_ONCE + [None] * 5
    assert all(one.ranked == RANKED for one in found)
    assert "busy with earlier questions" in str(found[-1].notice)
    hold.set()
    wait_until(lambda: reranking.rerank("?", RANKED, OPEN).notice is None)
