"""What in a question is a filter and what is text; no text is ever an error."""

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_ask.index.within import File, Filter, Path, Property, Tag, Tasks, Wanted
from vault_ask.notes.fold import storable
from vault_ask.notes.tasks import TaskState
from vault_ask.retrieval.filters import MOST, read_filters

OPEN, DONE, ANY = (TaskState.OPEN,), (TaskState.DONE,), tuple(TaskState)
READ = {
    "tag:#work": Tag("work"),
    "tag:Work/Urgent": Tag("work/urgent"),
    'tag:"#work"': Tag("work"),
    "tag:#åter/möte": Tag("åter/möte"),
    "tag:a\u030ater": Tag("åter"),
    "TAG:#İş": Tag("iş"),
    "tag:🦊": Tag("🦊"),
    "tag:#עבודה": Tag("עבודה"),
    "tag:#2026": Tag("2026"),
    "path:Area/": Path("area/"),
    "path:Area/Sub": Path("area/sub"),
    'path:"My Folder"': Path("my folder"),
    "path:“My Folder/x”": Path("my folder/x"),
    'path:"(old) [a]"': Path("(old) [a]"),
    r'path:"said \"so\""': Path('said "so"'),
    "file:202609": File("202609"),
    "file:Plan.md": File("plan"),
    "[status:open]": Property("status", "open"),
    "[Status:in progress]": Property("status", "in progress"),
    '["Due date":2026-03-01]': Property("due date", "2026-03-01"),
    '["status":"open"]': Property("status", "open"),
    "[author:[[Mira Holt]]]": Property("author", "[[Mira Holt]]"),
    "[作者:村上]": Property("作者", "村上"),
    "[स्थिति:खुला]": Property("स्थिति", "खुला"),
    "[status:null]": Property("status", ""),
    "[status]": Property("status"),
    '["status"]': Property("status"),
    "[rating:>4]": Property("rating", "4", ">"),
    "[rating:<=4.5]": Property("rating", "4.5", "<="),
    "[due:< 2026-03]": Property("due", "2026-03", "<"),
    "task:call": Tasks(ANY, "call"),
    'task:""': Tasks(ANY),
    "task-todo:": Tasks(OPEN),
    'task-todo:"Call the"': Tasks(OPEN, "call the"),
    "task-done:rent": Tasks(DONE, "rent"),
}


@pytest.mark.parametrize("text", READ)
@pytest.mark.parametrize("minus", ["", "-", "–"])
def test_a_filter_is_read_wherever_it_stands_and_taken_out(text: str, minus: str) -> None:
    expected = (Filter(f"{'-' if minus == '-' else minus}{text}", (Wanted(READ[text], negated=bool(minus)),)),)
    assert read_filters(f"{minus}{text}").filters == expected
    if text == "[status]" and not minus:
        return
    for question in (f"{minus}{text} rent due", f"rent {minus}{text} due", f"rent due {minus}{text}"):
        found = read_filters(question)
        assert (found.rest, found.filters) == ("rent due", expected)
    assert read_filters(f"what of {minus}{text}?").filters == expected


EITHER = {
    "tag:#a OR tag:#b": ["tag:#a OR tag:#b"],
    "(tag:#a OR path:B/)": ["(tag:#a OR path:B/)"],
    "tag:(#a OR #b)": ["tag:(#a OR #b)"],
    'path:(A/ OR "My B")': ['path:(A/ OR "My B")'],
    "[status:Draft OR Published]": ["[status:Draft OR Published]"],
    "[status:(Draft OR Published)]": ["[status:(Draft OR Published)]"],
    "task:(call OR email)": ["task:(call OR email)"],
    "tag:#a OR -tag:#b": ["tag:#a OR -tag:#b"],
}


@pytest.mark.parametrize("text", EITHER)
def test_or_between_filters_or_values_makes_one_filter_of_two(text: str) -> None:
    found = read_filters(f"rent {text} due")
    assert found.rest == "rent due"
    assert [each.written for each in found.filters] == EITHER[text]
    assert [len(each.any_of) for each in found.filters] == [2]


@pytest.mark.parametrize("text", ["-(tag:#a OR tag:#b)", "-tag:(#a OR #b)", "-tag:#a -tag:#b"])
def test_a_minus_before_several_excludes_each_of_them(text: str) -> None:
    found = read_filters(f"rent {text}")
    assert [each.any_of for each in found.filters] == [(Wanted(Tag(tag), negated=True),) for tag in "ab"]


def test_filters_side_by_side_all_have_to_fit() -> None:
    found = read_filters("tag:#a, path:B/ [c:d] and the rent?")
    assert [each.written for each in found.filters] == ["tag:#a", "path:B/", "[c:d]"]
    assert found.rest == ", and the rent?"


