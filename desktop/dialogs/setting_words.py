"""What settings are called for people, and when a change of one takes effect."""

from __future__ import annotations

from dataclasses import fields, replace

from pydantic import ValidationError

from core.diagnosis import SettingChange
from core.settings import Settings

_AT_ONCE = frozenset({("training", "learning_rate"), ("training", "duty_percent"), ("gradients", "clip_norm")})
_RULES = frozenset({"keep_newest", "keep_best", "keep_every_steps", "keep_hours", "undo_minutes"})
_TITLES = {
    "accumulation": "Micro-batches a step",
    "candles": "Candle style",
    "catch_up_seconds": "Seconds between, catching up",
    "clip_mode": "Clip mode",
    "clip_norm": "Clip threshold",
    "clip_percentile": "Adaptive percentile",
    "clip_value": "Bound of each number",
    "drift": "On a drift",
    "duty_percent": "Share of the time (%)",
    "ema_decay": "Decay of averaged weights",
    "error_strip": "Forecast errors",
    "every_hours": "Hours between",
    "every_steps": "Steps between",
    "hang_seconds": "Seconds of silence",
    "hindsight_horizon": "Hindsight, in candles",
    "host": "Runs in",
    "initialisation": "First weights",
    "keep": "How many are kept",
    "keep_every_steps": "Keep one in so many steps",
    "keep_hours": "Keep those younger than (hours)",
    "layers": "Number of layers",
    "noise": "Gradient noise",
    "poor_forecast_weight": "Weight of poor forecasts",
    "regimes": "Market regime",
    "rollback_window_steps": "Rollback window, in steps",
    "rollbacks": "Rollbacks before a pause",
    "skips_before_rollback": "Skips before a rollback",
    "scale": "Price scale",
    "undo_minutes": "Minutes to undo a deletion",
    "spike_action": "On a loss spike",
    "spike_factor": "Loss spike, in medians",
    "swap_colours": "Swap the colours",
    "twin_age": "Age of the twin, in candles",
    "warmup_steps": "Warm-up steps",
    "wrong_direction_weight": "Weight of wrong directions",
}


def words(name: str) -> str:
    """``learning_rate`` as ``Learning rate``."""
    return name.replace("_", " ").capitalize()


def title(name: str) -> str:
    """What a setting is called, in a form and in a sentence."""
    return _TITLES.get(name, words(name))


def effect(group: str, name: str) -> str:
    """When a change of this setting takes effect, in words."""
    if group in ("appearance", "backups", "chart", "notifications") or (group, name) in _AT_ONCE or name in _RULES:
        return "at once"
    if group == "model":
        return "when training is started again, as a new run"
    return "when training is started again"


def is_at_once(group: str, name: str) -> bool:
    """True where a change needs no new start."""
    return effect(group, name) == "at once"


def setting(settings: Settings, group: str, name: str) -> float | int | str | None:
    """The value of one setting. Raises ValueError, in a sentence, for one that there is not."""
    branch = getattr(settings, group, None)
    if branch is None or name not in {field.name for field in fields(branch)}:
        raise ValueError(f"This version has no setting “{words(group)}: {words(name)}”.")
    value: float | int | str | None = getattr(branch, name)
    return value


def with_change(settings: Settings, change: SettingChange) -> Settings:
    """The tree with one setting changed. Raises ValueError, in a sentence, for a change that it does not allow."""
    setting(settings, change.group, change.name)
    try:
        branch = replace(getattr(settings, change.group), **{change.name: change.value})
    except ValidationError as error:
        raise ValueError(f"{title(change.name)} cannot be {change.value}: {error.errors()[0]['msg']}.") from error
    changes = {change.group: branch}
    return replace(settings, **changes)
