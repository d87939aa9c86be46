"""Figures that no machine is needed for: the bound on storage, medians, ratios."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

EXACT_BELOW = 256


def random_subset_bits(space: int, states: int) -> float:
    """Bits a state that a random subset of `states` of `space` keys needs: log2 C(N, n) / n.

    Stirling's series with its first correction, in a form that cancels nothing; exact for few.
    """
    if not 0 <= states <= space:
        raise ValueError(f"{states} states do not fit {space} keys")
    few = min(states, space - states)
    if few == 0:
        return 0.0
    if few < EXACT_BELOW:
        return math.log2(math.comb(space, few)) / states
    rest = space - states
    nats = (
        states * math.log(space / states)
        - rest * math.log1p(-states / space)
        + 0.5 * math.log(space / (2 * math.pi * states * rest))
        + (1 / space - 1 / states - 1 / rest) / 12
    )
    return nats / math.log(2) / states


def medians(samples: Sequence[Any]) -> Any:
    """The median of every number in samples of one shape; what is no number is that of the first.

    A field that one of the samples lacks is left out; lists are as long as the shortest.
    """
    first = samples[0]
    if isinstance(first, dict):
        shared = [key for key in first if all(key in sample for sample in samples)]
        return {key: medians([sample[key] for sample in samples]) for key in shared}
    if isinstance(first, list):
        return [medians(items) for items in zip(*samples, strict=False)]
    numbers = [x for x in samples if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(numbers) < len(samples):
        return first
    return first if all(x == first for x in numbers) else statistics.median(numbers)


def ratio(value: float | None, other: float | None) -> float | None:
    """value / other to three digits behind the point; None where either is missing."""
    if value is None or not other:
        return None
    return round(value / other, 3)
