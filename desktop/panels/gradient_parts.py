"""The parts of the gradients panel under the curve: the numbers, the layers, and what the loss is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from core.diagnosis import LayerStatistics
from core.forecast.quantities import Quantity
from desktop.accessible import name_box
from desktop.formatting import MISSING, format_percent, format_significant
from desktop.history import LAYER_STEPS_KEPT, FloatArray
from desktop.icons import tabular
from desktop.panels.bars import Bar, BarList
from desktop.panels.base import colour_text
from desktop.panels.layer_names import layer_title
from desktop.panels.number_grid import NumberGrid
from desktop.theme import Palette, Theme

_NEWEST = LAYER_STEPS_KEPT
_NUMBERS_IN_A_ROW = ((560, 3), (330, 2), (0, 1))
_TERMS = {
    "Clip rate": f"How many of the newest {_NEWEST} steps were clipped. Some are well; all, or none, say that the "
    "threshold does not fit.",
    "Median norm": f"Half of the newest {_NEWEST} steps had a smaller gradient norm, before clipping.",
    "95th percentile": f"95 of 100 of the newest {_NEWEST} steps had a smaller gradient norm, before clipping.",
    "Update / parameter": f"How far a step moved the weights, as a share of their own length; the median of the "
    f"newest {_NEWEST} steps. About 0.001 is usual, above 0.1 is too much.",
    "Learning rate": "How far the newest step moved the weights: the tool bar's rate times what the warm-up and the "
    "schedule make of it. Change it in the tool bar.",
    "Loss scale": "The factor that keeps small gradients representable in 16 bits. It follows by itself.",
}
_MEASURES = {
    "norm": ("Gradient norm", "The length of the layer's gradient, before clipping."),
    "gradient_ratio": ("Gradient / parameter", "The gradient's length as a share of that of the layer's weights."),
    "update_ratio": ("Update / parameter", "How far a step moved the layer's weights, as a share of their length."),
}
_NO_LAYERS = "The layers are shown with the next step."


class NumberTable(NumberGrid):
    """In as many pairs a row as there is room for; numbers end at one line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_TERMS, parent)
        self._pairs = 0
        self.arrange(0)

    def arrange(self, width: int) -> None:
        """Use a width."""
        pairs = next(pairs for least, pairs in _NUMBERS_IN_A_ROW if width >= least)
        if pairs == self._pairs:
            return
        self._pairs = pairs
        for column in range(self.grid.columnCount()):
            self.grid.setColumnMinimumWidth(column, 0)
            self.grid.setColumnStretch(column, 0)
        for index, name in enumerate(_TERMS):
            row, pair = divmod(index, pairs)
            self.place(name, row, pair)
        for pair in range(pairs):
            self.grid.setColumnStretch(3 * pair, 1)
            if pair < pairs - 1:
                self.grid.setColumnMinimumWidth(3 * pair + 2, 12)


class LayerSection(QWidget):
    """A row for each layer, the input's at the top: the median of the newest steps, and a mark at the newest."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars = BarList(theme, is_log=True)
        self.measure = QComboBox()
        name_box(self.measure, "What the layers' bars show")
        for name, (words, meaning) in _MEASURES.items():
            self.measure.addItem(words, name)
            self.measure.setItemData(self.measure.count() - 1, meaning, Qt.ItemDataRole.ToolTipRole)
        self._title, self._none = QLabel("Layers"), QLabel(_NO_LAYERS)
        self._title.setFont(tabular(self.font(), bold=True))
        self._title.setToolTip(
            f"The median of the newest {_NEWEST} steps, from the input at the top to the output at the bottom; "
            "the upright mark is the newest step."
        )
        self._none.setWordWrap(True)
        top = QHBoxLayout()
        top.addWidget(self._title)
        top.addStretch(1)
        top.addWidget(self.measure)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        layout.addLayout(top)
        layout.addWidget(self._none)
        layout.addWidget(self.bars)

    @property
    def chosen(self) -> str:
        """The field of `LayerStatistics` that the bars show."""
        return str(self.measure.currentData())

    def show_layers(
        self, names: Sequence[str], values: FloatArray, newest: Sequence[LayerStatistics], marked: frozenset[str]
    ) -> None:
        """values: of the chosen measure, one for each layer. Names that are not those of these layers are left out."""
        if len(names) != len(newest):
            names = tuple(f"layer {index}" for index in range(1, len(newest) + 1))
        meaning = _MEASURES[self.chosen][1]
        self._none.setVisible(not newest)
        self.measure.setEnabled(bool(newest))
        self.measure.setToolTip(meaning)
        self.bars.show_bars(
            [
                _layer_bar(name, float(value), layer, self.chosen, is_marked=name in marked)
                for name, value, layer in zip(names, values, newest, strict=True)
            ]
        )

    def apply_palette(self, palette: Palette) -> None:
        """Take the palette's colours."""
        colour_text(self._none, palette.muted_text)
        self.bars.update()


class PartSection(QWidget):
    """What the loss is made of: a bar for each quantity that is forecast."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars = BarList(theme, is_log=False)
        title = QLabel("Parts of the loss")
        title.setFont(tabular(self.font(), bold=True))
        title.setToolTip(f"The mean of the newest {_NEWEST} steps. The parts add up to the training loss.")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        layout.addWidget(title)
        layout.addWidget(self.bars)

    def show_parts(self, parts: FloatArray) -> None:
        """parts: [quantity], in the order of `Quantity`; empty where none was measured."""
        self.setVisible(parts.size == len(Quantity))
        if parts.size != len(Quantity):
            return
        total = float(np.nansum(parts))
        self.bars.show_bars([_part_bar(quantity, float(parts[quantity]), total) for quantity in Quantity])

    def apply_palette(self, palette: Palette) -> None:
        """Take the palette's colours."""
        self.bars.update()


def _layer_bar(name: str, value: float, newest: LayerStatistics, measure: str, *, is_marked: bool) -> Bar:
    numbers = (("Norm", newest.norm), ("Mean", newest.mean), ("Std", newest.std), ("Largest", newest.largest))
    lines = [layer_title(name), *(f"{word}: {format_significant(number)}" for word, number in numbers)]
    lines.append(f"Gradient / parameter: {format_significant(newest.gradient_ratio)}")
    lines.append(f"Update / parameter: {format_significant(newest.update_ratio)}")
    if is_marked:
        lines.append("The verdict is about this layer.")
    lines.append(f"All of the newest step; the bar is the median of the newest {_NEWEST}.")
    return Bar(
        title=layer_title(name),
        value=value,
        text=format_significant(value, 2),
        tooltip="\n".join(lines),
        newest=getattr(newest, measure),
        is_marked=is_marked,
    )


def _part_bar(quantity: Quantity, value: float, total: float) -> Bar:
    title = quantity.name.replace("_", " ").capitalize()
    share = format_percent(value / total, 0) if total > 0.0 else MISSING
    return Bar(title, value, format_significant(value, 3), f"{title}: {share} of the loss")
