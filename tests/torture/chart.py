"""Random actions on a chart from outside."""

from __future__ import annotations

from typing import TypeVar
from zoneinfo import ZoneInfo

import numpy as np
from PySide6.QtGui import QFont

from core.domain.clock import ManualClock
from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.items.regimes import RegimeLayer
from desktop.chart.style import CandleStyle
from desktop.chart.tools.pan_and_zoom import Kinetic
from desktop.chart.widget import ChartWidget
from desktop.ui.theme import Colours, Mode, Theme
from tests.torture.market import Market
from tests.torture.run import Act
from tests.torture.user import User

T = TypeVar("T")
ZONES = ("UTC", "Asia/Kolkata", "America/New_York", "Pacific/Kiritimati")
_MOST_INDICATORS = 5
_MODES: tuple[Mode, ...] = ("dark", "light", "system")
_COLOURS: tuple[Colours, ...] = ("green-red", "blue-orange")


class ChartActs:
    """Feeds a chart from a market and passes it user input. Each act returns its description."""

    def __init__(self, chart: ChartWidget, theme: Theme, clock: ManualClock, random: np.random.Generator) -> None:
        self.chart, self.theme, self.clock, self._random = chart, theme, clock, random
        self.user = User(random, chart)
        self.market = Market(random, clock)
        self.show_market()

    def show_market(self) -> None:
        self.chart.set_series(self.market.series, self.market.title)

    def tick(self) -> None:
        """One trade; the chart is notified of the candle that it closed, if any."""
        self.chart.set_forming(self.market.tick())
        if self.market.take_news():
            self.chart.refresh()

    def data_acts(self) -> dict[Act, float]:
        return {
            self.come_late: 0.01,
            self.correct: 0.01,
            self.remember: 0.001,
            self.forecast: 0.01,
            self.forget_forecast: 0.003,
            self.score: 0.02,
            self.sleep: 0.0005,
            self.switch_market: 0.001,
            self.empty_market: 0.0005,
            self.switch_live: 0.002,
        }

    def look_acts(self) -> dict[Act, float]:
        """Changes that a window makes through its settings."""
        return {
            self.user.key: 0.08,
            self.resize: 0.004,
            self.restyle: 0.006,
            self.recolour: 0.003,
            self.indicator: 0.004,
            self.shade: 0.002,
            self.change_font: 0.001,
            self.hide_and_show: 0.001,
            self.go_to_time: 0.003,
        }

    def come_late(self) -> None:
        self.market.come_late()
        self.chart.refresh()

    def correct(self) -> None:
        self.market.correct()
        self.chart.refresh()

    def remember(self) -> str:
        count = int(self._random.integers(1, 60))
        self.market.remember(count)
        self.chart.refresh()
        return f"{count} candles"

    def forecast(self) -> None:
        made = self.market.forecast()
        self.chart.set_forecast(made)
        if made is not None:
            self.chart.model.regimes.add(made)
            self.chart.layers_changed()

    def forget_forecast(self) -> None:
        self.chart.set_forecast(None)

    def score(self) -> None:
        if (scored := self.market.outcome()) is not None:
            self.chart.model.past.add(scored)

    def sleep(self) -> str:
        """The machine was asleep: a hole."""
        seconds = int(self._random.integers(2, 500))
        self.clock.advance_ms(1_000 * seconds)
        return f"{seconds} s"

    def switch_market(self) -> str:
        self.market = Market(self._random, self.clock, int(self._random.choice([1, 2, 30, 400, 3_000])))
        self.show_market()
        return f"{len(self.market.series)} candles at {self.market.price:.3g}"

    def empty_market(self) -> None:
        self.market = Market(self._random, self.clock, 0)
        self.show_market()

    def switch_live(self) -> None:
        self.chart.set_live(bool(self._random.integers(2)))

    def resize(self) -> str:
        width, height = int(self._random.integers(240, 1_300)), int(self._random.integers(160, 800))
        self.chart.resize(width, height)
        return f"{width} x {height}"

    def restyle(self) -> str:
        changes = (
            {"candles": self._one_of(tuple(CandleStyle))},
            {"scale": self._one_of(tuple(ScaleKind))},
            {"shows_volume": bool(self._random.integers(2))},
            {"shows_bands": bool(self._random.integers(2))},
            {"time_zone": ZoneInfo(self._one_of(ZONES))},
        )
        change = changes[int(self._random.integers(len(changes)))]
        self.chart.restyle(**change)
        return str(change)

    def recolour(self) -> None:
        self.theme.set_mode(self._one_of(_MODES))
        self.theme.set_colours(self._one_of(_COLOURS), is_swapped=bool(self._random.integers(2)))

    def indicator(self) -> str:
        layers = list(self.chart._layers)
        if layers and (len(layers) >= _MOST_INDICATORS or self._random.random() < 0.5):
            layer = layers[int(self._random.integers(len(layers)))]
            self.chart.remove_layer(layer)
            return "one less"
        kind = self._one_of(tuple(INDICATORS))
        self.chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), len(layers)))
        return kind

    def shade(self) -> str:
        """Toggle the regimes behind the candles."""
        shown = [layer for layer in self.chart._layers if isinstance(layer, RegimeLayer)]
        if shown:
            self.chart.remove_layer(shown[0])
            return "off"
        self.chart.add_layer(RegimeLayer())
        return "on"

    def change_font(self) -> None:
        font = QFont(self.chart.font())
        font.setPixelSize(int(self._random.integers(8, 24)))
        self.chart.setFont(font)

    def hide_and_show(self) -> None:
        self.chart.setVisible(not self.chart.isVisible())

    def go_to_time(self) -> None:
        series = self.market.series
        if len(series):
            first, last = int(series.open_time_ms[0]), int(series.open_time_ms[-1])
            self.chart.go_to_time(int(self._random.integers(first - 10_000, last + 10_000)))

    def rest(self) -> None:
        """Release everything; the same small market as at every rest, and nothing else."""
        self.user.rest()
        self.user.leave()
        for layer in list(self.chart._layers):
            self.chart.remove_layer(layer)
        self.market = Market(np.random.default_rng(1), self.clock)
        self.show_market()
        self.chart.set_live(False)

    def _one_of(self, choices: tuple[T, ...]) -> T:
        return choices[int(self._random.integers(len(choices)))]


def stop_running_on(chart: ChartWidget, clock: ManualClock) -> None:
    """A throw ends within a second of clock time."""
    thrown = chart.findChild(Kinetic)
    assert thrown is not None
    for _ in range(50):
        if not chart.is_moving:
            return
        clock.advance_ms(1_000)
        thrown._timer.timeout.emit()
    raise AssertionError("the view never came to rest")
