"""A day in the life of a followed LiveSync vault, compressed in time: deeds drawn by a seed, checked at quiet moments.

Every run does every kind of deed at least once, in an order of its own. Threads make two runs of a seed differ in what
meets what, never in what is done; a failure names the seed and lists the deeds.
"""

import random
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from couch_stand_in import CouchStandIn
from livesync_day_daemon import CIPHERTEXT, PACE, House, Snapshot, differences, everything
from livesync_day_vault import DATABASE, FOLDERS, Vault
from vault_ask.errors import ModelUnreachable
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index
from vault_ask.notes.sensitivity import Rules
from vault_building import faults
from waiting import wait_until

RULES = ((), ("Private",), ("Work/Deep", "Private"), ("**/Recipe*.md",))
NOTES_AT_FIRST = 14
FEW = 12
"""Notes below which nothing more is deleted: a vault that loses all of them is another test's."""


class NotNow(Exception):
    """The deed has nothing to be done to; it is put off."""


@dataclass(slots=True)
class Later:
    """What is to be done some deeds from now."""

    due: int
    what: str
    deed: Callable[[], None]


@dataclass
class Day:
    """One run. `done` counts what was done, `story` tells it."""

    seed: int
    mode: str
    folder: Path
    deeds: int = 150
    quiet_every: int = 50
    done: Counter[str] = field(default_factory=Counter)
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311 - reproducible on purpose
        self.server = CouchStandIn(shuffle=self.seed, repeats=True, selectors=self.chance.choice((None, None, 404)))
        self.later: list[Later] = []
        self.step = 0

    def __enter__(self) -> Self:
        self.server.__enter__()
        self.vault = Vault(self.server, self.mode, self.chance)
        self.house = House(self.folder, self.server.url)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.server.resume()
        if self.house.is_on:
            self.house.stop()
        self.vault.close()
        self.server.__exit__(None, None, None)

    def live(self) -> None:
        """Live through the day. Fails with the whole story."""
        try:
            for _ in range(NOTES_AT_FIRST):
                self.vault.write(self.vault.free_path(), self.vault.text(large=self.chance.random() < 0.3))
            self.house.start()
            self._do_everything()
            self._come_to_rest()
            self._compare()
            self._heal()
            self._compare(strictly=True)
            self._leave_no_trace()
        except Exception as error:
            story = "\n".join(self.story)
            raise AssertionError(f"seed {self.seed}, mode {self.mode}\n{story}\n\n{error}") from error

    def _do_everything(self) -> None:
        deck = self._deck()
        while deck:
            self.step += 1
            self.vault.hours += 24 / self.deeds * self.chance.uniform(0.5, 1.5)
            self._do_what_is_due()
            name = next((name for name in deck if self._did(name)), None)
            assert name or self.later, f"nothing of {set(deck)} can be done"
            if name:
                deck.remove(name)
            if self.step % self.quiet_every == 0:
                self._come_to_rest()
                self._compare()

    def _deck(self) -> list[str]:
        """Give every kind of deed once or twice, the frequent ones as often as fits, shuffled."""
        rest = self.deeds - len(DEEDS)
        deck = [*DEEDS, *self.chance.choices(list(DEEDS), weights=[deed.weight for deed in DEEDS.values()], k=rest)]
        self.chance.shuffle(deck)
        return deck

    def _did(self, name: str) -> bool:
        try:
            told = DEEDS[name].do(self)
        except NotNow:
            return False
        self.done[name] += 1
        self._tell(f"{name} {told}")
        return True

    def _tell(self, what: str) -> None:
        self.story.append(f"{self.step:4d} {self.vault.hours:5.1f}h {what}")

    def _do_what_is_due(self) -> None:
        due = [later for later in self.later if later.due <= self.step]
        self.later = [later for later in self.later if later.due > self.step]
        for later in due:
            self._tell(f"  {later.what}")
            later.deed()

    def _put_off(self, what: str, deed: Callable[[], None], most: int = 12) -> None:
        self.later.append(Later(self.step + self.chance.randint(1, most), what, deed))

    # Quiet moments

    def _come_to_rest(self) -> None:
        """End every fault, and have a daemon on."""
        self._tell("quiet")
        for later in [later for later in self.later if later.what in ENDS]:
            self.later.remove(later)
            later.deed()
        self.server.replies.clear()
        if not self.house.is_on:
            self.house.start()

    def _compare(self, *, strictly: bool = False) -> None:
        """Wait until the followed index is what a new one is; check what must hold then."""
        with self.house.scratch() as (writer, index):
            scratch = Snapshot.of(writer)
            hits = self.house.hits(index)
        seen: list[list[str]] = []
        try:
            wait_until(lambda: self._is_like(scratch, seen), seconds=12)
        except AssertionError:
            trouble = self.house._follower.trouble if self.house._follower else "off"
            told = f"{trouble} / {self.house.source and self.house.source.state()}"
            raise AssertionError(f"{told}\n" + "\n".join(seen[-1])) from None
        followed = Snapshot.of(self.house.writer)
        self._check(followed)
        if strictly:
            assert not followed.troubles or all(code != "incomplete" for _, code, _ in followed.troubles)
            found = Index(IndexFiles(self.house.data))
            assert self.house.hits(found) == hits
            found.close()

    def _is_like(self, scratch: Snapshot, seen: list[list[str]]) -> bool:
        if not self.house.is_on or self.house.mode != "watching":
            seen.append([f"the source is {self.house.mode}"])
            return False
        seen.append(differences(Snapshot.of(self.house.writer), scratch))
        return not seen[-1]

    def _check(self, followed: Snapshot) -> None:
        """Compare with what was written, by whom it was written."""
        expected = self.vault.expected()
        # Where a listing finds what was stored a moment before, nothing is read that would show that it is whole.
        # That comes a moment later, when the daemon writes down what it has confirmed.
        wait_until(lambda: any(fact.whole for fact in Snapshot.of(self.house.writer).facts.values()))
        # A note that got another path is kept at the former one until its text is whole.
        unsettled = {fact.shown for fact in followed.facts.values() if not fact.whole}
        assert set(followed.notes) <= set(expected) | unsettled, set(followed.notes) - set(expected)
        for path, one in expected.items():
            text = "".join(str(chunk) for chunk in followed.chunks.get(path, ()))
            # Of two documents at one path, the one that is on its way elsewhere counts until it is whole there.
            is_held = path in unsettled and sum(fact.shown == path for fact in followed.facts.values()) > 1
            if one.newest.whole and not is_held:
                assert path in followed.notes, f"{path} is whole and not indexed"
                assert _marker(one.newest.text) in text, f"{path} is not its newest version"
            if one.is_personal(self.house.rules) and path in followed.notes:
                assert followed.notes[path][1] == 1, f"{path} is personal and can be seen"
        assert not CIPHERTEXT.search(repr((followed.notes, followed.chunks, followed.edges, followed.terms)))

    def _heal(self) -> None:
        """Complete whatever is not whole, so that nothing is left to excuse."""
        self._tell("heal")
        for later in self.later:
            later.deed()
        self.later.clear()
        for path in self.vault.contested():
            self.vault.device().resolve_conflict(path)
        for meta in self.vault.files().values():
            if self.vault.content(meta) is None:
                _, chunks = self.vault.encoded(self.vault.devices[0], meta.path, self.vault._texts[meta.children])
                self.vault.devices[0].send(chunks)

    def _leave_no_trace(self) -> None:
        """What is not in the vault any more is in no table either, those of the word index included."""
        texts = "".join(str(one.newest.text) for one in self.vault.expected().values())
        stored = repr(everything(self.house.writer))
        left = {marker for marker in self.vault.markers if marker in stored and marker not in texts}
        assert not left, f"texts of {left} are left in a table"
        assert faults(self.house.writer) == []


