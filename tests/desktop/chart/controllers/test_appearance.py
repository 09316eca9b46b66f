"""The Chart menu, the settings and the chart stay consistent, whichever changes."""

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from pytestqt.qtbot import QtBot

from core.domain import time_zones
from core.settings.tree import Settings
from desktop.actions import ActionId
from desktop.chart.axes.price_scale import PriceRange, ScaleKind
from desktop.chart.controllers.appearance import ChartAppearance
from desktop.chart.style import CandleStyle
from desktop.dialogs.date import ZoneDialog
from tests.desktop.conftest import Bench, MakeBench, fill


@pytest.fixture
def bench(make_chart_bench: MakeBench) -> Bench:
    made = make_chart_bench()
    ChartAppearance(made.shell, made.chart)
    fill(made)
    return made


@pytest.mark.parametrize("style", list(CandleStyle))
def test_the_menu_chooses_a_style_that_is_stored(qtbot: QtBot, bench: Bench, style: CandleStyle) -> None:
    bench.shell.actions[ActionId.STYLE_LINE].trigger()
    bench.shell.actions[ActionId[f"STYLE_{style.name}"]].trigger()
    assert bench.chart.style_shown.candles is style
    assert bench.shell.settings.current.chart.candles == style.value


@pytest.mark.parametrize("kind", list(ScaleKind))
def test_the_menu_chooses_a_scale(bench: Bench, kind: ScaleKind) -> None:
    bench.shell.actions[ActionId[f"SCALE_{kind.name}"]].trigger()
    assert bench.chart.style_shown.scale is kind
    assert bench.chart.frame.prices.kind is kind


def test_settings_from_elsewhere_reach_menu_and_chart(bench: Bench) -> None:
    chart = replace(Settings().chart, candles="hollow", scale="log", show_volume=False, time_zone="Asia/Tokyo")
    bench.shell.settings.change(replace(bench.shell.settings.current, chart=chart))
    actions = bench.shell.actions
    assert actions[ActionId.STYLE_HOLLOW].isChecked() and actions[ActionId.SCALE_LOG].isChecked()
    assert not actions[ActionId.SHOW_VOLUME].isChecked()
    style = bench.chart.style_shown
    assert style.candles is CandleStyle.HOLLOW and not style.shows_volume
    assert style.time_zone == ZoneInfo("Asia/Tokyo")


def test_the_exchanges_zone_is_that_of_the_market(make_chart_bench: MakeBench) -> None:
    bench = make_chart_bench()
    appearance = ChartAppearance(bench.shell, bench.chart)
    chart = replace(Settings().chart, time_zone="exchange")
    bench.shell.settings.change(replace(bench.shell.settings.current, chart=chart))
    appearance.set_venue("upbit")
    assert bench.chart.style_shown.time_zone == ZoneInfo("Asia/Seoul")


def test_another_setting_leaves_a_held_price_range_alone(bench: Bench) -> None:
    bench.chart.hold_prices(PriceRange(10_000.0, 30_000.0))
    bench.shell.actions[ActionId.SHOW_VOLUME].trigger()
    assert bench.chart.fresh_frame().is_manual
    bench.shell.actions[ActionId.FIT_PRICES].trigger()
    assert not bench.chart.fresh_frame().is_manual


@pytest.mark.parametrize(
    ("action", "setting", "style", "keys", "is_on_at_first"),
    [
        (ActionId.SHOW_CHANCE, "show_chance", "shows_chance", "Ctrl+Alt+P", True),
        (ActionId.SAMPLE_PATHS, "sample_paths", "shows_paths", "Alt+Shift+S", False),
        (ActionId.SHOW_GRID, "show_grid", "shows_grid", "Alt+Shift+G", True),
    ],
)
def test_chances_paths_and_grid_are_toggled_and_stored(
    bench: Bench, action: ActionId, setting: str, style: str, keys: str, is_on_at_first: bool
) -> None:
    toggle = bench.shell.actions[action]
    assert toggle.shortcut().toString() == keys
    for is_on in (is_on_at_first, not is_on_at_first, is_on_at_first):
        assert getattr(bench.shell.settings.current.chart, setting) is is_on is toggle.isChecked()
        assert getattr(bench.chart.style_shown, style) is is_on
        toggle.trigger()


@pytest.mark.parametrize("name", time_zones.OWN_NAMES)
def test_the_menu_chooses_a_time_zone(bench: Bench, name: str) -> None:
    bench.shell.actions[ActionId.ZONE_OTHER].setChecked(True)
    bench.shell.actions[ActionId[f"ZONE_{name.upper()}"]].trigger()
    assert bench.shell.settings.current.chart.time_zone == name
    assert bench.chart.style_shown.time_zone == time_zones.find(name)


def test_any_zone_is_found_by_its_name_and_none_is_refused(bench: Bench) -> None:
    bench.shell.actions[ActionId.ZONE_OTHER].trigger()
    dialog = bench.window.findChild(ZoneDialog)
    assert isinstance(dialog, ZoneDialog)
    dialog.box.setCurrentText("Middle/Earth")
    dialog.accept()
    assert dialog.isVisible() and "Middle/Earth" in dialog.message.text()
    dialog.box.setCurrentText("Europe/Berlin")
    dialog.accept()
    assert bench.chart.style_shown.time_zone == ZoneInfo("Europe/Berlin")
    assert bench.shell.actions[ActionId.ZONE_OTHER].isChecked()


def test_cancelling_the_zone_dialog_changes_nothing(bench: Bench) -> None:
    bench.shell.actions[ActionId.ZONE_UTC].trigger()
    bench.shell.actions[ActionId.ZONE_OTHER].trigger()
    dialog = bench.window.findChild(ZoneDialog)
    assert isinstance(dialog, ZoneDialog)
    dialog.reject()
    assert bench.shell.actions[ActionId.ZONE_UTC].isChecked()
    assert bench.shell.settings.current.chart.time_zone == "UTC"
