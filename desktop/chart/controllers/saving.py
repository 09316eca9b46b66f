"""Saves the chart as a picture (file or clipboard) and the visible candles as CSV, written by a thread."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QBuffer, QIODevice, QObject, QPoint, Slot
from PySide6.QtGui import QGuiApplication, QImage, QRegion
from PySide6.QtWidgets import QFileDialog, QWidget

from core.domain.clock import Clock
from core.domain.events import Severity
from core.files.durable import write_durably
from desktop.actions import ActionId
from desktop.chart.widget import ChartWidget
from desktop.dialogs.messages import open_dialog
from desktop.services.csv_writer import CsvWriter, failed_words, written_words
from desktop.state.shell import Shell
from desktop.ui import formatting
from desktop.ui.translation import translate

_WRITTEN_WITHIN_MS = 30_000
_CANCELLED_WITHIN_MS = 5_000
_CLIP = re.compile(rb"(<clipPath\b[^>]*>\s*<path)\b")
"""The clip path of a pane. Readers of SVG Tiny, such as Qt's, do not support clip paths, and would draw its outline in
black, the pen of its group."""


class ChartSaving(QObject):
    """Asks for a file name, writes atomically, and reports the result."""

    def __init__(self, shell: Shell, chart: ChartWidget, clock: Clock) -> None:
        super().__init__(shell.window)
        self._shell, self._chart, self._clock = shell, chart, clock
        self._folder = Path.home()
        self._writer: CsvWriter | None = None
        shell.actions.wire(
            {
                ActionId.SAVE_PICTURE: self.ask_for_picture,
                ActionId.COPY_PICTURE: self.copy_picture,
                ActionId.EXPORT_CSV: self.ask_for_csv,
            }
        )

    def ask_for_picture(self) -> QFileDialog | None:
        """Open the dialog for a picture file. None if there is nothing to show."""
        if self._is_empty():
            return None
        kinds = (translate("Chart", "PNG pictures (*.png)"), translate("Chart", "SVG drawings (*.svg)"))
        return self._ask(translate("Chart", "Save picture"), ";;".join(kinds), ".png", self.save_picture)

    def ask_for_csv(self) -> QFileDialog | None:
        """Open the dialog for a CSV file. None without visible candles."""
        if self._has_no_closed():
            return None
        title, kind = translate("Chart", "Export candles in view"), translate("Chart", "CSV tables (*.csv)")
        return self._ask(title, kind, ".csv", self.save_csv)

    def copy_picture(self) -> None:
        if not self._is_empty():
            QGuiApplication.clipboard().setImage(image_of(self._chart))
            self._notify(translate("Chart", "Copied the chart to the clipboard."))

    def save_picture(self, path: Path) -> None:
        """Write the picture in the format of the file name's suffix; nothing unless it is PNG or SVG."""
        form = path.suffix.lower()
        if form not in (".png", ".svg"):
            words = translate("Chart", "{0} was not written: end its name in .png or .svg.")
            self._notify(words.format(path.name), Severity.WARNING)
            return
        data = svg_of(self._chart) if form == ".svg" else _png(image_of(self._chart))
        try:
            write_durably(path, data, is_private=False)
        except OSError as error:
            self._notify(failed_words(path, error.strerror or str(error)), Severity.WARNING)
        else:
            self._notify(written_words(path, translate("Chart", "The chart's picture")))

    def save_csv(self, path: Path) -> None:
        """Write the visible closed candles. Returns immediately: a thread writes."""
        if self._writer is not None:
            words = translate("Chart", "{0} is still being written. Export again when it is done.")
            self._notify(words.format(self._writer.path.name), Severity.WARNING)
            return
        series, frame = self._chart.model.series, self._chart.frame
        if self._has_no_closed():
            return
        view = slice(frame.first, frame.stop)
        self._writer = CsvWriter(path, series.open_time_ms[view].copy(), series.values[:, view].copy(), self)
        self._writer.progress_reported.connect(self._notify)
        self._writer.finished.connect(self._on_finished)
        self._writer.start()
        words = translate("Chart", "Writing {0} to {1}…")
        self._notify(words.format(formatting.format_candles(self._writer.count), path.name))

    def finish(self) -> bool:
        """Wait for the writer, last before the window closes. False on a timeout; then the file is unchanged."""
        writer = self._writer
        if writer is None or writer.wait(_WRITTEN_WITHIN_MS):
            return True
        writer.cancel()
        writer.wait(_CANCELLED_WITHIN_MS)
        return False

    @Slot()
    def _on_finished(self) -> None:
        if self._writer is not None:
            self._writer.deleteLater()
            self._writer = None

    def _ask(self, title: str, kind: str, suffix: str, write: Callable[[Path], None]) -> QFileDialog:
        dialog = QFileDialog(self._shell.window, title, str(self._folder), kind)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(suffix)
        # Qt reports the chosen filter only by its text, which holds the pattern in every language.
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(".svg" if "*.svg" in chosen else suffix))
        # The market and the time, in characters that every file system accepts.
        moment = formatting.format_time(self._clock.now_ms(), self._chart.style_shown.time_zone, seconds=True)
        market = re.sub(r"[\W_]+", "-", self._chart.model.title).strip("-")
        dialog.selectFile(market + "_" + re.sub(r"[\W_]", "-", moment) + suffix)

        def on_chosen(name: str) -> None:
            self._folder = Path(name).parent
            write(Path(name))

        dialog.fileSelected.connect(on_chosen)
        return open_dialog(dialog)

    def _is_empty(self) -> bool:
        is_empty = self._chart.model.is_empty
        if is_empty:
            self._notify(translate("Chart", "The chart has no candles yet."))
        return is_empty

    def _has_no_closed(self) -> bool:
        """Whether the table would have no rows; if so, the user gets a hint."""
        frame = self._chart.frame
        if frame.first < frame.stop:
            return False
        if self._is_empty():
            return True
        nothing = translate("Chart", "No closed candle is in view. Move the chart to one.")
        if not self._chart.model.count:
            nothing = translate("Chart", "No candle has closed on this chart yet. Export when the first one has.")
        self._notify(nothing, Severity.WARNING)
        return True

    @Slot(str, object)
    def _notify(self, text: str, severity: Severity = Severity.INFO) -> None:
        self._shell.banner.notify(text, severity, key="chart saved", is_answer=True)


