"""Reading status.json: what a reader corrects, and every way in which the file can be bad."""

from __future__ import annotations

import contextlib
import json
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extbfs.report import COLUMNS, continuation, depth_table, state_sentence, status_text
from extbfs.status import DamagedStatus, pack, read_status, unpack
from store.catalogue import Catalogue
from store.errors import IntegrityError, NotARun, UnknownVersion
from store.lock import WriterLock
from tests.extbfs.samples import COUNTS, rows, running, sample_status, write_run


class TestReading:
    def test_a_finished_run_reads_back(self, tmp_path):
        run = write_run(tmp_path / "RUN")
        status = read_status(run)
        assert [row["states"] for row in status["depths"]] == COUNTS
        assert status["states"] == 181440
        assert status["state"] == "finished"

    def test_the_path_and_the_command_are_those_of_the_place_where_it_lies(self, tmp_path):
        run = write_run(tmp_path / "my runs")
        status = read_status(run)
        assert status["run"] == str(run)
        assert status["resume"] == f"extbfs resume '{run}'"

    def test_running_while_the_lock_is_held(self, tmp_path):
        run = write_run(tmp_path / "RUN", running())
        with WriterLock.acquire(run):
            status = read_status(run)
        assert status["state"] == "running"
        assert status["rate_now"] == 23.4e6

    def test_killed_when_nobody_holds_the_lock(self, tmp_path):
        run = write_run(tmp_path / "RUN", running())
        status = read_status(run)
        assert status["state"] == "killed"
        assert status["pid"] is None
        assert status["rate_now"] is None
        assert status["eta_depth_seconds"] is None

    def test_not_killed_when_it_ended_between_two_looks(self, tmp_path, monkeypatch):
        run = write_run(tmp_path / "RUN", running())

        def ends_now(_run):
            write_run(run)

        monkeypatch.setattr("store.lock.holder", ends_now)
        assert read_status(run)["state"] == "finished"

    def test_free_space_is_that_of_now(self, tmp_path):
        free = read_status(write_run(tmp_path / "RUN"))["disk"]["free"]
        now = os.statvfs(tmp_path)
        assert abs(free - now.f_bavail * now.f_frsize) < 1 << 30

    @pytest.mark.parametrize(("offset", "low", "high"), [(-12, 12, 60), (3600, 0, 0)])
    def test_the_age_of_the_checkpoint_is_never_negative(self, tmp_path, offset, low, high):
        content = sample_status(last_checkpoint=time.time() + offset)
        ago = read_status(write_run(tmp_path / "RUN", content))["last_checkpoint_seconds_ago"]
        assert low <= ago <= high

    def test_it_needs_no_write_permission(self, tmp_path):
        run = write_run(tmp_path / "RUN")
        (run / "status.json").chmod(0o444)
        (run / "LOCK").chmod(0o444)
        run.chmod(0o555)
        try:
            assert read_status(run)["state"] == "finished"
            assert sorted(os.listdir(run)) == ["LOCK", "status.json"]
        finally:
            run.chmod(0o755)


def catalogue(run, depths):
    """A catalogue that knows `depths` finished depths of the 8-puzzle."""
    table = {f"depth/{row['depth']:05d}": row for row in rows(depths)}
    spec = {"puzzle": {"family": "tiles", "metric": "single"}, "parameters": {"keep": "all"}}
    records = {**table, "run/spec": spec, "run/state": {"depth": depths - 1, "seconds": 2.5}}
    data = {key: json.dumps(value).encode() for key, value in records.items()}
    Catalogue.create(run, {"extbfs": "0.1.0"}, data).close()


