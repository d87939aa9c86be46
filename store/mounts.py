"""Which file system a path is on, and whether it is one on which a run would not be safe."""

from __future__ import annotations

import os

# LMDB shares a memory map between processes and needs locks and syncs that mean what they say.
_NETWORK = frozenset(
    {
        *("9p", "afs", "beegfs", "ceph", "cifs", "davfs", "gfs2", "glusterfs", "gpfs", "lustre"),
        *("ncpfs", "nfs", "nfs3", "nfs4", "ocfs2", "orangefs", "pvfs2", "smb", "smb2", "smb3"),
        *("smbfs", "fuse.ceph", "fuse.cephfs", "fuse.davfs2", "fuse.gcsfuse", "fuse.glusterfs"),
        *("fuse.juicefs", "fuse.rclone", "fuse.s3fs", "fuse.smbnetfs", "fuse.sshfs"),
    }
)


def file_system_type(path: str | os.PathLike[str], mounts: str = "/proc/self/mounts") -> str | None:
    """The type of the file system that holds `path` ("ext4"), or None where that is not known.

    `path` itself need not exist yet. `mounts` is a table in the form of /proc/mounts.
    """
    where = os.path.realpath(path)
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as table:
            lines = [line.split() for line in table]
    except OSError:
        return None
    found: str | None = None
    longest = -1
    for fields in lines:
        if len(fields) < 3:
            continue
        point = _unescape(fields[1])
        inside = where == point or where.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:  # of two on one point, the later covers the earlier
            found, longest = fields[2], len(point)
    return found


def is_network_file_system(path: str | os.PathLike[str], mounts: str = "/proc/self/mounts") -> bool:
    """Whether `path` is on a network file system, where a run directory is refused."""
    return file_system_type(path, mounts) in _NETWORK


def _unescape(text: str) -> str:
    for code in ("040", "011", "012", "134"):
        text = text.replace("\\" + code, chr(int(code, 8)))
    return text
