"""Settings of the window: appearance, chart, lists and notifications."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator
from pydantic.dataclasses import dataclass

from core.domain import time_zones
from core.domain.candle import Market
from core.domain.watchlist import DEFAULT_WATCHLIST, MOST_WATCHED, WatchedMarket
from core.indicators.shown import ShownIndicator
from core.settings.group import CONFIG, OWN_DIALOG, SECRET, setting

ChartInterval = Literal["market", "1m", "5m", "15m", "1h", "4h", "1d"]
OverviewCharts = Literal[4, 9, 16]
_LONGEST_URLS = 10_000
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PLAIN_WEBHOOKS = ("http", "json", "form", "xml")
_Indicator = Annotated[dict[str, Any], AfterValidator(lambda data: ShownIndicator.from_json(data).to_json())]


def _alert_urls(text: str | None) -> str | None:
    """Their form, and that a webhook is encrypted unless it is on this computer. Which of them a service takes is known
    to apprise, which is slow to import. No sentence repeats a URL: it may hold a secret."""
    if text is not None and (not text.isprintable() or len(text) > _LONGEST_URLS):
        raise ValueError("the URLs have control characters, or are too long")
    if text is not None and not all(re.match(r"[A-Za-z][\w+.-]*://.", url) for url in text.split()):
        raise ValueError("each URL has to begin with a service and ://, as tgram://, mailto:// or https:// do")
    if text is not None and any(map(_is_unencrypted, text.split())):
        raise ValueError("a webhook needs https:// (or jsons://, forms://, xmls://), unless it is on this computer")
    return text


def _is_unencrypted(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in _PLAIN_WEBHOOKS and parts.hostname not in _LOOPBACK
    except ValueError:
        return False  # apprise says it


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class AppearanceSettings:
    """Appearance of the window."""

    theme: Literal["system", "dark", "light"] = setting("system", "Theme", "system: follow the desktop.")
    colours: Literal["green-red", "blue-orange"] = setting(
        "green-red", "Colours", "Colours of rising and falling candles; blue-orange is safe for the colour-blind."
    )
    interface_percent: int | None = setting(
        None,
        "Interface size",
        "Size of all text, in percent. Not set: follows the screen and the window.",
        ge=75,
        le=300,
    )
    font: Literal["system", "bundled"] = setting("system", "Font", "bundled: Golden Sans, with digits of equal width.")
    swap_colours: bool = setting(False, "Swap colours", "Swap the colours of rising and falling candles.")


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class ChartSettings:
    """Content and appearance of the chart."""

    candles: Literal["candles", "hollow", "bars", "line", "heikin_ashi"] = setting(
        "candles", "Candle style", "Shape of the candles; forecasts are always drawn as candles."
    )
    scale: Literal["linear", "log", "percent"] = setting(
        "linear", "Price scale", "Price axis. percent: change from the first candle in view."
    )
    interval: ChartInterval = setting(
        "market", "Interval", "Interval of the shown candles: the market's, or a coarser one."
    )
    time_zone: str = setting(
        "local", "Time zone", "Time zone of the chart: local, UTC, exchange, or a name such as Europe/Berlin."
    )
    show_grid: bool = setting(True, "Grid", "Lines at round prices and times.")
    show_drawing_tools: bool = setting(True, "Drawing tools", "Strip of drawing tools at the left of the chart.")
    show_volume: bool = setting(True, "Volume bars", "Volume bars under the candles.")
    volume_profile: bool = setting(False, "Volume profile", "Traded volume at each price, for the candles in view.")
    compare: Annotated[str, AfterValidator(lambda text: str(Market.parse(text)) if text else "")] = setting(
        "", "Compared market", "Another stored market, shown as a line.", **OWN_DIALOG
    )
    scale_before_compare: Literal["linear", "log", "percent"] = setting(
        "linear", "Price scale before comparing", "Price axis to return to after comparing.", **OWN_DIALOG
    )
    show_bands: bool = setting(True, "Forecast bands", "The 50 % and 90 % bands around the ghosts.")
    show_legend: bool = setting(
        True, "Legend of the ghosts", "What their dashes and bands mean, above them. A click on it hides it."
    )
    show_chance: bool = setting(
        True,
        "Chance of a price",
        "Chance that a price is touched: at the crosshair, on the price axis and on horizontal lines.",
    )
    sample_paths: bool = setting(
        False,
        "Sample paths",
        "Possible futures behind the ghosts, as thin lines; the ghosts follow the most central one.",
    )
    hindsight: bool = setting(False, "Hindsight", "Past forecasts over the actual candles.")
    hindsight_horizon: int = setting(
        1, "Hindsight horizon (candles)", "Candles between a past forecast and its target.", ge=1, le=64, unit="candles"
    )
    regimes: bool = setting(
        False,
        "Market regime",
        "Background by market regime: calm, trending or volatile, as known at each close; a strip by the regime that "
        "the model forecast.",
    )
    replay_waits: bool = setting(
        True,
        "Replay waits for the model",
        "In a replay, the next candle comes once the model has forecast from the newest one.",
    )
    show_markers: bool = setting(True, "Markers", "Marks at incidents, new bests and restores of training.")
    indicators: tuple[
        Annotated[dict[str, Any], AfterValidator(lambda data: ShownIndicator.from_json(data).to_json())], ...
    ] = setting((), "Indicators", "Indicators on the chart.", **OWN_DIALOG)
    overview_charts: OverviewCharts = setting(
        9, "Charts in the Overview", "Number of charts in the Overview.", **OWN_DIALOG
    )
    expert_ghosts: Annotated[tuple[str, ...], Field(max_length=4)] = setting(
        (), "Expert ghosts", "Forecasters whose own ghosts are drawn: the ticks in Accuracy, Models.", **OWN_DIALOG
    )
    pane_heights: dict[str, Annotated[float, Field(gt=0.0, lt=1.0)]] = setting(
        {}, "Pane heights", "Pane heights, as shares of the chart's height.", **OWN_DIALOG
    )

    @field_validator("time_zone")
    @classmethod
    def _is_a_zone(cls, name: str) -> str:
        time_zones.find(name)
        return name


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class WatchlistSettings:
    """The markets of the panel *Markets*."""

    markets: Annotated[tuple[WatchedMarket, ...], Field(max_length=MOST_WATCHED)] = setting(
        DEFAULT_WATCHLIST, "Markets", "Watched markets, in order.", **OWN_DIALOG
    )
    files: dict[str, str] = setting(
        {}, "Replayed files", "Replayed markets, and where the file of each is.", **OWN_DIALOG
    )

    @field_validator("markets")
    @classmethod
    def _each_market_once(cls, markets: tuple[WatchedMarket, ...]) -> tuple[WatchedMarket, ...]:
        """A repeated market stays at its first place, and is learned if either entry is learned."""
        learned = {each for each in markets if each.is_learned}
        return tuple(replace(each, is_learned=each in learned) for each in dict.fromkeys(markets))


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class BrowserSettings:
    """Arrangement of the checkpoint browser; changed there."""

    columns: tuple[str, ...] = setting((), "Columns", "Columns, in order; empty: as many as fit.", **OWN_DIALOG)
    widths: dict[str, Annotated[int, Field(ge=8, le=4000)]] = setting(
        {}, "Widths", "Changed column widths, in pixels.", **OWN_DIALOG
    )
    sort_by: str = setting("step", "Sort by", "The sort column.", **OWN_DIALOG)
    is_descending: bool = setting(True, "Descending", "Descending order.", **OWN_DIALOG)
    all_runs: bool = setting(False, "All runs", "Checkpoints of all runs, not only the watched one.", **OWN_DIALOG)


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class NotificationSettings:
    """Notifications on the desktop and in the tray, and alerts to chats, mail and webhooks."""

    price_alerts: bool = setting(True, "Price alerts", "The price crosses an alert; also shown as a banner.")
    alert_sound: bool = setting(True, "Price alert sound", "Play the system's alert sound for a price alert.")
    band_alerts: Literal["off", "50", "90"] = setting(
        "90",
        "Band alerts",
        "The band with this share (%) of the next closes reaches an alert that it did not reach before; "
        "also shown as a banner.",
    )
    chance_alerts: Literal["off", "1", "3", "8"] = setting(
        "off",
        "Chance alerts within (candles)",
        "The chance that an alert's price is touched within this many candles rises above the chance alert level; also "
        "shown as a banner.",
    )
    chance_alert_percent: int = setting(
        60,
        "Chance alert level (%)",
        "A chance alert fires above this level, and again only after the chance was below half of it.",
        ge=5,
        le=95,
    )
    coverage_lost: bool = setting(
        True,
        "Coverage lost",
        "The 90 % band held fewer of the newest 500 closes than chance explains; also shown as a banner.",
    )
    drift_found: bool = setting(
        True, "Drift found", "The loss of the ghosts has risen for longer than chance explains; also shown as a banner."
    )
    alert_urls: Annotated[str | None, AfterValidator(_alert_urls)] = setting(
        None,
        "Alert URLs",
        "Where alerts of prices, bands, chances, coverage and drifts are also sent: apprise URLs with spaces between "
        "them, such as tgram://TOKEN/CHAT, discord://, slack://, ntfy:// or mailto://; https:// for a webhook.",
        **SECRET,
    )
    incidents: bool = setting(True, "Incidents", "A warning or an error in training, at most one a minute.")
    new_best: bool = setting(True, "New best", "A new best checkpoint, while candles are live.")
    feed: bool = setting(True, "Feed", "A live feed has been lost for 15 seconds, or is back.")
    jobs: bool = setting(True, "Jobs", "A job from the Jobs panel is done, or has failed.")
    while_in_front: bool = setting(
        False, "Notify while in front", "Also while the window is active; alerts always are."
    )
