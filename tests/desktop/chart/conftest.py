from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.candle_series import CandleSeries
from core.domain.clock import ManualClock
from desktop.chart.widget import ChartWidget
from desktop.ui.theme import Theme
from tests.desktop.chart.support import START_MS, forecast_after, forming_after

ShowChart = Callable[..., ChartWidget]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START_MS)


@pytest.fixture
def show_chart(qtbot: QtBot, clock: ManualClock) -> Iterator[ShowChart]:
    """Shows a chart of a series, with forecast and forming candle if wanted, and waits for its first paint."""
    themes: list[Theme] = []

    def show(
        series: CandleSeries | None = None,
        width: int = 900,
        height: int = 560,
        *,
        has_forecast: bool = False,
        has_forming: bool = False,
    ) -> ChartWidget:
        theme = Theme("dark")
        themes.append(theme)
        chart = ChartWidget(theme, clock)
        qtbot.addWidget(chart)
        chart.resize(width, height)
        if series is not None:
            chart.set_series(series, "BTC/USDT · 1m · test")
        with qtbot.waitExposed(chart):
            chart.show()
        settle(chart)
        if series is not None and has_forecast:
            chart.set_forecast(forecast_after(series))
        if series is not None and has_forming:
            chart.set_forming(forming_after(series))
        settle(chart)
        return chart

    yield show


def settle(chart: ChartWidget) -> None:
    """Run pending updates, and repaint only what the window would."""
    chart.flush()
    QApplication.processEvents()
