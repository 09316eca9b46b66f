"""The chart's picture and candles, in real files and the real clipboard."""

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication, QImage
from pytestqt.qtbot import QtBot

from core.market.files import read_candle_file
from desktop.actions import ActionId
from desktop.charting.saving import ChartSaving
from tests.desktop.conftest import Bench, MakeBench, fill


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    made = make_bench()
    fill(made)
    while made.window.banner.shown is not None:
        made.window.banner.dismiss()
    return made


@pytest.fixture
def saving(bench: Bench) -> ChartSaving:
    return ChartSaving(bench.window, bench.chart, bench.clock)


def test_a_picture_is_the_chart_without_the_mouse(
    qtbot: QtBot, bench: Bench, saving: ChartSaving, tmp_path: Path
) -> None:
    still = bench.chart.snapshot()
    qtbot.mouseMove(bench.chart, bench.chart.rect().center())
    bench.chart.flush()
    assert bench.chart.overlay.cross is not None
    path = tmp_path / "chart.png"
    saving.save_picture(path)
    saved = QImage(str(path))
    assert saved.size() == still.size()
    assert saved.convertToFormat(still.format()) == still
    assert bench.chart.overlay.cross is not None


def test_the_clipboard_gets_the_picture(bench: Bench, saving: ChartSaving) -> None:
    still = bench.chart.snapshot()
    bench.window.actions_of_window[ActionId.COPY_PICTURE].trigger()
    copied = QGuiApplication.clipboard().image()
    assert copied.convertToFormat(still.format()) == still
    assert bench.window.banner.shown is not None


def test_the_candles_in_view_are_exported_and_read_back(bench: Bench, saving: ChartSaving, tmp_path: Path) -> None:
    path = tmp_path / "view.csv"
    saving.save_csv(path)
    frame, series = bench.chart.frame, bench.chart.model.series
    assert series is not None and frame.first > 0
    assert list(read_candle_file(path).candles) == [series[index] for index in range(frame.first, frame.stop)]


def test_a_place_that_cannot_be_written_is_said(bench: Bench, saving: ChartSaving, tmp_path: Path) -> None:
    saving.save_csv(tmp_path / "nowhere" / "view.csv")
    notice = bench.window.banner.shown
    assert notice is not None and "could not be written" in notice.text


def test_the_dialog_suggests_a_name_and_writes_what_is_chosen(
    bench: Bench, saving: ChartSaving, tmp_path: Path
) -> None:
    dialog = saving.ask_for_picture()
    assert dialog is not None and dialog.isVisible()
    assert all(Path(name).name.startswith("BTC-USDT") for name in dialog.selectedFiles())
    dialog.fileSelected.emit(str(tmp_path / "chosen.png"))
    dialog.close()
    assert not QImage(str(tmp_path / "chosen.png")).isNull()


def test_without_a_candle_nothing_is_asked(make_bench: MakeBench) -> None:
    bench = make_bench()
    saving = ChartSaving(bench.window, bench.chart, bench.clock)
    assert saving.ask_for_csv() is None
    assert bench.window.banner.shown is not None