def _marker(text: str | bytes) -> str:
    found = str(text).partition("# About ")[2]
    return found.partition("\n")[0]


# The deeds


def _note(day: Day) -> str:
    notes = day.vault.notes()
    if not notes:
        raise NotNow
    return day.chance.choice(notes)


def _spare(day: Day) -> str:
    while len(day.vault.notes()) <= FEW:
        new(day)
    return _note(day)


def _on(day: Day) -> House:
    if day.house.is_on and day.house.writer.lives is not None:
        raise NotNow
    _started(day)
    return day.house


def new(day: Day) -> str:
    path = day.vault.free_path()
    said = day.chance.choice((None, None, None, "personal", "open"))
    day.vault.write(path, day.vault.text(said=said, large=day.chance.random() < 0.2))
    return path


def edit(day: Day) -> str:
    path = _note(day)
    day.vault.write(path, day.vault.text(said=_said(day, path)))
    return path


def edit_large(day: Day) -> str:
    """Write a long note, or change the end of one: most of its chunks stay."""
    path = _note(day)
    text = next(str(day.vault._texts[meta.children]) for meta in day.vault.files().values() if meta.path == path)
    if len(text) < 2000:
        day.vault.write(path, day.vault.text(said=_said(day, path), large=True))
    else:
        day.vault.write(path, f"{text}\n{day.vault._paragraph()}\n")
    return path


