"""The chart as a picture, in a file or in the clipboard, and what is in view as CSV, written on a thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QObject, Slot
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog

from core.clock import Clock
from core.events import Severity
from core.storage.durable import write_durably
from desktop import formatting
from desktop.actions import ActionId
from desktop.chart.controllers.csv_writer import CsvWriter
from desktop.chart.export import image_of, svg_of
from desktop.chart.widget import ChartWidget
from desktop.dialogs.messages import open_dialog
from desktop.translation import translate
from desktop.window import MainWindow

_NOTICE = "chart saved"
_WRITTEN_WITHIN_MS = 30_000
_CANCELLED_WITHIN_MS = 5_000


class ChartSaving(QObject):
    """Asks for a place, writes in one piece, and says where it went or why it did not."""

    def __init__(self, window: MainWindow, chart: ChartWidget, clock: Clock) -> None:
        super().__init__(window)
        self._window, self._chart, self._clock = window, chart, clock
        self._folder = Path.home()
        self._writer: CsvWriter | None = None
        window.actions_of_window.wire(
            {
                ActionId.SAVE_PICTURE: self.ask_for_picture,
                ActionId.COPY_PICTURE: self.copy_picture,
                ActionId.EXPORT_CSV: self.ask_for_csv,
            }
        )

    def ask_for_picture(self) -> QFileDialog | None:
        """Ask where the picture goes. None where there is nothing to see."""
        kinds = (translate("Chart", "PNG pictures (*.png)"), translate("Chart", "SVG drawings (*.svg)"))
        return self._ask(translate("Chart", "Save picture"), ";;".join(kinds), ".png", self.save_picture)

    def ask_for_csv(self) -> QFileDialog | None:
        """Ask where the candles in view go. None where there are none."""
        if self._has_no_closed():
            return None
        return self._ask(
            translate("Chart", "Export candles in view"),
            translate("Chart", "CSV tables (*.csv)"),
            ".csv",
            self.save_csv,
        )

    def copy_picture(self) -> None:
        """Put the picture into the clipboard."""
        if self._is_empty():
            return
        QGuiApplication.clipboard().setImage(image_of(self._chart))
        self._window.tell(translate("Chart", "The chart's picture is in the clipboard."), key=_NOTICE, is_answer=True)

    def save_picture(self, path: Path) -> None:
        """Write the picture in the form that the name ends in; nothing where that is another than PNG or SVG."""
        form = path.suffix.lower()
        if form not in (".png", ".svg"):
            words = translate(
                "Chart", "{0} was not written: pictures are PNG or SVG. Let the name end in .png or .svg."
            )
            self._window.tell(words.format(path.name), Severity.WARNING, key=_NOTICE, is_answer=True)
            return
        data = svg_of(self._chart) if form == ".svg" else _png(image_of(self._chart))
        self._write(path, data, translate("Chart", "The chart's picture"))

    def save_csv(self, path: Path) -> None:
        """Write the closed candles in view, as they are now. Returns at once: a thread writes."""
        if self._writer is not None:
            sentence = translate("Chart", "{0} is still being written. Export again when it is done.").format(
                self._writer.path.name
            )
            self._window.tell(sentence, Severity.WARNING, key=_NOTICE, is_answer=True)
            return
        series, frame = self._chart.model.series, self._chart.frame
        if series is None or self._has_no_closed():
            return
        view = slice(frame.first, frame.stop)
        self._writer = CsvWriter(path, series.open_time_ms[view].copy(), series.values[:, view].copy(), self)
        self._writer.progressed.connect(self._on_progress)
        self._writer.written.connect(self._on_written)
        self._writer.failed.connect(self._on_failed)
        self._writer.finished.connect(self._on_finished)
        self._writer.start()
        self._window.tell(
            translate("Chart", "Writing {0} to {1} …").format(formatting.format_candles(self._writer.count), path.name),
            key=_NOTICE,
            is_answer=True,
        )

    @property
    def is_writing(self) -> bool:
        """Whether candles are still on their way to a file."""
        return self._writer is not None

    def finish(self) -> bool:
        """Wait until what is being written has been: the last thing before the window goes. False where it took too
        long; then the file is as it was before."""
        writer = self._writer
        if writer is None or writer.wait(_WRITTEN_WITHIN_MS):
            return True
        writer.cancel()
        writer.wait(_CANCELLED_WITHIN_MS)
        return False

    @Slot(int)
    def _on_progress(self, percent: int) -> None:
        if self._writer is not None:
            text = translate("Chart", "Writing {0} to {1} … {2} %").format(
                formatting.format_candles(self._writer.count), self._writer.path.name, percent
            )
            self._window.tell(text, key=_NOTICE, is_answer=True)

    @Slot()
    def _on_written(self) -> None:
        if self._writer is not None:
            self._say_written(self._writer.path, formatting.format_candles(self._writer.count))

    @Slot(str)
    def _on_failed(self, reason: str) -> None:
        if self._writer is not None:
            self._say_failed(self._writer.path, reason)

    @Slot()
    def _on_finished(self) -> None:
        if self._writer is not None:
            self._writer.deleteLater()
            self._writer = None

    def _ask(self, title: str, kind: str, suffix: str, write: Callable[[Path], None]) -> QFileDialog | None:
        if self._is_empty():
            return None
        dialog = QFileDialog(self._window, title, str(self._folder), kind)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(suffix)
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(".svg" if "*.svg" in chosen else suffix))
        dialog.selectFile(self._suggested_name() + suffix)
        dialog.fileSelected.connect(lambda name: write(Path(name)))
        open_dialog(dialog)
        return dialog

    def _is_empty(self) -> bool:
        if not self._chart.model.is_empty:
            return False
        self._window.tell(translate("Chart", "There is no candle on the chart yet."), key=_NOTICE, is_answer=True)
        return True

    def _has_no_closed(self) -> bool:
        """Whether a table would have no row; what to do is said then."""
        if self._is_empty():
            return True
        frame = self._chart.frame
        if frame.first < frame.stop:
            return False
        if self._chart.model.count:
            nothing = translate("Chart", "There is no closed candle in view. Move the chart to some.")
        else:
            nothing = translate(
                "Chart",
                "There is no closed candle on the chart yet: the first one is still forming. "
                "Export when it has closed.",
            )
        self._window.tell(nothing, Severity.WARNING, key=_NOTICE, is_answer=True)
        return True

    def _suggested_name(self) -> str:
        """The market and the moment, in characters that every file system takes."""
        title = "".join(letter if letter.isalnum() else "-" for letter in self._chart.model.title)
        name = "-".join(part for part in title.split("-") if part)
        moment = formatting.format_time(self._clock.now_ms(), self._chart.style_shown.time_zone, seconds=True)
        return f"{name}_{''.join(letter if letter.isalnum() else '-' for letter in moment)}"

    def _write(self, path: Path, data: bytes, what: str) -> None:
        try:
            write_durably(path, data, is_private=False)
        except OSError as error:
            self._say_failed(path, error.strerror or str(error))
        else:
            self._say_written(path, what)

    def _say_failed(self, path: Path, reason: str) -> None:
        sentence = translate("Chart", "{0} could not be written ({1}). Choose another place.").format(path.name, reason)
        self._window.tell(sentence, Severity.WARNING, key=_NOTICE, is_answer=True)

    def _say_written(self, path: Path, what: str) -> None:
        self._folder = path.parent
        self._window.tell(translate("Chart", "{0} went to {1}.").format(what, path), key=_NOTICE, is_answer=True)


def _png(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # PySide 6.9's stub wants the format as bytes; Qt takes a string.
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())