class TestSalvage:
    """After a kill the catalogue has the last word, and stands in for a useless status.json."""

    def test_a_depth_that_was_committed_is_there(self, tmp_path):
        run = write_run(tmp_path / "RUN", running(21))
        catalogue(run, 24)
        status = read_status(run)
        assert status["state"] == "killed"
        assert [row["states"] for row in status["depths"]] == COUNTS[:24]
        assert status["states"] == sum(COUNTS[:24])
        assert (status["depth"], status["stage"]) == (23, None)
        assert status["seconds"] == 2.5

    def test_the_depth_under_way_is_still_told(self, tmp_path):
        run = write_run(tmp_path / "RUN", running(21))
        catalogue(run, 21)
        status = read_status(run)
        assert (status["depth"], status["stage"]) == (21, "merge")

    def test_a_live_writer_is_not_disturbed(self, tmp_path, monkeypatch):
        run = write_run(tmp_path / "RUN", running(21))
        catalogue(run, 24)
        monkeypatch.setattr(Catalogue, "open", None)
        with WriterLock.acquire(run):
            assert len(read_status(run)["depths"]) == 21

    @pytest.mark.parametrize("content", [None, b"", b"{}", pack(sample_status())[:-9]])
    def test_a_useless_status(self, tmp_path, content):
        run = write_run(tmp_path / "RUN")
        catalogue(run, 24)
        if content is None:
            (run / "status.json").unlink()
        else:
            (run / "status.json").write_bytes(content)
        status = read_status(run)
        assert [row["states"] for row in status["depths"]] == COUNTS[:24]
        assert (status["puzzle"], status["metric"]) == ("tiles", "single")
        assert "killed" in status_text(status)

    def test_a_useless_status_beside_a_live_writer(self, tmp_path):
        run = write_run(tmp_path / "RUN")
        catalogue(run, 24)
        (run / "status.json").write_bytes(b"")
        with WriterLock.acquire(run), pytest.raises(DamagedStatus):
            read_status(run)

    def test_a_damaged_catalogue_leaves_what_status_says(self, tmp_path):
        run = write_run(tmp_path / "RUN", running(21))
        catalogue(run, 24)
        (run / "catalogue" / "data.mdb").write_bytes(b"\0" * 8192)
        assert len(read_status(run)["depths"]) == 21

    def test_both_are_damaged(self, tmp_path):
        run = write_run(tmp_path / "RUN", running(21))
        catalogue(run, 24)
        (run / "status.json").write_bytes(b"")
        (run / "catalogue" / "data.mdb").write_bytes(b"\0" * 8192)
        with pytest.raises(IntegrityError):
            read_status(run)

    @pytest.mark.parametrize(
        "records", [{"run/spec": 5}, {"run/spec": {}}, {"run/spec": {"puzzle": []}}]
    )
    def test_a_stranger(self, tmp_path, records):
        data = {key: json.dumps(value).encode() for key, value in records.items()}
        Catalogue.create(tmp_path, {}, data).close()
        with pytest.raises(IntegrityError, match="not those of a run"):
            read_status(tmp_path)

    def test_killed_before_its_first_depth(self, tmp_path):
        Catalogue.create(tmp_path, {}).close()
        with pytest.raises(NotARun, match="killed before its first depth"):
            read_status(tmp_path)


class TestNotARun:
    def test_nothing_there(self, tmp_path):
        with pytest.raises(NotARun, match="there is no such directory"):
            read_status(tmp_path / "RUN")

    def test_a_file(self, tmp_path):
        (tmp_path / "RUN").write_text("x")
        with pytest.raises(NotARun, match="it is a file"):
            read_status(tmp_path / "RUN")

    def test_another_directory(self, tmp_path):
        with pytest.raises(NotARun, match=r"it has no status\.json"):
            read_status(tmp_path)