def _said(day: Day, path: str) -> str | None:
    expected = day.vault.expected().get(unicodedata.normalize("NFC", path))
    return "personal" if expected and "sensitivity: personal" in str(expected.newest.text) else None


def rename(day: Day) -> str:
    old, path = _note(day), day.vault.free_path()
    day.vault.device().rename(old, path, new_first=day.chance.random() < 0.5)
    return f"{old} -> {path}"


def rename_far_apart(day: Day) -> str:
    old, path, device = _note(day), day.vault.free_path(), day.vault.device()
    meta = device._meta(old)

    def place() -> None:
        if day.vault.is_free(path):
            device._place(path, meta)

    def remove() -> None:
        if old in day.vault.notes():
            device.delete(old)

    first, second = (place, remove) if day.chance.random() < 0.5 else (remove, place)
    first()
    day._put_off(f"{second.__name__} of {old} -> {path}", second)
    return f"{first.__name__} of {old} -> {path}"


def recase(day: Day) -> str:
    old = _note(day)
    new_path = old.swapcase() if day.chance.random() < 0.5 else old.upper().removesuffix(".MD") + ".md"
    new_path = f"{new_path[:-3]}.md"
    encoder = day.vault.devices[0]._encoder
    if new_path == old or len(new_path) != len(old):
        raise NotNow
    if encoder.id(old) == encoder.id(new_path):
        day.vault.device().recase(old, new_path)
    elif encoder.id(new_path) not in day.vault.files():
        day.vault.device().rename(old, new_path)
    else:
        raise NotNow
    return f"{old} -> {new_path}"


def rename_folder(day: Day) -> str:
    folder = day.chance.choice([folder for folder in FOLDERS if folder])
    target = f"Moved {day.step}/"
    paths = [path for path in day.vault.notes() if path.startswith(folder)]
    if not paths:
        raise NotNow
    device = day.vault.device()
    for path in paths:
        device.rename(path, target + path.removeprefix(folder))
    return f"{folder} -> {target} ({len(paths)} notes)"


def delete(day: Day) -> str:
    path = _spare(day)
    day.vault.device().delete(path)
    return path


def bare_tombstone(day: Day) -> str:
    path = _spare(day)
    day.vault.device().purge_tombstone(path)
    return path


def undelete(day: Day) -> str:
    paths = [path for path in day.vault.deleted() if day.vault.is_free(path)]
    if not paths:
        path = day.chance.choice(day.vault.notes())
        day.vault.device().delete(path)
        paths = [path]
    path = day.chance.choice(paths)
    day.vault.write(path, day.vault.text())
    return path


