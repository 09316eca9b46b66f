"""The Jobs dock by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.domain.events import JobProgress
from desktop.actions import ActionId
from desktop.jobs.panel import JobsPanel
from desktop.jobs.table import JOB, PROGRESS, RESULT, TIME_LEFT, colour_of
from desktop.state.job_list import JobState
from desktop.state.run_state import RunState
from desktop.ui.panel_base import EmptyState
from desktop.ui.theme import Theme
from tests.desktop.conftest import shown_panel


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> JobsPanel:
    made = JobsPanel(state, theme)
    shown_panel(qtbot, made, 900, 200)
    return made


class Browser(QObject):
    """Records the URLs that would be opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.opened.append(url.toLocalFile())


@pytest.fixture
def browser() -> Iterator[Browser]:
    made = Browser()
    QDesktopServices.setUrlHandler("file", made, "take")
    yield made
    QDesktopServices.unsetUrlHandler("file")


def texts(panel: JobsPanel, row: int) -> list[str]:
    return [str(panel.model.index(row, column).data()) for column in (JOB, PROGRESS, TIME_LEFT, RESULT)]


def test_it_lists_jobs_with_their_progress(panel: JobsPanel, state: RunState, clock: ManualClock) -> None:
    panel.refresh()
    assert all(each.isVisible() for each in panel.findChildren(EmptyState))
    state.apply(JobProgress("a", "Learning from stored candles", 250, 1_000))
    state.jobs.begin("own", "Pretrain on a.csv")
    panel.refresh()
    assert texts(panel, 0) == ["Pretrain on a.csv", "–", "–", "Running"]
    assert panel.table.columnWidth(JOB) >= panel.table.sizeHintForColumn(JOB), "as wide as its titles"
    assert texts(panel, 1) == ["Learning from stored candles", "25 %", "–", "250 of 1,000"]
    clock.advance_ms(10_000)
    state.apply(JobProgress("a", "Learning from stored candles", 500, 1_000))
    state.jobs.advance("own", "Pretraining", 10, 100, 90.0)
    panel.refresh()
    assert texts(panel, 0)[1:] == ["10 %", "1 min 30 s", "Pretraining: 10 of 100"]
    assert texts(panel, 1)[1:3] == ["50 %", "20 s"]
    assert panel.count.text() == "2 running"
    state.jobs.finish("own", JobState.FAILED, "The file is empty.")
    panel.refresh()
    assert texts(panel, 1)[2:] == ["", "Failed. The file is empty."]


def test_only_cancellable_jobs_can_be_cancelled(
    qtbot: QtBot, panel: JobsPanel, state: RunState, clock: ManualClock
) -> None:
    panel.can_cancel = lambda job_id: job_id == "own"
    state.jobs.begin("own", "Import")
    state.apply(JobProgress("feed catch-up", "Fetching candles", 1, 10))
    panel.select("feed catch-up")
    assert not panel.actions_of_panel[ActionId.JOB_CANCEL].isEnabled()
    panel.select("own")
    with qtbot.waitSignal(panel.cancel_requested) as asked:
        panel.actions_of_panel[ActionId.JOB_CANCEL].trigger()
    assert asked.args == ["own"]
    state.jobs.cancelling("own")
    state.jobs.advance("own", "Storing", 5, 10, 3.0)
    panel.refresh()
    assert texts(panel, panel.table.selectionModel().selectedRows()[0].row())[2] == "–", "it ends when it ends"
    assert not panel.actions_of_panel[ActionId.JOB_CANCEL].isEnabled(), "once is enough"


def test_a_double_click_opens_the_report_and_a_missing_one_is_reported(
    panel: JobsPanel, state: RunState, tmp_path: Path, browser: Browser
) -> None:
    page = tmp_path / "report.html"
    page.write_text("<!doctype html>")
    state.jobs.begin("own", "Evaluate")
    state.jobs.finish("own", JobState.DONE, "Found.", page)
    panel.select("own")
    place = panel.table.visualRect(panel.model.index(0, JOB)).center()
    QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert browser.opened == [str(page)]
    page.unlink()
    messages: list[str] = []
    panel.trouble.connect(messages.append)
    panel.actions_of_panel[ActionId.JOB_OPEN].trigger()
    assert len(messages) == 1 and str(page) in messages[0] and len(browser.opened) == 1


def test_the_selection_stays_on_its_job_while_others_arrive(panel: JobsPanel, state: RunState) -> None:
    state.jobs.begin("one", "One")
    panel.select("one")
    state.jobs.begin("two", "Two")
    panel.refresh()
    chosen = panel.selected()
    assert chosen is not None and chosen.job_id == "one" and "One" in panel.details.toPlainText()
    state.jobs.finish("one", JobState.DONE, "All is well.")
    panel.refresh()
    assert "All is well." in panel.details.toPlainText()


def test_no_line_of_a_jobs_details_ends_between_a_number_and_its_unit(panel: JobsPanel, state: RunState) -> None:
    state.jobs.begin("one", "Import")
    state.jobs.finish("one", JobState.DONE, "Done.")
    panel.select("one")
    panel.refresh()
    document = panel.details.document()
    assert "0.0\N{NO-BREAK SPACE}s" in document.toRawText()
    panel.details.selectAll()
    panel.refresh()
    assert panel.details.textCursor().hasSelection(), "unchanged details are not set again"


@pytest.mark.parametrize("points", [9, 14])
def test_the_bar_does_not_overlap_the_percentage(panel: JobsPanel, state: RunState, theme: Theme, points: int) -> None:
    """Regression: the "1" of "100 %" was under the bar."""
    font = panel.table.font()
    font.setPointSize(points)
    panel.table.setFont(font)
    state.jobs.begin("one", "One")
    state.jobs.finish("one", JobState.DONE, "All is well.")
    panel.refresh()
    cell = panel.table.visualRect(panel.model.index(0, PROGRESS))
    image = panel.table.viewport().grab().toImage()
    bar = colour_of(panel.model.rows[0], theme.palette).rgb()
    row = cell.center().y()
    ends = max(x for x in range(cell.left(), cell.right()) if image.pixelColor(x, row).rgb() == bar)
    assert ends < cell.right() - 6 - panel.table.fontMetrics().horizontalAdvance("100 %")


@pytest.mark.parametrize("width", [330, 480, 700])
def test_a_name_is_not_cut_before_the_other_columns(panel: JobsPanel, state: RunState, width: int) -> None:
    state.jobs.begin("own", "Evaluate step 12,340 on a.csv")
    state.jobs.finish("own", JobState.DONE, "It is done, and here is what it has found in all of the file.")
    panel.resize(width, 300)
    panel.refresh()
    table = panel.table
    assert table.columnWidth(JOB) >= table.sizeHintForColumn(JOB)
    assert table.isColumnHidden(TIME_LEFT), "no job has one"
    state.jobs.begin("next", "Import")
    state.jobs.advance("next", "Reading", 1, 10, 90.0)
    panel.refresh()
    assert not table.isColumnHidden(TIME_LEFT)
