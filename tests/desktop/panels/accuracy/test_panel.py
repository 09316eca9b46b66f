from __future__ import annotations

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


def row(panel: AccuracyPanel, name: str) -> list[str]:
    texts = words(panel)
    start = texts.index(name)
    return texts[start : start + 5]


def test_all_tabs_are_in_view_in_the_dock_of_the_smallest_window(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status())
    panel.resize(376, 300)
    panel.refresh()
    tabs = panel.tabs
    assert tabs.count() == 6 and tabs.width() <= 360
    assert tabs.tabRect(tabs.count() - 1).right() < tabs.width()
    titles = [tabs.fontMetrics().horizontalAdvance(tabs.tabText(place)) for place in range(tabs.count())]
    assert all(tabs.tabRect(place).width() > width + 8 for place, width in enumerate(titles)), "none is cut"
    assert not [button for button in tabs.findChildren(QToolButton) if button.isVisible()], "nothing to scroll"


def test_it_says_that_nothing_is_scored_yet(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.fresh_status())
    panel.refresh()
    assert len(words(panel)) == 1 and "No forecasts scored yet" in words(panel)[0]
    assert not panel.apart.isVisible()


def test_the_verdict_comes_first_and_each_row_has_interval_reference_and_n(
    panel: AccuracyPanel, state: RunState
) -> None:
    state.apply(scenario.status())
    panel.refresh()
    assert words(panel)[:3] == [
        "Ghosts are not proven better than “no change”: +1.1 % (−0.4 to 2.6)",
        "–  No proven gain from the model yet (next close: 36 % simple rules)",
        "✓  Learning helps: +0.8 % (0.2 to 1.4)",
    ]
    assert not panel.apart.isVisible(), "no scores are kept apart"
    assert row(panel, "Direction") == ["Direction", "52.3 %", "49.1 to 55.5", "50 %", "948"]
    assert row(panel, "Candle accuracy") == ["Candle accuracy", "43.7 %", "42.1 to 45.3", "41.9 %", "1,000"]
    assert row(panel, "90 % band") == ["90 % band", "89.3 %", "87.2 to 91.1", "90 %", "1,000"]
    assert row(panel, "Close skill") == ["Close skill", "+1.1 %", "−0.4 to 2.6", "0 %", "1,000"]


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


def test_ghosts_of_the_simple_rules_have_no_share_of_the_model(panel: AccuracyPanel, state: RunState) -> None:
    """“Next close: 11 % model” stood beside a chart of the simple rules, while the trainer caught up."""
    candles = scenario.market(60)
    state.apply(scenario.status(accuracy=scenario.accuracy(model_weight=0.11)))
    panel.refresh()
    assert panel._footer.text().endswith("· next close: 11 % model")
    state.apply(FirstForecast(replace(scenario.forecast(candles), is_by_simple_rules=True), scenario.MARKET))
    assert panel.is_stale
    panel.refresh()
    assert panel._footer.text().endswith("· next close: simple rules only")
    assert "next close: 89 %" not in " ".join(words(panel)) and "11 %" not in panel._footer.toolTip()
    state.apply(scenario.forecast(candles))
    panel.refresh()
    assert panel._footer.text().endswith("· next close: 11 % model")


def test_too_few_candles_show_a_dash_and_their_count(panel: AccuracyPanel, state: RunState) -> None:
    few = Estimate(None, None, None, 7)
    state.apply(scenario.status(accuracy=scenario.accuracy(scored=7, direction=few, reference_candle_accuracy=None)))
    panel.refresh()
    assert row(panel, "Direction") == ["Direction", "–", "from n = 30", "50 %", "7"]
    assert row(panel, "Candle accuracy")[3] == "–"


def test_a_skill_without_an_interval_is_not_shown(panel: AccuracyPanel, state: RunState) -> None:
    early = Estimate(0.02, None, None, 309)
    state.apply(scenario.status(accuracy=scenario.accuracy(skill_close=early, skill_range=early)))
    panel.refresh()
    for name in ("Close skill", "Range skill"):
        assert row(panel, name) == [name, "–", "from n = 750", "0 %", "309"]
    assert "Not yet: 309 of 750 candles needed." in panel._table.rows[4].value.toolTip().replace("\xa0", " ")


def test_the_definition_of_each_term_is_in_its_tooltip(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status())
    panel.refresh()
    tooltips = {label.text(): label.toolTip() for label in panel.findChildren(QLabel)}
    assert "Overlap" in tooltips["Candle accuracy"]
    assert "coin" in tooltips["Direction"]
    assert "1 − loss" in tooltips["Close skill"]
    assert all(tooltips[name] for name in ("50 % band", "90 % band", "Range skill"))


