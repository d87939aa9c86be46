"""store/FORMAT.md and the committed golden files: the bytes of version 1 never change."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import store
from store.block import BODY_ZSTD, HEADER, PAYLOAD_LISTED, PAYLOAD_ZSTD, BlockHeader
from store.kernels import codec
from store.layer import Layer, Scratch, verify_run
from store.run import META, RunBuilder, RunMeta
from tests.store import naive_codec as naive
from tests.store.run_bytes import Memory, blocks_of

GOLDEN = Path(__file__).parent / "golden"
PAGE = (Path(store.__file__).parent / "FORMAT.md").read_text()

# The run of the worked example.
KEYS = [16, 18, 20, 24, 26, 30, 1000, 1003, 1010, 5000, 5001, 90000, 2**40, 2**64 - 2]
PAYLOAD = [300, 300, 5, 300, 5, 5, *range(1001, 1007), 13, 14]


def built() -> tuple[RunMeta, bytes]:
    builder = RunBuilder(block_keys=6, payload_bits=16)
    builder.append(np.array(KEYS, np.uint64), np.array(PAYLOAD, np.uint16))
    meta, view = builder.finish()
    return meta, bytes(view)


def read(meta: RunMeta, data: bytes) -> tuple[list[int], list[int]]:
    layer = Layer(Memory({"f": data}), 0, [meta.placed("f", 0)])
    scratch = Scratch()
    verify_run(layer, 0, scratch)
    keys: list[int] = []
    payload: list[int] = []
    for view, column in layer.read_records(0, layer.blocks, scratch):
        keys += view.tolist()
        payload += column.tolist()
    return keys, payload


def page_bytes() -> list[bytes]:
    """The indented listings of the worked example, as bytes."""
    example = PAGE.split("## A worked example")[1].split("## Other formats")[0]
    listings = []
    for paragraph in re.split(r"\n\s*\n", example):
        text = ""
        for line in paragraph.splitlines():
            match = re.match(r"    ((?:[0-9a-f]{2}| (?! ))+)", line)
            text += match.group(1) if match else ""
        if len(text) > 40 and "keys" not in paragraph.splitlines()[0]:
            listings.append(bytes.fromhex(text))
    return listings


class TestWorkedExample:
    def test_the_golden_file_is_what_we_write(self) -> None:
        assert built()[1] == (GOLDEN / "run-v1.bin").read_bytes()

    def test_the_golden_file_is_read_back(self) -> None:
        meta, _ = built()
        assert read(meta, (GOLDEN / "run-v1.bin").read_bytes()) == (KEYS, PAYLOAD)

    def test_the_page_shows_these_bytes(self) -> None:
        *parts, record = page_bytes()
        assert b"".join(parts) == (GOLDEN / "run-v1.bin").read_bytes()
        meta, _ = built()
        assert record == meta.placed("example", 4096).pack()
        assert RunMeta.unpack(record) == meta.placed("example", 4096)

    def test_every_codec_but_varint_and_both_payloads_are_shown(self) -> None:
        meta, data = built()
        shown = [header.codec for _, header in blocks_of(meta, data)]
        assert shown == [codec.BITMAP, codec.OCTAVES, codec.RAW]
        assert [header.flags for _, header in blocks_of(meta, data)] == [PAYLOAD_LISTED, 0, 0]


class TestCompactGolden:
    """Written once with zstandard 0.25; another zstd may write other frames but must read these."""

    META = RunMeta.unpack((GOLDEN / "run-v1-compact.meta").read_bytes())
    DATA = (GOLDEN / "run-v1-compact.bin").read_bytes()

    def test_is_read_back(self) -> None:
        keys = [1000 * (i // 7) + (0, 1, 3, 10, 11, 40, 300)[i % 7] for i in range(700)]
        payload = [key % 7 for key in keys]
        assert read(self.META, self.DATA) == (keys, payload)
        assert self.META.record_fingerprint == naive.record_fingerprint(keys, payload)
        assert self.META.fingerprint == naive.fingerprint(keys)

    def test_holds_frames(self) -> None:
        for _, header in blocks_of(self.META, self.DATA):
            assert header.codec == int(codec.VARINT)
            assert header.flags == BODY_ZSTD | PAYLOAD_ZSTD | PAYLOAD_LISTED


def test_the_page_gives_the_sizes_of_the_structures() -> None:
    assert f"header, {HEADER.size} bytes" in PAGE
    assert f"| {META.size} | `file`" in PAGE
    fields = re.findall(r"^\| \d+ \| `(\w+)`", PAGE, re.M)
    names = list(BlockHeader._fields)
    assert fields[: len(names)] == names
