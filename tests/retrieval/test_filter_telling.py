"""What is told about filters: slips that were read as words, and filters that nothing in sight fits."""

from collections.abc import Iterator

import pytest

from vault_ask.retrieval.filter_telling import MOST_TOLD, slips, unmet, without_mistyped
from vault_ask.retrieval.filters import read_filters
from vault_building import OPEN, PRIVATE, Building


@pytest.mark.parametrize(
    ("question", "written", "why"),
    [
        ("rent tga:#flat", "tga:#flat", "there is no “tga:”, but there is “tag:”"),
        ("rent -tags:#flat?", "-tags:#flat", "there is no “tags:”, but there is “tag:”"),
        ('paht:"My Folder" rent', 'paht:"My Folder"', "there is no “paht:”, but there is “path:”"),
        ("what is open? [status=open]", "[status=open]", "a property is written [status:open]"),
        ("what is open? [due date = 2026-03]", "[due date = 2026-03]", "a property is written [due date:2026-03]"),
        ("[status: open] rent", "[status: open]", "a property is written [status:open]"),
        ("rent path:", "path:", "what it looks for has to follow the colon at once"),
        ("rent tag: #flat", "tag:", "what it looks for has to follow the colon at once"),
        ("rent path:Flat", "path:Flat", "a path has a “/” in it and none in front, or quotes around it"),
        ("rent tag:#?", "tag:#", "what follows the colon is none that could be looked for"),
        ("rent section:Costs", "section:Costs", "there is no “section:” here"),
        ("tag:#home tga:#flat", "tga:#flat", "there is no “tga:”, but there is “tag:”"),
    ],
)
def test_a_filter_with_a_slip_is_told_in_one_sentence(question: str, written: str, why: str) -> None:
    assert slips(read_filters(question).rest) == [f"“{written}” was read as words and not as a filter: {why}."]


@pytest.mark.parametrize(
    "text",
    ["what is the rent?", "at 12:30", "[12:30]", "[text](https://x.example)", "[a=b](https://x.example)", "[[Note]]",
     "[note: see below]", "[Greek: lepis]", "[sic]", "https://x.example/tag:x", "C:\\path", "std::path:x", "issue:#12",
     "page:a/b",
     "path:/\\d{4}/", "task: call him", "file: see above", "arr[i=0]", "title:x", "see tag :#x"],
)  # fmt: skip
def test_plain_text_is_no_slip(text: str) -> None:
    assert slips(text) == []
    assert without_mistyped(text) == text
    assert len(slips(f"{text} tga:#x")) == 1, "beside it a slip is found"


def test_no_more_slips_are_told_than_anybody_reads() -> None:
    many = " ".join(f"tga:#x{number}" for number in range(50))
    assert len(slips(many)) == MOST_TOLD
    assert without_mistyped(f"rent {many} heat").split() == ["rent", "heat"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    building = Building(tmp_path_factory.mktemp("told"))
    building.put(
        {
            "Home/Rent.md": "---\ntags: [home]\nstatus: open\n---\nThe rent is 9200.\n",
            "Home/Heat.md": "---\ntags: [warm]\n---\nThe heating costs 300.\n",
            "Private/Loan.md": "---\ntags: [loan]\n---\nThe loan is 1.\n",
        }
    )
    yield building
    building.close()


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ("tag:#home", []),
        ("tag:#home -tag:#warm", []),
        ("tag:#hom", ["No passage in sight fits tag:#hom."]),
        ("tag:#home [status:shut] path:Nowhere/", ["No passage in sight fits [status:shut], path:Nowhere/."]),
        ("tag:#home -tag:#wram", ["No passage in sight fits tag:#wram."]),
        ("tag:#home tag:#warm", ["No passage in sight fits all of the filters together."]),
        ("tag:#hom OR tag:#warn", ["No passage in sight fits tag:#hom OR tag:#warn."]),
        ("-tag:#home -tag:#warm", ["No passage in sight fits all of the filters together."]),
        ("", []),
    ],
)
def test_filters_that_nothing_in_sight_fits_are_told(built: Building, filters: str, told: list[str]) -> None:
    with built.open(OPEN) as view:
        assert unmet(view, read_filters(filters).filters) == told


def test_what_only_a_hidden_note_has_is_told_as_what_nobody_has(built: Building) -> None:
    wanted = [read_filters(f"tag:#{tag}").filters for tag in ("loan", "nowhere")]
    with built.open(OPEN) as view:
        assert [unmet(view, each) for each in wanted] == [
            [f"No passage in sight fits tag:#{tag}."] for tag in ("loan", "nowhere")
        ]
    with built.open(PRIVATE) as view:
        assert [len(unmet(view, each)) for each in wanted] == [0, 1]
