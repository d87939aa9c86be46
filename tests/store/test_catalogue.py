"""The catalogue: what it keeps, when it is durable, and that it never hands out damaged data."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import lmdb
import pytest
import xxhash
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from store import fs, names
from store.catalogue import RESERVE_SIZE, Catalogue, as_json
from store.errors import (
    CatalogueFull,
    DiskFull,
    IntegrityError,
    IoFailure,
    Locked,
    NotARun,
    StoreError,
    UnknownVersion,
)
from store.lock import WriterLock
from tests.faults import Fault, FaultyFileSystem
from tests.sandbox import (
    ROOT,
    open_directory,
    run_on_small_disk,
    run_read_only,
    run_unprivileged,
)


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    with Catalogue.create(tmp_path, {"made_by": "a test"}) as new:
        yield new


def _put(catalogue: Catalogue, **values: bytes) -> None:
    catalogue.stage(values)
    catalogue.commit()


class TestValues:
    def test_staged_is_seen_at_once_but_durable_only_after_commit(self, tmp_path: Path) -> None:
        with Catalogue.create(tmp_path, {}) as writer:
            writer.stage({"a": b"1", "b": b""})
            assert writer.get("a") == b"1"
            assert list(writer.scan()) == [("a", b"1"), ("b", b"")]
        with Catalogue.open(tmp_path) as writer:
            assert writer.get("a") is None
            _put(writer, a=b"1", b=b"")
        with Catalogue.open(tmp_path, readonly=True) as reader:
            assert dict(reader.scan()) == {"a": b"1", "b": b""}

    def test_the_last_word_on_a_key_counts(self, catalogue: Catalogue) -> None:
        _put(catalogue, a=b"1", b=b"2", c=b"3")
        catalogue.stage({"a": b"changed"}, ["b", "c", "never there"])
        assert list(catalogue.scan()) == [("a", b"changed")]
        catalogue.stage({"c": b"again"})
        catalogue.stage({"d": b"put wins"}, ["d"])
        expected = [("a", b"changed"), ("c", b"again"), ("d", b"put wins")]
        assert list(catalogue.scan()) == expected
        assert catalogue.get("b") is None
        catalogue.commit()
        assert list(catalogue.scan()) == expected
        assert catalogue.check() == 4  # and the catalogue's own

    def test_scan_is_in_key_order_and_keeps_to_its_prefix(self, catalogue: Catalogue) -> None:
        stored = {
            f"run/{depth:05d}/{number:06d}": b"x" for depth in (1, 2, 10) for number in (0, 9)
        }
        catalogue.stage({**stored, "runs": b"no", "ru": b"no", "run": b"no"})
        catalogue.commit()
        catalogue.stage({"run/00002/000005": b"staged", "run/~": b"last"}, ["run/00010/000000"])
        found = [key for key, _ in catalogue.scan("run/")]
        assert found == sorted(found)
        assert set(found) == {*stored, "run/00002/000005", "run/~"} - {"run/00010/000000"}
        assert [key for key, _ in catalogue.scan("run/00002/")] == [
            *("run/00002/000000", "run/00002/000005", "run/00002/000009"),
        ]
        assert list(catalogue.scan("none")) == []

    def test_a_scan_may_be_longer_than_one_batch(self, catalogue: Catalogue) -> None:
        values = {f"k/{number:06d}": str(number).encode() for number in range(5000)}
        catalogue.stage(values)
        catalogue.commit()
        catalogue.stage({"k/002047x": b"in between"}, ["k/001023", "k/001024", "k/004999"])
        expected = dict(sorted({**values, "k/002047x": b"in between"}.items()))
        for key in ("k/001023", "k/001024", "k/004999"):
            del expected[key]
        assert list(catalogue.scan("k/")) == list(expected.items())

    def test_large_values_and_changes_during_a_scan(self, catalogue: Catalogue) -> None:
        catalogue.stage({f"big/{number}": bytes(400_000) for number in range(9)})
        catalogue.commit()
        seen = []
        for key, value in catalogue.scan("big/"):
            assert value == bytes(400_000)
            seen.append(key)
            catalogue.stage({}, [key])
            catalogue.commit()
        assert seen == [f"big/{number}" for number in range(9)]
        assert list(catalogue.scan("big/")) == []

    def test_json(self, catalogue: Catalogue) -> None:
        catalogue.stage_json("plan", {"b": [1, 2**63], "a": "é"})
        assert catalogue.get_json("plan") == {"b": [1, 2**63], "a": "é"}
        assert list(catalogue.scan_json("pl")) == [("plan", {"b": [1, 2**63], "a": "é"})]
        assert catalogue.get_json("none") is None
        assert as_json({"b": 1, "a": 2}) == as_json({"a": 2, "b": 1}) == b'{"a":2,"b":1}'
        catalogue.stage({"bad": b"{", "deep": b"[" * 100_000})
        for key in ("bad", "deep"):
            with pytest.raises(IntegrityError, match=f"block {key}: the value is not JSON"):
                catalogue.get_json(key)

    @pytest.mark.parametrize("key", ["", "é", "a\n", "x" * 256, "!seal", "!meta", " a"])
    def test_keys_that_cannot_be(self, catalogue: Catalogue, key: str) -> None:
        for attempt in (
            lambda: catalogue.stage({key: b""}),
            lambda: catalogue.stage({}, [key]),
            lambda: catalogue.get(key),
        ):
            with pytest.raises(ValueError, match="catalogue keys"):
                attempt()

    def test_the_caller_may_reuse_its_buffer(self, catalogue: Catalogue) -> None:
        buffer = bytearray(b"first")
        catalogue.stage({"a": memoryview(buffer)})  # type: ignore[dict-item]
        buffer[:] = b"later"
        catalogue.commit()
        assert catalogue.get("a") == b"first"

    def test_meta_says_what_made_it(self, tmp_path: Path) -> None:
        Catalogue.create(tmp_path, {"spec": {"family": "tiles"}}, {"first": b"1"}).close()
        with Catalogue.open(tmp_path, readonly=True) as reader:
            assert reader.meta == {
                "spec": {"family": "tiles"},
                "format": 1,
                "engine": ".".join(map(str, lmdb.version(lib_version=0))),
                "lmdb": lmdb.__version__,
            }
            assert list(reader.scan()) == [("first", b"1")]


def test_the_bytes_are_the_documented_ones(tmp_path: Path) -> None:
    """The worked example of CATALOGUE.md, and a seal computed without our code."""
    Catalogue.create(tmp_path, {}, {"a": b"1"}).close()
    with (
        lmdb.open(str(tmp_path / names.CATALOGUE), readonly=True, lib_version=0) as env,
        env.begin() as txn,
    ):
        stored = dict(txn.cursor())
    assert stored.keys() == {b"a", b"!meta", b"!seal"}
    text = (ROOT / "store" / "CATALOGUE.md").read_text()
    example = re.search(r"stored  ((?:[0-9a-f]{2}[ ]+){8}31)\n", text)
    assert example is not None
    assert stored[b"a"] == bytes.fromhex(example[1])
    for key, value in stored.items():
        checksum = xxhash.xxh3_64_intdigest(key + b"\0" + value[8:])
        assert value[:8] == checksum.to_bytes(8, "little")
    sums = sum(int.from_bytes(stored[key][:8], "little") for key in (b"a", b"!meta"))
    assert stored[b"!seal"][8:] == struct.pack("<QQQ", 2, sums % 2**64, 1)


class TestCommit:
    def test_nothing_staged_is_no_transaction(self, tmp_path: Path, catalogue: Catalogue) -> None:
        counting = FaultyFileSystem(tmp_path)
        before = fs.install(counting)
        try:
            catalogue.commit()
            assert counting.count == 0
            _put(catalogue, a=b"1")
            assert counting.operations == ["commit catalogue/data.mdb"]
        finally:
            fs.install(before)

    def test_many_threads_lose_nothing(self, tmp_path: Path) -> None:
        with Catalogue.create(tmp_path, {}) as catalogue:

            def work(name: int) -> None:
                for number in range(40):
                    catalogue.stage({f"{name}/{number:03d}": str(number).encode()})
                    assert catalogue.get(f"{name}/{number:03d}") == str(number).encode()
                    if number % 8 == name % 8:
                        catalogue.commit()
                    assert len(list(catalogue.scan(f"{name}/"))) == number + 1

            threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            catalogue.commit()
        with Catalogue.open(tmp_path, readonly=True) as reader:
            assert reader.check() == 8 * 40 + 1

    def test_a_failed_commit_leaves_everything_staged(self, tmp_path: Path) -> None:
        with Catalogue.create(tmp_path, {}) as catalogue:
            _put(catalogue, a=b"old", b=b"old")
            before = fs.install(FaultyFileSystem(tmp_path, at=1, fault=Fault.ONCE))
            catalogue.stage({"a": b"new"}, ["b"])
            with pytest.raises(IoFailure):
                catalogue.commit()
            assert list(catalogue.scan()) == [("a", b"new")]
            fs.install(before)
        with Catalogue.open(tmp_path) as catalogue:
            assert list(catalogue.scan()) == [("a", b"old"), ("b", b"old")]

    @pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
    def test_a_refused_commit_is_refused_the_same_way_again(
        self, tmp_path: Path, code: int
    ) -> None:
        """After a failed sync nothing is committed; each attempt says why."""
        with Catalogue.create(tmp_path, {}) as catalogue:
            disk = FaultyFileSystem(tmp_path, at=2, fault=Fault.ONCE, code=code)
            before = fs.install(disk)
            try:
                fd = disk.create(tmp_path / "f")
                with pytest.raises(StoreError):
                    disk.datasync(fd)
                disk.close(fd)
                catalogue.stage({"a": b"1"})
                for _ in range(3):
                    kind = IoFailure if code == errno.EIO else DiskFull
                    with pytest.raises(kind, match="opened again"):
                        catalogue.commit()
            finally:
                fs.install(before)
            assert catalogue.get("a") == b"1"
        with Catalogue.open(tmp_path) as catalogue:
            assert catalogue.get("a") is None
            _put(catalogue, a=b"2")

    def test_the_reserve_pays_for_one_commit_on_a_full_disk(self, tmp_path: Path) -> None:
        with Catalogue.create(tmp_path, {}) as catalogue:
            reserve = tmp_path / names.RESERVE
            assert reserve.stat().st_size == RESERVE_SIZE
            assert reserve.stat().st_blocks * 512 >= RESERVE_SIZE
            full = FaultyFileSystem(tmp_path, at=1, fault=Fault.FROM_THEN_ON, code=28)
            before = fs.install(full)
            try:
                _put(catalogue, a=b"1")
            finally:
                fs.install(before)
            assert full.operations == [
                *("commit catalogue/data.mdb", "unlink reserve", "commit catalogue/data.mdb"),
            ]
            assert (catalogue.reserve_spent, reserve.exists()) == (True, False)
            catalogue.make_reserve()
            assert (catalogue.reserve_spent, reserve.exists()) == (False, True)
            assert reserve.stat().st_size == RESERVE_SIZE
        with Catalogue.open(tmp_path, readonly=True) as reader:
            assert reader.get("a") == b"1"

    def test_a_catalogue_at_its_fixed_size_says_so_and_keeps_what_it_has(
        self, tmp_path: Path
    ) -> None:
        with Catalogue.create(tmp_path, {}, map_size=1 << 16) as catalogue:
            _put(catalogue, a=b"1")
            catalogue.stage({"b": bytes(1 << 16)})
            with pytest.raises(CatalogueFull, match="fixed size"):
                catalogue.commit()
            catalogue.stage({}, ["b"])
            _put(catalogue, c=b"3")
        with Catalogue.open(tmp_path, readonly=True) as reader:
            assert dict(reader.scan()) == {"a": b"1", "c": b"3"}

    SMALL_DISK = """if True:
        import os, sys
        from store.catalogue import Catalogue
        from store.errors import DiskFull
        run = sys.argv[1]
        catalogue = Catalogue.create(run, {})
        stop = 0
        with open(run + "/layers", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass
        try:
            for stop in range(1000):
                catalogue.stage({f"k/{stop:04d}": bytes(30_000)})
                catalogue.commit()
        except DiskFull as error:
            print(error.exit_code)
        assert catalogue.reserve_spent and not os.path.exists(run + "/reserve")
        assert stop > 20, stop
        catalogue.close()
        with Catalogue.open(run) as catalogue:
            assert len(list(catalogue.scan("k/"))) == stop
            os.unlink(run + "/layers")
            catalogue.make_reserve()
            assert os.path.exists(run + "/reserve")
            catalogue.stage({"more": bytes(30_000)})
            catalogue.commit()
        with Catalogue.open(run, readonly=True) as catalogue:
            print(catalogue.check() - stop)
    """

    def test_a_disk_that_is_really_full(self, tmp_path: Path) -> None:
        printed = run_on_small_disk(tmp_path, "16m", self.SMALL_DISK, str(tmp_path))
        assert printed == f"{DiskFull.exit_code}\n2\n"


class TestOpening:
    def test_create_refuses_a_run_and_leaves_it_alone(self, tmp_path: Path) -> None:
        Catalogue.create(tmp_path, {}, {"a": b"1"}).close()
        with pytest.raises(StoreError, match="already holds a run"):
            Catalogue.create(tmp_path, {})
        with Catalogue.open(tmp_path) as catalogue:
            assert catalogue.get("a") == b"1"

    def test_create_clears_what_an_interrupted_one_left(self, tmp_path: Path) -> None:
        (tmp_path / "catalogue.tmp").mkdir()
        (tmp_path / "catalogue.tmp" / "data.mdb").write_bytes(b"half a page")
        assert names.is_unstarted(str(tmp_path))
        Catalogue.create(tmp_path, {}).close()
        assert not (tmp_path / "catalogue.tmp").exists()
        assert not names.is_unstarted(str(tmp_path))

    def test_a_directory_without_a_catalogue(self, tmp_path: Path) -> None:
        for run in (tmp_path, tmp_path / "none"):
            for readonly in (False, True):
                with pytest.raises(NotARun, match=r"catalogue/data.mdb"):
                    Catalogue.open(run, readonly=readonly)
        assert os.listdir(tmp_path) == []

    def test_somebody_elses_lmdb_file(self, tmp_path: Path) -> None:
        with (
            lmdb.open(str(tmp_path / "catalogue"), lib_version=0) as env,
            env.begin(write=True) as t,
        ):
            t.put(b"a", b"1")
        with pytest.raises(NotARun, match="not written by this program"):
            Catalogue.open(tmp_path)

    def test_the_other_engines_file_is_refused_by_version(self, tmp_path: Path) -> None:
        with (
            lmdb.open(str(tmp_path / "catalogue"), lib_version=1) as env,
            env.begin(write=True) as t,
        ):
            t.put(b"a", b"1")
        with pytest.raises(UnknownVersion, match=r"data.mdb has format version 3, .* version 1"):
            Catalogue.open(tmp_path)

    @pytest.mark.parametrize("version", [0, 2, None, "1"])
    def test_another_format_is_refused_by_version(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: object
    ) -> None:
        monkeypatch.setattr("store.catalogue.FORMAT", version)
        Catalogue.create(tmp_path, {}).close()
        monkeypatch.undo()
        with pytest.raises(UnknownVersion, match=f"version {version}"):
            Catalogue.open(tmp_path)

    @pytest.mark.parametrize("size", [0, 1, 15, 100, 4095, 4096, 8191])
    def test_a_file_cut_inside_its_first_pages(self, tmp_path: Path, size: int) -> None:
        Catalogue.create(tmp_path, {}).close()
        os.truncate(tmp_path / names.CATALOGUE_DATA, size)
        with pytest.raises(IntegrityError, match=r"data.mdb"):
            Catalogue.open(tmp_path)

    def test_a_closed_catalogue_says_so(self, tmp_path: Path) -> None:
        catalogue = Catalogue.create(tmp_path, {})
        catalogue.close()
        catalogue.close()
        for attempt in (
            catalogue.commit,
            catalogue.check,
            lambda: catalogue.get("a"),
            lambda: catalogue.stage({}),
            lambda: list(catalogue.scan()),
        ):
            with pytest.raises(StoreError, match="closed"):
                attempt()

    def test_a_reader_cannot_write(self, tmp_path: Path) -> None:
        Catalogue.create(tmp_path, {}).close()
        with Catalogue.open(tmp_path, readonly=True) as reader:
            with pytest.raises(StoreError, match="reading only"):
                reader.stage({"a": b"1"})
            with pytest.raises(StoreError, match="reading only"):
                reader.commit()

    def test_never_across_a_fork(self, tmp_path: Path) -> None:
        with Catalogue.create(tmp_path, {}) as catalogue:
            child = os.fork()
            if not child:
                code = 1
                try:
                    catalogue.get("a")
                except StoreError as error:
                    code = 0 if "fork" in str(error) else 2
                finally:
                    os._exit(code)
            assert os.waitpid(child, 0)[1] == 0

    def test_twice_in_one_process_is_refused(self, tmp_path: Path) -> None:
        with Catalogue.create(tmp_path, {}), pytest.raises(StoreError, match="already open"):
            Catalogue.open(tmp_path)

    def test_importing_it_loads_nothing_heavy(self) -> None:
        code = (
            "import sys, store.catalogue; print({'numba', 'numpy', 'zstandard'} & set(sys.modules))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
        )
        assert done.stdout == "set()\n"


READ = """if True:
    import sys
    from store.catalogue import Catalogue
    with Catalogue.open(sys.argv[1], readonly=True) as reader:
        print(sorted(dict(reader.scan()).items()), reader.check())
"""
EXPECTED = "[('a', b'1')] 2\n"


class TestReaders:
    def test_beside_a_live_writer_each_sees_what_was_committed(self, tmp_path: Path) -> None:
        with WriterLock.acquire(tmp_path), Catalogue.create(tmp_path, {}) as catalogue:
            _put(catalogue, a=b"1")
            catalogue.stage({"b": b"not yet"})
            done = subprocess.run(
                [sys.executable, "-c", READ, str(tmp_path)],
                cwd=ROOT,
                capture_output=True,
                text=True,
            )
            assert (done.stdout, done.stderr) == (EXPECTED, "")

    def test_without_write_permission(self) -> None:
        with open_directory() as run:
            with Catalogue.create(run, {}) as catalogue:
                _put(catalogue, a=b"1")
            assert run_unprivileged(READ, str(run)) == EXPECTED

    def test_on_a_read_only_mount(self, tmp_path: Path) -> None:
        with Catalogue.create(tmp_path, {}) as catalogue:
            _put(catalogue, a=b"1")
        assert run_read_only(tmp_path, READ, str(tmp_path)) == EXPECTED

    def test_without_permission_beside_a_live_writer_it_is_refused(self) -> None:
        code = """if True:
            import sys
            from store.catalogue import Catalogue
            from store.errors import Locked
            try:
                Catalogue.open(sys.argv[1], readonly=True)
            except Locked as error:
                print(error.exit_code)
        """
        with open_directory() as run, WriterLock.acquire(run), Catalogue.create(run, {}):
            assert run_unprivileged(code, str(run)) == f"{Locked.exit_code}\n"


def _filled(run: Path) -> dict[str, bytes]:
    """A catalogue with values of all kinds of pages and pages that are free; its entries."""
    values = {f"run/{number:03d}": bytes([number]) * 60 for number in range(100)}
    values["inline"] = bytes(range(256)) * 30  # in overflow pages of its own
    with Catalogue.create(run, {"spec": "x"}) as catalogue:
        catalogue.stage({f"old/{number}": bytes(3000) for number in range(10)})
        catalogue.commit()
        catalogue.stage(values)
        catalogue.commit()
        catalogue.stage({}, [f"old/{number}" for number in range(10)])
        catalogue.commit()
    return values


def _use(run: Path, values: dict[str, bytes]) -> None:
    """Read everything and write some more: all of it right, or an IntegrityError."""
    with Catalogue.open(run) as catalogue:
        assert dict(catalogue.scan()) == values
        for number in range(3):
            catalogue.stage({f"new/{number}": bytes(5000)}, [f"run/{number:03d}"])
            catalogue.commit()
        kept = {key: value for key, value in values.items() if catalogue.get(key) is not None}
        assert len(kept) == len(values) - 3
    with Catalogue.open(run, readonly=True) as catalogue:
        assert dict(catalogue.scan("run/")).items() <= values.items()
        assert len(list(catalogue.scan("new/"))) == 3


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, bytes]]:
    """The bytes of a sound data file and what is in it."""
    run = tmp_path_factory.mktemp("sound")
    values = _filled(run)
    return (run / names.CATALOGUE_DATA).read_bytes(), values


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A directory in memory: these tests sync thousands of times."""
    with open_directory(in_memory=True) as path:
        yield path


class TestDamage:
    @staticmethod
    def _damaged(run: Path, data: bytes) -> None:
        directory = run / names.CATALOGUE
        directory.mkdir(exist_ok=True)
        (directory / names.LMDB_LOCK).unlink(missing_ok=True)
        (directory / names.LMDB_DATA).write_bytes(data)
        if not (run / names.RESERVE).exists():
            (run / names.RESERVE).write_bytes(bytes(RESERVE_SIZE))

    def _flip(self, run: Path, sound: tuple[bytes, dict[str, bytes]], at: int, mask: int) -> bool:
        """Flip one byte; whether that was noticed. If it was not, everything must work."""
        data, values = sound
        changed = bytearray(data)
        changed[at] ^= mask
        self._damaged(run, bytes(changed))
        try:
            _use(run, values)
        except (IntegrityError, UnknownVersion):
            return True
        return False

    def test_the_file_has_pages_of_every_kind(self, sound: tuple[bytes, dict[str, bytes]]) -> None:
        data = sound[0]
        flags = [struct.unpack_from("<H", data, page + 10)[0] for page in range(0, len(data), 4096)]
        assert {flag & 0x0F for flag in flags} >= {1, 2, 4, 8}

    def test_every_byte_of_the_values(
        self, in_memory: Path, sound: tuple[bytes, dict[str, bytes]]
    ) -> None:
        data, values = sound
        small, large = data.rindex(values["run/007"]), data.rindex(values["inline"])
        for start, length in ((small - 8, 68), (large - 8, 24), (large + 4080, 32)):
            for at in range(start, start + length):
                assert self._flip(in_memory, sound, at, 1 << at % 8), at

    def test_every_byte_of_the_meta_pages_and_page_headers(
        self, in_memory: Path, sound: tuple[bytes, dict[str, bytes]]
    ) -> None:
        places = [*range(152), *range(4096, 4096 + 152)]
        places += [at for page in range(8192, len(sound[0]), 4096) for at in range(page, page + 18)]
        noticed = sum(self._flip(in_memory, sound, at, 1 << at % 8) for at in places)
        assert noticed > len(places) // 3

    def test_bytes_drawn_from_the_whole_file(
        self, in_memory: Path, sound: tuple[bytes, dict[str, bytes]]
    ) -> None:
        for at in range(5, len(sound[0]), 293):
            self._flip(in_memory, sound, at, 0xFF)

    @pytest.mark.slow
    def test_every_byte_of_the_file(
        self, in_memory: Path, sound: tuple[bytes, dict[str, bytes]]
    ) -> None:
        for at in range(len(sound[0])):
            self._flip(in_memory, sound, at, 1 << at % 8)

    def test_every_separator_key(
        self, in_memory: Path, sound: tuple[bytes, dict[str, bytes]]
    ) -> None:
        """A damaged branch page hides entries from a search while a walk still finds them."""
        data = sound[0]
        places: list[int] = []
        for page in range(8192, len(data), 4096):
            flags, lower = struct.unpack_from("<HH", data, page + 10)
            if flags & 1:
                for slot in range(page + 16, page + lower, 2):
                    node = page + struct.unpack_from("<H", data, slot)[0]
                    size = struct.unpack_from("<H", data, node + 6)[0]
                    places += range(node + 8, node + 8 + size)
        assert len(places) > 10
        noticed = sum(self._flip(in_memory, sound, at, 1 << at % 8) for at in places)
        assert noticed > 0

    def test_every_byte_of_the_keys(
        self, in_memory: Path, sound: tuple[bytes, dict[str, bytes]]
    ) -> None:
        data = sound[0]
        for key in (b"!meta", b"!seal", b"run/007"):
            start = data.rindex(key)
            for at in range(start, start + len(key)):
                self._flip(in_memory, sound, at, 1 << at % 8)

    def test_a_file_cut_at_every_page(
        self, in_memory: Path, sound: tuple[bytes, dict[str, bytes]]
    ) -> None:
        data, values = sound
        noticed = 0
        for size in range(0, len(data), 4096):
            for cut in (size, size + 100):
                self._damaged(in_memory, data[:cut])
                try:
                    _use(in_memory, values)
                except IntegrityError:
                    noticed += 1
        assert noticed > len(data) // 4096

    def test_two_values_exchanged(
        self, tmp_path: Path, sound: tuple[bytes, dict[str, bytes]]
    ) -> None:
        data, values = sound
        first, second = (data.rindex(values[key]) - 8 for key in ("run/007", "run/008"))
        changed = bytearray(data)
        changed[first : first + 68], changed[second : second + 68] = (
            data[second : second + 68],
            data[first : first + 68],
        )
        self._damaged(tmp_path, bytes(changed))
        with pytest.raises(IntegrityError, match=r"block run/00[78]: .* checksum"):
            Catalogue.open(tmp_path, readonly=True)

    def test_a_page_as_it_was_before(self, tmp_path: Path) -> None:
        """A lost write: the page is sound, every checksum fits, only the content is older."""
        with Catalogue.create(tmp_path, {}) as catalogue:
            _put(catalogue, key=b"value A " * 8)
        path = tmp_path / names.CATALOGUE_DATA
        before = path.read_bytes()
        with Catalogue.open(tmp_path) as catalogue:
            _put(catalogue, key=b"value B " * 8)
        after = bytearray(path.read_bytes())
        new, old = after.rindex(b"value B "), before.rindex(b"value A ")
        new_page, old_page = new // 4096 * 4096, old // 4096 * 4096
        after[new_page + 8 : new_page + 4096] = before[old_page + 8 : old_page + 4096]
        path.write_bytes(after)
        with pytest.raises(IntegrityError, match=r"!seal: .* not the ones that were sealed"):
            Catalogue.open(tmp_path)

    def test_the_last_commit_taken_back(self, tmp_path: Path) -> None:
        with Catalogue.create(tmp_path, {}) as catalogue:
            for number in range(4):
                _put(catalogue, key=str(number).encode())
        path = tmp_path / names.CATALOGUE_DATA
        data = bytearray(path.read_bytes())
        last = max((0, 4096), key=lambda page: struct.unpack_from("<Q", data, page + 144)[0])
        struct.pack_into("<Q", data, last + 144, 1 if last else 0)
        path.write_bytes(data)
        with pytest.raises(IntegrityError, match="block meta"):
            Catalogue.open(tmp_path)

    def test_an_entry_written_behind_its_back(self, tmp_path: Path) -> None:
        Catalogue.create(tmp_path, {}, {"a": b"1"}).close()
        directory = str(tmp_path / names.CATALOGUE)
        with lmdb.open(directory, lib_version=0) as env, env.begin(write=True) as txn:
            txn.delete(b"a")
        with pytest.raises(IntegrityError, match="!seal"):
            Catalogue.open(tmp_path)
        with lmdb.open(directory, lib_version=0) as env, env.begin(write=True) as txn:
            txn.put(b"b", b"short")
        with pytest.raises(IntegrityError, match=r"block b: .* shorter than its checksum"):
            Catalogue.open(tmp_path)

    @pytest.mark.parametrize("meta", [[1, 2], "text"])
    def test_a_meta_entry_of_another_shape(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meta: object
    ) -> None:
        monkeypatch.setattr("store.catalogue.as_json", lambda value: json.dumps(meta).encode())
        with pytest.raises(IntegrityError, match="!meta: the value is not a table"):
            Catalogue.create(tmp_path, {})


class Machine(RuleBasedStateMachine):
    """Any order of changes, commits and reopenings agrees with two dictionaries."""

    KEYS = st.sampled_from(["a", "a/1", "a/2", "b", "b/00001", "~"])
    VALUES = st.one_of(st.binary(max_size=20), st.sampled_from([b"\0" * 3000, b"\xff" * 9000]))

    @initialize()
    def start(self) -> None:
        self.directory = open_directory(in_memory=True)
        self.run = self.directory.__enter__()
        self.catalogue = Catalogue.create(self.run, {})
        self.durable: dict[str, bytes] = {}
        self.seen: dict[str, bytes] = {}

    def teardown(self) -> None:
        if hasattr(self, "catalogue"):
            self.catalogue.close()
            self.directory.__exit__(None, None, None)

    @rule(key=KEYS, value=VALUES)
    def put(self, key: str, value: bytes) -> None:
        self.catalogue.stage({key: value})
        self.seen[key] = value

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        self.catalogue.stage({}, [key])
        self.seen.pop(key, None)

    @rule()
    def commit(self) -> None:
        self.catalogue.commit()
        self.durable = dict(self.seen)

    @rule()
    def reopen(self) -> None:
        self.catalogue.close()
        self.catalogue = Catalogue.open(self.run)
        self.seen = dict(self.durable)

    @rule(prefix=st.sampled_from(["", "a", "a/", "b/", "c"]))
    def scan(self, prefix: str) -> None:
        expected = [item for item in sorted(self.seen.items()) if item[0].startswith(prefix)]
        assert list(self.catalogue.scan(prefix)) == expected

    @invariant()
    def agrees(self) -> None:
        if hasattr(self, "catalogue"):
            assert self.catalogue.check() == len(self.durable) + 1
            for key in ("a", "b/00001"):
                assert self.catalogue.get(key) == self.seen.get(key)


TestMachine = Machine.TestCase


def test_a_long_life_leaves_a_sound_file(tmp_path: Path) -> None:
    """Hundreds of commits that reuse pages never look damaged to our own checks."""
    with Catalogue.create(tmp_path, {}) as catalogue:
        for number in range(300):
            catalogue.stage({f"piece/{number:05d}": bytes(number * 37 % 9000)})
            catalogue.stage({}, [f"piece/{number * 7 % 301:05d}"])
            catalogue.commit()
            if number % 50 == 0:
                copy = tmp_path / f"copy{number}"
                shutil.copytree(tmp_path / names.CATALOGUE, copy / names.CATALOGUE)
                Catalogue.open(copy, readonly=True).close()
    Catalogue.open(tmp_path).close()
