"""One hop along links: it finds what the question asks of a note that another one names, and nothing it may not see."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import HashEmbedder
from vault_ask.retrieval.expansion import raise_by, shared
from vault_ask.retrieval.fusion import MODEL
from vault_ask.retrieval.hits import Hit, Retrieved
from vault_ask.settings.retrieval import GraphSettings
from vault_ask.settings.vault import TopicSettings
from vault_building import OPEN, PRIVATE, Building

QUESTION = "how deep is the garden well and what pressure does its pump need"
WELL = "The garden well is 14 metres deep, see [[Grundfos]].\n"
PUMP = "It needs 0.8 bar of pressure.\n"
CROWD = {f"Crowd {n}.md": f"The garden has bed number {n}, fine soil and a kept path.\n" for n in range(60)}


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    built = Building(tmp_path, HashEmbedder(dimension=384))
    yield built
    built.close()


def ask(building: Building, question: str = QUESTION, *, scope: object = PRIVATE, **how: object) -> Retrieved:
    parts: Mapping[str, object] = how.pop("parts", {})
    with building.open(scope) as view:
        return building.retriever(parts=parts, vector_k=8, text_k=8).retrieve(view, question, **how)


def by_path(found: Retrieved) -> dict[str, Hit]:
    return {hit.path: hit for hit in found.hits}


def test_a_note_that_the_best_one_links_to_is_found_for_what_is_still_missing(building: Building) -> None:
    building.put({**CROWD, "Well.md": WELL, "Grundfos.md": PUMP})
    hits = by_path(ask(building))
    assert hits["Well.md"].via is None
    assert hits["Grundfos.md"].trace["links"] > 0


def test_a_hit_that_only_a_link_led_to_says_so_and_its_parts_add_up(building: Building) -> None:
    # No word of the question and no vector: nothing but the link speaks for it.
    building.put({**CROWD, "Well.md": WELL})
    embedder, building.embedder = building.embedder, None
    building.put({"Grundfos.md": "Null Komma acht.\n"})
    building.embedder = embedder
    hit = by_path(ask(building))["Grundfos.md"]
    assert (hit.provenance, hit.via) == ("expanded", "Well.md")
    assert math.isclose(sum(hit.trace.values()), hit.score)
    assert hit.trace["links"] > 0


def test_links_are_not_followed_where_the_owner_switched_them_off(building: Building) -> None:
    building.put({**CROWD, "Well.md": WELL, "Grundfos.md": "Null Komma acht.\n"})
    on, off = ask(building), ask(building, parts={"graph": GraphSettings(enabled=False)})
    assert "links" in by_path(on)["Grundfos.md"].trace
    assert "Well.md" in by_path(off)
    assert all("links" not in hit.trace and hit.provenance != "expanded" for hit in off.hits)


def test_a_note_that_links_to_the_best_one_is_a_hop_away_too(building: Building) -> None:
    building.put({**CROWD, "Well.md": "The garden well is 14 metres deep.\n", "Bar.md": f"{PUMP}\nFor the [[Well]].\n"})
    assert by_path(ask(building))["Bar.md"].trace["links"] > 0


def test_a_rare_tag_is_a_hop_and_a_common_one_is_not(building: Building) -> None:
    building.put({name: f"{text}\n#garden\n" for name, text in CROWD.items()})
    building.put({"Well.md": "The garden well is 14 metres deep. #garden #w7\n", "Bar.md": f"{PUMP}\n#w7 #garden\n"})
    hits = by_path(ask(building))
    assert hits["Bar.md"].trace["links"] > 0
    assert all("links" not in hit.trace for path, hit in hits.items() if path.startswith("Crowd"))


@pytest.mark.parametrize(
    "topic",
    [
        "- [[Well]]\n- [[Bar]]\n- [[Hose]]\n- [[Rain]]\n- [[Pipe]]\n",
        "Words. " * 400 + "\n<!-- begin:clippings -->\n- [[Well]]\n- [[Bar]]\n<!-- end:clippings -->\n"
        "- [[Hose]]\n- [[Rain]]\n- [[Pipe]]\n",
    ],
    ids=["a map of content", "a marked region"],
)
def test_notes_of_one_topic_are_a_hop_from_each_other(building: Building, topic: str) -> None:
    others = dict.fromkeys(("Hose.md", "Rain.md", "Pipe.md"), "Something else.\n")
    building.put({**CROWD, **others, "Well.md": "The garden well is 14 metres deep.\n", "Bar.md": PUMP, "T.md": topic})
    assert by_path(ask(building))["Bar.md"].trace["links"] > 0


def test_the_owner_says_which_notes_are_topics(building: Building) -> None:
    essay = "Words about much. " * 200 + "[[Well]] [[Bar]] [[Hose]] [[Rain]] [[Pipe]]\n"
    others = dict.fromkeys(("Hose.md", "Rain.md", "Pipe.md"), "Something else.\n")
    building.put(
        {**CROWD, **others, "Well.md": "The garden well is 14 metres deep.\n", "Bar.md": PUMP, "Topics/T.md": essay}
    )
    plain, told = ask(building), ask(building, parts={"topics": TopicSettings(paths=("topics/**",))})
    assert "links" not in by_path(plain)["Bar.md"].trace
    assert by_path(told)["Bar.md"].trace["links"] > 0


def test_a_link_to_a_hidden_note_leads_nowhere_and_tells_nothing(tmp_path: Path) -> None:
    seen = []
    for name, hidden in (("with", {"Private/Grundfos.md": PUMP}), ("without", {})):
        building = Building(tmp_path / name, HashEmbedder(dimension=384))
        building.put({**CROWD, "Well.md": WELL, **hidden})
        # How rare a word is may be of the whole vault (docs/privacy.md), so scores are not compared.
        seen.append([(hit.path, set(hit.trace), hit.via) for hit in ask(building, scope=OPEN).hits])
        if hidden:
            assert "links" in by_path(ask(building))["Private/Grundfos.md"].trace
        building.close()
    assert seen[0] == seen[1]
    assert seen[0][0][0] == "Well.md"


def test_hops_stay_within_the_filters(building: Building) -> None:
    building.put({**CROWD, "Area/Well.md": WELL, "Grundfos.md": PUMP, "Area/Pump.md": "Not that.\n"})
    assert "Grundfos.md" in by_path(ask(building))
    assert set(by_path(ask(building, f"path:Area/ {QUESTION}"))) == {"Area/Well.md", "Area/Pump.md"}


KNOWN = st.fixed_dictionaries({name: st.floats(-5, 5) for name in MODEL.hops.weights})


@given(st.lists(KNOWN, max_size=8))
def test_a_note_shares_no_more_than_one_among_its_hops(ends: list[dict[str, float]]) -> None:
    shares = shared(ends, MODEL.hops)
    assert len(shares) == len(ends)
    assert all(0 <= share <= 1 for share in shares)
    assert sum(shares) < 1 + 1e-9


@given(st.floats(1e-9, 1), st.floats(0, 1), st.floats(0, 1))
def test_the_more_is_handed_on_the_more_a_note_is_raised_and_never_lowered(
    own: float, one: float, other: float
) -> None:
    less, more = sorted((one, other))
    assert 0 <= raise_by(own, less, MODEL) <= raise_by(own, more, MODEL)
    assert raise_by(own, 0.0, MODEL) == 0
    assert raise_by(own, 0.5, MODEL.without("links")) == 0
