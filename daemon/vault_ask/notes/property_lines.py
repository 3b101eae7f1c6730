"""Which lines of a note's frontmatter say something that may be asked for, and the passages they make.

What only an editor, a plugin or a publisher reads says nothing, nor does what is told elsewhere: tags and aliases stand
in front of every passage. The key that decides who may see the note never becomes text. Knows nothing of scores.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

from vault_ask.notes.blobs import blob_lines, blob_spans
from vault_ask.notes.entries import key_of_line
from vault_ask.notes.frontmatter import Frontmatter
from vault_ask.notes.model import FrontmatterState
from vault_ask.notes.properties import parted, squeezed

Lines = tuple[int, int]
"""The first and the last line of an entry in the file, from 1."""

MOST_PASSAGES = 4
"""A note's properties make no more passages: what is longer is a plugin's store."""

_TOLD_ELSEWHERE = frozenset({"tag", "tags", "alias", "aliases", "title", "up", "prev", "previous"})
_MADE_AND_CHANGED = frozenset(
    """created createdat createdon createdtime datecreated creationdate creationtime ctime timecreated dgcreated
    modified modifiedat modifiedon modifiedtime datemodified lastmodified lastmod mtime timemodified updated updatedat
    updatedon dateupdated lastupdated lastedited edited dgupdated erstellt erstelltam erstelldatum angelegt geändert
    geändertam aktualisiert skapad skapat ändrad ändrat uppdaterad oprettet opdateret opprettet oppdatert endret luotu
    muokattu päivitetty creado fechadecreación modificado actualizado créé créele datedecréation modifié modifiéle
    creato datadicreazione modificato aggiornato criado criadoem datadecriação atualizado gemaakt aangemaakt gewijzigd
    bijgewerkt oluşturuldu oluşturmatarihi güncellendi değiştirildi создано создан датасоздания изменено обновлено
    створено змінено utworzono datautworzenia zmodyfikowano vytvořeno upraveno létrehozva módosítva 创建 创建时间
    创建日期 建立日期 修改时间 更新时间 更新 作成日 作成日時 更新日 更新日時 생성일 수정일
    تاريخالإنشاء تاريخالتعديل""".split()  # noqa: SIM905 # a list of words
)
_OF_PROGRAMS = frozenset(
    """cssclass cssclasses publish permalink slug id uid uuid guid zettelid lang position banner bannerx bannery
    bannericon icon iconcolor color sticker obsidianuimode obsidianeditingmode linteryamltitlealias""".split()  # noqa: SIM905 # as above
)
_SILENT = _TOLD_ELSEWHERE | _MADE_AND_CHANGED | _OF_PROGRAMS
_SILENT_BEGINNINGS = ("excalidraw", "kanban", "dataview", "dgpass", "dghide", "dgshow", "dgenable", "dgpinned")
_SILENT_ENDINGS = ("plugin",)
_WORD = regex.compile(r"""[^\s"'\[\]{},|>~:&*#?-]""")
"""What stands in a value that says something, a star or a face too; the signs of YAML say nothing."""
_HUMPED = regex.compile(r"(?<![^\s\"'\[,(])\p{L}*\p{Ll}\p{Lu}\p{L}*(?![^\s\"'\],:)])")
_MOST_HUMPED = 12


@dataclass(frozen=True, slots=True)
class PropertyPassage:
    """Some entries of a frontmatter: lines as in the file from `line_start` on, blank where one says nothing."""

    line_start: int
    text: str
    tokens: int

    @property
    def line_end(self) -> int:
        """The last line."""
        return self.line_start + self.text.count("\n")

    @property
    def parted_words(self) -> str:
        """The words that are written in one, as `dueDate` is, with their parts apart."""
        humped = dict.fromkeys(_HUMPED.findall(self.text))
        return ", ".join(map(parted, list(humped)[:_MOST_HUMPED]))


def property_lines(
    front: Frontmatter, lines: Sequence[str], *, is_withheld: Callable[[str], bool]
) -> tuple[Lines, ...]:
    """Give the lines of each entry that says something; none of an entry with a key that is to be withheld.

    A block that is never closed is text, and its lines stand in the body.
    """
    if front.state not in {FrontmatterState.READ, FrontmatterState.UNREADABLE} or front.body_line == 1:
        return ()
    telling = (
        (first, last)
        for first, last, keys in _entries(front)
        if any(_tells(key, front.values.get(key)) for key in keys)
        and not any(map(is_withheld, (*keys, *_loose_keys(lines[first - 1 : last]))))
    )
    return tuple(entry for span in telling if (entry := _bare(span, lines)))


def property_passages(
    entries: Sequence[Lines], lines: Sequence[str], *, count: Callable[[str], int], target: int, most: int
) -> list[PropertyPassage]:
    """Pack entries up to `target` tokens; one of more than `most` is left out: no property is as long as a page."""
    passages: list[PropertyPassage] = []
    for first, last in entries:
        text = "\n".join(lines[first - 1 : last])
        if len(text) > most * _SURELY_LONG or (tokens := count(text)) > most:
            continue
        before = passages[-1] if passages else None
        if before and before.tokens + tokens <= target:
            between = "\n" * (first - before.line_end)
            passages[-1] = PropertyPassage(before.line_start, before.text + between + text, before.tokens + tokens)
        elif len(passages) == MOST_PASSAGES:
            break
        else:
            passages.append(PropertyPassage(first, text, tokens))
    return passages


_SURELY_LONG = 64  # no tokenizer in use makes fewer tokens than one for so many characters


def _entries(front: Frontmatter) -> Iterator[tuple[int, int, list[str]]]:
    """Give the first and the last line of each entry, with its keys: of `{a: 1, b: 2}` all that stand in a line."""
    keys: dict[int, list[str]] = {}
    for key, line in front.keys:
        keys.setdefault(line, []).append(key)
    # The line above the body closes the block.
    for first, after in pairwise((*sorted(keys), front.body_line - 1)):
        yield first, after - 1, keys[first]


def _tells(key: str, value: object) -> bool:
    name = squeezed(key)
    if name in _SILENT or name.startswith(_SILENT_BEGINNINGS) or name.endswith(_SILENT_ENDINGS):
        return False
    return _says(value)


def _says(value: object) -> bool:
    match value:
        case None:
            return False
        case str():
            return bool(_WORD.search(value))
        case list():
            return any(map(_says, value))
        case dict():
            return any(map(_says, value.values()))
        case _:
            return True


def _loose_keys(lines: Sequence[str]) -> Iterator[str]:
    """Give what perhaps is a key in a line, however askew: rather one entry too few becomes text."""
    return (key for line in lines if (key := key_of_line(line)) is not None)


def _bare(span: Lines, lines: Sequence[str]) -> Lines | None:
    """Take comments, blank lines and closing braces off the end of an entry; None for packed data."""
    first, last = span
    while last > first and (lines[last - 1].startswith("#") or not _WORD.search(lines[last - 1])):
        last -= 1
    entry = lines[first - 1 : last]
    is_packed = bool(blob_lines(entry)) or any(map(blob_spans, entry))
    return None if is_packed else (first, last)
