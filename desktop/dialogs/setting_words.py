"""What settings are called for people, and when a change of one takes effect."""

from __future__ import annotations

from dataclasses import fields, replace

from pydantic import ValidationError

from core.domain.diagnosis import SettingChange
from core.settings.faults import sentence_of
from core.settings.tree import Settings
from desktop.ui.translation import translate

_AT_ONCE = frozenset({("training", "learning_rate"), ("training", "duty_percent"), ("gradients", "clip_norm")})
_AT_START = frozenset({("appearance", "interface_percent"), ("appearance", "font")})
_RULES = frozenset({"keep_newest", "keep_best", "keep_every_steps", "keep_hours", "undo_minutes"})
_TITLES = {
    "accumulation": "Micro-batches per step",
    "alert_sound": "Price alert sound",
    "candles": "Candle style",
    "catch_up_candles": "Warm-up candles",
    "catch_up_seconds": "Catch-up interval (s)",
    "clip_norm": "Clip threshold",
    "clip_percentile": "Adaptive percentile",
    "compare": "Compared market",
    "cuda_graphs": "CUDA graphs",
    "drift": "Response to drift",
    "duty_percent": "Time for training (%)",
    "ema_decay": "Weight average decay",
    "error_strip": "Forecast errors",
    "every_hours": "Hours between backups",
    "every_steps": "Steps between checkpoints",
    "fallback_venues": "Fallback exchanges",
    "fee_bp": "Fee (bp)",
    "hang_seconds": "Trainer timeout (s)",
    "challenger_deadline_ms": "Deadline of challengers (ms)",
    "heads": "Attention heads",
    "hindsight_horizon": "Hindsight horizon (candles)",
    "host": "Trainer runs in",
    "interface_percent": "Interface size",
    "is_descending": "Descending",
    "keep": "Backups to keep",
    "keep_detail_candles": "Full detail, at least (candles)",
    "keep_detail_days": "Full detail for (days)",
    "keep_every_steps": "Keep one every (steps)",
    "keep_hours": "Keep all younger than (hours)",
    "layers": "Number of layers",
    "noise": "Gradient noise",
    "overview_charts": "Charts in the Overview",
    "paper": "Paper score",
    "poor_forecast_weight": "Weight of poor forecasts",
    "regimes": "Market regime",
    "rollback_window_steps": "Rollback window (steps)",
    "rollbacks": "Rollbacks before a pause",
    "sample_paths": "Sample paths",
    "scale": "Price scale",
    "scale_before_compare": "Price scale before comparing",
    "show_bands": "Forecast bands",
    "show_chance": "Chance of a price",
    "show_markers": "Markers",
    "show_volume": "Volume bars",
    "skips_before_rollback": "Skips before a rollback",
    "slippage_bp": "Slippage (bp)",
    "spike_action": "Response to a loss spike",
    "spike_factor": "Loss spike threshold (× median)",
    "spread_bp": "Spread (bp)",
    "twin_age": "Reference model age (candles)",
    "undo_minutes": "Undo deletions for (min)",
    "venue": "Exchange",
    "venues": "Costs by exchange",
    "warmup_steps": "Warm-up steps",
    "watchlist": "Markets",
    "webhook_url": "Webhook URL",
    "while_in_front": "Notify while in front",
    "wrong_direction_weight": "Weight of wrong directions",
}
"""Where a setting, or a group of them, is called otherwise than its name."""


def words(name: str) -> str:
    """``learning_rate`` as ``Learning rate``."""
    return name.replace("_", " ").capitalize()


def english_title(name: str) -> str:
    """What a setting or a group of them is called, in a form and in a sentence."""
    return _TITLES.get(name, words(name))


def title(name: str) -> str:
    """The same in the user's language."""
    return translate("Settings", english_title(name))


def effect(group: str, name: str) -> str:
    """When a change of this setting takes effect, in words."""
    if (group, name) in _AT_START:
        return translate("Settings", "at the next start of the program")
    if is_at_once(group, name):
        return translate("Settings", "immediately")
    if group == "model":
        return translate("Settings", "at the next start of training, as a new run")
    return translate("Settings", "at the next start of training")


def is_at_once(group: str, name: str) -> bool:
    """True where a change needs no new start."""
    if (group, name) in _AT_START:
        return False
    return (
        group in ("appearance", "backups", "chart", "notifications", "paper")
        or (group, name) in _AT_ONCE
        or name in _RULES
    )


def setting(settings: Settings, group: str, name: str) -> float | int | str | None:
    """The value of one setting. Raises ValueError, in a sentence, for one that there is not."""
    branch = getattr(settings, group, None)
    if branch is None or name not in {field.name for field in fields(branch)}:
        text = translate("Settings", "This version has no setting “{0}: {1}”.")
        raise ValueError(text.format(title(group), title(name)))
    value: float | int | str | None = getattr(branch, name)
    return value


def with_change(settings: Settings, change: SettingChange) -> Settings:
    """The tree with one setting changed. Raises ValueError, in a sentence, for a change that it does not allow."""
    setting(settings, change.group, change.name)
    try:
        branch = replace(getattr(settings, change.group), **{change.name: change.value})
    except ValidationError as error:
        text = translate("Settings", "{0} cannot be {1}: {2}.")
        raise ValueError(text.format(title(change.name), change.value, sentence_of(error.errors()[0]))) from error
    changes = {change.group: branch}
    return replace(settings, **changes)
