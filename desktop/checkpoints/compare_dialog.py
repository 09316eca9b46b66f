"""Two or more checkpoints side by side: measurements, differing settings, and the curves of their runs."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QCheckBox, QDialog, QHeaderView, QTableWidget, QTableWidgetItem, QTabWidget, QWidget

from core.checkpoints.best import proven_gain
from core.checkpoints.compare import best_index, settings_side_by_side
from core.checkpoints.row import CheckpointRow
from core.domain.events import StepDone
from core.domain.plain_text import plain
from desktop.checkpoints.columns import BY_NAME, Column
from desktop.state.checkpoint_source import adds_text
from desktop.ui.colour_choice import MOST_PREVIEWS
from desktop.ui.dialog_parts import close_button
from desktop.ui.formatting import MISSING, format_count
from desktop.ui.plain_text import Label, paragraphs
from desktop.ui.plots import NumberAxis, apply_plot_palette, plot_widget
from desktop.ui.stacks import stacked
from desktop.ui.tables import LEFT, style_table
from desktop.ui.theme import Palette
from desktop.ui.translation import translate

_LONGEST_TITLE = 60
_SMOOTHED_STEPS = 25
_METRICS: tuple[Column, ...] = (
    *(BY_NAME[name] for name in ("symbol", "interval", "run", "saved", "reason", "step")),
    replace(BY_NAME["adds"], text=lambda kept: adds_text(kept.info)),
    *(BY_NAME[name] for name in ("loss", "coverage", "direction", "gradients", "device", "known_good", "evaluated")),
    *(BY_NAME[name] for name in ("evaluated_on", "tags", "note")),
)
_CURVE_STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)

Steps = Callable[[str], Sequence[StepDone]]
"""The steps of a run, by its id, ascending."""
Row = tuple[str, list[str], int | None]
"""Title, text for each checkpoint, and index of the best; None if there is no best."""


class CompareDialog(QDialog):
    """Reads once, when it is opened: it does not follow the run."""

    def __init__(
        self,
        kept: Sequence[CheckpointRow],
        settings: Sequence[Mapping[str, Any] | None],
        steps: Steps,
        palette: Palette,
        parent: QWidget | None = None,
        *,
        has_ghosts: bool = False,
    ) -> None:
        """has_ghosts: their current forecasts are on the chart meanwhile."""
        super().__init__(parent)
        self._has_ghosts = has_ghosts
        self.setWindowTitle(translate("Checkpoints", "Compare {0} checkpoints").format(len(kept)))
        self._kept, self._colours = kept, palette
        self._titles = [_title(each) for each in kept]
        self.metrics = _table(self._titles, translate("Checkpoints", "Metrics"))
        self.settings = _table(self._titles, translate("Checkpoints", "Settings"))
        self.only_different = QCheckBox(translate("Checkpoints", "&Only differences"))
        self.only_different.setChecked(True)
        self.plot = plot_widget(translate("Checkpoints", "Loss curves of the runs"), NumberAxis)
        self._rows = settings_side_by_side(settings)
        self._unknown = [title for title, each in zip(self._titles, settings, strict=True) if each is None]
        rows: list[Row] = []
        for column in _METRICS:
            is_gain = column.name == "adds"
            values = [proven_gain(each.info) if is_gain else getattr(each.info, column.name, None) for each in kept]
            best = best_index(column.name, values)
            rows.append((translate("Checkpoints", column.title), [column.text(each) for each in kept], best))
        _fill(self.metrics, rows)
        self._fill_settings()
        self._draw(steps)
        self._build()

    def _build(self) -> None:
        self.only_different.toggled.connect(self._fill_settings)
        settings = QWidget()
        text = translate("Checkpoints", "Not stored with: {0}.").format(", ".join(self._unknown))
        unknown = [Label(text, wraps=True)] if self._unknown else []
        stacked(settings, self.only_different, *unknown, self.settings, stretched=self.settings)
        self.tabs = tabs = QTabWidget()
        tabs.setAccessibleName(translate("Checkpoints", "Comparison"))
        tabs.addTab(self.metrics, translate("Checkpoints", "&Metrics"))
        tabs.addTab(settings, translate("Checkpoints", "&Settings"))
        tabs.addTab(self._curves_page(), translate("Checkpoints", "&Curves"))
        ghosts = [self._ghosts_label()] if self._has_ghosts else []
        stacked(self, *ghosts, tabs, close_button(self), stretched=tabs)
        self.resize(min(280 + 190 * len(self._kept), 1_180), 540)

    def _ghosts_label(self) -> Label:
        text = (
            translate(
                "Checkpoints",
                "Their ghosts are on the chart, on the same candles, each in its colour, until “Ghosts on the chart” "
                "is switched off.",
            )
            if len(self._kept) <= MOST_PREVIEWS
            else translate(
                "Checkpoints",
                "The ghosts of the first {0} are on the chart, on the same candles, each in its colour, until “Ghosts "
                "on the chart” is switched off.",
            )
        )
        return Label(text.format(MOST_PREVIEWS), wraps=True)

    def _curves_page(self) -> QWidget:
        page = QWidget()
        runs = len({each.info.run_id for each in self._kept})
        text = (
            translate("Checkpoints", "Training loss of one run, mean of {0} steps; marks show the checkpoints' steps.")
            if runs == 1
            else translate(
                "Checkpoints", "Training loss of {1} runs, mean of {0} steps; marks show the checkpoints' steps."
            )
        )
        stacked(page, Label(text.format(_SMOOTHED_STEPS, runs), wraps=True), self.plot, stretched=self.plot)
        return page

    def _fill_settings(self) -> None:
        shown = [row for row in self._rows if row.differs or not self.only_different.isChecked()]
        rows: list[Row] = [
            (row.path, [MISSING if value is None else value for value in row.values], None) for row in shown
        ]
        if not rows:
            rows = [(translate("Checkpoints", "No known differences."), [""] * len(self._kept), None)]
        _fill(self.settings, rows)

    def _draw(self, steps: Steps) -> None:
        colours = self._colours
        apply_plot_palette(self.plot, colours)
        plot = self.plot.getPlotItem()
        plot.addLegend(labelTextColor=colours.text, brush=colours.background, offset=(-8, 8))
        for number, run_id in enumerate(dict.fromkeys(each.info.run_id for each in self._kept)):
            place, loss = _curve(steps(run_id))
            colour = colours.curves[number % len(colours.curves)]
            pen = pg.mkPen(colour, width=2, style=_CURVE_STYLES[number % len(_CURVE_STYLES)])
            plot.plot(place, loss, pen=pen, name=html.escape(run_id), connect="finite")  # the legend takes markup
        for number, (title, each) in enumerate(zip(self._titles, self._kept, strict=True)):
            label = {"color": colours.text, "fill": colours.background, "position": 0.04 + 0.07 * (number % 6)}
            pen = pg.mkPen(colours.muted_text, style=Qt.PenStyle.DashLine)
            template = title.replace("{", "{{").replace("}", "}}")  # pyqtgraph fills in a value
            self.plot.addItem(pg.InfiniteLine(each.info.step, pen=pen, label=template, labelOpts=label))
        plot.enableAutoRange()


def _title(kept: CheckpointRow) -> str:
    name = plain(kept.info.name, _LONGEST_TITLE)
    return name or translate("Checkpoints", "Step {0}").format(format_count(kept.info.step))


def _curve(steps: Sequence[StepDone]) -> tuple[np.ndarray, np.ndarray]:
    """Steps and their smoothed losses; a step that was left out counts as nothing."""
    known = [(step.step, step.loss) for step in steps if step.loss is not None]
    if not known:
        return np.zeros(0), np.zeros(0)
    place, loss = np.array(known, dtype=np.float64).T
    window = min(_SMOOTHED_STEPS, len(loss))
    return place[window - 1 :], np.convolve(loss, np.full(window, 1.0 / window), mode="valid")


def _table(titles: Sequence[str], name: str) -> QTableWidget:
    table = QTableWidget(0, 1 + len(titles))
    table.setHorizontalHeaderLabels(["", *titles])
    style_table(table, name)
    header = table.horizontalHeader()
    header.setDefaultAlignment(LEFT)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
    return table


def _fill(table: QTableWidget, rows: Sequence[Row]) -> None:
    """Put these rows into a table. The best of a row is in bold, with a tooltip about it."""
    table.setRowCount(len(rows))
    bold = QFont(table.font())
    bold.setBold(True)
    for place, (title, texts, best) in enumerate(rows):
        table.setItem(place, 0, QTableWidgetItem(title))
        for column, text in enumerate(texts):
            item = QTableWidgetItem(plain(text))
            item.setToolTip(paragraphs(text))
            if column == best:
                item.setToolTip(paragraphs(translate("Checkpoints", "{0} (the best of these)").format(text)))
                item.setFont(bold)
            table.setItem(place, column + 1, item)
    table.resizeRowsToContents()
