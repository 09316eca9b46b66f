"""How the combinations of a sweep are chosen: all, some at random, or guided by Optuna."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from core.sweeps.plan import SweepPlan
from desktop.ui.accessible import name_box
from desktop.ui.inputs import WholeSpinBox
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.translation import translate

_GRID, _RANDOM, _GUIDED = "", "random", "budget"
_USUAL = 20


class SearchField(QWidget):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.kind, self.count = QComboBox(), WholeSpinBox(1, 100_000)
        self.kind.addItem(translate("Sweeps", "All combinations"), _GRID)
        self.kind.addItem(translate("Sweeps", "Some at random"), _RANDOM)
        self.kind.addItem(translate("Sweeps", "Guided by Optuna"), _GUIDED)
        name_box(self.kind, translate("Sweeps", "Search"))
        self.count.setValue(_USUAL)
        self.count.setAccessibleName(translate("Sweeps", "Number of combinations"))
        self.count.setToolTip(translate("Sweeps", "Combinations of model and settings"))
        beside(self, self.kind, self.count, None, margins=NO_MARGINS, spacing=6)
        self.kind.currentIndexChanged.connect(self._on_kind)
        self.count.valueChanged.connect(self._on_count)
        self._on_kind()

    @property
    def needs_steps(self) -> bool:
        """Whether a range needs its number of values."""
        return bool(self.kind.currentData() == _GRID)

    def fields(self) -> dict[str, Any]:
        """Of the plan. Raises ValueError with a sentence."""
        number = None if self.needs_steps else self.count.entered()
        return {name: number if name == self.kind.currentData() else None for name in (_RANDOM, _GUIDED)}

    def show_plan(self, plan: SweepPlan) -> None:
        chosen = next((name for name in (_RANDOM, _GUIDED) if getattr(plan, name) is not None), _GRID)
        self.kind.setCurrentIndex(self.kind.findData(chosen))
        if chosen:
            self.count.setValue(getattr(plan, chosen))

    @Slot()
    def _on_kind(self) -> None:
        self.count.setVisible(not self.needs_steps)
        self.changed.emit()

    @Slot(object)
    def _on_count(self, _value: int) -> None:
        self.changed.emit()
