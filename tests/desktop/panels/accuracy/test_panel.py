from __future__ import annotations

import re
from dataclasses import replace

import pytest
from PySide6 import QtGui
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QLabel, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from core.domain.events import Estimate, ExpertShares, FirstForecast, ForecastGroup
from core.market.feeds.base import FeedState, FeedStatus, MissingCandles
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.panels.accuracy.words import span
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> AccuracyPanel:
    panel = AccuracyPanel(state, theme)
    shown_panel(qtbot, panel)
    return panel


class Shown(QObject):
    """Counts how often a part is shown."""

    def __init__(self, part: QWidget) -> None:
        super().__init__(part)
        self.count = 0
        part.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.Show
        return super().eventFilter(watched, event)


def words(panel: AccuracyPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible() and label.text()]


def numbers(panel: AccuracyPanel) -> list[str]:
    return re.findall(r"\d[\d,.]*", " ".join(words(panel)))


def test_all_tabs_are_in_view_in_the_dock_of_the_smallest_window(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status())
    panel.resize(376, 300)
    panel.refresh()
    tabs = panel.tabs
    assert tabs.count() == 3 and tabs.width() <= 360
    assert tabs.tabRect(tabs.count() - 1).right() < tabs.width()
    titles = [tabs.fontMetrics().horizontalAdvance(tabs.tabText(place)) for place in range(tabs.count())]
    assert all(tabs.tabRect(place).width() > width + 8 for place, width in enumerate(titles)), "none is cut"
    assert not [button for button in tabs.findChildren(QToolButton) if button.isVisible()], "nothing to scroll"


def test_it_says_that_nothing_is_scored_yet(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.fresh_status())
    panel.refresh()
    assert len(words(panel)) == 1 and "No forecasts scored yet" in words(panel)[0]
    assert not panel.apart.isVisible()


def test_the_first_page_is_three_sentences_with_a_bar_each_and_one_line(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status())
    panel.refresh()
    assert words(panel) == [
        "–  Ghosts are not proven better than “no change” on the close",
        "+1.1 % (−0.4 to 2.6)",
        "–  No proven gain from the model yet, on close and range",
        "+0.3 % (−0.2 to 0.8)",
        "✓  Learning helps, on close and range",
        "+0.8 % (0.2 to 1.4)",
        "1,000 live candles · next close: 64 % model",
    ]
    assert len(numbers(panel)) <= 12
    lines = (panel._ghosts, panel._model, panel._learning)
    spans = [line.bar.span for line in lines]
    assert spans[0] == pytest.approx((0.5 - 0.004 / 0.2, 0.5 + 0.026 / 0.2)) and all(spans), "around 0, on one scale"
    heights = [line.sentence.fontMetrics().height() for line in lines]
    assert heights[0] > heights[1] == heights[2], "the verdict is large, the other two are not"
    assert not panel.apart.isVisible(), "no scores are kept apart"


def test_no_refresh_shows_an_empty_line(panel: AccuracyPanel, state: RunState) -> None:
    """Regression: for one refresh it took the lowest row its place."""
    state.apply(scenario.status())
    panel.refresh()
    shown = Shown(panel._reason)
    panel.refresh()
    assert not panel._reason.text() and not panel._reason.isVisible() and not shown.count


def test_the_models_share_names_its_horizon(panel: AccuracyPanel, state: RunState) -> None:
    """Regression: “ghosts: 1 % model”, though at other horizons it was more."""
    by_horizon = tuple(((share, 1.0 - share),) for share in (0.01, 0.2, 0.36))
    shares = ExpertShares(("model", "repeat"), ("close",), by_horizon)
    state.apply(scenario.status(accuracy=scenario.accuracy(model_weight=0.01), shares=shares))
    panel.refresh()
    assert panel._footer.text().endswith("· next close: 1 % model")
    assert "The model's share in the close of each candle ahead: 1 %, 20 %, 36 %." in panel._footer.toolTip().replace(
        "\xa0", " "
    )


def test_the_last_line_names_the_market_where_the_model_has_several(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status())
    panel.refresh()
    before = panel._footer.text()
    scenario.watch(state)
    state.apply(scenario.ready_of_three())
    state.apply(scenario.status())
    panel.refresh()
    assert panel._footer.text() == f"BTC/USDT · {before}"


def test_ghosts_of_the_baselines_have_no_share_of_the_model(panel: AccuracyPanel, state: RunState) -> None:
    """“Next close: 11 % model” stood beside a chart of the baselines, while the trainer caught up."""
    candles = scenario.market(60)
    state.apply(scenario.status(accuracy=scenario.accuracy(model_weight=0.11)))
    panel.refresh()
    assert panel._footer.text().endswith("· next close: 11 % model")
    state.apply(FirstForecast(replace(scenario.forecast(candles), is_by_simple_rules=True), scenario.MARKET))
    assert panel.is_stale
    panel.refresh()
    assert panel._footer.text().endswith("· next close: baselines only")
    assert "next close: 89 %" not in " ".join(words(panel)) and "11 %" not in panel._footer.toolTip()
    state.apply(scenario.forecast(candles))
    panel.refresh()
    assert panel._footer.text().endswith("· next close: 11 % model")