def conflict_open(day: Day) -> str:
    return _conflict(day, None)


def conflict_personal(day: Day) -> str:
    return _conflict(day, "personal")


def _conflict(day: Day, said: str | None) -> str:
    path, device = _note(day), day.vault.device()
    losing = day.vault.text(said=said, large=day.chance.random() < 0.3)
    day.vault.encoded(device, path, losing)
    device.conflict(path, losing, day.vault.now(device))
    if day.chance.random() < 0.3:
        day._put_off(f"resolve {path}", lambda: _resolved(day, path))
    return path


def resolve(day: Day) -> str:
    if not day.vault.contested():
        conflict_open(day)
    path = day.chance.choice(day.vault.contested())
    _resolved(day, path)
    return path


def _resolved(day: Day, path: str) -> None:
    if path in day.vault.contested():
        day.vault.device().resolve_conflict(path)


def flip_sensitivity(day: Day) -> str:
    path = _note(day)
    said = None if _said(day, path) else "personal"
    day.vault.write(path, day.vault.text(said=said, large=day.chance.random() < 0.3))
    return f"{path}: {said}"


def chunks_late(day: Day) -> str:
    path = _note(day) if day.chance.random() < 0.7 else day.vault.free_path()
    said = day.chance.choice((None, _said(day, path), "personal"))
    text = day.vault.text(said=said, large=day.chance.random() < 0.6)
    device, chunks = day.vault.write(path, text, held_back=0.6)
    day._put_off(f"chunks of {path} arrive", lambda: device.send(chunks))
    return f"{path}: {len(chunks)} held back"


def chunks_never(day: Day) -> str:
    """Write a version that is never whole, perhaps beside a personal one of another device."""
    path = _note(day)
    _, chunks = day.vault.write(path, day.vault.text(said=_said(day, path), large=True), held_back=0.5)
    if day.chance.random() < 0.4:
        device, losing = day.vault.device(), day.vault.text(said="personal")
        day.vault.encoded(device, path, losing)
        device.conflict(path, losing, day.vault.now(device))
    return f"{path}: {len(chunks)} held back"


def collect_garbage(day: Day) -> str:
    """Drop a chunk that is in use, and have a device bring it back later, perhaps."""
    used = sorted({(child, path) for path, child in _children(day)})
    if not used:
        raise NotNow
    chunk, path = day.chance.choice(used)
    day.vault.devices[0].drop_chunk(chunk)
    text = next(day.vault._texts[meta.children] for meta in day.vault.files().values() if meta.path == path)
    _, chunks = day.vault.encoded(day.vault.devices[0], path, text)
    if day.chance.random() < 0.7:
        day._put_off(f"{path} has its chunks again", lambda: day.vault.devices[0].send(chunks))
    return f"a chunk of {path}"


def _children(day: Day) -> list[tuple[str, str]]:
    files = day.vault.files().values()
    return [
        (meta.path, child)
        for meta in files
        if meta.path.endswith(".md")
        for child in meta.children
        if day.vault.has(child)
    ]


def attachment(day: Day) -> str:
    path = f"{day.chance.choice(FOLDERS)}Image {day.chance.randint(1, 4)}.png"
    if day.vault.is_free(path) or day.chance.random() < 0.7:
        day.vault.write(path, day.chance.randbytes(day.chance.randint(0, 1500)), held_back=day.chance.choice((0, 0.2)))
    else:
        day.vault.device().delete(path)
    return path


def twin(day: Day) -> str:
    """Write a second document at one path, spelled as another system spells it."""
    paths = [path for path in day.vault.notes() if unicodedata.normalize("NFD", path) != path]
    paths = [path for path in paths if day.vault.is_free(unicodedata.normalize("NFD", path))]
    path = day.chance.choice(paths) if paths else f"Café/Ünal {day.step}.md"
    for spelled in ([] if paths else [path]) + [unicodedata.normalize("NFD", path)]:
        day.vault.write(spelled, day.vault.text(said=day.chance.choice((None, "personal"))))
    return path


