"""The time up to which a checkpoint has learned. Without torch, as the window's process uses it too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.domain.candle import Interval

IMPORTED_RUN = "imported-"
"""Prefix of the run ids of imported checkpoints."""
_NAMES = ("learned_until_ms", "seen_until_ms")


def learned_until_ms(metadata: Mapping[str, Any], newest_open_ms: int, interval: Interval) -> int:
    """The close of the newest candle that the weights may have learned from, in any run.

    metadata: the weight file's, with the candles learned before this run. newest_open_ms: the newest candle of their
    run, with this interval. If the two differ, the later one counts.
    """
    stored = [metadata.get(name) for name in _NAMES]
    opened = [newest_open_ms, metadata.get("position_ms")]
    closes = [interval.close_time_ms(each) for each in opened if isinstance(each, int)]
    return max(*closes, *(each for each in stored if isinstance(each, int)), 0)


def is_imported(run_id: str) -> bool:
    """Whether this run was trained elsewhere. Its best checkpoint is unknown, as not all were imported."""
    return run_id.startswith(IMPORTED_RUN)
