"""The parts of the gradients panel under the curve: the numbers, the layers, and the parts of the loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QComboBox, QWidget

from core.domain.diagnosis import LayerStatistics
from core.domain.quantities import Quantity
from desktop.panels.gradients.bars import Bar, BarList
from desktop.panels.gradients.layer_names import layer_title
from desktop.panels.gradients.norm_plot import NormPlot
from desktop.state.run_curves import RunCurves
from desktop.state.run_state import RunState
from desktop.state.step_history import LAYER_STEPS_KEPT, FloatArray
from desktop.ui.accessible import name_box
from desktop.ui.formatting import MISSING, format_percent, format_significant
from desktop.ui.icons import tabular
from desktop.ui.number_grid import NumberGrid
from desktop.ui.panel_base import mute
from desktop.ui.plain_text import Label, paragraphs, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate
from desktop.ui.words import word

_NEWEST = LAYER_STEPS_KEPT
_MOST_IN_A_ROW = 3
MEANINGS = {
    "Clip rate": (
        "Share of the newest {0} steps that were clipped. Some clipping is normal; all or none means that the "
        "threshold does not fit."
    ),
    "Median norm": "Median gradient norm of the newest {0} steps, before clipping.",
    "95th percentile": "95th percentile of the gradient norm over the newest {0} steps, before clipping.",
    "Update / parameter": (
        "Length of the weight update divided by the length of the weights; the median of the newest {0} steps. About "
        "0.001 is usual, above 0.1 is too much."
    ),
    "Learning rate": (
        "Learning rate of the newest step: the tool bar's rate times the factors of warm-up and schedule. Change it "
        "in the tool bar."
    ),
    "Loss scale": "Factor that keeps small gradients representable in 16 bits. It adjusts automatically.",
}
_MEASURES = {
    "norm": (
        QT_TRANSLATE_NOOP("Panels", "Gradient norm"),
        QT_TRANSLATE_NOOP("Panels", "2-norm of the layer's gradient, before clipping."),
    ),
    "gradient_ratio": (
        QT_TRANSLATE_NOOP("Panels", "Gradient / parameter"),
        QT_TRANSLATE_NOOP("Panels", "2-norm of the layer's gradient divided by that of its weights."),
    ),
    "update_ratio": (
        QT_TRANSLATE_NOOP("Panels", "Update / parameter"),
        QT_TRANSLATE_NOOP("Panels", "2-norm of the layer's update divided by that of its weights."),
    ),
}
_NO_LAYERS = QT_TRANSLATE_NOOP("Panels", "The layers appear with the next step.")


class LayerSection(QWidget):
    """A row for each layer, the input's at the top: the median of the newest steps, and a mark at the newest."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.bars = BarList(theme, is_log=True)
        self.measure = QComboBox()
        name_box(self.measure, translate("Panels", "Quantity shown by the layers' bars"))
        for name, (words, meaning) in _MEASURES.items():
            self.measure.addItem(translate("Panels", words), name)
            self.measure.setItemData(
                self.measure.count() - 1, paragraphs(translate("Panels", meaning)), Qt.ItemDataRole.ToolTipRole
            )
        self._title = Label(translate("Panels", "Layers"))
        self._none = Label(translate("Panels", _NO_LAYERS), wraps=True)
        self._title.setFont(tabular(self.font(), bold=True))
        meaning = translate(
            "Panels",
            "Median of the newest {0} steps, from the input at the top to the output at the bottom; the vertical mark "
            "is the newest step.",
        )
        set_tooltip(self._title, meaning.format(_NEWEST))
        mute(self._none)
        top = beside(None, self._title, None, self.measure)
        stacked(self, top, self._none, self.bars, margins=NO_MARGINS, spacing=3)

    @property
    def chosen(self) -> str:
        """The field of `LayerStatistics` that the bars show."""
        return str(self.measure.currentData())

    def show_layers(
        self, names: Sequence[str], values: FloatArray, newest: Sequence[LayerStatistics], marked: frozenset[str]
    ) -> None:
        """values: of the chosen measure, one for each layer. Names of other layers are left out."""
        if len(names) != len(newest):
            names = tuple(translate("Panels", "layer {0}").format(index) for index in range(1, len(newest) + 1))
        meaning = translate("Panels", _MEASURES[self.chosen][1])
        self._none.setVisible(not newest)
        self.measure.setEnabled(bool(newest))
        set_tooltip(self.measure, meaning)
        self.bars.show_bars(
            [
                _layer_bar(name, float(value), layer, self.chosen, is_marked=name in marked)
                for name, value, layer in zip(names, values, newest, strict=True)
            ]
        )


