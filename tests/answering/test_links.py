from urllib.parse import parse_qs, urlsplit

import pytest

from vault_ask.answering.links import link_text, obsidian_url

ODD = ["Guide #7 to knots!.md", "Up^down.md", "50% plan & co.md", 'Åsa\'s "list".md', "v1.2 release.md", "a+b=c?.md"]


@pytest.mark.parametrize("path", [*ODD, "Area/Twin.md"])
def test_an_address_decodes_once_to_the_exact_vault_and_path(path: str) -> None:
    url = obsidian_url("My & vault", path)
    assert parse_qs(urlsplit(url).query) == {"vault": ["My & vault"], "file": [path]}
    assert not set(urlsplit(url).query) & set(' "#')


def test_an_address_names_the_heading_as_obsidian_does() -> None:
    url = obsidian_url("v", "Area/Note.md", heading="Part #2: what | why?")
    assert parse_qs(urlsplit(url).query)["file"] == ["Area/Note.md#Part 2 what why?"]


def test_an_address_prefers_the_block() -> None:
    url = obsidian_url("v", "Note.md", heading="Part", block="b-1")
    assert parse_qs(urlsplit(url).query)["file"] == ["Note.md#^b-1"]


@pytest.mark.parametrize("path", ["Guide #7 to knots!.md", "Up^down.md", "a|b.md"])
def test_a_name_that_would_be_taken_for_a_place_opens_by_its_path_alone(path: str) -> None:
    assert parse_qs(urlsplit(obsidian_url("v", path, heading="Part", block="b")).query)["file"] == [path]


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("Rent.md", "[[Rent]]"),
        ("Housing/Rent.md", "[[Housing/Rent|Rent]]"),
        ("v1.2 release.md", "[[v1.2 release]]"),
        ("50% plan & co.md", "[[50% plan & co]]"),
        ("Board.canvas", "[[Board.canvas]]"),
        ("Guide #7 to knots!.md", "[Guide #7 to knots!](Guide%20%237%20to%20knots!.md)"),
        ("Up^down.md", "[Up^down](Up%5Edown.md)"),
        ("A [1].md", r"[A \[1\]](A%20%5B1%5D.md)"),
    ],
)
def test_a_link_in_text_is_of_the_form_that_resolves(path: str, link: str) -> None:
    assert link_text(path) == link


def test_a_link_in_text_may_name_a_place() -> None:
    assert link_text("Housing/Rent.md", heading="From May") == "[[Housing/Rent#From May|Rent]]"
    assert link_text("Rent.md", block="b1") == "[[Rent#^b1|Rent]]"
