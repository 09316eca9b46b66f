"""The gradients panel: the doctor's verdict, the norms of the newest steps, and what each layer received."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from core.settings.tree import Settings
from desktop.panels.gradients.diagnosis_card import DiagnosisCard
from desktop.panels.gradients.parts import Measured
from desktop.state.run_curves import RunCurves
from desktop.state.run_state import RunState
from desktop.state.step_history import LAYER_STEPS_KEPT, FloatArray, means, medians
from desktop.state.training_words import break_sentence
from desktop.ui.formatting import MISSING, format_number, format_percent, format_significant
from desktop.ui.inputs import readable_decimal
from desktop.ui.panel_base import EmptyState, Panel
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import NO_MARGINS, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_TWO_COLUMNS_FROM_CHARACTERS = 90


class GradientsPanel(Panel):
    """One column, or two if there is room."""

    wanted = Signal(object)
    """The `CurvesRequest` at each refresh."""

    def __init__(self, state: RunState, theme: Theme, settings: Settings, curves: RunCurves) -> None:
        super().__init__(theme)
        self._state, self._curves = state, curves
        self.card = DiagnosisCard(settings, theme)
        self._measured: Measured | None = None
        self._content = QWidget()
        self._inside = QVBoxLayout(self._content)
        self._inside.setContentsMargins(8, 6, 8, 6)
        self._inside.setSpacing(8)
        self._inside.addWidget(self.card)
        self._scroll = DownScrolling(self._content, translate("Panels", "Gradients"))
        self._scroll.hide()
        stacked(self, self._scroll, margins=NO_MARGINS)
        self._empty = EmptyState(
            translate("Panels", "No training steps yet.\nGradients are measured from the first step."), self
        )
        self.follow(state.steps_changed, state.status_changed, state.run_changed, state.diagnosis_changed)
        self.follow(curves.changed)

    @property
    def measured(self) -> Measured:
        """Made when first shown, as it takes a sixth of the window's building time."""
        if self._measured is None:
            self._measured = Measured(self._state, self.theme, self._curves)
            self._inside.addWidget(self._measured, 1)
            self._measured.show()  # a layout would show it only in the next turn of the event loop
            QWidget.setTabOrder(self.card.undo_button, self._measured.layers.measure)
            self._measured.layers.measure.currentIndexChanged.connect(lambda _index: self._refresh_layers())
            self._fit_columns()
        return self._measured

    def refresh(self) -> None:
        self.wanted.emit(self._curves.request)
        has_steps = len(self._state.steps) > 0
        why = break_sentence(self._state)
        self._empty.update_state(is_empty=not has_steps, is_loading=self._state.is_loading, why=why)
        self._scroll.setVisible(has_steps)
        status = self._state.status
        self.card.show_rate_in_force(None if status is None else status.learning_rate)
        self.card.show_diagnosis(self._state.diagnosis)
        if not has_steps:
            return
        self.measured.norms.show_steps()
        self._refresh_numbers()
        self._refresh_layers()
        self.measured.parts.show_parts(means(self._state.gradients.loss_parts()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        if self._measured is not None:
            is_wide = self.width() >= _TWO_COLUMNS_FROM_CHARACTERS * self.fontMetrics().averageCharWidth()
            self._measured.set_two_columns(is_wide)

    def _refresh_numbers(self) -> None:
        numbers, steps, restored_at_ms = self.measured.numbers, self._state.steps, self._state.restored_at_ms
        at_ms, norm, clipped, ratio, scale = (
            steps.column(name)[-LAYER_STEPS_KEPT:]
            for name in ("at_ms", "gradient_norm", "clipped", "update_ratio", "loss_scale")
        )
        is_of_these_weights = at_ms > (-math.inf if restored_at_ms is None else restored_at_ms)
        norm, clipped, ratio = norm[is_of_these_weights], clipped[is_of_these_weights], ratio[is_of_these_weights]
        norm, ratio = norm[np.isfinite(norm)], ratio[np.isfinite(ratio)]
        numbers.put("Clip rate", format_percent(float(clipped.mean()) if clipped.size else None, 0))
        numbers.put("Median norm", format_significant(_quantile(norm, 0.5)))
        numbers.put("95th percentile", format_significant(_quantile(norm, 0.95)))
        numbers.put("Update / parameter", format_significant(_quantile(ratio, 0.5), 2))
        rate = self._state.learning_rate
        numbers.put("Learning rate", MISSING if rate is None else readable_decimal(rate))
        newest = float(scale[-1])  # a power of two: written out
        scale_text = format_number(newest, 0) if newest >= 1.0 else format_significant(newest)
        numbers.put("Loss scale", scale_text, is_shown=math.isfinite(newest))

    def _refresh_layers(self) -> None:
        layers, gradients = self.measured.layers, self._state.gradients
        trainer, diagnosis = self._state.trainer, self._state.diagnosis
        newest = gradients.newest
        names = () if trainer is None else trainer.layers
        layers.show_layers(
            names,
            medians(gradients.layers(layers.chosen)),
            () if newest is None else newest.layers,
            frozenset(() if diagnosis is None else diagnosis.layers),
        )


def _quantile(values: FloatArray, share: float) -> float | None:
    return float(np.quantile(values, share)) if values.size else None
