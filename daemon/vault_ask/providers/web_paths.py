"""What a question says of where things lie on the owner's machines, taken off before it is sent out.

A path may hold spaces (`Private/Divorce (2024).md`), so nothing tells where its first folder begins: it is taken to
begin with the word that the first slash stands in, or with the quotation mark before it. Rather a word too much goes
than a folder's name stays.
"""

import re

_FILE = re.compile(
    r"\.(?:md|canvas|base|excalidraw|pdf|png|jpe?g|gif|bmp|svg|webp|avif|heic|tiff?|mp[34]|m4a|wav|ogg|oga|ogv|opus"
    r"|flac|webm|mov|mkv|3gp|docx?|xlsx?|pptx?|od[tsp]|csv|txt|rtf|epub|zip)(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
"""How the name of a file ends that a vault holds."""
_WEB_ADDRESS = re.compile(r"(?<![A-Za-z0-9])(?:https?://|www\.)[^\s<>\"`]*", re.IGNORECASE)
_OTHER_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9+.-])(?!https?:)(?:[a-z][a-z0-9+.-]{1,30}://|obsidian:)[^\s<>\"`)\]]+", re.IGNORECASE
)
"""Of another program, of a file or of a database: it leads nowhere but on this machine, or holds a password."""
_SLASH = re.compile(r"[/\\]")
_BEFORE_WORD = re.compile(r"[\s\[(<>{|]")
_OPENED = re.compile(r"(?:[“„«「『]|(?<![^\s(])[\"`](?=[^\s,.;:!?)]))[^\"“”„»`」』]*\Z")
_LONGEST_NAME = 100
"""Characters between two slashes of one path; farther apart they are of two things."""


def without_addresses(text: str) -> str:
    """Leave out the addresses that are not of the web, `obsidian:` above all."""
    return _OTHER_ADDRESS.sub("", text)


def without_folders(text: str) -> str:
    """Leave of each path to a file its bare name, line by line; addresses of the web stay as they were typed."""
    return "\n".join(_of_line(line) for line in text.split("\n"))


def _of_line(line: str) -> str:
    kept, begin = [], 0
    for ending in _FILE.finditer(line):
        before = line[begin : ending.start()]
        bare = _bare(before)
        kept.append(bare if bare != before else before + ending[0])
        begin = ending.end()
    return "".join((*kept, line[begin:]))


def _bare(words: str) -> str:
    """Take the folders off the path at the end of some words."""
    addresses = [address.end() for address in _WEB_ADDRESS.finditer(words)]
    typed = addresses[-1] if addresses else 0
    slashes = [slash.start() for slash in _SLASH.finditer(words, typed)]
    if not slashes:
        return words
    first = last = slashes[-1]
    for slash in reversed(slashes):
        if first - slash > _LONGEST_NAME:
            break
        first = slash
    return words[: _beginning(words, typed, first)] + words[last + 1 :]


def _beginning(words: str, typed: int, slash: int) -> int:
    """Say where the first folder begins that ends at a slash."""
    opened = _OPENED.search(words[:slash], typed)
    if opened:
        return opened.start() + 1
    spaces = [space.end() for space in _BEFORE_WORD.finditer(words, typed, slash)]
    return spaces[-1] if spaces else typed
