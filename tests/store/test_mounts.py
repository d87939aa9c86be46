"""The mount table is read as the kernel writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.mounts import file_system_type, is_network_file_system

TABLE = """\
/dev/root / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/local xfs rw 0 0
tmpfs /mnt/with\\040space tmpfs rw 0 0
user@host: /mnt/ssh fuse.sshfs rw 0 0
/dev/sdc1 /mnt/ssh ext4 rw 0 0
broken
"""


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "mounts"
    path.write_text(TABLE)
    return str(path)


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/var/tmp/run", "ext4", False),
        ("/home/someone/run", "nfs4", True),
        ("/home", "nfs4", True),
        ("/homework", "ext4", False),
        ("/home/local/run", "xfs", False),
        ("/mnt/with space/run", "tmpfs", False),
        ("/mnt/ssh/run", "ext4", False),  # the later mount covers the earlier one
    ],
)
def test_the_longest_mount_point_decides(table: str, path: str, kind: str, network: bool) -> None:
    assert file_system_type(path, table) == kind
    assert is_network_file_system(path, table) is network


def test_without_a_table_nothing_is_refused(tmp_path: Path) -> None:
    assert file_system_type(tmp_path, str(tmp_path / "none")) is None
    assert not is_network_file_system(tmp_path, str(tmp_path / "none"))


def test_this_machine_has_a_type_for_its_root() -> None:
    assert file_system_type("/")
