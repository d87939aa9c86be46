"""Machine code kept between processes: shared, never stale, never mixed up, never needed.

Most tests use the few small kernels of store.kernels.fingerprint, in processes of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from extbfs import kernel_cache
from store.kernels import fingerprint
from tests import helpers_numba

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("extbfs", "store", "puzzles")

pytestmark = pytest.mark.skipif(not helpers_numba.JIT, reason="nothing is compiled without the JIT")

WARM = """
import numpy as np
import extbfs
from extbfs.kernel_cache import MISSES, cache_directory
from store.kernels import fingerprint
fingerprint.warm(32)
keys = np.arange(1000, dtype=np.uint64)
print(MISSES.count, int(fingerprint.fingerprint(keys)))
"""
KERNELS = 9
"""What WARM compiles, helpers that are called by others and every signature counted."""


def spawn(code: str, cache: Path | str, cwd: Path = ROOT, **changes: str) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    environment |= {"XDG_CACHE_HOME": str(cache), "PYTHONDONTWRITEBYTECODE": "1", **changes}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def warm(cache: Path | str, cwd: Path = ROOT, **changes: str) -> tuple[int, int]:
    """(kernels compiled, a fingerprint they computed) of a process that uses that cache."""
    misses, value = ended(spawn(WARM, cache, cwd, **changes)).split()
    return int(misses), int(value)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that one process has filled."""
    cache = tmp_path_factory.mktemp("cache")
    assert warm(cache) == (KERNELS, EXPECTED)
    return cache


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The same sources in another place, as in another virtual environment."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path


def naive(n: int) -> int:
    """The fingerprint of the keys 0 .. n - 1: the sum of splitmix64's finaliser, modulo 2**64."""
    total, mask = 0, 2**64 - 1
    for key in range(n):
        z = (key + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        total += z ^ z >> 31
    return total & mask


EXPECTED = naive(1000)


class TestSharing:
    def test_a_second_process_compiles_nothing(self, filled):
        assert warm(filled) == (0, EXPECTED)

    def test_nor_does_one_of_another_environment(self, filled, copied):
        code = WARM + "print(fingerprint.__file__)"
        misses, value, file = ended(spawn(code, filled, copied)).split()
        assert (int(misses), int(value)) == (0, EXPECTED)
        assert file.startswith(str(copied))

    def test_numbas_own_variable_moves_the_cache(self, filled, tmp_path):
        assert warm(filled, NUMBA_CACHE_DIR=str(tmp_path)) == (KERNELS, EXPECTED)
        assert warm("/dev/null", NUMBA_CACHE_DIR=str(tmp_path)) == (0, EXPECTED)

    def test_a_package_used_alone_compiles_and_keeps_nothing(self, tmp_path):
        code = WARM.replace("import extbfs\n", "").replace("from extbfs.kernel_cache", "#")
        code = code.replace("MISSES.count", "len(fingerprint.fingerprint.signatures)")
        assert ended(spawn(code, tmp_path)).split() == ["1", str(EXPECTED)]
        assert not list(tmp_path.iterdir())


class TestStaleness:
    def test_a_change_in_another_module_of_the_package_counts(self, filled, copied):
        jit = copied / "store" / "kernels" / "jit.py"
        jit.write_text(jit.read_text() + "\n# changed\n")
        assert warm(filled, copied) == (KERNELS, EXPECTED)

    def test_what_is_compiled_is_what_the_source_says(self, filled, copied):
        source = copied / "store" / "kernels" / "fingerprint.py"
        text = source.read_text()
        assert "0x9E3779B97F4A7C15" in text
        source.write_text(text.replace("0x9E3779B97F4A7C15", "0x9E3779B97F4A7C16"))
        misses, value = warm(filled, copied)
        assert misses == KERNELS
        assert value != EXPECTED

    def test_bounds_checks_are_not_taken_for_their_absence(self, filled):
        assert warm(filled, NUMBA_BOUNDSCHECK="1") == (KERNELS, EXPECTED)

    @pytest.mark.parametrize(
        ("changed", "matters"),
        [
            ("extbfs/algebra/fibre_kernels.py", True),
            ("store/kernels/jit.py", True),
            ("store/kernels/bitmap.py", False),
            ("puzzles/tiles/kernels.py", False),
        ],
    )
    def test_a_kernel_depends_on_its_file_and_on_what_it_imports(self, changed, matters, copied):
        code = """if True:
            import extbfs.algebra.fibre_kernels
            from extbfs.kernel_stamp import stamp
            print(stamp("extbfs.algebra.fibre_kernels"))
        """
        before = ended(spawn(code, copied / "cache", copied))
        (copied / changed).write_text((copied / changed).read_text() + "\n# changed\n")
        assert (ended(spawn(code, copied / "cache", copied)) != before) == matters

    def test_imports_are_followed_through_modules_of_ones_own(self, tmp_path):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "__init__.py").touch()
        (tmp_path / "mine" / "three.py").write_text("N = 3\n")
        (tmp_path / "mine" / "two.py").write_text("from .three import N\n")
        (tmp_path / "one.py").write_text("import numba\nimport json\nfrom mine import two\n")
        code = """if True:
            import sys
            sys.path.insert(0, sys.argv[1])
            import one
            from extbfs.kernel_stamp import closure
            print(*sorted(closure("one")))
        """.replace("sys.argv[1]", repr(str(tmp_path)))
        assert ended(spawn(code, tmp_path)).split() == ["mine", "mine.three", "mine.two", "one"]


