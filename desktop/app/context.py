"""The settings and the data folder of a command, and the reader of its progress."""

from __future__ import annotations

from dataclasses import dataclass

from core.market.feeds.venue import ExchangeUrls
from core.settings.tree import MarketSettings, Settings
from core.storage.folder import DataFolder
from core.training.online.trainer_spec import StartingPoint
from desktop.app.progress_lines import ProgressLines


@dataclass(frozen=True, slots=True)
class Context:
    """The settings, overridden by the options of the command line, and the data folder."""

    settings: Settings
    folder: DataFolder
    as_json: bool
    candles: int | None = None
    new_run: bool = False
    urls: ExchangeUrls | None = None
    is_first_start: bool = False
    """There is no settings file yet, and no option was given."""
    is_safe_mode: bool = False
    """Default settings and layout are used; the saved ones are not changed."""
    warnings: tuple[str, ...] = ()
    """Errors in the settings file."""
    folder_notice: str | None = None
    """Why the requested data folder is not used."""
    lines: ProgressLines | None = None
    """Progress for the program that has started this command."""
    start: StartingPoint | None = None
    """The starting point of a new run."""
    others: tuple[MarketSettings, ...] = ()
    """Further markets that the same model learns, besides the market of the settings."""
