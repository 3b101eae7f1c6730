"""What narrows a search: what each filter lets through, and that it does so before the best are counted."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes import HashEmbedder
from vault_ask.index import facets
from vault_ask.index.embedding import EmbeddingSpace, Priors
from vault_ask.index.migrations import MIGRATIONS, m007_keep_what_narrows
from vault_ask.index.statistics import unit
from vault_ask.index.within import Within
from vault_ask.notes.fold import fold
from vault_ask.retrieval.filters import read_filters
from vault_building import OPEN, PRIVATE, Building, faults, made_by_hand, placed

NOTES = {
    "T.md": "Real: #Work/Urgent #åter/möte [[Real]]\n",
    "U.md": "#workshop only\n",
    "V.md": "---\ntags: [work]\nstatus: open\ndue: 2026-03-01\nauthor: '[[People/Mira Holt|Mira]]'\nrating: 4\n"
    "empty:\n---\nv\n",
    "Area/x.md": "---\nStatus: [Closed, urgent]\nrating: 4.5\nDue date: 2026-03-01 10:00\ndone: true\n---\nx\n",
    "Big Area/2026-07-01.md": "---\nstatus: reopened\nrating: ten\nsaid: in progress, mostly\n---\nz\n",
    "Übung/İz.md": "---\nÖrt: Åre\n作者: 村上春樹\n---\ny\n",
    "Unclosed.md": "---\nstatus: open\ntags: [work]\n\n# A heading, so this is text\n",
    "H1.md": "---\nstate: On hold, for now\n---\nh\n",
    "H2.md": "---\nstate: [x, on-hold]\n---\nh\n",
    "H3.md": "---\nstate: on_hold\n---\nh\n",
    "H4.md": "---\nstate: onHold\n---\nh\n",
    "H5.md": "---\nstate: phase-2\n---\nh\n",
    "H6.md": "---\nstate: [phase-2-3, 2026-03-01, v1-2]\n---\nh\n",
    "H7.md": "---\nstate: owed -5\n---\nh\n",
    "H8.md": "---\nstate: 5\n---\nh\n",
    "H9.md": "---\nstate: -5\n---\nh\n",
    "Private/Diary.md": "---\ntags: [work]\nstatus: open\n---\nsecret\n- [ ] hide\n",
    "Tasks/list.md": "- [ ] Call the landlord\n- [x] pay rent\n\n```\n- [ ] code\n```\n",
    "Tasks/quote.md": "> 1. [/] half done\n>    - [-] given up\n",
    "Tasks/done.md": "+ [X] all paid\n",
}
FITS = {
    "tag:work": {"T.md", "V.md"},
    "tag:#WORK/urgent": {"T.md"},
    "tag:åter": {"T.md"},
    "tag:a\u030ater": {"T.md"},
    "tag:wor": set(),
    "-tag:work path:Tasks/": {"Tasks/list.md", "Tasks/quote.md", "Tasks/done.md"},
    "path:Area/": {"Area/x.md"},
    'path:"big area/2026-07"': {"Big Area/2026-07-01.md"},
    "path:übung/": {"Übung/İz.md"},
    'path:"Tasks/list.md"': {"Tasks/list.md"},
    'path:"100%_"': set(),
    "file:2026-07": {"Big Area/2026-07-01.md"},
    "file:LIST.md": {"Tasks/list.md"},
    "file:tasks": set(),
    "file:md": set(),
    "file:İz": {"Übung/İz.md"},
    "[status:open]": {"V.md"},
    "[STATUS:Open]": {"V.md"},
    "[status:urgent]": {"Area/x.md"},
    "[status:open OR closed]": {"V.md", "Area/x.md"},
    '["status"]': {"V.md", "Area/x.md", "Big Area/2026-07-01.md"},
    "[empty:null]": {"V.md"},
    "[status:null]": set(),
    "[rating:4]": {"V.md"},
    "[rating:4.0]": {"V.md"},
    "[rating:>4]": {"Area/x.md"},
    "[rating:<=4.5]": {"V.md", "Area/x.md"},
    "[due:2026-03-01]": {"V.md"},
    "[due:2026-03]": {"V.md"},
    "[due:2026]": {"V.md"},
    '["due date":2026-03-01]': {"Area/x.md"},
    '["due date":>=2026-03]': {"Area/x.md"},
    "[due:>2026-03-01]": set(),
    "[due:<2026-04]": {"V.md"},
    "[due:<5]": set(),
    "[author:[[Mira Holt]]]": {"V.md"},
    "[author:[[People/Mira Holt]]]": {"V.md"},
    "[author:mira]": {"V.md"},
    "[said:in progress]": {"Big Area/2026-07-01.md"},
    "[done:true]": {"Area/x.md"},
    "[ört:åre]": {"Übung/İz.md"},
    "[作者:村上]": {"Übung/İz.md"},
    "task-todo:": {"Tasks/list.md", "Tasks/quote.md"},
    "task-todo:land": {"Tasks/list.md"},
    "task-todo:rent": set(),
    "task-todo:code": set(),
    "task-done:": {"Tasks/list.md", "Tasks/done.md"},
    'task:"given up"': {"Tasks/quote.md"},
    "-task-todo: path:Tasks/": {"Tasks/done.md"},
    **{
        f"[state:{written}]": {"H1.md", "H2.md", "H3.md", "H4.md"}
        for written in ("on hold", "on-hold", "On_Hold", "onHold")
    },
    "[state:hold]": {"H1.md"},
    "[state:phase 2]": {"H5.md"},
    "[state:phase_2]": {"H5.md"},
    "[state:2]": set(),
    "[state:01]": set(),
    "[state:owed 5]": set(),
    "[state:owed -5]": {"H7.md"},
    "[state:5]": {"H8.md"},
    "[state:-5]": {"H7.md", "H9.md"},
    "[state:2026 03 01]": set(),
    "tag:work OR path:Area/": {"T.md", "V.md", "Area/x.md"},
    "tag:work -[status:open]": {"T.md"},
}


@pytest.fixture(scope="module")
def building(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    building = Building(tmp_path_factory.mktemp("within"), HashEmbedder())
    building.put(NOTES)
    yield building
    assert faults(building.writer) == []
    building.close()


def fitting(building: Building, filters: str, scope: object = OPEN) -> set[str]:
    within = Within(read_filters(filters).filters)
    assert within, filters
    with building.open(scope) as view:
        found = view.filters.holding(within, 100)
        assert len(found) == len(set(found))
        return set(view.chunks.paths_of(found).values())


@pytest.mark.parametrize("filters", FITS)
def test_a_filter_lets_these_notes_through(building: Building, filters: str) -> None:
    assert fitting(building, filters) == FITS[filters]


def test_a_personal_note_fits_for_its_owner_alone(building: Building) -> None:
    for filters in ("tag:work", "[status:open]", "task-todo:hide", 'path:"Private/"', "file:Diary"):
        assert "Private/Diary.md" not in fitting(building, filters)
        assert "Private/Diary.md" in fitting(building, filters, PRIVATE)


def test_what_a_note_says_today_is_what_counts(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder())
    building.put({"a.md": "---\nstatus: open\n---\n- [ ] call\n", "b.md": "b\n"})
    assert fitting(building, "[status:open]") == fitting(building, "task-todo:") == {"a.md"}
    building.put({"a.md": "---\nstatus: done\n---\n- [x] call\n"})
    assert fitting(building, "[status:open]") == fitting(building, "task-todo:") == set()
    assert fitting(building, "[status:done]") == fitting(building, "task-done:call") == {"a.md"}
    building.put({}, gone=["a.md"])
    assert fitting(building, '["status"] OR task:""') == set()
    left = ("SELECT 1 FROM properties", "SELECT 1 FROM tasks")
    assert all(not building.writer._db.execute(sql).fetchall() for sql in left)
    building.close()


WIDTH, FAR, NEAR = 16, 40, 1_000
POINT = np.eye(WIDTH, dtype=np.float32)[0]


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    """40 chunks that fit, and 1,000 that do not and match better in every way."""
    building = Building(tmp_path_factory.mktemp("crowded"))
    building.writer.use_space(EmbeddingSpace(model="by hand", dimension=WIDTH), Priors(), "off")
    fit = [made_by_hand(f"Area/f{number}.md", f"rent {number} filler filler filler") for number in range(FAR)]
    others = [made_by_hand(f"Else/e{number}.md", *(f"rent {at}" for at in range(10))) for number in range(NEAR // 10)]
    axes = np.eye(WIDTH, dtype=np.float32)
    near = [unit(POINT + 0.0001 * number * axes[number % (WIDTH - 1) + 1]) for number in range(NEAR)]
    far = [unit(POINT + (0.5 + 0.01 * number) * axes[number % (WIDTH - 1) + 1]) for number in range(FAR)]
    building.writer.replace([*others, *fit], {**placed(others, near), **placed(fit, far)})
    yield building
    building.close()


IN_AREA = Within(read_filters("path:Area/").filters)


def test_what_does_not_fit_never_takes_a_place_of_the_nearest(crowded: Building) -> None:
    with crowded.open(OPEN) as view:
        found = view.vectors.nearest(POINT, FAR, within=IN_AREA)
        everything = view.vectors.nearest(POINT, FAR + NEAR)
        fits = set(view.filters.fitting([chunk for chunk, _ in everything], IN_AREA))
    assert len(fits) == FAR
    assert found == [pair for pair in everything if pair[0] in fits]
    assert not fits.intersection(chunk for chunk, _ in everything[:NEAR])


def test_what_does_not_fit_never_takes_a_place_of_the_matching(crowded: Building) -> None:
    with crowded.open(OPEN) as view:
        found = view.words.matching('"und\x1frent"', FAR, within=IN_AREA)
        everything = view.words.matching('"und\x1frent"', FAR + NEAR)
        fits = set(view.filters.fitting([chunk for chunk, _ in everything], IN_AREA))
    assert len(fits) == FAR
    assert found == [pair for pair in everything if pair[0] in fits]
    assert not fits.intersection(chunk for chunk, _ in everything[: NEAR - 1])


def test_notes_and_filters_narrow_together_however_many_notes_there_are(crowded: Building) -> None:
    names = ["Area/f3.md", "Else/e4.md", *(f"no such note {number}.md" for number in range(300_000))]
    with crowded.open(OPEN) as view:
        near = view.vectors.nearest(POINT, 50, notes=names, within=IN_AREA)
        worded = view.words.matching('"und\x1frent"', 50, notes=names, within=IN_AREA)
        assert set(view.chunks.paths_of([chunk for chunk, _ in (*near, *worded)]).values()) == {"Area/f3.md"}
        assert len(view.vectors.nearest(POINT, 50, notes=names)) == 11
        assert view.vectors.nearest(POINT, 5, notes=[], within=IN_AREA) == []


def test_what_fits_comes_newest_first_and_every_note_before_a_second_passage(tmp_path: Path) -> None:
    building = Building(tmp_path)
    long = "\n\n".join(f"# Part {number}\n" + "word " * 300 for number in range(3))
    changed = {"D/old.md": date(2025, 1, 1), "D/long.md": date(2026, 3, 9), "D/dated.md": date(2019, 1, 1)}
    building.put({"D/old.md": "a", "D/long.md": long, "D/dated.md": "c"})
    for path, day in changed.items():
        seconds = (day - date(1970, 1, 1)).days * 86_400
        building.writer._db.execute("UPDATE notes SET mtime = ?, day_last = NULL WHERE path = ?", (seconds, path))
    # Its own day counts, and before any day of a change, which a sync sets anew for all files.
    dated = date(2026, 2, 1).toordinal()
    building.writer._db.execute("UPDATE notes SET day_last = ? WHERE path = 'D/dated.md'", (dated,))
    with building.open(OPEN) as view:
        within = Within(read_filters("path:D/").filters)
        first, second, _, fourth = found = view.filters.holding(within, 4)
        paths = view.chunks.paths_of(found)
        assert [paths[chunk] for chunk in found] == ["D/dated.md", "D/long.md", "D/old.md", "D/long.md"]
        assert [second, fourth] == view.chunks.of("D/long.md")[:2]
        assert view.filters.holding(within, 2) == [first, second]
    building.close()


@pytest.mark.parametrize(
    ("days", "found"),
    [
        ((date(2026, 3, 9), date(2026, 3, 9)), {"2026-03-09.md"}),
        ((date(2026, 3, 1), date(2026, 3, 31)), {"2026-03-09.md"}),
        ((date(2025, 12, 31), date(2026, 3, 9)), {"2026-03-09.md", "2025-12-31.md"}),
        ((date(2026, 3, 10), date(2026, 4, 9)), set()),
    ],
)
def test_a_passage_is_within_days_where_it_shares_one_with_them(
    tmp_path: Path, days: tuple[date, date], found: set[str]
) -> None:
    building = Building(tmp_path)
    for path, on in {
        "2026-03-09.md": date(2026, 3, 9),
        "2025-12-31.md": date(2025, 12, 31),
        "undated.md": None,
    }.items():
        building.put({path: "x"})
        day = on.toordinal() if on else None
        building.writer._db.execute(
            "UPDATE chunks SET day_first = ?, day_last = ? WHERE note = (SELECT max(id) FROM notes)", (day, day)
        )
    with building.open(OPEN) as view:
        fitting = view.filters.holding(Within(days=(days[0].toordinal(), days[1].toordinal())), 9)
        assert set(view.chunks.paths_of(fitting).values()) == found
    building.close()


def test_days_overlap_a_passage_of_several_days_from_within(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({"trip.md": "x"})
    building.writer._db.execute("UPDATE chunks SET day_first = 100, day_last = 110")
    with building.open(OPEN) as view:
        overlapping = [
            days
            for days in ((90, 99), (90, 100), (104, 105), (110, 120), (111, 120), (1, 999))
            if view.filters.has_any(Within(days=days))
        ]
    building.close()
    assert overlapping == [(90, 100), (104, 105), (110, 120), (1, 999)]


def test_a_note_with_a_task_left_in_one_passage_has_one_left_in_all_of_it(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({"plan.md": "# One\n\n" + "word " * 400 + "\n\n# Two\n\n- [ ] do it\n", "idle.md": "nothing to do\n"})
    with building.open(OPEN) as view:
        *others, last = view.chunks.of("plan.md")
        assert others
    assert fitting(building, "-task-todo:") == {"idle.md"}
    with building.open(OPEN) as view:
        assert view.filters.holding(Within(read_filters("task-todo:").filters), 9) == [last]
    building.close()


TAGS, FOLDERS, STATES = ("work", "work/urgent", "workshop", "home"), ("A", "B", "A/Sub"), ("open", "shut", "open shut")
Note = tuple[str, str, str, bool]
"""A tag, a folder, a status, and whether there is an open task."""


def _text(note: Note) -> str:
    tag, _, status, has_task = note
    return f"---\ntags: [{tag}]\nstatus: {status}\n---\nbody\n" + ("- [ ] do it\n" if has_task else "")


TESTS: dict[str, Callable[[Note], bool]] = {
    "tag:work": lambda note: note[0] == "work" or note[0].startswith("work/"),
    "tag:home": lambda note: note[0] == "home",
    'path:"A/"': lambda note: fold(note[1] + "/").startswith("a/"),
    'path:"Sub/"': lambda note: note[1] == "A/Sub",
    "[status:open]": lambda note: "open" in note[2].split(),
    '[status:"open shut"]': lambda note: note[2] == "open shut",
    "task-todo:do": lambda note: note[3],
}


@given(
    notes=st.lists(st.tuples(*map(st.sampled_from, (TAGS, FOLDERS, STATES)), st.booleans()), min_size=1, max_size=8),
    asked=st.lists(st.tuples(st.sampled_from(sorted(TESTS)), st.booleans(), st.booleans()), min_size=1, max_size=4),
)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_mixture_of_filters_lets_through_what_each_of_them_does(
    tmp_path_factory: pytest.TempPathFactory, notes: list[Note], asked: list[tuple[str, bool, bool]]
) -> None:
    building = Building(tmp_path_factory.mktemp("any"))
    named = {f"{note[1]}/n{number}.md": note for number, note in enumerate(notes)}
    building.put({path: _text(note) for path, note in named.items()})
    written = ""
    groups: list[list[tuple[str, bool]]] = []
    for test, negated, joined in asked:
        if joined and groups:
            groups[-1].append((test, negated))
        else:
            groups.append([(test, negated)])
        written += f" {'OR ' if joined and written else ''}{'-' if negated else ''}{test}"
    expected = {
        path
        for path, note in named.items()
        if all(any(TESTS[test](note) != negated for test, negated in group) for group in groups)
    }
    found = fitting(building, written)
    building.close()
    assert found == expected


def test_an_index_of_before_learns_the_paths_and_properties_it_holds(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder())
    building.put({path: text for path, text in NOTES.items() if path in {"Area/x.md", "Unclosed.md", "Übung/İz.md"}})
    db = building.writer._db
    kept = [db.execute(sql).fetchall() for sql in (*_KEPT, "SELECT id, place FROM notes")]
    assert all(kept)
    db.execute("UPDATE notes SET place = ''; DELETE FROM properties")
    facets.keep_stored(db)
    assert [db.execute(sql).fetchall() for sql in (*_KEPT, "SELECT id, place FROM notes")] == kept
    building.close()


_KEPT = ("SELECT note, key, words, number FROM properties ORDER BY note, key, words",)


def test_a_file_of_an_older_version_gets_what_filters_need(tmp_path: Path) -> None:
    old = apsw.Connection(str(tmp_path / "old.sqlite"))
    old.create_scalar_function("printable", lambda text: text, 1)
    before = MIGRATIONS.index(m007_keep_what_narrows)
    old.register_fts5_tokenizer("vaultask", lambda *_: lambda *_: ())
    for step in MIGRATIONS[:before]:
        step(old)
    old.execute(
        "INSERT INTO notes (path, resolved_path, title, level, language, content_hash, revision, mtime, size, "
        "frontmatter, frontmatter_state, aliases, problems, indexed_at) VALUES ('A/N.md', 'A/N.md', 'N', 0, 'en', "
        """x'00', '1', 1, 1, '{"Status": ["Open", 4]}', 'read', '[]', '[]', '2026')"""
    )
    m007_keep_what_narrows(old)
    assert old.execute("SELECT place FROM notes").fetchall() == [("a/n.md",)]
    assert old.execute("SELECT key, words, number FROM properties").fetchall() == [
        ("status", " open ", None),
        ("status", " 4 ", 4.0),
    ]
    old.close()