class TestSafety:
    def test_two_processes_that_fill_one_cache_at_once(self, tmp_path):
        both = [spawn(WARM, tmp_path), spawn(WARM, tmp_path)]
        for process in both:
            assert ended(process).split()[1] == str(EXPECTED)
        assert warm(tmp_path) == (0, EXPECTED)
        kept = list((tmp_path / "extbfs" / "kernels").iterdir())
        assert len(kept) == KERNELS  # nothing half-written lies about

    def test_with_the_lock_only_one_of_two_compiles(self, tmp_path):
        code = WARM.replace("fingerprint.warm(32)", LOCKED)
        both = [spawn(code, tmp_path), spawn(code, tmp_path)]
        said = [ended(process).splitlines() for process in both]
        misses = sorted(int(lines[-1].split()[0]) for lines in said)
        assert misses == [0, KERNELS]
        assert {lines[-1].split()[1] for lines in said} == {str(EXPECTED)}

    @pytest.mark.parametrize("damage", ["emptied", "cut", "flipped"])
    def test_a_damaged_entry_is_compiled_again(self, damage, filled, tmp_path):
        cache = tmp_path / "cache"
        shutil.copytree(filled, cache)
        for file in (cache / "extbfs" / "kernels").iterdir():
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 1
            half = bytes(data[: len(data) // 2])
            file.write_bytes({"emptied": b"", "cut": half, "flipped": bytes(data)}[damage])
        assert warm(cache) == (KERNELS, EXPECTED)

    @pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"])
    def test_without_a_place_to_write_kernels_are_compiled_all_the_same(self, variable):
        changes = {"XDG_CACHE_HOME": "", variable: "/dev/null"}
        said = ended(spawn(WARM + "print(cache_directory())", "", ROOT, **changes))
        assert said.split() == [str(KERNELS), str(EXPECTED), "None"]


LOCKED = """
from extbfs.kernels import one_at_a_time
with one_at_a_time(print):
    fingerprint.warm(32)
"""

SEARCH = """
import sys
import extbfs
from extbfs.kernel_cache import MISSES
class Watcher:
    def on_event(self, event):
        if event["event"] == "message":
            print(event["text"])
outcome = extbfs.start(sys.argv[1] if sys.argv[1:] else "tiles:3x3", {run!r}, observer=Watcher())
print(outcome.states, MISSES.count)
"""


class TestMessages:
    def test_the_first_kernel_to_be_compiled_is_announced_once(self, monkeypatch, tmp_path):
        monkeypatch.setattr(kernel_cache, "MISSES", misses := kernel_cache.Misses())
        said: list[int] = []
        misses.tell = lambda: said.append(misses.count)
        entry = kernel_cache.KernelCache(
            str(tmp_path), fingerprint.fingerprint.py_func, "a stamp that no entry has"
        )
        target = fingerprint.fingerprint.targetctx
        assert entry.load_overload("(uint64,)", target) is None
        assert entry.load_overload("(uint64,)", target) is None
        assert (said, misses.count) == ([1], 2)


@pytest.mark.slow
def test_two_searches_that_start_at_once_with_an_empty_cache(tmp_path):
    runs = [tmp_path / "a", tmp_path / "b"]
    both = [spawn(SEARCH.format(run=str(run)), tmp_path / "cache") for run in runs]
    said = [ended(process).splitlines() for process in both]
    assert [int(lines[-1].split()[0]) for lines in said] == [181440, 181440]
    text = "\n".join(line for lines in said for line in lines)
    assert text.count("compiling kernels, once on this machine") == 1
    assert text.count("waiting for another process") == 1
    *rest, last = ended(spawn(SEARCH.format(run=str(tmp_path / "c")), tmp_path / "cache")).split()
    assert last == "0"
    assert "compiling" not in rest


@pytest.mark.slow
def test_a_search_without_a_cache(tmp_path):
    said = ended(spawn(SEARCH.format(run=str(tmp_path / "a")), "", HOME="/dev/null"))
    assert "cannot be kept" in said
    assert said.splitlines()[-1].startswith("181440 ")
