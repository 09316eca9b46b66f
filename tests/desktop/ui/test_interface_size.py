"""Text has the size of the settings, or one for the screen, in the chosen font."""

from __future__ import annotations

from itertools import combinations

import pytest
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPicture
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QMainWindow,
    QTableView,
    QToolBar,
    QToolButton,
)
from pytestqt.qtbot import QtBot

from core.settings.window import AppearanceSettings
from desktop.actions import ActionId
from desktop.dialogs.preferences import PreferencesDialog
from desktop.layouts.arrangements import TRAIN, DockSizes
from desktop.panels.loss import LossPanel
from desktop.ui.interface_size import BUNDLED_FAMILY, InterfaceSize, automatic_factor, factor_in_window, set_font
from desktop.ui.panel_base import Panel
from desktop.ui.plain_text import WrappedLabel
from desktop.ui.plots import NumberOrLogAxis, PlotAxis, plot_widget
from desktop.window.panels import Dock
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench, fill


@pytest.mark.parametrize(
    ("width", "height", "dpi", "factor"),
    [
        (1280, 720, 96.0, 1.0),
        (1920, 1080, 96.0, 1.0),
        (2560, 1440, 96.0, 1.0),
        (3840, 2160, 96.0, 1.5),
        (3840, 2160, 144.0, 1.0),  # the desktop scales its text
        (1920, 1080, 192.0, 1.0),  # the same screen, with two pixels for each
        (5120, 2880, 96.0, 2.0),
        (7680, 4320, 96.0, 2.0),
        (3440, 1440, 96.0, 1.0),
        (1440, 900, 72.0, 1.0),
    ],
)
def test_a_large_unscaled_screen_gets_larger_text(width: int, height: int, dpi: float, factor: float) -> None:
    assert automatic_factor(width, height, dpi) == factor


@pytest.mark.parametrize("percent", [75, 300])
def test_a_set_size_applies_to_all_text(qapp: QApplication, make_bench: MakeBench, percent: int) -> None:
    points = qapp.font().pointSizeF()
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    assert qapp.font().pointSizeF() == pytest.approx(points * percent / 100)
    bench = make_bench(scenario.checkpoints())
    fill(bench)
    for widget in (
        bench.window.status.loss,
        bench.window.panels.accuracy.tabs,
        bench.chart,
        bench.window.panels.checkpoints.table,
    ):
        assert widget.font().pointSizeF() == pytest.approx(points * percent / 100)


def test_nothing_is_changed_where_nothing_is_set_and_the_screen_is_usual(qapp: QApplication) -> None:
    before = qapp.font()
    set_font(qapp, AppearanceSettings())
    assert qapp.font() == before


@pytest.mark.parametrize("is_bold", [False, True])
def test_the_digits_of_the_bundled_font_are_all_of_one_width(qapp: QApplication, is_bold: bool) -> None:
    set_font(qapp, AppearanceSettings(font="bundled"))
    font = qapp.font()
    assert font.family() == BUNDLED_FAMILY
    font.setBold(is_bold)
    assert len({QFontMetrics(font).horizontalAdvance(digit) for digit in "0123456789"}) == 1


@pytest.mark.parametrize("percent", [100, 200])
def test_items_beside_text_grow_with_it(qapp: QApplication, make_bench: MakeBench, percent: int) -> None:
    usual = tool_bar(make_bench(scenario.checkpoints())).iconSize()
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    bench = make_bench(scenario.checkpoints())
    fill(bench)
    assert tool_bar(bench).iconSize() == usual * percent / 100
    panel = bench.window.docks[ActionId.SHOW_LOSS].widget()
    assert isinstance(panel, LossPanel)
    bench.window.show_dock(ActionId.SHOW_LOSS)
    plot = panel.plot
    for _ in range(3):
        panel.refresh()
        qapp.processEvents()
    height = QFontMetrics(qapp.font()).height()
    assert plot.getAxis("bottom").height() >= height, "the labels below are whole"
    assert plot.getPlotItem().layout.getContentsMargins()[1] >= height / 2 - 1, "so is the topmost at the left"
    assert plot.getAxis("left").width() >= QFontMetrics(qapp.font()).horizontalAdvance("0.35")