def size_off(day: Day) -> str:
    path = _note(day)
    day.vault.write(path, day.vault.text(said=_said(day, path)), size_off=3)
    return path


def odd_path(day: Day) -> str:
    path = f"../Outside {day.step}.md"
    day.vault.write(path, day.vault.text())
    return path


def purge(day: Day) -> str:
    path = _spare(day)
    doc_id = next(doc_id for doc_id, meta in day.vault.files().items() if meta.path == path)
    with day.server.changed:
        database = day.server.databases[DATABASE]
        stored = database.get(doc_id)
        assert stored is not None
        database.purge(doc_id, list(stored.leaves))
    return path


def compact(day: Day) -> str:
    with day.server.changed:
        day.server.databases[DATABASE].compact()
    return ""


def change_salt(day: Day) -> str:
    if day.vault.mode.encryption != "v2":
        day.vault.devices[0].change_salt()
        return "that nobody uses"
    # One that no daemon met would hide what was encrypted with it from every new look.
    _on(day)
    wait_until(lambda: day.vault.salt() in day.house.met())
    device = day.vault.device()
    device.change_salt()
    day.vault.learn_salt()
    return f"by device {day.vault.devices.index(device)}"


def rebuild(day: Day) -> str:
    return _rebuilt(day, 1.0)


def rebuild_with_fewer(day: Day) -> str:
    return _rebuilt(day, 0.6)


def _rebuilt(day: Day, share: float) -> str:
    """Make the database anew from what a device holds, in pieces."""
    while len(held := _held(day)) <= FEW:
        new(day)
    kept = day.chance.sample(sorted(held), max(FEW, round(share * len(held))))
    steadily = share == 1.0 and day.chance.random() < 0.7 and _on(day).writer.known().keys() & set(held)
    builder = day.vault.device()
    builder.rebuild()
    for device in day.vault.devices:
        device._known_encoder = None
    day.vault.learn_salt()
    if steadily:
        _fill_steadily(day, held, kept, steadily)
        return f"with {len(kept)} of {len(held)} files, at one go"
    pieces = [kept[place::4] for place in range(4)]
    for place, piece in enumerate(pieces):
        if place == 0:
            _fill(day, held, piece)
        else:
            day.later.append(Later(day.step + place, "refill", lambda piece=piece: _fill(day, held, piece)))  # type: ignore[misc]
    return f"with {len(kept)} of {len(held)} files"


def _held(day: Day) -> dict[str, Any]:
    """Give the files that a device can push, by path."""
    return {meta.path: text for meta in day.vault.files().values() if (text := day.vault.content(meta)) is not None}


def _fill(day: Day, held: dict[str, Any], paths: list[str]) -> None:
    for path in paths:
        if day.vault.is_free(path):
            day.vault.write(path, held[path])


def _fill_steadily(day: Day, held: dict[str, Any], paths: list[str], before: set[str]) -> None:
    """Fill a new database; while that goes on without a pause, hardly anything may be believed gone."""
    longest, last = 0.0, time.monotonic()
    for path in paths:
        _fill(day, held, [path])
        lost = before - day.house.writer.known().keys()
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
        # On a busy machine the test itself may pause for so long that the database does keep still.
        assert len(lost) <= len(before) / 5 + 2 or longest > PACE.quiet / 2, f"{len(lost)} notes were dropped too early"


# What befalls the server and the daemon


def server_down(day: Day) -> str:
    day.server.down()
    if day.house.is_on:
        wait_until(lambda: day.house.mode == "waiting" or day.house._follower.trouble is not None)
    day.server.up()
    return ""


def cut_connections(day: Day) -> str:
    day.server.cut_connections()
    return ""


def cut_answers(day: Day) -> str:
    count = day.chance.randint(1, 6)
    day.server.cut_next(count)
    return str(count)


