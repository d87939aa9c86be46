"""The codecs of store/FORMAT.md written down once more: obvious, slow, with Python's integers."""

from __future__ import annotations

from itertools import pairwise


def gaps_of(keys: list[int], shift: int) -> list[int]:
    return [((b - a) >> shift) - 1 for a, b in pairwise(keys)]


def keys_of(gaps: list[int], first: int, shift: int) -> list[int]:
    keys = [first]
    for gap in gaps:
        keys.append(keys[-1] + ((gap + 1) << shift))
    return keys


def shift_of(keys: list[int]) -> int:
    """The number of low bits in which no two keys differ."""
    seen = 0
    for key in keys:
        seen |= key ^ keys[0]
    return (seen & -seen).bit_length() - 1 if seen else 0


def mix(key: int) -> int:
    z = (key + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def fingerprint(keys: list[int]) -> int:
    return sum(mix(key) for key in keys) % 2**64


def record_fingerprint(keys: list[int], payload: list[int]) -> int:
    golden = 0x9E3779B97F4A7C15
    records = zip(keys, payload, strict=True)
    return sum(mix(key ^ value * golden % 2**64) for key, value in records) % 2**64


def raw(keys: list[int]) -> bytes:
    return b"".join(key.to_bytes(8, "little") for key in keys[1:])


def bitmap(keys: list[int], shift: int) -> bytes:
    slots = [(key - keys[0]) >> shift for key in keys]
    return sum(1 << slot for slot in slots).to_bytes((slots[-1] // 64 + 1) * 8, "little")


def varint(keys: list[int], shift: int) -> bytes:
    body = []
    for gap in gaps_of(keys, shift):
        while gap >= 128:
            body.append(gap % 128 + 128)
            gap //= 128
        body.append(gap)
    return bytes(body)


def gap_bytes(keys: list[int], shift: int, size: int) -> bytes:
    gaps = gaps_of(keys, shift)
    escapes = [gap.to_bytes(size, "little") for gap in gaps if gap >= 255]
    return bytes([size, *(min(gap, 255) for gap in gaps)]) + b"".join(escapes)


def size_of(keys: list[int], shift: int) -> int:
    """The least number of bytes that every gap fits."""
    return (max(gaps_of(keys, shift), default=0).bit_length() + 7) // 8


def classes_of(starts: int, top: int) -> list[tuple[int, int]]:
    """(shortest, greatest bit length) of every class."""
    begins = [b for b in range(64) if starts >> b & 1]
    return [(begin, end - 1) for begin, end in zip(begins, [*begins[1:], top + 1], strict=True)]


def octaves(keys: list[int], shift: int, starts: int, top: int) -> bytes:
    classes = classes_of(starts, top)
    nibbles, bits, width = [], 0, 0
    for gap in gaps_of(keys, shift):
        length = gap.bit_length()
        (number,) = [c for c, (low, high) in enumerate(classes) if low <= length <= high]
        low, high = classes[number]
        nibbles.append(number)
        if low == high and low > 0:
            bits |= (gap - (1 << low - 1)) << width
            width += low - 1
        else:
            bits |= gap << width
            width += high
    if len(nibbles) % 2:
        nibbles.append(0)
    pairs = bytes(a + 16 * b for a, b in zip(nibbles[::2], nibbles[1::2], strict=True))
    tail = bits.to_bytes((width + 7) // 8, "little")
    return starts.to_bytes(8, "little") + bytes([top]) + pairs + tail


def listed(payload: list[int], width: int, values: list[int]) -> bytes:
    """The payload LISTED: whatever is not among `values` is escaped."""
    codes = bytes(values.index(value) if value in values else 255 for value in payload)
    stream = [*values, *(value for value in payload if value not in values)]
    bits = sum(value << width * i for i, value in enumerate(stream))
    return (
        bytes([width, len(values)])
        + codes
        + bits.to_bytes((len(stream) * width + 7) // 8, "little")
    )


def read_listed(body: bytes, count: int, payload_bits: int) -> list[int]:
    """The payload of a LISTED column; ValueError when it is none."""
    width, values, codes = body[0], body[1], body[2 : 2 + count]
    length = (width * (values + codes.count(255)) + 7) // 8
    if width > payload_bits or len(codes) < count or len(body) != 2 + count + length:
        raise ValueError("lengths")
    if any(values <= code < 255 for code in codes):
        raise ValueError("codes")
    bits = int.from_bytes(body[2 + count :], "little")
    stream = [bits >> width * i & (1 << width) - 1 for i in range(values + codes.count(255))]
    escapes = iter(stream[values:])
    return [next(escapes) if code == 255 else stream[code] for code in codes]


def read_octaves(body: bytes, count: int, first: int, shift: int) -> list[int]:
    classes = classes_of(int.from_bytes(body[:8], "little"), body[8])
    middle = 9 + count // 2
    bits = int.from_bytes(body[middle:], "little")
    gaps = []
    for i in range(count - 1):
        low, high = classes[body[9 + i // 2] >> 4 * (i % 2) & 15]
        implied = low == high and low > 0
        width = low - 1 if implied else high
        gaps.append(bits % (1 << width) + (1 << width if implied else 0))
        bits >>= width
    return keys_of(gaps, first, shift)
