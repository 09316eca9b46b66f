"""Which checkpoints are kept. Pure functions of the table's rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isfinite

from core.events import CheckpointInfo


def best_of(newest_first: Sequence[CheckpointInfo]) -> CheckpointInfo | None:
    """The highest finite skill of a known good one, of equals the newest; None where none is known."""
    ranked = _by_skill(newest_first)
    return ranked[0] if ranked else None


def lowest_loss_of(newest_first: Sequence[CheckpointInfo]) -> CheckpointInfo | None:
    """The lowest finite windowed loss of a known good one, of equals the newest; None where none is known."""
    known = [info for info in newest_first if info.is_known_good and info.loss is not None and isfinite(info.loss)]
    return min(known, key=lambda info: info.loss or 0.0, default=None)


def checkpoints_to_delete(
    newest_first: Sequence[CheckpointInfo], *, keep_newest: int, keep_best: int, in_use: Collection[str] = ()
) -> tuple[str, ...]:
    """Ids that no reason keeps, the oldest first. The rows come as `CheckpointRows.list` gives them.

    One reason is enough: it is among the `keep_newest` newest, the `keep_newest` newest known good or the `keep_best`
    best, has the lowest loss, is pinned, has a note, was saved by hand, or is in use (by its mark or by `in_use`). The
    best, the newest and the newest known good stay whatever the two numbers are: a run that went bad cannot push out
    what was good.
    """
    kept = {info.checkpoint_id for info in newest_first[: max(1, keep_newest)]}
    kept |= {info.checkpoint_id for info in _by_skill(newest_first)[: max(1, keep_best)]}
    kept |= {info.checkpoint_id for info in newest_first if info.is_pinned or info.is_in_use}
    kept |= set(in_use)
    kept |= {info.checkpoint_id for info in newest_first if info.reason == "manual" or info.note}
    good = [info for info in newest_first if info.is_known_good]
    kept |= {info.checkpoint_id for info in good[: max(1, keep_newest)]}
    lowest = lowest_loss_of(newest_first)
    if lowest is not None:
        kept.add(lowest.checkpoint_id)
    return tuple(info.checkpoint_id for info in reversed(newest_first) if info.checkpoint_id not in kept)


def _by_skill(newest_first: Sequence[CheckpointInfo]) -> list[CheckpointInfo]:
    known = [info for info in newest_first if info.is_known_good and info.skill is not None and isfinite(info.skill)]
    return sorted(known, key=lambda info: info.skill or 0.0, reverse=True)  # stable: of equals, the newest first
