"""Spill files: a pool written out in bucket order, one checksummed segment a bucket.

The bytes are described in store/SPILL.md.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64, xxh3_64_intdigest

from store.buckets import Buckets
from store.errors import IntegrityError, IoFailure, UnknownVersion
from store.fs import FileSystem
from store.kernels.fingerprint import fingerprint_offset
from store.pool import Pool, Records
from store.run import MASK_64

U64 = np.uint64
MAGIC = b"xbspill"
VERSION = 1
HEADER = struct.Struct("<7sBIIIIQQ24x")
"""magic; version; depth; buckets; record width in bytes; zero; records; xxh3-64 of the bytes before
it; padding to 64 bytes."""
CHECKED = HEADER.size - 32
"""Bytes of the header before its checksum."""
ROW = np.dtype([("offset", "<u8"), ("count", "<u8"), ("checksum", "<u8")])
"""One table row a bucket, behind the last segment: where it begins, its records, their xxh3."""
ROW_STRUCT = struct.Struct("<QQQ")


@dataclass(frozen=True, slots=True)
class SpillMeta:
    """What the catalogue records of a spill file: it holds the children of whole pieces.

    file: relative to the run directory. records, fingerprint: of all arrivals in the file; parents,
    parents_fingerprint: of the keys whose children they are. table_checksum: xxh3-64 of the rows.
    """

    file: str
    length: int
    table_checksum: int
    records: int
    fingerprint: int
    parents: int
    parents_fingerprint: int
    pieces: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data for the catalogue."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SpillMeta:
        """The inverse of to_json."""
        return cls(**{**data, "pieces": tuple(data["pieces"])})


def spill_length(buckets: int, records: int, width: int) -> int:
    """Bytes of a spill file with that many buckets and records."""
    return HEADER.size + records * width + buckets * ROW.itemsize


def _header(depth: int, buckets: int, width: int, records: int) -> bytes:
    """The header of a spill file."""
    fields = (MAGIC, VERSION, depth, buckets, width, 0, records)
    return HEADER.pack(*fields, xxh3_64_intdigest(HEADER.pack(*fields, 0)[:CHECKED]))


def write_spill(
    fs: FileSystem, path: str, depth: int, pool: Pool, staging: npt.NDArray[np.uint8]
) -> tuple[int, int, int]:
    """Write all records of `pool` to a new file: (descriptor, length, checksum of the table).

    staging: scratch of some megabytes, and all the memory this takes but for the table: what one
    bucket holds past it is written in parts. The pool is left as it is, the file is not yet synced.
    On error the descriptor is closed and the file, which no catalogue names, is garbage.
    """
    buckets = pool.buckets
    assert buckets is not None
    counts = pool.counts()
    width = buckets.dtype.itemsize
    rows = np.zeros(buckets.count, ROW)
    rows["count"] = counts
    buffer = staging[: staging.size // width * width].view(buckets.dtype)
    fd = fs.create(path)
    try:
        fs.pwrite(fd, _header(depth, buckets.count, width, int(counts.sum())), 0)
        offset = HEADER.size
        for first, last in _groups(counts, buffer.size):
            rows["offset"][first:last] = offset + width * _before(counts[first:last])
            if int(counts[first]) > buffer.size:
                digest = xxh3_64()
                for n in pool.parts(first, buffer):
                    part = buffer[:n].view(np.uint8).data
                    digest.update(part)
                    fs.pwrite(fd, part, offset)
                    offset += n * width
                rows["checksum"][first] = digest.intdigest()
                continue
            at = 0
            for bucket in range(first, last):
                if counts[bucket]:
                    end = pool.gather(bucket, buffer, at)
                    rows["checksum"][bucket] = xxh3_64_intdigest(buffer[at:end].view(np.uint8).data)
                    at = end
            fs.pwrite(fd, buffer[:at].view(np.uint8).data, offset)
            offset += at * width
        table = rows.tobytes()
        fs.pwrite(fd, table, offset)
    except BaseException:
        fs.close(fd)
        raise
    return fd, offset + len(table), xxh3_64_intdigest(table)


def _groups(counts: npt.NDArray[np.uint64], room: int) -> list[tuple[int, int]]:
    """Half-open ranges of consecutive buckets whose records fit `room` together, or single ones."""
    groups = []
    first = 0
    held = 0
    for bucket, count in enumerate(counts.tolist()):
        if held + count > room and bucket > first:
            groups.append((first, bucket))
            first, held = bucket, 0
        held += count
    groups.append((first, len(counts)))
    return groups


def _before(counts: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """uint64[n]: the sum of all counts before each one."""
    return np.cumsum(counts, dtype=np.uint64) - counts


class SpillReader:
    """Point access to the segments of one spill file; thread-safe, the descriptor is shared."""

    def __init__(self, fs: FileSystem, run: str, meta: SpillMeta, buckets: Buckets) -> None:
        self.meta = meta
        self._fs = fs
        self._path = os.path.join(run, meta.file)
        self._dtype = buckets.dtype
        try:
            self._fd = fs.open_read(self._path)
        except IoFailure as error:
            if error.missing:
                raise IntegrityError(self._path, None, "the file is missing") from error
            raise
        try:
            self._load(buckets)
        except BaseException:
            self.close()
            raise

    def _load(self, buckets: Buckets) -> None:
        header = self._read(0, HEADER.size)
        magic, version, depth, _, _, _, _, checksum = HEADER.unpack(header)
        if xxh3_64_intdigest(header[:CHECKED]) != checksum or magic != MAGIC:
            raise IntegrityError(self._path, "header", "its checksum is wrong")
        if version != VERSION:
            raise UnknownVersion(f"spill file {self._path}", version, VERSION)
        width, records = self._dtype.itemsize, self.meta.records
        if header != _header(depth, buckets.count, width, records):
            raise IntegrityError(self._path, "header", "it is not that of the file recorded")
        if self.meta.length != spill_length(buckets.count, records, width):
            raise IntegrityError(self._path, "header", "the length is not its records'")
        self._table = self.meta.length - buckets.count * ROW.itemsize
        self._read_table()

    def counts(self) -> npt.NDArray[np.uint64]:
        """uint64[buckets]: the records of every bucket, read anew: many files have many tables."""
        return self._read_table()["count"].astype(np.uint64)

    def _read_table(self) -> npt.NDArray[np.void]:
        table = self._read(self._table, self.meta.length - self._table)
        if xxh3_64_intdigest(table) != self.meta.table_checksum:
            raise IntegrityError(self._path, "table", "its checksum is wrong")
        return np.frombuffer(table, ROW)

    def _row(self, bucket: int) -> tuple[int, int, int]:
        """(offset, count, checksum) of a bucket's segment."""
        row = self._read(self._table + bucket * ROW.itemsize, ROW.itemsize)
        offset, count, checksum = ROW_STRUCT.unpack(row)
        if offset + count * self._dtype.itemsize > self._table:
            raise self._damaged(bucket)
        return offset, count, checksum

    def _read(self, offset: int, length: int) -> bytes:
        data = self._fs.pread(self._fd, length, offset)
        if len(data) != length:
            raise IntegrityError(self._path, "header", f"shorter than {offset + length} B")
        return data

    def gather(self, bucket: int, out: Records, start: int) -> int:
        """Read the records of a bucket to out[start:]; the position after the last one.

        Raises IntegrityError naming file and bucket when the segment is short or its checksum
        differs.
        """
        offset, count, checksum = self._row(bucket)
        if count == 0:
            return start
        if start + count > out.size:
            raise self._damaged(bucket)
        target = out[start : start + count].view(np.uint8)
        got = self._fs.preadinto(self._fd, target.data, offset)
        if got != target.size or xxh3_64_intdigest(target.data) != checksum:
            raise self._damaged(bucket)
        return start + count

    def chunks(self, bucket: int, out: Records) -> Iterator[int]:
        """Read the records of a bucket to out, at most out.size at a time; each part's number.

        The checksum is known only behind the last part: then IntegrityError is raised if it
        differs, and what was made of the parts must be thrown away.
        """
        offset, left, checksum = self._row(bucket)
        empty = left == 0
        digest = xxh3_64()
        while left:
            n = min(left, out.size)
            part = out[:n].view(np.uint8)
            if self._fs.preadinto(self._fd, part.data, offset) != part.size:
                raise self._damaged(bucket)
            digest.update(part.data)
            offset += part.size
            left -= n
            yield n
        if not empty and digest.intdigest() != checksum:
            raise self._damaged(bucket)

    def _damaged(self, bucket: int) -> IntegrityError:
        return IntegrityError(self._path, f"segment {bucket}", "it is damaged or cut short")

    def verify(self, buckets: Buckets) -> None:
        """Read every segment; raise IntegrityError for the first that is damaged or miscounted."""
        counts = self.counts()
        out = np.empty(min(1 << 20, max(1, int(counts.max(initial=0)))), self._dtype)
        total = mixed = 0
        for bucket in counts.nonzero()[0].tolist():
            low = U64(buckets.low(bucket))
            for n in self.chunks(bucket, out):
                total += n
                mixed += int(fingerprint_offset(out[:n], low))
        if (total, mixed & MASK_64) != (self.meta.records, self.meta.fingerprint):
            raise IntegrityError(self._path, "all", "its records are not those it was written with")

    def close(self) -> None:
        """Give the descriptor back."""
        self._fs.close(self._fd)
