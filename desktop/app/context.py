"""What a command was started with: its settings, its data folder, and who reads its progress."""

from __future__ import annotations

from dataclasses import dataclass

from core.market.feeds.urls import ExchangeUrls
from core.settings.tree import Settings
from core.storage.folder import DataFolder
from core.training.online.spec import StartingPoint
from desktop.app.progress_lines import ProgressLines


@dataclass(frozen=True, slots=True)
class Context:
    """What a command was started with: the settings with the options laid over them, and where data lies."""

    settings: Settings
    folder: DataFolder
    as_json: bool
    candles: int | None = None
    new_run: bool = False
    urls: ExchangeUrls | None = None
    is_first_start: bool = False
    """Nothing was ever chosen, in this folder or now."""
    is_safe_mode: bool = False
    """Settings and layout are the defaults, and stay as they are on disk."""
    warnings: tuple[str, ...] = ()
    """What was wrong in the settings file."""
    folder_notice: str | None = None
    """Why another data folder is used than the one that was asked for."""
    lines: ProgressLines | None = None
    """Another program has started this command and is told how it goes."""
    start: StartingPoint | None = None
    """What a new run begins with."""
