from pathlib import Path

import pytest

from vault_ask.sources.mounts import read_mounts, remote_kind

# Recorded on a Debian laptop with shares, a container of Docker Desktop and WSL2; names changed.
LAPTOP = """\
22 27 0:21 / /proc rw,relatime shared:12 - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard,resuid=65534
41 27 0:38 / /mnt/nas rw,relatime shared:20 - nfs4 nas.local:/volume1 rw,vers=4.2,rsize=1048576
42 27 0:39 / /mnt/Büro\\040und\\040Heim rw,relatime shared:21 - cifs //fs/office rw,vers=3.1.1,username=a
43 27 0:40 / /home/a/drive rw,nosuid,nodev,relatime shared:22 - fuse.rclone drive: rw,user_id=1000
44 27 8:17 / /media/a/STICK rw,nosuid,nodev,relatime shared:23 - fuseblk /dev/sdb1 rw,blksize=4096
45 41 8:33 / /mnt/nas/local rw,relatime shared:24 - ext4 /dev/sdc1 rw
46 27 0:41 / /mnt/auto rw,relatime shared:25 - autofs systemd-1 rw,fd=47,timeout=0
47 46 8:49 / /mnt/auto rw,relatime shared:26 - ext4 /dev/sdd1 rw
"""
CONTAINER = """\
690 620 0:60 / / rw,relatime master:190 - overlay overlay rw,lowerdir=/l/A:/l/B,upperdir=/u,workdir=/w
701 690 0:71 /Users/a/Vault /vault rw,relatime - fakeowner /run/host_mark/Users rw,fakeowner
702 690 254:1 /docker/volumes/notes/_data /volume rw,relatime master:29 - ext4 /dev/vda1 rw,discard
"""
WSL = """\
75 64 8:32 / / rw,relatime - ext4 /dev/sdc rw,discard,errors=remount-ro,data=ordered
97 75 0:61 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync,aname=drvfs;path=C:\\;uid=1000;gid=1000,access=client
"""
ODD = "\n27 1 254:0 / /\n- -\n28 1 0:1 / /half rw -\nno dash at all\n27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"


@pytest.mark.parametrize(
    ("machine", "folder", "kind"),
    [
        (LAPTOP, "/home/a/Vault", None),
        (LAPTOP, "/mnt/nas", "nfs4"),
        (LAPTOP, "/mnt/nas/notes", "nfs4"),
        (LAPTOP, "/mnt/nasty/notes", None),
        (LAPTOP, "/mnt/Büro und Heim/Vault", "cifs"),
        (LAPTOP, "/home/a/drive/Vault", "fuse.rclone"),
        (LAPTOP, "/media/a/STICK/Vault", None),
        (LAPTOP, "/mnt/nas/local/Vault", None),
        (LAPTOP, "/mnt/auto/Vault", None),
        (CONTAINER, "/app/Vault", None),
        (CONTAINER, "/vault", "fakeowner"),
        (CONTAINER, "/volume/Vault", None),
        (WSL, "/home/a/Vault", None),
        (WSL, "/mnt/c/Users/a/Vault", "9p"),
        (ODD, "/home/a/Vault", None),
    ],
)
def test_kind_of_the_nearest_mount_decides(tmp_path: Path, machine: str, folder: str, kind: str | None) -> None:
    assert remote_kind(folder, read_mounts(recorded(tmp_path, machine))) == kind


def test_share_mounted_within_the_vault_counts_too(tmp_path: Path) -> None:
    assert remote_kind("/home/a", read_mounts(recorded(tmp_path, LAPTOP))) == "fuse.rclone"


def test_machine_without_mountinfo_knows_nothing(tmp_path: Path) -> None:
    assert read_mounts(tmp_path / "mountinfo") == ()
    assert remote_kind("/Users/a/Vault", ()) is None


def test_this_machines_own_mounts_are_read() -> None:
    # In a chroot there is no mount at the root, but what /proc/self/mountinfo was read from is always one.
    assert any(mount.holds("/proc/self") for mount in read_mounts())


def recorded(folder: Path, text: str) -> Path:
    file = folder / "mountinfo"
    file.write_text(text, encoding="utf-8")
    return file
