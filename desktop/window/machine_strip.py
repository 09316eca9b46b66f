"""The strip in the corner of the menu bar: the machine's load."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from core.machine.readings import GpuReading, MachineReading
from desktop.ui.formatting import MISSING, format_percent
from desktop.ui.icons import tabular
from desktop.ui.interface_size import follow_interface_size
from desktop.ui.panel_base import colour_text, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.stacks import beside
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate

_HOT_C = 87.0
"""NVIDIA's GPUs begin to slow down here, by their data sheets at 87 to 93."""
_FULL = 0.92


class MachineStrip(QWidget):
    """One text for each GPU, then cores and memory; in the colour of a warning if one is hot or full."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._reading: MachineReading | None = None
        self.labels: list[Label] = []
        self._layout = beside(self, margins=(8, 3, 10, 0), spacing=16)  # level with the menus
        theme.changed.connect(self._on_theme)
        follow_interface_size(self, self._measure)

    def sizeHint(self) -> QSize:
        """Never below its least size: a menu bar of a new width puts its corner where the hint says, and one that is
        wider than its hint would reach over the window's edge."""
        return super().sizeHint().expandedTo(self.minimumSize())

    def show_reading(self, reading: MachineReading) -> None:
        self._reading = reading
        parts = list(_parts(reading))
        if len(parts) != len(self.labels):
            for label in self.labels:
                label.deleteLater()
            self.labels = [Label(parent=self) for _ in parts]
            for label in self.labels:
                label.setFont(tabular(self.font()))
                self._layout.addWidget(label)
                label.show()
            self.setMinimumWidth(0)
        for label, (text, meaning, is_warning) in zip(self.labels, parts, strict=True):
            set_text(label, text)
            set_tooltip(label, meaning)
            palette = self._theme.palette
            colour_text(label, palette.warning if is_warning else palette.muted_text)
        self._fit()

    def _measure(self) -> None:
        self.setMinimumWidth(0)
        self._fit()

    def _fit(self) -> None:
        """Show it again, as a menu bar reads its corner's size only then. It never gets narrower, so that changing
        numbers do not move their neighbours."""
        wanted = self.sizeHint().width()
        if wanted > self.minimumWidth() or self.width() < wanted:
            self.setMinimumWidth(wanted)
            if self.isVisible():
                self.hide()
                self.show()

    def _on_theme(self, _palette: Palette) -> None:
        if self._reading is not None:
            self.show_reading(self._reading)


def _parts(reading: MachineReading) -> Iterator[tuple[str, str, bool]]:
    """Text, its meaning, and whether it is a warning."""
    for number, gpu in enumerate(reading.gpus):
        yield _of_gpu(
            gpu, translate("Panels", "GPU {0}").format(number) if len(reading.gpus) > 1 else translate("Panels", "GPU")
        )
    yield (
        translate("Panels", "CPU {0}").format(format_percent(reading.cpu_percent / 100.0, 0)),
        translate("Panels", "CPU load of all programs, over all cores"),
        False,
    )
    used, total = reading.memory_used_bytes, reading.memory_total_bytes
    text = translate("Panels", "Memory {0} of {1} GB").format(_gigabytes(used), _gigabytes(total))
    yield text, translate("Panels", "Memory in use by all programs"), used > _FULL * total


def _of_gpu(gpu: GpuReading, title: str) -> tuple[str, str, bool]:
    if gpu.is_asleep:
        meaning = translate("Panels", "{0} sleeps to save power, and is not asked: that would wake it")
        return translate("Panels", "{0} asleep").format(title), meaning.format(gpu.name), False
    used, total, heat = gpu.memory_used_bytes, gpu.memory_total_bytes, gpu.temperature_c
    busy = MISSING if gpu.utilisation_percent is None else format_percent(gpu.utilisation_percent / 100.0, 0)
    warmth = MISSING if heat is None else f"{heat:.0f} °C"
    memory = (
        MISSING
        if used is None or total is None
        else translate("Panels", "{0} of {1} GB").format(_gigabytes(used), _gigabytes(total))
    )
    is_hot = heat is not None and heat >= _HOT_C
    is_full = used is not None and total is not None and used > _FULL * total
    meaning = translate("Panels", "{0}: load, temperature and memory in use, of all programs").format(gpu.name)
    return f"{title} {busy}  {warmth}  {memory}", meaning, is_hot or is_full


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f}"
