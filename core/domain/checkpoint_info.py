"""A stored checkpoint, as a row."""

from __future__ import annotations

from dataclasses import dataclass

NAMES_IN_EXPORTS = {name: name.replace("skill", "rank_score") for name in ("skill", "skill_low", "skill_high")}
"""It only ranks the checkpoints, and would be taken for a skill of the ghosts."""


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """One row of the checkpoint browser."""

    checkpoint_id: str
    run_id: str
    step: int
    candle_open_time_ms: int
    created_at_ms: int
    reason: str
    """periodic, best, pause, restore, change (saved before a change of settings), manual or exit"""
    skill: float | None
    """Skill of the model alone against the reference, close and range in equal parts; see `online.checkpoint_score`. It
    ranks checkpoints, and is no skill of the ghosts."""
    skill_low: float | None
    skill_high: float | None
    scored: int
    """Candles of `skill`, at most 300; if that is None, candles scored so far."""
    loss: float | None
    file: str
    """Relative to the data folder."""
    size_bytes: int
    sha256: str
    parent_id: str | None
    is_known_good: bool = True
    """All of its numbers were finite, and steps were not being skipped."""
    coverage: float | None = None
    """Share of closes inside the 90 % band, over the newest scored candles, at most 300; None: not stored, or too
    few."""
    direction: float | None = None
    """Share of correct directions, over the same candles."""
    health: str | None = None
    """The gradient doctor's newest diagnosis, a `Disease`; None: not stored."""
    device: str | None = None
    """Display name of the device it was trained on; None: not stored."""
    settings_id: str | None = None
    """The settings in force, see `core.storage.setting_sets`; None: not stored."""
    shown_skill: float | None = None
    """Skill of the shown combination of model and baselines; None: not stored."""
    model_gain: float | None = None
    """What the model added to the ghosts over the own candles of its line of weights, until it was saved, close and
    range in equal parts; None: not stored, or too few."""
    gain_low: float | None = None
    gain_high: float | None = None
    """Its interval, which holds at every look; None: too few candles."""
    gain_candles: int = 0
    """Of several markets, those of the one with the most."""
    is_best: bool = False
    is_pinned: bool = False
    is_in_use: bool = False
    note: str = ""
    name: str = ""
    tags: tuple[str, ...] = ()
    verified_at_ms: int | None = None
    """When its file was last checked against its sha256; None: not since it was written."""
    fault: str = ""
    """The fault found then, as a sentence; empty if there was none."""