def image_of(chart: ChartWidget) -> QImage:
    """The current chart, without mouse and selection, in device pixels."""
    ratio = chart.devicePixelRatioF()
    image = QImage(chart.size() * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    with chart.at_rest():  # only the viewport, without the button over it
        chart.viewport().render(image, QPoint(), QRegion(), QWidget.RenderFlag(0))
    return image


def svg_of(chart: ChartWidget) -> bytes:
    """The chart as an SVG drawing, by pyqtgraph's exporter, which has each item draw itself."""
    with chart.at_rest():
        drawing = bytes(_svg_exporter().SVGExporter(chart.scene()).export(toBytes=True))
    return _CLIP.sub(rb'\1 stroke="none"', drawing)


@functools.cache
def _svg_exporter() -> Any:
    """pyqtgraph's exporter, which misreads the "Z" that ends paths since Qt 6.11 as a pair of numbers. Paths are closed
    without it: Qt writes the line back to the start before it."""
    # Rarely needed, and it imports all exporters.
    module: Any = importlib.import_module("pyqtgraph.exporters.SVGExporter")
    correct = module.correctCoordinates

    def correct_without_closing(node: Any, *others: Any) -> None:
        for path in node.getElementsByTagName("path"):
            path.setAttribute("d", " ".join(part for part in path.getAttribute("d").split() if part != "Z"))
        correct(node, *others)

    module.correctCoordinates = correct_without_closing
    return module


def _png(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # PySide 6.9's stub requires bytes for the format; Qt takes a string.
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())