def test_a_figure_without_an_interval_is_not_shown(panel: AccuracyPanel, state: RunState) -> None:
    early = Estimate(0.02, None, None, 309)
    state.apply(scenario.status(accuracy=scenario.accuracy(skill_close=early, model_gain=(early, early, early))))
    panel.refresh()
    assert "2.0" not in " ".join(words(panel)) and not panel._ghosts.bar.isVisible()
    assert "A proof needs 750 candles (309 so far)" in " ".join(words(panel))


def test_a_live_run_without_live_scores_says_when_they_start_and_where_others_are(
    panel: AccuracyPanel, state: RunState
) -> None:
    scenario.watch(state)
    state.apply(scenario.just_caught_up(live=12))
    panel.refresh()
    shown = " ".join(words(panel))
    assert panel.apart.isVisible() and panel.apart.text() == "Show caught-up"
    assert "needs 750 candles (12 so far)" in shown and "in about 12 h" in shown
    state.markets.on_feed_event(
        state.market, FeedStatus(FeedState.RECONNECTING, "Binance cannot be reached.", scenario.NOW_MS)
    )
    panel.refresh()
    shown = " ".join(words(panel))
    assert "needs 750 candles (12 so far)" in shown and "in about" not in shown


def test_in_a_thin_market_the_first_numbers_take_as_long_as_its_candles(panel: AccuracyPanel, state: RunState) -> None:
    candles = scenario.market()[:99]
    scenario.watch(state)
    state.feed_record.add_closed(candles)
    state.apply(scenario.just_caught_up(live=12))
    panel.refresh()
    assert "in about 12 h" in " ".join(words(panel))
    state.feed_record.add_report(MissingCandles(candles[0].open_time_ms - 100 * 60_000, 100))
    state.apply(scenario.just_caught_up(live=12))
    panel.refresh()
    assert "in about 1 d" in " ".join(words(panel)), "every other minute had no candle"


def test_separate_scores_are_shown_on_a_click_and_prove_nothing(
    qtbot: QtBot, panel: AccuracyPanel, state: RunState, theme: Theme
) -> None:
    state.apply(scenario.just_caught_up())
    panel.refresh()
    assert not panel._ghosts.figure.text()
    qtbot.mouseClick(panel.apart, Qt.MouseButton.LeftButton)
    panel.refresh()
    assert panel._ghosts.figure.text() == "+1.1 % (−0.4 to 2.6)" and not panel._model.isVisible()
    sentence = panel._ghosts.sentence
    assert "scored separately" in sentence.text() and sentence.palette().windowText().color() == theme.palette.text
    qtbot.mouseClick(panel.apart, Qt.MouseButton.LeftButton)
    panel.refresh()
    assert not panel._ghosts.figure.text() and panel._model.isVisible()


def test_scores_on_learned_candles_are_labelled_and_counted_separately(
    qtbot: QtBot, panel: AccuracyPanel, state: RunState
) -> None:
    own = scenario.accuracy(
        group=ForecastGroup.REPLAYED,
        scored=583,
        coverage_90=Estimate(0.9, 0.87, 0.92, 553),
        skill_close=Estimate(0.011, -0.004, 0.026, 553),
    )
    seen = Estimate(0.126, 0.1, 0.15, 30)
    apart = scenario.accuracy(group=ForecastGroup.SEEN, scored=583, coverage_90=seen, skill_close=seen)
    state.apply(scenario.status(accuracy=own, accuracy_apart=apart))
    panel.refresh()
    assert any(text.startswith("553 replayed candles") for text in words(panel))
    qtbot.mouseClick(panel.apart, Qt.MouseButton.LeftButton)
    panel.refresh()
    shown = " ".join(words(panel))
    assert "has been trained on these candles" in shown and "Backtest on past candles" not in shown
    assert "30 seen-before candles" in shown


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [(0.0003, 0.045, "0.03 to 4.5"), (-0.045, -0.0003, "−4.5 to −0.03"), (0.0, 0.02, "0.0 to 2.0")],
)
def test_no_end_of_an_interval_is_rounded_to_zero(low: float, high: float, shown: str) -> None:
    assert span(Estimate(0.5 * (low + high), low, high, 1_000), 1) == shown


def test_the_switch_disappears_with_the_former_runs_scores(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.just_caught_up())
    panel.refresh()
    assert panel.apart.isVisible()
    state.apply(scenario.fresh_status())
    panel.refresh()
    assert not panel.apart.isVisible()


def test_a_replay_never_counts_as_proof(panel: AccuracyPanel, state: RunState, theme: Theme) -> None:
    sure = Estimate(0.05, 0.03, 0.07, 1_000)
    replayed = scenario.accuracy(
        group=ForecastGroup.REPLAYED,
        has_proven_edge=True,
        skill_close=sure,
        verdict="Better than “no change”: above zero.",
    )
    state.apply(scenario.status(accuracy=replayed))
    panel.refresh()
    assert words(panel)[:2] == ["✓  Ghosts beat “no change” on the close in replay", "+5.0 % (3.0 to 7.0)"]
    assert panel._ghosts.sentence.palette().windowText().color() == panel._ghosts.bar._colour == theme.palette.accent


def test_tooltips_are_broken_into_lines(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status())
    panel.refresh()
    for widget in panel.findChildren(QWidget):
        assert len(widget.toolTip()) < 80 or QtGui.Qt.mightBeRichText(widget.toolTip()), widget.toolTip()


def test_a_run_without_a_reference_model_has_no_learning_row(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status(online=None))
    panel.refresh()
    assert not any("earning" in text for text in words(panel))
