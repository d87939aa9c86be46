"""Durations and rates for people: 0.42 s, 3 min 20 s, 2 d 4 h; 23.4 M/s."""

from __future__ import annotations


def format_seconds(seconds: float) -> str:
    """A duration in its two largest units, hundredths below ten seconds: 0.42 s, 3 min 20 s."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = round(seconds / 60)
    if minutes < 24 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(seconds / 3600)
    return f"{hours // 24} d {hours % 24} h"


def format_rate(per_second: float) -> str:
    """A rate of states a second in three digits: 950/s, 23.4 M/s."""
    value, prefix = float(per_second), ""
    for larger in ("k", "M", "G"):
        if value < 999.5:
            break
        value, prefix = value / 1000, larger
    if not prefix:
        return f"{value:.0f}/s"
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {prefix}/s"
