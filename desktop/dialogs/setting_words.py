"""What settings are called for people, and when a change of one takes effect."""

from __future__ import annotations

from dataclasses import fields, replace

from pydantic import ValidationError

from core.domain.diagnosis import SettingChange
from core.settings.faults import sentence_of
from core.settings.tree import Settings
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_AT_ONCE = frozenset({("training", "learning_rate"), ("training", "duty_percent"), ("gradients", "clip_norm")})
_AT_START = frozenset({("appearance", "interface_percent"), ("appearance", "font")})
_RULES = frozenset({"keep_newest", "keep_best", "keep_every_steps", "keep_hours", "undo_minutes"})
_TITLES = {
    "accumulation": QT_TRANSLATE_NOOP("Settings", "Micro-batches per step"),
    "activation": QT_TRANSLATE_NOOP("Settings", "Activation"),
    "alert_sound": QT_TRANSLATE_NOOP("Settings", "Price alert sound"),
    "all_runs": QT_TRANSLATE_NOOP("Settings", "All runs"),
    "appearance": QT_TRANSLATE_NOOP("Settings", "Appearance"),
    "backups": QT_TRANSLATE_NOOP("Settings", "Backups"),
    "browser": QT_TRANSLATE_NOOP("Settings", "Browser"),
    "candles": QT_TRANSLATE_NOOP("Settings", "Candle style"),
    "catch_up_candles": QT_TRANSLATE_NOOP("Settings", "Warm-up candles"),
    "catch_up_seconds": QT_TRANSLATE_NOOP("Settings", "Catch-up interval (s)"),
    "chart": QT_TRANSLATE_NOOP("Settings", "Chart"),
    "checkpoints": QT_TRANSLATE_NOOP("Settings", "Checkpoints"),
    "clip_mode": QT_TRANSLATE_NOOP("Settings", "Clip mode"),
    "clip_norm": QT_TRANSLATE_NOOP("Settings", "Clip threshold"),
    "clip_percentile": QT_TRANSLATE_NOOP("Settings", "Adaptive percentile"),
    "clip_value": QT_TRANSLATE_NOOP("Settings", "Clip value"),
    "colours": QT_TRANSLATE_NOOP("Settings", "Colours"),
    "columns": QT_TRANSLATE_NOOP("Settings", "Columns"),
    "compare": QT_TRANSLATE_NOOP("Settings", "Compared market"),
    "context": QT_TRANSLATE_NOOP("Settings", "Context"),
    "cuda_graphs": QT_TRANSLATE_NOOP("Settings", "CUDA graphs"),
    "device": QT_TRANSLATE_NOOP("Settings", "Device"),
    "drift": QT_TRANSLATE_NOOP("Settings", "Response to drift"),
    "duty_percent": QT_TRANSLATE_NOOP("Settings", "Time for training (%)"),
    "ema_decay": QT_TRANSLATE_NOOP("Settings", "Weight average decay"),
    "error_strip": QT_TRANSLATE_NOOP("Settings", "Forecast errors"),
    "every_hours": QT_TRANSLATE_NOOP("Settings", "Hours between backups"),
    "every_steps": QT_TRANSLATE_NOOP("Settings", "Steps between checkpoints"),
    "fallback_venues": QT_TRANSLATE_NOOP("Settings", "Fallback exchanges"),
    "feed": QT_TRANSLATE_NOOP("Settings", "Feed"),
    "file": QT_TRANSLATE_NOOP("Settings", "File"),
    "font": QT_TRANSLATE_NOOP("Settings", "Font"),
    "gradients": QT_TRANSLATE_NOOP("Settings", "Gradients"),
    "hang_seconds": QT_TRANSLATE_NOOP("Settings", "Trainer timeout (s)"),
    "heads": QT_TRANSLATE_NOOP("Settings", "Attention heads"),
    "hindsight": QT_TRANSLATE_NOOP("Settings", "Hindsight"),
    "hindsight_horizon": QT_TRANSLATE_NOOP("Settings", "Hindsight horizon (candles)"),
    "horizons": QT_TRANSLATE_NOOP("Settings", "Horizons"),
    "host": QT_TRANSLATE_NOOP("Settings", "Trainer runs in"),
    "incidents": QT_TRANSLATE_NOOP("Settings", "Incidents"),
    "indicators": QT_TRANSLATE_NOOP("Settings", "Indicators"),
    "initialisation": QT_TRANSLATE_NOOP("Settings", "Initialisation"),
    "interface_percent": QT_TRANSLATE_NOOP("Settings", "Interface size"),
    "interval": QT_TRANSLATE_NOOP("Settings", "Interval"),
    "is_descending": QT_TRANSLATE_NOOP("Settings", "Descending"),
    "jobs": QT_TRANSLATE_NOOP("Settings", "Jobs"),
    "keep": QT_TRANSLATE_NOOP("Settings", "Backups to keep"),
    "keep_best": QT_TRANSLATE_NOOP("Settings", "Keep best"),
    "keep_detail_candles": QT_TRANSLATE_NOOP("Settings", "Full detail, at least (candles)"),
    "keep_detail_days": QT_TRANSLATE_NOOP("Settings", "Full detail for (days)"),
    "keep_every_steps": QT_TRANSLATE_NOOP("Settings", "Keep one every (steps)"),
    "keep_hours": QT_TRANSLATE_NOOP("Settings", "Keep all younger than (hours)"),
    "keep_newest": QT_TRANSLATE_NOOP("Settings", "Keep newest"),
    "layers": QT_TRANSLATE_NOOP("Settings", "Number of layers"),
    "learning_rate": QT_TRANSLATE_NOOP("Settings", "Learning rate"),
    "market": QT_TRANSLATE_NOOP("Settings", "Market"),
    "markets": QT_TRANSLATE_NOOP("Settings", "Markets"),
    "model": QT_TRANSLATE_NOOP("Settings", "Model"),
    "name": QT_TRANSLATE_NOOP("Settings", "Name"),
    "new_best": QT_TRANSLATE_NOOP("Settings", "New best"),
    "noise": QT_TRANSLATE_NOOP("Settings", "Gradient noise"),
    "notifications": QT_TRANSLATE_NOOP("Settings", "Notifications"),
    "online": QT_TRANSLATE_NOOP("Settings", "Online"),
    "overview_charts": QT_TRANSLATE_NOOP("Settings", "Charts in the Overview"),
    "pane_heights": QT_TRANSLATE_NOOP("Settings", "Pane heights"),
    "shrinkage": QT_TRANSLATE_NOOP("Settings", "Shrinkage"),
    "poor_forecast_weight": QT_TRANSLATE_NOOP("Settings", "Weight of poor forecasts"),
    "precision": QT_TRANSLATE_NOOP("Settings", "Precision"),
    "price_alerts": QT_TRANSLATE_NOOP("Settings", "Price alerts"),
    "recompute_activations": QT_TRANSLATE_NOOP("Settings", "Recompute activations"),
    "record": QT_TRANSLATE_NOOP("Settings", "Record"),
    "recovery": QT_TRANSLATE_NOOP("Settings", "Recovery"),
    "regimes": QT_TRANSLATE_NOOP("Settings", "Market regime"),
    "replay_samples": QT_TRANSLATE_NOOP("Settings", "Replay samples"),
    "replay_window": QT_TRANSLATE_NOOP("Settings", "Replay window"),
    "rollback_window_steps": QT_TRANSLATE_NOOP("Settings", "Rollback window (steps)"),
    "rollbacks": QT_TRANSLATE_NOOP("Settings", "Rollbacks before a pause"),
    "scale": QT_TRANSLATE_NOOP("Settings", "Price scale"),
    "scale_before_compare": QT_TRANSLATE_NOOP("Settings", "Price scale before comparing"),
    "schedule": QT_TRANSLATE_NOOP("Settings", "Schedule"),
    "schedule_steps": QT_TRANSLATE_NOOP("Settings", "Schedule steps"),
    "seed": QT_TRANSLATE_NOOP("Settings", "Seed"),
    "show_bands": QT_TRANSLATE_NOOP("Settings", "Forecast bands"),
    "show_markers": QT_TRANSLATE_NOOP("Settings", "Markers"),
    "show_volume": QT_TRANSLATE_NOOP("Settings", "Volume bars"),
    "skips_before_rollback": QT_TRANSLATE_NOOP("Settings", "Skips before a rollback"),
    "sort_by": QT_TRANSLATE_NOOP("Settings", "Sort by"),
    "speed": QT_TRANSLATE_NOOP("Settings", "Speed"),
    "spike_action": QT_TRANSLATE_NOOP("Settings", "Response to a loss spike"),
    "spike_factor": QT_TRANSLATE_NOOP("Settings", "Loss spike threshold (× median)"),
    "start_from": QT_TRANSLATE_NOOP("Settings", "Start from"),
    "swap_colours": QT_TRANSLATE_NOOP("Settings", "Swap colours"),
    "symbol": QT_TRANSLATE_NOOP("Settings", "Symbol"),
    "theme": QT_TRANSLATE_NOOP("Settings", "Theme"),
    "threads": QT_TRANSLATE_NOOP("Settings", "Threads"),
    "time_zone": QT_TRANSLATE_NOOP("Settings", "Time zone"),
    "training": QT_TRANSLATE_NOOP("Settings", "Training"),
    "twin_age": QT_TRANSLATE_NOOP("Settings", "Reference model age (candles)"),
    "undo_minutes": QT_TRANSLATE_NOOP("Settings", "Undo deletions for (min)"),
    "venue": QT_TRANSLATE_NOOP("Settings", "Exchange"),
    "volume_profile": QT_TRANSLATE_NOOP("Settings", "Volume profile"),
    "warmup_steps": QT_TRANSLATE_NOOP("Settings", "Warm-up steps"),
    "watchlist": QT_TRANSLATE_NOOP("Settings", "Markets"),
    "weight_decay": QT_TRANSLATE_NOOP("Settings", "Weight decay"),
    "while_in_front": QT_TRANSLATE_NOOP("Settings", "Notify while in front"),
    "width": QT_TRANSLATE_NOOP("Settings", "Width"),
    "widths": QT_TRANSLATE_NOOP("Settings", "Widths"),
    "wrong_direction_weight": QT_TRANSLATE_NOOP("Settings", "Weight of wrong directions"),
}


def words(name: str) -> str:
    """``learning_rate`` as ``Learning rate``: for one that this version has no word for."""
    return name.replace("_", " ").capitalize()


def title(name: str) -> str:
    """What a setting or a group of them is called, in a form and in a sentence, in the user's language."""
    return translate("Settings", _TITLES[name]) if name in _TITLES else words(name)


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
    return group in ("appearance", "backups", "chart", "notifications") or (group, name) in _AT_ONCE or name in _RULES


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
