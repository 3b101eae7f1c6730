"""Where a text is a comment or code: as Obsidian shows it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompting import prompt_of
from vault_ask.answering.context import Excerpt
from vault_ask.answering.prompts import messages
from vault_ask.answering.regions import comments, fenced, without_comments


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The rent is 950. %%was 800%% It is paid.", "The rent is 950. It is paid."),
        ("%%draft%% The rent.", "The rent."),
        ("One.\n\n%%\nnot\n\nthis\n%%\n\nTwo.", "One.\n\n\n\nTwo."),
        ("> %%\n> not this\n> %%\n> Two.", "> \n> Two."),
        # What is not closed hides what Obsidian hides.
        ("One. %%not this\nnor this\n\nTwo.", "One. \n\nTwo."),
        ("One.\n%%\nnot this\n\nnor this", "One.\n"),
        # Signs in code are none.
        ("Use `%%a%%` and\n```\n%%b%%\n```\nhere.", "Use `%%a%%` and\n```\n%%b%%\n```\nhere."),
        ("%% `a %% seen` %%not%%", "seen` "),
        ("100% sure", "100% sure"),
    ],
)
def test_a_reader_sees_no_comments(text: str, shown: str) -> None:
    assert without_comments(text) == shown


def test_the_inside_of_a_fence_is_known_also_in_a_quote_and_without_an_end() -> None:
    text = "a\n```sh\none\n```\n> ~~~\n> two\n> ~~~\nb\n````\nthree\n```\nfour"
    assert [span.of(text).strip(" >\n") for span in fenced(text)] == ["one", "two", "three\n```\nfour"]


@given(st.text(alphabet="%`~ab \n>", max_size=60))
def test_regions_are_in_order_and_apart(text: str) -> None:
    for regions in (comments(text), fenced(text)):
        ends = [place for region in regions for place in (region.start, region.end)]
        assert ends == sorted(ends)
        assert all(0 <= end <= len(text) for end in ends)


def test_a_model_is_given_no_comment_and_all_the_rest() -> None:
    text = "The rent is 950. %%CANARY%%\n\n%%\nCANARY\n%%\nPaid by Anna."
    note = Excerpt(n=1, path="N.md", title="N", heading_path=(), text=text, line_start=1, line_end=6, score=1.0)
    given = messages(prompt_of("What is the rent?", note))[-1]["content"]
    assert "The rent is 950." in given
    assert "Paid by Anna." in given
    assert "CANARY" not in given