def busy(day: Day) -> str:
    count = day.chance.randint(1, 8)
    day.server.fail_next(day.chance.choice((503, 429, 500)), count, path=day.chance.choice(("", "_changes")))
    return str(count)


def login_page(day: Day) -> str:
    day.server.reply_next(path="_changes")
    return ""


def silence(day: Day) -> str:
    """Hold everything back until the daemon has noticed."""
    house = _on(day)
    wait_until(lambda: house.mode == "watching")
    day.server.pause()
    asked = len(day.server.requests)
    wait_until(lambda: len(day.server.requests) > asked or house.mode != "watching")
    day.server.resume()
    return ""


def proxy_cuts_feeds(day: Day) -> str:
    day.server.feed_seconds = 0.2
    day._put_off("proxy gone", lambda: setattr(day.server, "feed_seconds", None))
    return ""


def proxy_buffers(day: Day) -> str:
    """Let nothing of a continuous feed through for a while; what was held back is lost with the connections."""
    day.server.buffers = True

    def end() -> None:
        day.server.buffers = False
        day.server.cut_connections()

    day._put_off("proxy gone", end)
    return ""


def restart(day: Day) -> str:
    house = _on(day)
    house.stop()
    house.start()
    return ""


def new_rules(day: Day) -> str:
    house = _on(day)
    house.stop()
    patterns = day.chance.choice(RULES)
    house.rules = Rules.compile(patterns, "sensitivity")
    house.start()
    return str(patterns)


def off_for_a_while(day: Day) -> str:
    _on(day).stop()
    day._put_off("on", lambda: _started(day))
    return ""


def index_by_hand(day: Day) -> str:
    _on(day).stop()

    def run() -> None:
        if not day.house.is_on:
            day.house.index_by_hand()

    day._put_off("index", run, most=3)
    day.later.append(Later(day.step + 5, "on", lambda: _started(day)))
    return ""


def _started(day: Day) -> None:
    if not day.house.is_on:
        day.house.start()


def killed(day: Day) -> str:
    """Let the daemon die within the next transactions, and begin again some deeds later."""
    return _doomed(day, day.chance.randint(1, 6))


def killed_in_a_sweep(day: Day) -> str:
    """Let the daemon die while it takes in a database that was made anew."""
    told = _doomed(day, day.chance.randint(1, 4))
    return f"{told}, {_rebuilt(day, 0.6)}"


def _doomed(day: Day, transactions: int) -> str:
    house = _on(day)
    house.writer.lives = transactions

    def rise() -> None:
        if house.is_on:
            house.kill()
        house.start()

    day._put_off("killed", rise, most=4)
    return f"after {transactions} transactions"


def embedder_away(day: Day) -> str:
    day.house.embedder.fail_with(ModelUnreachable("Nobody listens there."))
    day._put_off("embedder back", day.house.embedder.recover)
    return ""


ENDS = frozenset({"proxy gone", "embedder back", "killed", "refill"})
"""What is brought to its end before a comparison."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of deed, and how much more often than others it happens."""

    do: Callable[[Day], str]
    weight: int = 1


_OFTEN = {
    new: 5,
    edit: 10,
    edit_large: 4,
    rename: 5,
    rename_far_apart: 3,
    delete: 4,
    flip_sensitivity: 4,
    chunks_late: 3,
}
_SELDOM = (
    recase, rename_folder, bare_tombstone, undelete, conflict_open, conflict_personal, resolve, chunks_never,
    collect_garbage, attachment, twin, size_off, odd_path, purge, compact, change_salt, rebuild, rebuild_with_fewer,
    server_down, cut_connections, cut_answers, busy, login_page, silence, proxy_cuts_feeds, proxy_buffers, restart,
    new_rules, off_for_a_while, index_by_hand, killed, killed_in_a_sweep, embedder_away,
)  # fmt: skip
DEEDS: dict[str, Kind] = {
    **{deed.__name__: Kind(deed, weight) for deed, weight in _OFTEN.items()},
    **{deed.__name__: Kind(deed) for deed in _SELDOM},
}
