"""A document's bytes to a Note, whatever they hold. The only place that puts the parts of the package together."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from vault_ask.notes.canvas import canvas_properties, parse_canvas
from vault_ask.notes.decoding import Decoded, decode
from vault_ask.notes.frontmatter import Frontmatter
from vault_ask.notes.frontmatter_block import MISPLACED, UNCLEAR, read_frontmatter
from vault_ask.notes.markdown import Structure, parse_markdown
from vault_ask.notes.model import FrontmatterState, Note
from vault_ask.notes.property_lines import property_lines
from vault_ask.notes.sensitivity import Rules

CANVAS = ".canvas"


def parse(path: str, content: bytes, rules: Rules, resolved_path: str | None = None) -> Note:
    """Read a note or a canvas. Never fails: what is wrong with the bytes is told in the note's problems."""
    decoded = decode(content)
    lines = tuple(decoded.text.removesuffix("\n").split("\n")) if decoded.text else ()
    if PurePosixPath(path).suffix.lower() == CANVAS:
        front = _of_canvas(canvas_properties(lines))
        return _note(path, lines, rules, resolved_path, decoded, front, parse_canvas(lines))
    front = _minded(read_frontmatter(lines), rules)
    is_drawing = bool(front.get("excalidraw-plugin")) or path.lower().endswith(".excalidraw.md")
    body = parse_markdown(lines, body_line=front.body_line, is_drawing=is_drawing)
    return _note(path, lines, rules, resolved_path, decoded, front, body)


def _of_canvas(properties: Mapping[str, Any]) -> Frontmatter:
    return Frontmatter(state=FrontmatterState.READ, values=properties) if properties else Frontmatter()


def _minded(front: Frontmatter, rules: Rules) -> Frontmatter:
    """Say nothing of a misplaced or unclear block that says nothing of sensitivity: it is text below a rule.

    What it says is kept all the same, for the day when other rules ask for it; of further blocks only what they may.
    """
    if front.state is FrontmatterState.READ:
        front = replace(front, perhaps=rules.concerned(front.perhaps))
    may_be_text = any(problem.code in {MISPLACED, UNCLEAR} for problem in front.problems)
    says_nothing = not rules.speaks_of(front.perhaps if front.state is FrontmatterState.READ else front.claims)
    return replace(front, problems=()) if may_be_text and says_nothing else front


def _note(  # noqa: PLR0917  # every part of a note is needed to make one
    path: str,
    lines: tuple[str, ...],
    rules: Rules,
    resolved_path: str | None,
    decoded: Decoded,
    front: Frontmatter,
    body: Structure,
) -> Note:
    # An unclosed block is text: only the sensitivity rule looks at the keys in it.
    told = front if front.state is not FrontmatterState.UNCLOSED else replace(front, values={})
    key_line = next((line for key, line in front.keys if rules.names_key(key)), None)
    odd_key = rules.problem(front.values, line=key_line)
    tags = tuple(dict.fromkeys((*told.tags, *body.tags)))
    return Note(
        path=path,
        title=told.title or PurePosixPath(path).stem.strip() or path,
        lines=lines,
        body_line=front.body_line,
        sensitivity=rules.classify(path, resolved_path, front.claims, front.state, tags),
        frontmatter=front.claims,
        frontmatter_state=front.state,
        property_lines=property_lines(front, lines, is_withheld=rules.names_key),
        aliases=told.aliases,
        tags=tags,
        headings=body.headings,
        blocks=body.blocks,
        block_ids=body.block_ids,
        links=(*told.links, *body.links),
        problems=(*decoded.problems, *front.problems, *((odd_key,) if odd_key else ()), *body.problems),
    )
