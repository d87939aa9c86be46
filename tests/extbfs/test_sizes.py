"""Sizes and durations: what people may write, and what they read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extbfs.durations import format_rate, format_seconds
from extbfs.sizes import SizeError, format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("1073741824", 2**30),
        ("512MiB", 512 * 2**20),
        ("1GiB", 2**30),
        ("1G", 2**30),
        ("1g", 2**30),
        ("1 GiB", 2**30),
        (" 2k ", 2048),
        ("1.5GiB", 3 * 2**29),
        ("1GB", 10**9),
        ("2MB", 2 * 10**6),
        ("100B", 100),
        ("3TiB", 3 * 2**40),
        ("0.1GiB", 107374182),
        (4096, 4096),
    ],
)
def test_a_size_is_read(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    ["", "G", "lots", "1X", "1GiBs", "-1", "1e9", "0x10", "1,5G", "nan", "inf", "٣", "1" * 60],
)
def test_nonsense_is_refused_in_one_sentence(text):
    with pytest.raises(SizeError, match=r"^--memory cannot be .*: write bytes or a unit"):
        parse_size(text, "--memory")


@pytest.mark.parametrize("text", ["0", "0GiB", "0.1", 0, -5])
def test_a_size_is_at_least_one_byte(text):
    with pytest.raises(SizeError, match="must be at least one byte"):
        parse_size(text)


@given(st.text(max_size=50))
def test_any_text_is_read_or_refused(text):
    try:
        assert parse_size(text) >= 1
    except SizeError as error:
        assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (1536, "1.50 KiB"),
        (1023 * 1024, "1.00 MiB"),
        (107 * 2**27, "13.4 GiB"),
        (200 * 2**20, "200 MiB"),
        (2**30, "1.00 GiB"),
        (5 * 2**70, "5120 EiB"),
    ],
)
def test_a_size_is_shown_in_three_digits(size, text):
    assert format_size(size) == text


@given(st.integers(min_value=1, max_value=2**63))
def test_what_is_shown_reads_back_nearly_the_same(size):
    assert abs(parse_size(format_size(size)) - size) <= size * 0.006


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.00 s"),
        (0.421, "0.42 s"),
        (9.994, "9.99 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (200, "3 min 20 s"),
        (3599.6, "1 h 0 min"),
        (7500, "2 h 5 min"),
        (86399, "1 d 0 h"),
        (187200, "2 d 4 h"),
    ],
)
def test_a_duration_is_shown_in_its_two_largest_units(seconds, text):
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0, "0/s"), (950, "950/s"), (1000, "1.00 k/s"), (23.4e6, "23.4 M/s"), (1.5e12, "1500 G/s")],
)
def test_a_rate_is_shown_in_three_digits(rate, text):
    assert format_rate(rate) == text