@pytest.mark.parametrize(
    ("size", "factor"),
    [
        ((3840, 2160), 1.5),
        ((1920, 1080), 1.5),
        ((1919, 1080), 1.25),
        ((1920, 800), 1.0),
        ((1280, 720), 1.0),
        ((640, 480), 1.0),
    ],
)
def test_a_small_window_on_a_large_screen_gets_no_larger_text_than_it_has_room_for(
    size: tuple[int, int], factor: float
) -> None:
    assert factor_in_window(1.5, *size) == factor
    assert factor_in_window(1.0, *size) == 1.0


def settled(bench: Bench, qapp: QApplication) -> Bench:
    for _ in range(6):
        qapp.processEvents()
        for dock in bench.window.docks.values():
            panel = dock.widget()
            assert isinstance(panel, Panel)
            panel.refresh_if_seen()
    return bench


@pytest.fixture
def large_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("desktop.ui.interface_size._factor_of_screen", lambda: 1.5)


@pytest.mark.usefixtures("large_screen")
def test_a_shrunk_window_looks_like_one_that_started_small(qapp: QApplication, make_bench: MakeBench) -> None:
    fresh = make_bench(scenario.checkpoints())
    fill(fresh)
    wanted = sizes_of(settled(fresh, qapp))
    fresh.window.hide()
    set_font(qapp, AppearanceSettings(interface_percent=150))
    bench = make_bench(scenario.checkpoints(), size=(1920, 1080))
    fill(bench)
    window, large = settled(bench, qapp).window, qapp.font()
    assert sizes_of(bench) != wanted
    follower = InterfaceSize(window, AppearanceSettings())
    DockSizes(window, window.docks.values()).follow(follower)
    window.resize(1280, 720)
    assert sizes_of(settled(bench, qapp)) == wanted
    assert not any(part.isVisible() for part in tool_bar(bench).findChildren(QToolButton, "qt_toolbar_ext_button"))
    beside = window.docks[ActionId.SHOW_ACCURACY].width()  # in front where all docks lie behind tabs
    assert beside == pytest.approx(fresh.window.docks[ActionId.SHOW_ACCURACY].width(), rel=0.1)
    window.resize(1920, 1080)
    settled(bench, qapp)
    assert window.font().pointSizeF() == large.pointSizeF()


@pytest.mark.slow
@pytest.mark.usefixtures("large_screen")
def test_docks_keep_their_heights_after_enlarging_the_window_temporarily(
    qapp: QApplication, make_bench: MakeBench
) -> None:
    """Text that is still large for a moment presses the docks of the column together."""
    bench = make_bench(scenario.checkpoints(), size=(1280, 720))
    bench.window.arrange(TRAIN)
    fill(bench)
    window = settled(bench, qapp).window
    DockSizes(window, window.docks.values()).follow(InterfaceSize(window, AppearanceSettings()))
    shown = (ActionId.SHOW_LOSS, ActionId.SHOW_GRADIENTS, ActionId.SHOW_EVENTS)

    def heights() -> list[int]:
        settled(bench, qapp)
        return [window.docks[each].height() for each in shown]

    wanted = {1280: heights()}
    for width, height in ((3840, 2160), (1280, 720)) * 3:
        window.resize(width, height)
        assert heights() == wanted.setdefault(width, heights())


def tool_bar(bench: Bench) -> QToolBar:
    found = bench.window.findChild(QToolBar, "tool_bar")
    assert isinstance(found, QToolBar)
    return found


def sizes_of(bench: Bench) -> dict[str, tuple[float, QSize]]:
    """The font and the least size of each control, seen or not; how high the rows of tables are."""
    window = bench.window
    boxes = window.findChildren(QComboBox) + window.findChildren(QAbstractSpinBox)
    buttons = [each for each in window.findChildren(QAbstractButton) if each.text()]
    sizes = {each.accessibleName(): (each.font().pointSizeF(), each.minimumSizeHint()) for each in boxes}
    sizes |= {each.text(): (each.font().pointSizeF(), each.minimumSizeHint()) for each in buttons}
    rows = {each.accessibleName(): each.verticalHeader() for each in window.findChildren(QTableView)}
    return sizes | {name: (0.0, QSize(0, row.defaultSectionSize())) for name, row in rows.items()}


