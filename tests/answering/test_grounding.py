from answering.passages import hit
from vault_ask.answering.grounding import ground, sources
from vault_ask.answering.page import Mark
from vault_ask.answering.ports import Quoted
from vault_ask.scope import Sensitivity

BODY = """## Rent
The flat has two rooms.
Rent is 9200 from May. ^pay

### Deposit
It was paid in full.
Nobody knows when.

## Heating
The boiler is serviced in October."""
RENT = hit("Housing/Rent.md", BODY, line_start=8, headings=("Flat", "Rent"), block="pay")


def quoted(text: str) -> Quoted:
    start = BODY.index(text)
    return Quoted(1, start, start + len(text))


def test_a_quote_is_cited_with_its_own_lines_word_for_word() -> None:
    (found,) = ground("", (), (quoted("Rent is 9200 from May."),), (RENT,), "v")
    assert (found.line_start, found.line_end, found.quote) == (10, 10, "Rent is 9200 from May.")
    assert (found.heading, found.block) == ("Rent", "pay")
    assert found.url == "obsidian://open?vault=v&file=Housing%2FRent.md%23%5Epay"


def test_a_quote_over_several_lines_names_them_all() -> None:
    (found,) = ground("", (), (quoted("It was paid in full.\nNobody knows when."),), (RENT,), "v")
    assert (found.line_start, found.line_end) == (13, 14)


def test_a_quote_is_placed_under_its_passages_headings_where_the_passage_begins_with_them() -> None:
    body = "# Flat\n\n## Rent\n\nIt was paid in May."
    note = hit("Housing/Rent.md", body, line_start=1, headings=("Flat", "Rent"))
    start = body.index("It was paid")
    (found,) = ground("", (), [Quoted(1, start, len(body))], (note,), "v")
    assert found.heading_path == ("Flat", "Rent")
    assert (found.line_start, found.heading) == (5, "Rent")


def test_a_heading_sign_in_code_is_no_heading() -> None:
    body = "```sh\n# not a heading\n```\nThe text."
    note = hit("A.md", body, headings=("Real",))
    (found,) = ground("", (), (Quoted(1, body.index("The"), len(body)),), (note,), "v")
    assert found.heading == "Real"


def test_a_claim_is_grounded_in_the_sentence_that_bears_it() -> None:
    answer = "You live in two rooms. From May the rent is 9200 [1]. The boiler is serviced in October [1]."
    marks = [Mark(1, answer.index("[1]")), Mark(1, answer.rindex("[1]"))]
    found = ground(answer, marks, (), (RENT,), "v")
    assert [(c.n, c.quote) for c in found] == [(1, "Rent is 9200 from May."), (1, "The boiler is serviced in October.")]


def test_a_claim_in_other_words_is_grounded_in_the_whole_passage() -> None:
    (found,) = ground("Hyran är nio tusen [1].", (Mark(1, 19),), (), (RENT,), "v")
    assert found.quote == BODY
    assert (found.line_start, found.line_end) == (8, 17)


def test_the_same_place_is_cited_once() -> None:
    answer = "Rent is 9200 from May [1]. Yes, rent is 9200 from May [1]."
    marks = [Mark(1, answer.index("[1]")), Mark(1, answer.rindex("[1]"))]
    assert len(ground(answer, marks, (), (RENT,), "v")) == 1


def test_a_source_is_the_whole_passage_and_says_whether_it_is_personal() -> None:
    secret = hit("P.md", "x\n\n", sensitivity=Sensitivity.PERSONAL, line_start=3)
    first, second = sources((RENT, secret), "v")
    assert (first.n, first.quote, first.personal) == (1, BODY, False)
    assert (second.n, second.quote, second.personal, second.line_end) == (2, "x", True, 3)