class TestDamage:
    def test_every_flipped_bit_is_noticed(self):
        good = pack(sample_status(3))
        status = unpack(good, "status.json")
        for at in range(len(good)):
            bad = bytearray(good)
            bad[at] ^= 1 << (at % 8)
            with contextlib.suppress(DamagedStatus, UnknownVersion):
                assert unpack(bytes(bad), "status.json") == status  # white space only

    @pytest.mark.parametrize("length", [0, 1, 20, 300, -2])
    def test_a_cut_file(self, length):
        with pytest.raises(DamagedStatus):
            unpack(pack(sample_status())[:length], "status.json")

    @pytest.mark.parametrize(
        "data", [b"null", b"[]", b"{}", b'{"schema": "1"}', b"[" * 100000, b"\xff\xfe", b"\0" * 64]
    )
    def test_something_else(self, data):
        with pytest.raises(DamagedStatus, match=r"^status\.json is damaged: "):
            unpack(data, "status.json")

    @given(st.binary(max_size=200))
    def test_anything(self, data):
        with pytest.raises(DamagedStatus):
            unpack(data, "status.json")

    def test_another_schema_is_refused_by_name(self, tmp_path):
        run = write_run(tmp_path / "RUN")
        (run / "status.json").write_text(json.dumps({**sample_status(), "schema": 2}))
        with pytest.raises(
            UnknownVersion, match="has format version 2, and this program reads version 1"
        ):
            read_status(run)

    def test_far_too_long(self, tmp_path):
        run = write_run(tmp_path / "RUN")
        with open(run / "status.json", "wb") as file:
            file.truncate(10 << 30)
        with pytest.raises(DamagedStatus, match="too long"):
            read_status(run)

    @pytest.mark.parametrize(
        "change",
        [
            {"puzzle": 7},
            {"state": "sleeping"},
            {"depths": {}},
            {"depths": [1]},
            {"depths": [{"depth": 0}]},
            {"depths": [{**sample_status()["depths"][0], "states": "1"}]},
            {"states": None},
            {"memory": [1]},
            {"disk": "big"},
            {"seconds": "1"},
        ],
    )
    def test_a_stranger_with_a_good_checksum(self, change):
        with pytest.raises(DamagedStatus):
            unpack(pack({**sample_status(2), **change}), "status.json")


class TestText:
    def test_the_table_has_a_line_a_depth(self):
        lines = depth_table(sample_status()["depths"]).splitlines()
        assert lines[0].split() == list(COLUMNS)
        assert [int(line.split()[1]) for line in lines[1:]] == COUNTS
        assert len({len(line) for line in lines}) == 1

    def test_running(self):
        text = state_sentence(running())
        assert text == (
            "running (pid 4242): depth 21, merge 43.2 %, about 3 min 20 s left in this depth"
        )

    @pytest.mark.parametrize(
        ("reason", "command"),
        [
            ("max-depth", "`extbfs resume R --max-depth N` goes deeper"),
            ("goal", "`extbfs resume R --exhaust` goes on beyond it"),
            ("disk-limit", "`extbfs resume R --disk SIZE` goes on with more"),
            ("disk-full", "`extbfs resume R` goes on"),
            ("signal", "`extbfs resume R` goes on"),
        ],
    )
    def test_the_way_on_depends_on_the_reason(self, reason, command):
        status = running(state="stopped", reason=reason, resume="extbfs resume R")
        assert continuation(status) == command
        assert command in state_sentence(status)

    def test_nothing_to_go_on_with(self):
        assert state_sentence(sample_status()) == "finished: every reachable state was found"

    def test_killed(self):
        status = running(state="killed", resume="extbfs resume R")
        assert state_sentence(status) == (
            "killed: no process works on it any more; it had come to depth 21, merge 43.2 %; "
            "`extbfs resume R` goes on"
        )

    def test_every_fact_is_there(self):
        text = status_text({**running(), "last_checkpoint_seconds_ago": 12.0})
        for fact in (
            *("tiles:3x3, metric single", "23.4 M/s now", "200 MiB now", "300 MiB at most"),
            *("limit 1.00 GiB", "391 KiB used", "60.0 GiB free", "1.50 s", "12 s ago", "43.2 %"),
        ):
            assert fact in text

    def test_missing_facts_are_left_out(self):
        bare = {
            name: running()[name]
            for name in ("run", "puzzle", "state", "depth", "depths", "states", "seconds", "resume")
        }
        text = status_text(bare)
        assert "None" not in text
        assert "memory" not in text

    def test_a_hostile_name_cannot_steer_the_terminal(self):
        text = status_text(running(puzzle="\x1b[2Jtiles\r\n\u202e"))
        assert "?[2Jtiles??" in text
        assert all(c.isprintable() or c == "\n" for c in text)