def test_a_live_run_without_live_scores_says_when_they_start_and_where_others_are(
    panel: AccuracyPanel, state: RunState
) -> None:
    scenario.watch(state)
    state.apply(scenario.just_caught_up(live=12))
    panel.refresh()
    shown = " ".join(words(panel))
    assert "821 caught-up candles are scored separately" in shown
    assert "after 30 candles (12 so far)" in shown and "about 18 min" in shown
    state.markets.on_feed_event(
        state.market, FeedStatus(FeedState.RECONNECTING, "Binance cannot be reached.", scenario.NOW_MS)
    )
    panel.refresh()
    shown = " ".join(words(panel))
    assert "after 30 candles (12 so far)" in shown and "about 18 min" not in shown


def test_in_a_thin_market_the_first_numbers_take_as_long_as_its_candles(panel: AccuracyPanel, state: RunState) -> None:
    candles = scenario.market()[:99]
    scenario.watch(state)
    state.feed_record.add_closed(candles)
    state.apply(scenario.just_caught_up(live=12))
    panel.refresh()
    assert "about 18 min" in " ".join(words(panel))
    state.feed_record.add_report(MissingCandles(candles[0].open_time_ms - 100 * 60_000, 100))
    state.apply(scenario.just_caught_up(live=12))
    panel.refresh()
    assert "about 36 min" in " ".join(words(panel)), "every other minute had no candle"


def test_separate_scores_are_shown_on_a_click_and_prove_nothing(
    qtbot: QtBot, panel: AccuracyPanel, state: RunState, theme: Theme
) -> None:
    state.apply(scenario.just_caught_up())
    panel.refresh()
    assert row(panel, "Direction")[1] == "–"
    qtbot.mouseClick(panel.apart, Qt.MouseButton.LeftButton)
    panel.refresh()
    assert row(panel, "Direction")[1] == "52.3 %"
    assert (
        "scored separately" in words(panel)[0] and panel._verdict.palette().windowText().color() == theme.palette.text
    )
    qtbot.mouseClick(panel.apart, Qt.MouseButton.LeftButton)
    panel.refresh()
    assert row(panel, "Direction")[1] == "–"


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


def test_all_bars_share_a_scale_centred_on_the_baseline(panel: AccuracyPanel, state: RunState) -> None:
    close, spread = Estimate(0.008, 0.002, 0.014, 1_000), Estimate(0.176, 0.15, 0.202, 1_000)
    state.apply(scenario.status(accuracy=scenario.accuracy(skill_close=close, skill_range=spread)))
    panel.refresh()
    spans = {each.term.name: each.bar.span for each in panel._table.rows}
    of_close, of_range = spans["Close skill"], spans["Range skill"]
    assert of_close is not None and of_range is not None
    assert 0.5 < of_close[0] < of_close[1] < of_range[0] < of_range[1] < 1.0
    assert of_close[1] - 0.5 == pytest.approx(0.014 / 0.5) and of_range[1] - 0.5 == pytest.approx(0.202 / 0.5)
    state.apply(scenario.status(accuracy=scenario.accuracy(skill_close=Estimate(None, None, None, 3))))
    panel.refresh()
    assert panel._table.rows[4].bar.span is None


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
    assert words(panel)[0] == "Ghosts beat “no change” in replay: +5.0 % (3.0 to 7.0)"
    assert panel._verdict.palette().windowText().color() == theme.palette.accent
    assert panel._table.rows[4].bar._colour is None


@pytest.mark.parametrize("is_models_own", [True, False])
def test_only_a_skill_in_which_the_model_has_a_proven_part_is_green(
    panel: AccuracyPanel, state: RunState, theme: Theme, is_models_own: bool
) -> None:
    """As is the verdict. Direction and candle accuracy prove nothing: their intervals hold for one look."""
    sure, palette = Estimate(0.05, 0.03, 0.07, 1_000), theme.palette
    gain = Estimate(0.01, 0.004 if is_models_own else -0.004, 0.016, 1_000)
    proven = scenario.accuracy(
        direction=Estimate(0.56, 0.53, 0.59, 948),
        candle_accuracy=Estimate(0.46, 0.44, 0.48, 1_000),
        skill_close=sure,
        skill_range=sure,
        model_gain=(gain, gain, gain),
    )
    state.apply(scenario.status(accuracy=proven))
    panel.refresh()
    colours = {each.term.name: each.bar._colour for each in panel._table.rows}
    assert colours["Direction"] is None and colours["Candle accuracy"] is None
    colour = palette.good if is_models_own else palette.accent
    assert colours["Close skill"] == colours["Range skill"] == colour
    assert panel._verdict.palette().windowText().color() == colour


def test_tooltips_are_broken_into_lines(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status())
    panel.refresh()
    for widget in panel.findChildren(QWidget):
        assert len(widget.toolTip()) < 80 or QtGui.Qt.mightBeRichText(widget.toolTip()), widget.toolTip()


def test_a_run_without_a_reference_model_has_no_learning_row(panel: AccuracyPanel, state: RunState) -> None:
    state.apply(scenario.status(online=None))
    panel.refresh()
    assert not any("earning" in text for text in words(panel))
