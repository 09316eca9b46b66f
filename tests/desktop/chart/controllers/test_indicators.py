"""Indicators: added, edited and removed in their dialog, stored in the settings."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from core.indicators.registry import INDICATORS, Place
from core.indicators.spec import IndicatorSpec
from core.settings.tree import Settings, from_dict, to_dict
from desktop.actions import ActionId
from desktop.chart.controllers.indicators import ChartIndicators
from desktop.dialogs.indicators import IndicatorsDialog
from tests.desktop.conftest import Bench, MakeBench, fill

RSI = IndicatorSpec.of("rsi")


@pytest.fixture
def bench(make_chart_bench: MakeBench) -> Bench:
    made = make_chart_bench()
    fill(made)
    return made


@pytest.fixture
def indicators(bench: Bench) -> ChartIndicators:
    return ChartIndicators(bench.shell, bench.chart)


def opened(bench: Bench) -> IndicatorsDialog:
    bench.shell.actions[ActionId.INDICATORS].trigger()
    dialog = bench.window.findChild(IndicatorsDialog)
    assert isinstance(dialog, IndicatorsDialog)
    return dialog


def specs(indicators: ChartIndicators) -> tuple[IndicatorSpec, ...]:
    return tuple(layer.spec for layer in indicators.layers)


def test_an_added_indicator_is_shown_and_stored(bench: Bench, indicators: ChartIndicators) -> None:
    dialog = opened(bench)
    menu = dialog.add_button.menu()
    assert menu is not None
    for action in menu.actions():
        action.trigger()
    assert [layer.spec.kind for layer in indicators.layers] == list(INDICATORS)
    assert len(bench.chart.frame.panes) == sum(info.place is Place.OWN_PANE for info in INDICATORS.values())
    stored = from_dict(to_dict(bench.shell.settings.current))[0].chart.indicators
    assert tuple(IndicatorSpec.from_json(each) for each in stored) == specs(indicators)


def test_an_edited_indicator_changes_at_once(bench: Bench, indicators: ChartIndicators) -> None:
    dialog = opened(bench)
    dialog.add("bollinger")
    period = dialog.editor("period")
    assert not isinstance(period, QComboBox)
    period.setValue(50)
    source = dialog.editor("source")
    assert isinstance(source, QComboBox)
    source.setCurrentText("hl2")
    assert specs(indicators) == (IndicatorSpec.of("bollinger", period=50, source="hl2"),)
    assert dialog.list.item(0).text() == "BB 50 2 hl2"


def test_an_invalid_parameter_is_refused_and_the_chart_is_unchanged(bench: Bench, indicators: ChartIndicators) -> None:
    dialog = opened(bench)
    dialog.add("macd")
    before = specs(indicators)
    fast = dialog.editor("fast")
    assert not isinstance(fast, QComboBox)
    fast.setValue(40)
    assert specs(indicators) == before
    assert "fast period" in dialog.message.text()
    fast.setValue(10)
    assert dialog.message.text() == "" and specs(indicators) != before


def test_unchanged_indicators_are_not_recomputed(bench: Bench, indicators: ChartIndicators) -> None:
    dialog = opened(bench)
    for kind in ("ema", "rsi", "sma"):
        dialog.add(kind)
    before = indicators.layers
    period = dialog.editor("period")
    assert not isinstance(period, QComboBox)
    period.setValue(33)
    after = indicators.layers
    assert [one is other for one, other in zip(before, after, strict=True)] == [True, True, False]
    dialog.list.setCurrentRow(0)
    dialog.remove_button.click()
    left = indicators.layers
    assert left == after[1:] and [layer.number for layer in left] == [1, 2], "the others keep their colours"
    dialog.add("vwap")
    assert [layer.number for layer in indicators.layers] == [1, 2, 0], "the colours that are free"


def test_after_a_removal_an_added_indicator_of_the_same_kind_has_its_own_pane(
    bench: Bench, indicators: ChartIndicators
) -> None:
    dialog = opened(bench)
    for period in (7, 21):
        dialog.add("rsi")
        editor = dialog.editor("period")
        assert not isinstance(editor, QComboBox)
        editor.setValue(period)
    dialog.list.setCurrentRow(0)
    dialog.remove_button.click()
    dialog.add("rsi")
    assert specs(indicators) == (IndicatorSpec.of("rsi", period=21), RSI)
    assert [pane.name for pane in bench.chart.frame.panes] == ["rsi 0", "rsi 1"]


def test_a_removed_indicator_is_gone(bench: Bench, indicators: ChartIndicators) -> None:
    dialog = opened(bench)
    dialog.add("rsi")
    dialog.add("ema")
    dialog.list.setCurrentRow(0)
    dialog.remove_button.click()
    assert [layer.spec.kind for layer in indicators.layers] == ["ema"]
    assert bench.chart.frame.panes == ()
    dialog.remove_button.click()
    assert specs(indicators) == () and not dialog.remove_button.isEnabled()


def test_stored_indicators_are_there_at_the_start(make_chart_bench: MakeBench) -> None:
    chart = replace(Settings().chart, indicators=(RSI.to_json(),), pane_heights={"rsi 0": 0.3})
    bench = make_chart_bench(settings=replace(Settings(), chart=chart))
    fill(bench)
    indicators = ChartIndicators(bench.shell, bench.chart)
    assert specs(indicators) == (RSI,)
    layout = bench.chart.frame.layout
    assert layout.plot_bottom - layout.main_bottom == pytest.approx(0.3 * layout.plot_bottom, abs=2)


def test_a_stored_indicator_that_is_broken_is_dropped_and_the_others_stay() -> None:
    data = to_dict(Settings())
    data["chart"]["indicators"] = [RSI.to_json(), {"kind": "tea leaves"}, {"kind": "ema", "parameters": {"period": 9}}]
    settings, warnings = from_dict(data)
    kinds = [IndicatorSpec.from_json(each).kind for each in settings.chart.indicators]
    assert kinds == ["rsi", "ema"]
    assert len(warnings) == 1 and "tea leaves" in warnings[0]


def test_a_pane_that_is_dragged_keeps_its_height(qtbot: QtBot, bench: Bench, indicators: ChartIndicators) -> None:
    opened(bench).add("rsi")
    bench.chart.flush()
    edge = QPoint(200, bench.chart.frame.panes[0].top)
    with qtbot.waitSignal(bench.shell.settings.changed) as stored:
        QTest.mousePress(bench.chart.viewport(), Qt.MouseButton.LeftButton, pos=edge)
        QTest.mouseMove(bench.chart.viewport(), edge - QPoint(0, 40))
        QTest.mouseRelease(bench.chart.viewport(), Qt.MouseButton.LeftButton, pos=edge - QPoint(0, 40))
    bench.chart.flush()
    layout = bench.chart.frame.layout
    assert layout.main_bottom == pytest.approx(edge.y() - 40, abs=2)
    assert stored.args[0].chart.pane_heights["rsi 0"] == pytest.approx(
        1 - layout.main_bottom / layout.plot_bottom, abs=0.01
    )


def test_colours_and_width_show_at_once_are_stored_and_go_back_to_the_themes(
    bench: Bench, indicators: ChartIndicators
) -> None:
    dialog = opened(bench)
    dialog.add("macd")
    (layer,) = indicators.layers
    of_theme = layer.colours(bench.chart.frame)
    series = layer._series
    dialog.colour("signal").setCurrentIndex(dialog.colour("signal").findData("#d1499a"))
    dialog.line_width.setValue(3.0)
    assert indicators.layers == [layer] and layer._series is series, "nothing is worked out again"
    line, signal, _bars = layer.colours(bench.chart.frame)
    assert (line, signal.name()) == (of_theme[0], "#d1499a") and layer.look.width_px == 3.0
    stored = from_dict(to_dict(bench.shell.settings.current))[0].chart.indicators[0]
    assert stored["colours"] == {"signal": "#d1499a"} and stored["width_px"] == 3.0
    fast = dialog.editor("fast")
    assert not isinstance(fast, QComboBox)
    fast.setValue(10)
    assert indicators.shown[0].look == layer.look, "kept where a parameter changes"
    dialog.reset_button.click()
    (layer,) = indicators.layers
    assert layer.colours(bench.chart.frame) == of_theme and not dialog.reset_button.isEnabled()
    assert bench.shell.settings.current.chart.indicators[0].keys() == {"kind", "parameters"}
    assert dialog.colour("signal").colour == "" and dialog.line_width.value() == 1.5


def test_each_of_two_alike_keeps_its_own_look(bench: Bench, indicators: ChartIndicators) -> None:
    dialog = opened(bench)
    for colour in ("#e0454a", "#12909e"):
        dialog.add("sma")
        dialog.colour("average").setCurrentIndex(dialog.colour("average").findData(colour))
    names = [layer.colours(bench.chart.frame)[0].name() for layer in indicators.layers]
    assert names == ["#e0454a", "#12909e"]
    dialog.list.setCurrentRow(0)
    assert dialog.colour("average").colour == "#e0454a"
    dialog.remove_button.click()
    assert [layer.colours(bench.chart.frame)[0].name() for layer in indicators.layers] == ["#12909e"]


def test_the_edges_of_a_band_have_the_colour_of_its_middle(bench: Bench, indicators: ChartIndicators) -> None:
    dialog = opened(bench)
    dialog.add("donchian")
    dialog.colour("middle").setCurrentIndex(dialog.colour("middle").findData("#9657e0"))
    upper, middle, lower = indicators.layers[0].colours(bench.chart.frame)
    assert {colour.name() for colour in (upper, middle, lower)} == {"#9657e0"}
    assert upper.alpha() == lower.alpha() < middle.alpha() == 255


def test_a_stored_custom_colour_is_kept_and_shown(bench: Bench, indicators: ChartIndicators) -> None:
    own = {**RSI.to_json(), "colours": {"strength": "#123456"}}
    settings = bench.shell.settings.current
    bench.shell.settings.change(replace(settings, chart=replace(settings.chart, indicators=(own,))))
    dialog = opened(bench)
    assert dialog.colour("strength").colour == "#123456"
    dialog.line_width.setValue(2.0)
    assert indicators.shown[0].look.colour_of("strength") == "#123456"


def test_the_menu_names_where_each_is_drawn(bench: Bench, indicators: ChartIndicators) -> None:
    menu = opened(bench).add_button.menu()
    assert menu is not None
    assert [action.text() for action in menu.actions() if action.isSeparator()] == [
        "Over the candles",
        "Below the candles",
    ]
    assert len([action for action in menu.actions() if not action.isSeparator()]) == len(INDICATORS)
