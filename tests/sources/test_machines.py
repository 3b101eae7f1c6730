"""Real limits, mounts and locales, each in a process of its own. Skipped where the kernel forbids user namespaces."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

LIMIT = """
vault = fill(Path(sys.argv[1]), {f"F{n}/n.md": "n" for n in range(60)})
Path("/proc/sys/user/max_inotify_%s").write_text("%d")
source = folder_source(vault, watch="auto")
with listening(source) as listener:
    print(source.state().mode, "fs.inotify.max_user_watches" in source.state().message)
    (vault / "F7/n.md").unlink()
    fill(vault, {"F9/n.md": "edited"})
    listener.wait_for(lambda: {Deleted("F7/n.md"), Upserted("F9/n.md")} <= set(listener.changes))
print("told")
"""

LIMIT_MET_LATER = """
vault = fill(Path(sys.argv[1]), {f"F{n}/n.md": "n" for n in range(10)})
Path("/proc/sys/user/max_inotify_watches").write_text("20")
source = folder_source(vault, watch="auto")
with listening(source) as listener:
    print(source.state().mode)
    fill(vault, {f"G{n}/n.md": "n" for n in range(50)})
    listener.wait_for(lambda: source.state().mode == "polling")
    listener.wait_for(lambda: {Upserted(f"G{n}/n.md") for n in range(50)} <= set(listener.changes))
    fill(vault, {"G49/n.md": "edited"})
    listener.wait_for(lambda: listener.changes.count(Upserted("G49/n.md")) > 1)
print("told")
"""

REARMED_NEAR_THE_LIMIT = """
vault = fill(Path(sys.argv[1]), {f"F{n}/n.md": "n" for n in range(10)})
Path("/proc/sys/user/max_inotify_watches").write_text("20")
source = folder_source(vault, watch="auto")
with listening(source) as listener:
    for number in range(5):
        fill(vault, {f"G{number}/n.md": "n"})
        listener.wait_for_change(Upserted(f"G{number}/n.md"))
    print(source.state().mode)
"""

UNMOUNT = """
vault = Path(sys.argv[1]) / "vault"
vault.mkdir()
mount(vault)
fill(vault, {"a.md": "a", "Work/b.md": "b"})
source = folder_source(vault, watch=%r)
with listening(source) as listener:
    print(listed(source))
    run(["umount", "--lazy", vault], check=True)
    listener.wait_for(lambda: source.state().mode == "waiting")
    try:
        source.listing()
    except SourceUnreachable as error:
        print(error)
    mount(vault)
    fill(vault, {"a.md": "a", "c.md": "c"})
    listener.wait_for(lambda: sum(isinstance(change, Rescan) for change in listener.changes) > 1)
    fill(vault, {"d.md": "d"})
    listener.wait_for_change(Upserted("d.md"))
print([change for change in listener.changes if isinstance(change, Deleted)])
"""

UNMOUNT_BELOW = """
vault = fill(Path(sys.argv[1]), {"a.md": "a", "b.md": "b"})
shared = vault / "Shared"
shared.mkdir()
mount(shared)
fill(vault, {"Shared/s.md": "s", "Shared/Deep/t.md": "t"})
source = folder_source(vault, watch="polling")
print(listed(source), source.unreadable())
with listening(source) as listener:
    run(["umount", "--lazy", shared], check=True)
    fill(vault, {"last.md": "l"})
    listener.wait_for_change(Upserted("last.md"))
    print(listed(source), source.unreadable(), source.problems()[0].reason)
    mount(shared)
    fill(vault, {"Shared/s.md": "s", "Shared/Deep/u.md": "u"})
    listener.wait_for_change(Upserted("Shared/Deep/u.md"))
    print(listed(source), source.unreadable())
print([change for change in listener.changes if isinstance(change, Deleted)])
"""

LOCALE = """
vault = Path(sys.argv[1])
source = folder_source(vault, include=["K\\u00fcche/**"])
print(ascii([(entry.path, source.read(entry.path).content) for entry in source.listing()]))
with listening(source) as listener:
    print(source.state().mode)
    (Path(sys.argv[1]) / os.fsdecode("K\\u00fcche/bl\\u00e5b\\u00e4r.md".encode())).write_bytes(b"new")
    listener.wait_for_change(Upserted("K\\u00fcche/bl\\u00e5b\\u00e4r.md"))
"""

PRELUDE = """
import os, sys
from pathlib import Path
from subprocess import run
from sources.listening import listening
from sources.vaults import fill, folder_source, listed
from vault_ask.errors import SourceUnreachable
from vault_ask.sources.port import Deleted, Rescan, Upserted

def mount(place):
    run(["mount", "-t", "tmpfs", "vault", place], check=True)
"""

NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


def may_make_namespaces() -> bool:
    try:
        return subprocess.run([*NAMESPACE, "true"], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


namespaces = pytest.mark.skipif(not may_make_namespaces(), reason="the kernel allows no user namespaces here")


def run(script: str, folder: Path, *prefix: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [*prefix, sys.executable, "-W", "error", "-c", PRELUDE + script, str(folder)],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent / 'daemon'}", **environment},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@namespaces
@pytest.mark.parametrize(("kind", "limit"), [("watches", 20), ("instances", 0)])
def test_limit_of_the_system_turns_watching_into_polling(tmp_path: Path, kind: str, limit: int) -> None:
    assert run(LIMIT % (kind, limit), tmp_path, *NAMESPACE) == ["polling True", "told"]


@namespaces
def test_limit_met_by_new_folders_turns_watching_into_polling(tmp_path: Path) -> None:
    assert run(LIMIT_MET_LATER, tmp_path, *NAMESPACE) == ["watching", "told"]


@namespaces
def test_rearming_needs_no_more_watches_than_there_are_folders(tmp_path: Path) -> None:
    assert run(REARMED_NEAR_THE_LIMIT, tmp_path, *NAMESPACE) == ["watching"]


@namespaces
@pytest.mark.parametrize("watch", ["native", "polling"])
def test_unmounted_vault_is_waited_for_and_loses_nothing(tmp_path: Path, watch: str) -> None:
    seen, error, deleted = run(UNMOUNT % watch, tmp_path, *NAMESPACE)
    assert seen == "['Work/b.md', 'a.md']"
    assert "as the place of an unmounted disk is" in error
    assert deleted == "[]"


@namespaces
def test_disk_unmounted_within_the_vault_loses_nothing_and_is_named(tmp_path: Path) -> None:
    before, away, back, deleted = run(UNMOUNT_BELOW, tmp_path, *NAMESPACE)
    assert before == "['Shared/Deep/t.md', 'Shared/s.md', 'a.md', 'b.md'] ()"
    assert away == "['a.md', 'b.md', 'last.md'] ('Shared',) the disk mounted there is away"
    assert back == "['Shared/Deep/u.md', 'Shared/s.md', 'a.md', 'b.md', 'last.md'] ()"
    assert deleted == "[Deleted(path='Shared/Deep/t.md')]"


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
        {"LC_ALL": "C.UTF-8"},
    ],
)
def test_names_are_the_same_in_every_locale(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "Küche").mkdir()
    (tmp_path / "Küche/björnbär.md").write_bytes("björnbär\n".encode())
    listing, mode = run(LOCALE, tmp_path, **environment)
    assert listing == ascii([("Küche/björnbär.md", "björnbär\n".encode())])
    assert mode == "watching"
