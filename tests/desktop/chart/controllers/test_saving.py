"""Saving the chart's picture and candles, with real files and the real clipboard."""

import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from pytestqt.qtbot import QtBot

from core.domain.candle_series import CandleSeries, FloatArray, TimeArray
from core.market.history.candle_csv import csv_pieces
from core.market.history.candle_file import read_candle_file
from desktop.actions import ActionId
from desktop.chart.controllers.saving import ChartSaving, image_of, svg_of
from desktop.chart.data.ghosts import band
from desktop.services.csv_writer import CsvWriter
from tests.desktop import scenario
from tests.desktop.chart.paint_helpers import channels
from tests.desktop.chart.support import random_series
from tests.desktop.conftest import Bench, MakeBench, fill


@pytest.fixture
def bench(make_chart_bench: MakeBench) -> Bench:
    made = make_chart_bench()
    fill(made)
    while made.window.banner.shown is not None:
        made.window.banner.dismiss()
    return made


@pytest.fixture
def saving(bench: Bench) -> ChartSaving:
    return ChartSaving(bench.shell, bench.chart, bench.clock)


def test_a_picture_is_the_chart_without_the_mouse(
    qtbot: QtBot, bench: Bench, saving: ChartSaving, tmp_path: Path
) -> None:
    still = image_of(bench.chart)
    qtbot.mouseMove(bench.chart.viewport(), bench.chart.rect().center())
    bench.chart.flush()
    assert bench.chart.overlay.cross is not None
    path = tmp_path / "chart.png"
    saving.save_picture(path)
    saved = QImage(str(path))
    assert saved.size() == still.size()
    assert saved.convertToFormat(still.format()) == still
    assert bench.chart.overlay.cross is not None


def test_an_svg_matches_the_picture(qtbot: QtBot, bench: Bench, saving: ChartSaving, tmp_path: Path) -> None:
    qtbot.mouseMove(bench.chart.viewport(), bench.chart.rect().center())
    path, still = tmp_path / "chart.svg", image_of(bench.chart)
    saving.save_picture(path)
    assert b"<image" not in path.read_bytes(), "nothing of it is made of pixels"
    assert (difference(path.read_bytes(), still) > 64).mean() < 0.05, "edges and texts lie a part of a pixel elsewhere"


def difference(drawing: bytes, still: QImage) -> np.ndarray:
    """Difference between an SVG drawing and the picture, pixel by pixel."""
    drawn = QImage(still.size(), still.format())
    painter = QPainter(drawn)
    QSvgRenderer(drawing).render(painter)
    painter.end()
    shown, wanted = (channels(each).astype(np.int16) for each in (drawn, still))
    away: np.ndarray = np.abs(shown - wanted).max(axis=-1)
    return away


def test_a_drawing_s_bands_fade_as_the_picture_s(bench: Bench) -> None:
    """In Qt's SVG output pen gradients are black and brush gradients do not fade."""
    frame, ghosts = bench.chart.frame, bench.chart.model.ghosts()
    assert ghosts and frame.style.shows_bands and frame.ratio == 1.0
    prices = [price for placed in ghosts for edge in (band(placed.ghost, 90),) if edge is not None for price in edge]
    rows = slice(frame.y(max(prices)) - 2, frame.y(min(prices)) + 3)
    bands = difference(svg_of(bench.chart), image_of(bench.chart))[
        rows, frame.x(ghosts[0].index) : frame.x(ghosts[-1].index)
    ]
    assert (bands > 16).mean() < 0.02
    assert bands.mean() < 2.0


def test_nothing_frames_a_drawing_s_plot(bench: Bench) -> None:
    away, layout = difference(svg_of(bench.chart), image_of(bench.chart)), bench.chart.frame.layout
    for edge in (away[0, : layout.plot_right], away[: layout.plot_bottom, 0]):
        assert (edge > 8).mean() < 0.1, "but for candles that are cut there"


@pytest.mark.parametrize("name", ["chart.jpg", "chart.webp", "chart", "chart.png.txt"])
def test_an_unknown_file_format_is_refused(bench: Bench, saving: ChartSaving, tmp_path: Path, name: str) -> None:
    """A PNG under another suffix could not be opened by programs that go by suffixes."""
    saving.save_picture(tmp_path / name)
    assert list(tmp_path.glob("chart*")) == []
    assert message(bench) == f"{name} was not written: end its name in .png or .svg."


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_saved_files_have_the_usual_permissions(
    qtbot: QtBot, bench: Bench, saving: ChartSaving, tmp_path: Path
) -> None:
    saving.save_picture(tmp_path / "chart.PNG")
    saving.save_csv(tmp_path / "chart.csv")
    written(qtbot, saving)
    (tmp_path / "plain").touch()
    saved = [tmp_path / name for name in ("chart.PNG", "chart.csv")]
    assert {path.stat().st_mode for path in saved} == {(tmp_path / "plain").stat().st_mode}


def test_the_clipboard_gets_the_picture(bench: Bench, saving: ChartSaving) -> None:
    still = image_of(bench.chart)
    bench.shell.actions[ActionId.COPY_PICTURE].trigger()
    copied = QGuiApplication.clipboard().image()
    assert copied.convertToFormat(still.format()) == still
    assert bench.window.banner.shown is not None


