"""What kind of file system a folder lies on, and whether it tells of changes made elsewhere.

Read from /proc/self/mountinfo, whose fields proc(5) describes. Where there is no such file (macOS, Windows) nothing is
known and nothing is called remote; `vault.watch: polling` is there for that.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

MOUNTINFO = Path("/proc/self/mountinfo")

# Kinds whose files change behind the kernel's back: another machine, the host of a virtual machine, a cloud. inotify
# sees only what goes through this kernel. `fuseblk` is a disk of one's own (NTFS, exFAT) and overlay tells all that
# happens through it, so neither is here. autofs becomes something else when it is entered, nearly always NFS.
_REMOTE = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afs", "ncpfs", "davfs", "sshfs", "coda"),
        *("ceph", "glusterfs", "lustre", "gfs2", "gpfs", "ocfs2", "orangefs", "pvfs2", "beegfs", "acfs"),
        *("9p", "virtiofs", "vboxsf", "vmhgfs", "hgfs", "prl_fs", "drvfs", "fakeowner", "grpcfuse", "osxfs"),
        *("fuse", "autofs"),
    )
)
_ESCAPE = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system: `point` is its absolute path, `kind` the kernel's name such as `ext4` or `fuse.sshfs`."""

    point: str
    kind: str

    @property
    def remote(self) -> bool:
        """Whether files may change there without this kernel noticing."""
        return self.kind in _REMOTE or self.kind.startswith("fuse.")

    def holds(self, path: str) -> bool:
        """Whether an absolute path lies at or below the mount point."""
        return path == self.point or path.startswith(self.point.rstrip("/") + "/")


def read_mounts(mountinfo: Path = MOUNTINFO) -> tuple[Mount, ...]:
    """List what is mounted, in the order of mounting; nothing where the file cannot be read."""
    try:
        lines = mountinfo.read_bytes().splitlines()
    except OSError:
        return ()
    return tuple(mount for line in lines if (mount := _parse(line)))


def remote_kind(folder: str, mounts: tuple[Mount, ...]) -> str | None:
    """Name the remote file system that a folder (absolute, links resolved) lies on or has mounted below it."""
    above = [mount for mount in mounts if mount.holds(folder)]
    # The longest point is the nearest; of two on the same point the later one hides the earlier.
    nearest = max(reversed(above), key=lambda mount: len(mount.point), default=None)
    if nearest and nearest.remote:
        return nearest.kind
    below = Mount(folder, "")
    return next((mount.kind for mount in mounts if mount.remote and below.holds(mount.point)), None)


def _parse(line: bytes) -> Mount | None:
    # 36 35 98:0 /root /mount/point rw,noatime shared:1 - ext4 /dev/sda1 rw: any number of fields before the dash.
    before, dash, after = line.partition(b" - ")
    fields, tail = before.split(b" "), after.split(b" ")
    point_field = 4
    if not dash or len(fields) <= point_field or not tail[0]:
        return None
    point = _ESCAPE.sub(lambda found: bytes([int(found[1], 8) & 0xFF]), fields[point_field])
    return Mount(os.fsdecode(point), os.fsdecode(tail[0]))
