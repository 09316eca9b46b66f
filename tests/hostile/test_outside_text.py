"""Untrusted text in the real window: shown literally, shortened, and never rendered as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction, QHelpEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import Incident, JobProgress, Severity
from core.domain.plain_text import LONGEST
from core.logs.crashes import CrashReport
from core.market.feeds.base import FeedState, FeedStatus
from desktop.actions import ActionId
from desktop.app.crash_watch import open_crash_report
from desktop.checkpoints.columns import PLACE
from desktop.checkpoints.compare_dialog import CompareDialog
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.checkpoints.text_dialogs import open_note
from desktop.finder.finder import Finder
from desktop.notifications.messages import in_a_bubble
from desktop.ui.banner import Notice
from desktop.ui.plain_text import LONGEST_TEXT, MessageBox
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench, fill
from tests.support.little_memory import little_memory

pytestmark = pytest.mark.hostile

NAME = "<img src='/dev/zero'>"
"""Qt would read that file to its end, which it does not have."""
LONG = f"{NAME} {'very long ' * 20_000}"


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    with little_memory():
        yield


def checkpoints() -> list[CheckpointInfo]:
    """As a package brings them whose author wants trouble; one has words without end."""
    wild = {"name": NAME, "note": NAME, "tags": (NAME,), "device": NAME, "health": NAME, "fault": NAME, "run_id": NAME}
    first = scenario.checkpoint(12_340, **wild, file=NAME, reason=NAME, is_best=True)
    second = replace(scenario.checkpoint(12_330), name=f"{{0.__class__}} {LONG}", note=LONG, run_id="other")
    return [first, second]


def hostile(bench: Bench) -> Bench:
    """Everything that the window shows of others is `NAME`, or begins with it."""
    fill(bench)
    state, now_ms = bench.state, scenario.NOW_MS
    state.apply(replace(scenario.status(), device=NAME))
    state.apply(Incident(NAME, now_ms, Severity.ERROR, "kind", LONG, NAME, NAME, NAME))
    state.apply(JobProgress("job", LONG, 5, 10))
    for sentence in (NAME, LONG):
        state.markets.on_feed_event(state.market, FeedStatus(FeedState.RECONNECTING, sentence, now_ms))
    bench.window.banner.show_notice(
        Notice("key", Severity.ERROR, LONG, details=NAME, action="Do", on_action=lambda: None)
    )
    for dock in bench.window.docks.values():
        dock.show()
    bench.window._refresher._refresh()
    return bench


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    return hostile(make_bench(checkpoints()))


def browser(bench: Bench) -> CheckpointsPanel:
    bench.window.show_dock(ActionId.SHOW_CHECKPOINTS)
    panel = bench.window.panels.checkpoints
    panel.show_all_runs()
    panel.refresh()
    return panel


def _texts(root: QWidget) -> Iterator[tuple[str, str]]:
    """What Qt would lay out as HTML if it took it for that, with where it is."""
    for widget in (root, *root.findChildren(QWidget)):
        where = f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        yield f"tooltip of {where}", widget.toolTip()
        if isinstance(widget, QLabel) and widget.textFormat() is not Qt.TextFormat.PlainText:
            yield where, widget.text()
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from ((f"tooltip in {where}", text) for text in _tooltips(widget.model()))
    for action in root.findChildren(QAction):
        yield f"action {action.objectName()}", action.toolTip()


def _tooltips(model: QAbstractItemModel) -> Iterator[str]:
    root = QModelIndex()
    for row in range(model.rowCount(root)):
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(root)):
            yield str(model.index(row, column).data(Qt.ItemDataRole.ToolTipRole) or "")


def _wrong(root: QWidget) -> list[str]:
    return [f"{where}: {text[:80]!r}" for where, text in _texts(root) if "<img" in text]


def _too_long(root: QWidget) -> list[str]:
    labels = ((f"{type(each.parent()).__name__}", each.text()) for each in root.findChildren(QLabel))
    return [f"{where}: {len(text)}" for where, text in (*_texts(root), *labels) if len(text) > 5_000]


def test_no_widget_renders_it_as_html(bench: Bench) -> None:
    assert any("&lt;img" in text for _, text in _texts(bench.window)), "it is not shown at all"
    assert not _wrong(bench.window)
    assert not _too_long(bench.window)


def test_browser_cells_show_the_name_and_shorten_a_long_one(bench: Bench) -> None:
    panel = browser(bench)
    shown = {str(panel.model.index(row, PLACE["name"]).data()) for row in range(panel.model.rowCount())}
    assert NAME in shown and max(map(len, shown)) == LONGEST


def test_the_tooltip_of_a_row_shows_the_name_as_plain_text(bench: Bench, qtbot: QtBot) -> None:
    panel = browser(bench)
    place = panel.table.visualRect(panel.model.index(0, PLACE["step"])).center()
    viewport = panel.table.viewport()
    QApplication.sendEvent(viewport, QHelpEvent(QHelpEvent.Type.ToolTip, place, viewport.mapToGlobal(place)))
    assert "&lt;img src='/dev/zero'&gt;: Step 12,340" in QToolTip.text()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible(), timeout=60_000)


def test_dialogs_show_it_as_plain_text(bench: Bench) -> None:
    window = bench.window
    kept = list(bench.source.catalog)
    settings = [{"model": {"name": NAME}}, {"model": {"name": LONG}}]
    dialogs = [
        CompareDialog(kept, settings, lambda _run: list(scenario.steps()), bench.theme.palette, window),
        window.panels.checkpoints.open_runs(),
        open_note(window, kept[0].info, lambda _text: None),
        open_crash_report(window, CrashReport(5, NAME, Path(NAME))),
    ]
    finder = Finder(bench.shell, bench.theme, bench.source, bench.market_choice, lambda _venue: ())
    finder.open()
    for root in (*dialogs, window):
        assert not _wrong(root)
        assert not _too_long(root)
    for dialog in dialogs:
        dialog.close()


def test_legend_and_curve_label_use_no_markup_or_template(bench: Bench) -> None:
    source = bench.source
    kept = list(source.catalog)
    dialog = CompareDialog(kept, [None, None], lambda _run: list(scenario.steps()), bench.theme.palette, bench.window)
    legend = dialog.plot.getPlotItem().legend
    assert {label.text for _, label in legend.items} == {"&lt;img src=&#x27;/dev/zero&#x27;&gt;", "other"}
    lines = [item for item in dialog.plot.getPlotItem().items if hasattr(item, "label")]
    assert {line.label.toPlainText()[:14] for line in lines} >= {"{0.__class__} ", NAME[:14]}
    dialog.deleteLater()


def test_a_message_about_jobs_shows_their_titles_as_plain_text(bench: Bench) -> None:
    box = MessageBox(bench.window)
    box.setText(LONG)
    assert box.textFormat() is Qt.TextFormat.PlainText and len(box.text()) <= LONGEST_TEXT


def test_an_error_of_200_kb_is_painted_on_an_empty_chart(make_bench: MakeBench) -> None:
    """Qt lays out what it is given, and the forecast's note is broken into lines at each frame."""
    bench = make_bench()
    sentence = f"Loopback refused the request: {'x' * 100_000} {'word ' * 20_000}"
    bench.state.markets.on_feed_event(bench.state.market, FeedStatus(FeedState.FAILED, sentence, scenario.NOW_MS))
    bench.chart.set_empty_text(sentence)
    bench.chart.set_note(sentence)
    bench.window._refresher._refresh()
    assert len(bench.chart._stage.background.sentence) == len(bench.chart.model.note) == LONGEST_TEXT
    assert not bench.chart.grab().isNull()
    fill(bench)
    bench.chart.set_note(sentence)
    assert not bench.chart.grab().isNull()


def test_a_desktop_notification_has_no_markup() -> None:
    assert in_a_bubble(NAME) == "‹img src='/dev/zero'>"
    assert len(in_a_bubble(LONG)) == LONGEST