def is_writing(saving: ChartSaving) -> bool:
    return saving.findChild(CsvWriter) is not None


def written(qtbot: QtBot, saving: ChartSaving) -> None:
    qtbot.waitUntil(lambda: not is_writing(saving))


def test_the_candles_in_view_are_exported_and_read_back(
    qtbot: QtBot, bench: Bench, saving: ChartSaving, tmp_path: Path
) -> None:
    path = tmp_path / "view.csv"
    saving.save_csv(path)
    written(qtbot, saving)
    frame, series = bench.chart.frame, bench.chart.model.series
    assert series is not None and frame.first > 0
    assert list(read_candle_file(path).candles) == [series[index] for index in range(frame.first, frame.stop)]


def test_a_forming_candle_alone_is_no_table(make_chart_bench: MakeBench, tmp_path: Path) -> None:
    bench = make_chart_bench()
    saving = ChartSaving(bench.shell, bench.chart, bench.clock)
    bench.chart.set_series(CandleSeries(scenario.MINUTE), "NEW/USDT")
    bench.chart.set_forming(scenario.market()[-1])
    bench.chart.flush()
    assert saving.ask_for_csv() is None
    saving.save_csv(tmp_path / "view.csv")
    assert not is_writing(saving) and list(tmp_path.glob("*.csv")) == []
    shown = bench.window.banner.shown
    assert shown is not None and "closed" in shown.text
    assert saving.ask_for_picture() is not None, "a picture of it there is"


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The writer waits for it after half of the lines."""
    opened = threading.Event()

    def pieces(open_time_ms: TimeArray, values: FloatArray) -> Iterator[str]:
        for number, piece in enumerate(csv_pieces(open_time_ms, values)):
            assert number != 3 or opened.wait(60.0)
            yield piece

    monkeypatch.setattr("desktop.services.csv_writer.csv_pieces", pieces)
    return opened


def in_view(bench: Bench) -> str:
    """The content of a file of the whole view: four parts."""
    series = random_series(1_000)
    bench.chart.set_series(series, "many")
    bench.chart.zoom(1e-9)
    bench.chart.flush()
    assert bench.chart.frame.stop - bench.chart.frame.first == len(series)
    return "".join(csv_pieces(series.open_time_ms, series.values))


def test_candles_are_written_in_the_background_as_of_the_request(
    qtbot: QtBot, bench: Bench, saving: ChartSaving, gate: threading.Event, tmp_path: Path
) -> None:
    before, path = in_view(bench), tmp_path / "many.csv"
    saving.save_csv(path)
    qtbot.waitUntil(lambda: "%" in message(bench))
    assert is_writing(saving) and not path.exists(), "the window keeps working"
    series = bench.chart.model.series
    assert series is not None
    series.add(replace(series[5], close=series[5].close + 0.5))
    saving.save_csv(tmp_path / "another.csv")
    assert "still being written" in message(bench)
    gate.set()
    written(qtbot, saving)
    assert path.read_text(encoding="utf-8") == before
    assert "saved to" in message(bench)
    assert [file.name for file in tmp_path.glob("*.csv")] == ["many.csv"]


def message(bench: Bench) -> str:
    shown = bench.window.banner.shown
    return "" if shown is None else shown.text


def test_the_file_is_complete_if_the_window_closes_meanwhile(
    bench: Bench, saving: ChartSaving, gate: threading.Event, tmp_path: Path
) -> None:
    whole, path = in_view(bench), tmp_path / "many.csv"
    saving.save_csv(path)
    bench.window.close()
    assert not path.exists()
    gate.set()
    assert saving.finish()
    assert path.read_text(encoding="utf-8") == whole


def test_a_cancelled_export_leaves_the_file_unchanged(tmp_path: Path, qapp: object, gate: threading.Event) -> None:
    path = tmp_path / "many.csv"
    path.write_text("former", encoding="utf-8")
    count = 2_000
    writer = CsvWriter(path, np.arange(count, dtype=np.int64), np.random.default_rng(1).random((5, count)))
    writer.start()
    writer.cancel()
    gate.set()
    assert writer.wait(60_000)
    assert path.read_text(encoding="utf-8") == "former" and list(tmp_path.iterdir()) == [path]


def test_an_unwritable_path_is_reported(qtbot: QtBot, bench: Bench, saving: ChartSaving, tmp_path: Path) -> None:
    saving.save_csv(tmp_path / "nowhere" / "view.csv")
    written(qtbot, saving)
    notice = bench.window.banner.shown
    assert notice is not None and "could not be written" in notice.text


def test_the_dialog_suggests_a_name_and_writes_the_chosen_file(
    bench: Bench, saving: ChartSaving, tmp_path: Path
) -> None:
    dialog = saving.ask_for_picture()
    assert dialog is not None and dialog.isVisible()
    assert all(Path(name).name.startswith("BTC-USDT") for name in dialog.selectedFiles())
    dialog.fileSelected.emit(str(tmp_path / "chosen.png"))
    dialog.close()
    assert not QImage(str(tmp_path / "chosen.png")).isNull()


def test_without_candles_no_dialog_opens(make_chart_bench: MakeBench) -> None:
    bench = make_chart_bench()
    saving = ChartSaving(bench.shell, bench.chart, bench.clock)
    assert saving.ask_for_csv() is None
    assert bench.window.banner.shown is not None