TEXT = [
    *("path: what is the path?", "path:A t:green", "path:A body:amber", "tag: none", "tag:", "tag:#", "file:", "task:"),
    *("C:\\path", "path:C:\\Users\\me", "path:/etc/hosts", "path:~/notes", "file://host/x", "http://x.org/tag:#y"),
    *(
        "[[Note]]",
        "[[Note|tag:#x]]",
        "![[Image.png]]",
        "[text](https://x.org)",
        "[text](path:A/)",
        "[sic] rent",
        "rent [sic]",
    ),
    *(
        "[1]",
        "[x]",
        "- [ ] call",
        "- [x] call",
        "[^1]",
        "[!note]",
        "[note: see below]",
        "[12:30]",
        "at 12:30",
        "[10:15 talk]",
    ),
    *(
        "[http://x.org]",
        "[C:\\x]",
        "[status:open",
        "status:open]",
        "[:open]",
        "[status:]",
        "[rating:>many]",
        "[]",
        "[[]]",
    ),
    *(
        "#work",
        "#tag [[Note]]",
        "mytag:#work",
        "foo-tag:#x",
        "e.g.tag:#x",
        "tag:me@x.org",
        "tag:12:30",
        "(tag:#a",
        "-(tag:#a",
    ),
    *(
        'path:"unclosed',
        'tag:"',
        "tag:(#a OR",
        "OR",
        "rent OR loan",
        "-",
        "-rent",
        "what does tag:#? mean",
        "title:x y",
    ),
    *(
        "content:x",
        "line:(a b)",
        "section:x",
        "block:x",
        "/regex/",
        "path:/\\d{4}/",
        "🦊",
        "שלום 12:30",
        "a\x00b",
        "task: call him",
    ),
    *("we tag:\nnone", "see tag :#x", "[a] [b] c", "ratio 1:2", "lexer::tokens", "std::path:x"),
]


@pytest.mark.parametrize("text", TEXT)
def test_what_is_no_filter_is_text_to_the_letter(text: str) -> None:
    found = read_filters(text)
    assert (found.rest, found.filters) == (text, ())


def test_a_word_in_brackets_is_a_filter_among_filters_alone() -> None:
    assert [each.written for each in read_filters("[status] tag:#x").filters] == ["[status]", "tag:#x"]
    beside = read_filters("[status] tag:#x rent")
    assert (beside.rest, [each.written for each in beside.filters]) == ("[status] rent", ["tag:#x"])


def test_more_filters_than_anybody_writes_are_text() -> None:
    many = read_filters(" ".join(f"tag:t{number}" for number in range(MOST + 5)))
    assert len(many.filters) == MOST
    assert many.rest.split() == [f"tag:t{number}" for number in range(MOST, MOST + 5)]
    assert len(read_filters(" OR ".join(f"tag:t{number}" for number in range(2_000))).filters) <= MOST


def test_the_same_filter_twice_is_one() -> None:
    assert len(read_filters("tag:#a tag:#a x").filters) == 1


SIGNS = regex.compile(r"[:\[(]")


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=60).filter(lambda text: not SIGNS.search(text)))
def test_text_without_the_signs_of_a_filter_comes_back_to_the_letter(text: str) -> None:
    assert read_filters(text) == read_filters(text).__class__(text)


PIECES = [
    "tag:",
    "path:",
    "file:",
    "task-todo:",
    "#",
    "[",
    "]",
    "(",
    ")",
    '"',
    "“",
    "-",
    "OR",
    " ",
    "a",
    "/",
    ":",
    "null",
]
PIECES += ["<", ">", "\\", "\n", "[[", "]]", "\u200f", "å", "\ud800", "\x00", "12", "status", "?", "，"]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@settings(max_examples=400)
def test_no_text_is_an_error_and_what_is_left_is_made_of_what_was_there(text: str) -> None:
    found = read_filters(text)
    assert (found.rest == text) if not found.filters else len(found.rest) < len(text)
    signs = iter(storable(text))
    assert all(sign in signs for sign in "".join(found.rest.split())) or not found.filters
    assert all(each.written for each in found.filters)


@pytest.mark.parametrize(
    "text",
    [f"tag:a{',' * 100_000}x", f"[a:b{' ' * 100_000}x]x", f"path:a/{'.' * 100_000}(", f"[a:{'“b”' * 30_000}"],
    ids=["commas", "blanks", "full stops", "quotes in a property"],
)
def test_a_run_of_signs_behind_a_value_is_read_once(text: str) -> None:
    assert read_filters(text).rest == text
    assert [each.written for each in read_filters(f"tag:#x {text}").filters] == ["tag:#x"]


@pytest.mark.parametrize(
    "text", ["(" * 8_000, "[" * 8_000, "tag:(" * 1_600, "[a:" * 2_000, "(tag:a OR " * 800, '"' * 8_000]
)
def test_a_long_text_of_signs_is_read_at_once(text: str) -> None:
    assert read_filters(text).rest == text
