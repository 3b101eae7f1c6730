"""Case 2: in whatever form an owner, a keyboard or another tool writes that a note is personal, it is closed.

What is merely a line of text between rules closes nothing. (basicmachines-co/basic-memory#408; zk-org/zk#24)
"""

from collections.abc import Iterator

import pytest

from cases.small_vaults import OPEN, PRIVATE, indexed
from vault_ask.composition.library import Library
from vault_ask.scope import Scope

KEY = "sensitivity"
CLOSED = {
    "no blank behind the colon": f"---\n{KEY}:personal\n---\n",
    "a tab before the key": f"---\n\t{KEY}: personal\n---\n",
    "a tab behind the colon": f"---\n{KEY}:\tpersonal\n---\n",
    "a hard blank before the colon": f"---\n{KEY}\u00a0: personal\n---\n",
    "a hard blank behind it": f"---\n{KEY}:\u00a0personal\n---\n",
    "a wide colon": f"---\n{KEY}：personal\n---\n",
    "capitals": f"---\n{KEY.upper()}: PERSONAL\n---\n",
    "quotes": f"---\n\"{KEY}\": 'personal'\n---\n",
    "a list": f"---\n{KEY}: [open]\n---\n",
    "braces": f"---\n{{{KEY}: personal, title: x}}\n---\n",
    "a question mark": f"---\n? {KEY}\n: personal\n---\n",
    "twice": f"---\n{KEY}: open\n{KEY}: personal\n---\n",
    "nothing": f"---\n{KEY}:\n---\n",
    "false": f"---\n{KEY}: false\n---\n",
    "a tag of YAML": f"---\n{KEY}: !secret personal\n---\n",
    "an anchor": f"---\nbase: &base\n  {KEY}: personal\n<<: *base\n---\n",
    "a template beside it": f"---\ntitle: {{{{title}}}}\nmade: <% now %>\n{KEY}: personal\n---\n",
    "a conflict inside it": f"---\n<<<<<<< HEAD\n{KEY}: personal\n=======\n{KEY}: open\n>>>>>>> b\n---\n",
    "an end of dots": f"---\n{KEY}: personal\n...\n",
    "an end too long": f"---\n{KEY}: personal\n-----\n",
    "an end that is pushed in": f"---\n{KEY}: personal\n  ---\n",
    "an end with words": f"---\n{KEY}: personal\n--- end\n",
    "no end": f"---\n{KEY}: personal\n",
    "dashes of a phone": f"—\n{KEY}: personal\n—\n",
    "a dash too many": f"----\n{KEY}: personal\n----\n",
    "blank lines above": f"\n\u00a0\n---\n{KEY}: personal\n---\n",
    "two colons": f"---\n{KEY}:: personal\n---\n",
    "no first rule": f"title: x\n{KEY}: personal\n---\n",
    "a rule inside it": f"---\ntitle: x\n---\n{KEY}: personal\n---\n",
    "TOML": f"+++\n{KEY} = 'personal'\n+++\n",
    "below a banner": f"![[banner.png]]\n\n---\n{KEY}: personal\n---\n",
    "below a template": f"<% tp.file.cursor() %>\n---\n{KEY}: personal\n---\n",
    "two marks": f"\ufeff\ufeff---\n{KEY}: personal\n---\n",
    "old ends of lines": f"---\r{KEY}: personal\r---\r",
}
OPENED = {
    "open": f"---\n{KEY}: ' Open '\n---\n",
    "another key": f"---\n{KEY} of it: personal\n---\n",
    "a comment": f"---\n# {KEY}: personal\n---\n",
    "a value": f"---\nnote: '{KEY}: personal'\n---\n",
    "below another key": f"---\nmeta:\n  {KEY}: personal\n---\n",
    "a block of text": f"---\nnote: |\n  {KEY}: personal\n---\n",
    "in code": f"```yaml\n---\n{KEY}: personal\n---\n```\n",
    "an inline field": f"{KEY}:: personal\n\n",
    "prose above a rule": f"So far, so good.\n{KEY}: personal\n---\n",
    "in the text": f"The {KEY}: personal.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    closed = {f"{name}.md": f"{block}CANARY of the sloe\n" for name, block in CLOSED.items()}
    opened = {f"{name}.md": f"{block}plain word of the sloe\n" for name, block in OPENED.items()}
    library = indexed(tmp_path_factory.mktemp("forms"), {**closed, **opened})
    yield library
    library.close()


def names(library: Library, question: str, scope: Scope, arm: str) -> set[str]:
    hits = library.retrieve(question, scope=scope, k=100, arm=arm).hits
    return {path.removesuffix(".md") for hit in hits for path in (hit.path, *hit.also)}


@pytest.mark.parametrize("arm", ["text", "vector"])
def test_what_is_said_in_any_form_to_be_personal_is_seen_by_nobody_else(library: Library, arm: str) -> None:
    assert names(library, "CANARY of the sloe", OPEN, arm) == set(OPENED)
    assert "CANARY" not in repr(library.retrieve("CANARY of the sloe", scope=OPEN, k=100, arm=arm).hits)
    assert names(library, "of the sloe", PRIVATE, arm) == {*CLOSED, *OPENED}
