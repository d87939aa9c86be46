"""What the figures were measured on, and with: machine, versions, memory that is free."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from store.mounts import file_system_type

PACKAGES = ("extbfs", "numpy", "numba", "llvmlite", "lmdb", "zstandard", "xxhash")
ROOT = Path(__file__).resolve().parents[2]
CONTROL_GROUP = Path("/sys/fs/cgroup")


def machine(directory: Path) -> dict[str, Any]:
    """Processor, cores, memory, system, and the file system of `directory`."""
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": cores(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "file_system": file_system_type(directory),
        "load_average": [round(x, 2) for x in os.getloadavg()],
    }


def versions() -> dict[str, Any]:
    """Python, the packages, and the commit where the program is run from a repository."""
    found: dict[str, Any] = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    found["commit"] = _git("describe", "--always", "--dirty")
    return found


def cores() -> int:
    """The cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def available_memory() -> int:
    """Bytes that could be taken without swapping, as far as the control group allows them."""
    text = _field("/proc/meminfo", "MemAvailable")
    if text is None:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    found = int(text.split()[0]) * 1024
    try:
        limit = (CONTROL_GROUP / "memory.max").read_text(encoding="ascii").strip()
        used = (CONTROL_GROUP / "memory.current").read_text(encoding="ascii").strip()
    except OSError:
        return found
    return min(found, int(limit) - int(used)) if limit.isdigit() else found


def _field(path: str, name: str) -> str | None:
    """The value of the first line `name: value` of a file of the kernel's."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