@pytest.mark.usefixtures("large_screen")
def test_a_set_size_applies_in_a_small_window_too(qapp: QApplication, make_bench: MakeBench) -> None:
    set_font(qapp, AppearanceSettings(interface_percent=150))
    points = qapp.font().pointSizeF()
    window = make_bench(size=(1920, 1080)).window
    InterfaceSize(window, AppearanceSettings(interface_percent=150))
    window.resize(1280, 720)
    for _ in range(6):
        qapp.processEvents()
    assert window.font().pointSizeF() == points


def test_a_wrapped_label_gives_back_the_room_of_larger_or_longer_text(qtbot: QtBot, qapp: QApplication) -> None:
    label = WrappedLabel("A sentence that takes some lines in so narrow a label, but one is enough for a word")
    qtbot.addWidget(label)
    label.resize(200, 10)
    label.show()
    many = label.minimumHeight()
    label.setText("Word")
    assert label.minimumHeight() == label.fontMetrics().height() < many
    large = label.font()
    large.setPointSizeF(2.0 * large.pointSizeF())
    usual = label.minimumHeight()
    label.setFont(large)
    assert label.minimumHeight() > usual
    label.setFont(qapp.font())
    assert label.minimumHeight() == usual


def test_a_dock_draws_its_title_as_one_that_is_made_with_the_new_font(qtbot: QtBot, qapp: QApplication) -> None:
    windows: list[QMainWindow] = []  # else Python takes them away

    def shown_dock() -> Dock:
        window = QMainWindow()
        windows.append(window)
        qtbot.addWidget(window)
        dock = Dock("Loss", window)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        window.resize(400, 300)
        window.show()
        return dock

    def width_of_title(dock: Dock) -> int:
        image = dock.grab().toImage()
        ground = image.pixel(0, dock.height() - 1)
        columns = (column for column in range(200) if any(image.pixel(column, row) != ground for row in range(60)))
        return max(columns)  # the buttons are further to the right

    dock = shown_dock()
    before = width_of_title(dock)
    set_font(qapp, AppearanceSettings(interface_percent=200))
    qapp.processEvents()
    assert width_of_title(dock) == width_of_title(shown_dock()) > before


@pytest.mark.parametrize("percent", [100, 200])
@pytest.mark.parametrize("is_logarithmic", [False, True])
def test_no_label_of_a_plot_touches_another_however_low_or_narrow_it_is(
    qtbot: QtBot, qapp: QApplication, percent: int, is_logarithmic: bool
) -> None:
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    plot = plot_widget("Loss", NumberOrLogAxis)
    qtbot.addWidget(plot)
    left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
    left.set_logarithmic(is_logarithmic)
    plot.setXRange(11_400.0, 12_400.0, padding=0.0)
    plot.setYRange(-1.2, 0.9, padding=0.0)
    plot.show()
    for width, height in ((60, 40), (120, 60), (200, 80), (300, 120), (500, 300)):
        plot.resize(width, height)
        qapp.processEvents()
        for axis in (left, bottom):
            labels = labels_of(axis)
            assert not any(one.intersects(other) for one, other in combinations(labels, 2)), (width, height)
    assert len(labels) > 1


def labels_of(axis: PlotAxis) -> list[QRectF]:
    """Where they are drawn, and as large as they are."""
    picture = QPicture()
    painter = QPainter(picture)
    specs = axis.generateDrawSpecs(painter)
    painter.end()
    return [] if specs is None else [rect for rect, _flags, _text in specs[2]]


def test_preferences_are_no_higher_than_the_window(qtbot: QtBot, make_bench: MakeBench) -> None:
    window = make_bench(scenario.checkpoints()).window
    dialog = PreferencesDialog(window.shell.settings.current, window)
    qtbot.addWidget(dialog)
    assert dialog.height() <= window.height() == 720