class PartSection(QWidget):
    """The parts of the loss: a bar for each forecast quantity."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.bars = BarList(theme, is_log=False)
        title = Label(translate("Panels", "Parts of the loss"))
        title.setFont(tabular(self.font(), bold=True))
        meaning = translate("Panels", "Mean of the newest {0} steps. The parts add up to the training loss.")
        set_tooltip(title, meaning.format(_NEWEST))
        stacked(self, title, self.bars, margins=NO_MARGINS, spacing=3)

    def show_parts(self, parts: FloatArray) -> None:
        """parts: [quantity], in the order of `Quantity`; empty if none was measured."""
        self.setVisible(parts.size == len(Quantity))
        if parts.size != len(Quantity):
            return
        total, bars = float(np.nansum(parts)), []
        for quantity in Quantity:
            title, value = word(quantity), float(parts[quantity])
            share = format_percent(value / total, 0) if total > 0.0 else MISSING
            tooltip = translate("Panels", "{0}: {1} of the loss").format(title, share)
            bars.append(Bar(title, value, format_significant(value, 3), tooltip))
        self.bars.show_bars(bars)


def _layer_bar(name: str, value: float, newest: LayerStatistics, measure: str, *, is_marked: bool) -> Bar:
    numbers = (
        (translate("Panels", "Norm"), newest.norm),
        (translate("Panels", "Mean"), newest.mean),
        (translate("Panels", "Std"), newest.std),
        (translate("Panels", "Largest"), newest.largest),
    )
    lines = [layer_title(name), *(f"{name}: {format_significant(number)}" for name, number in numbers)]
    lines.append(translate("Panels", "Gradient / parameter: {0}").format(format_significant(newest.gradient_ratio)))
    lines.append(translate("Panels", "Update / parameter: {0}").format(format_significant(newest.update_ratio)))
    if is_marked:
        lines.append(translate("Panels", "The diagnosis is about this layer."))
    of_which = translate("Panels", "Numbers of the newest step; the bar is the median of the newest {0}.")
    tooltip, text = "\n".join([*lines, of_which.format(_NEWEST)]), format_significant(value, 2)
    return Bar(layer_title(name), value, text, tooltip, getattr(newest, measure), is_marked)


class Measured(QWidget):
    """Norms, numbers, layers and the parts of the loss, in one column or two."""

    def __init__(self, state: RunState, theme: Theme, curves: RunCurves) -> None:
        super().__init__()
        self.norms = NormPlot(state, theme, curves)
        self.numbers = NumberGrid(MEANINGS, _MOST_IN_A_ROW, figure=_NEWEST)
        self.layers = LayerSection(theme)
        self.parts = PartSection(theme)
        left = stacked(None, self.norms, self.numbers, stretched=self.norms, spacing=8)
        right = stacked(None, self.layers, self.parts, spacing=8)
        right.addStretch(0)
        self._columns: QBoxLayout = stacked(self, left, right, stretched=(left, right), margins=NO_MARGINS, spacing=12)

    def set_two_columns(self, has_two: bool) -> None:
        directions = QBoxLayout.Direction
        self._columns.setDirection(directions.LeftToRight if has_two else directions.TopToBottom)
