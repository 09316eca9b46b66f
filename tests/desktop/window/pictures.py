"""A window to be looked at: in both themes, at two sizes, with every text that is cut.

With GHOSTCANDLE_PICTURES set to a folder, each picture is written there as a PNG.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from desktop.panels.gradients.diagnosis_card import WrappingButton
from desktop.ui.plain_text import ElidedLabel
from desktop.ui.theme import Mode
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench

MODES: tuple[Mode, ...] = ("dark", "light")


SIZES = ((1280, 720), (1600, 900))


in_both_themes = pytest.mark.parametrize(("mode", "size"), list(zip(MODES, SIZES, strict=True)), ids=["dark", "light"])
"""And at both sizes: which of them is dark is no matter to what is cut."""


def make_dressed(make_bench: MakeBench, mode: Mode, size: tuple[int, int]) -> Bench:
    bench = make_bench(scenario.checkpoints(), mode, size, is_shown=False)
    bench.theme.apply_to(QApplication.instance())
    bench.window.show()
    return bench


def cut_texts(root: QWidget) -> list[str]:
    """Labels and buttons that are shown and have less room than their text needs."""
    cut = []
    for widget in root.findChildren(QWidget):
        if not isinstance(widget, QLabel | QAbstractButton) or isinstance(widget, ElidedLabel):
            continue
        if not widget.isVisible() or widget.visibleRegion().isEmpty() or not widget.text():
            continue
        needed = widget.sizeHint()
        is_wrapped = isinstance(widget, WrappingButton) or (isinstance(widget, QLabel) and widget.wordWrap())
        height = widget.heightForWidth(widget.width()) if is_wrapped else needed.height()
        seen = widget.visibleRegion().boundingRect()
        if _is_scrolled_out_in_part(widget):
            continue
        if (not is_wrapped and needed.width() > seen.width() + 1) or height > seen.height() + 2:
            cut.append(f"{widget.text()!r}: needs {needed.width()}x{height}, has {seen.width()}x{seen.height()}")
    return cut


def _is_scrolled_out_in_part(widget: QWidget) -> bool:
    """Rather than cut: it lies across the lower edge of what can be scrolled on."""
    above = widget.parentWidget()
    while above is not None and not isinstance(above, QScrollArea):
        above = above.parentWidget()
    if above is None or not above.verticalScrollBar().isVisible():
        return False
    view = above.viewport()
    return widget.mapTo(view, widget.rect().bottomLeft()).y() >= view.height()


def keep_picture(widget: QWidget, name: str) -> None:
    folder = os.environ.get("GHOSTCANDLE_PICTURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        assert widget.grab().save(str(Path(folder) / f"{name}.png"))


_LAYOUTS_IN_LAYOUTS = 6
"""Nested layouts, each of which requests space with a separate event."""


def settle(qtbot: QtBot, bench: Bench) -> None:
    """Wait until no panel on the screen is stale, the chart is painted, and layouts in layouts have been laid out."""
    qtbot.waitUntil(lambda: not bench.window.has_stale_panels())
    bench.chart.flush()
    for _ in range(_LAYOUTS_IN_LAYOUTS):
        QApplication.processEvents()
