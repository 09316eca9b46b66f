"""Inputs for numbers that span many powers of ten, written as plain decimals."""

from __future__ import annotations

import math

from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QWidget

_MOST_DECIMALS = 12
_LADDER = (1.0, 2.0, 5.0, 10.0)


def readable_decimal(value: float, digits: int = 3) -> str:
    """`value` to `digits` significant digits as a plain decimal: 0.0001, 0.00025, 1.5, 20."""
    if not math.isfinite(value):
        return "–"
    if value == 0.0:
        return "0"
    decimals = min(max(digits - 1 - math.floor(math.log10(abs(value))), 0), _MOST_DECIMALS)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def next_on_ladder(value: float, steps: int) -> float:
    """The next of ... 0.1, 0.2, 0.5, 1, 2, 5 ... above (`steps` > 0) or below a positive `value`."""
    for _ in range(abs(steps)):
        exponent = math.floor(math.log10(value) + 1e-9)
        mantissa = value / 10.0**exponent
        if steps > 0:
            factor = next(rung for rung in _LADDER if rung > mantissa * (1 + 1e-9))
        else:
            factor = next((rung for rung in reversed(_LADDER) if rung < mantissa * (1 - 1e-9)), 0.5)
        value = float(f"{factor * 10.0**exponent:.12g}")
    return value


class LogSpinBox(QDoubleSpinBox):
    """A positive number whose arrows go 1, 2, 5, 10. ``1e-4`` may be typed and becomes ``0.0001``.

    `valueChanged` comes when the number is finished, not while it is typed.
    """

    def __init__(self, minimum: float, maximum: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDecimals(_MOST_DECIMALS)
        self.setRange(minimum, maximum)
        self.setKeyboardTracking(False)
        self.setCorrectionMode(QDoubleSpinBox.CorrectionMode.CorrectToNearestValue)

    def textFromValue(self, value: float) -> str:
        return readable_decimal(value, 4)

    def valueFromText(self, text: str) -> float:
        number = _parse(text)
        return self.value() if number is None else number

    def validate(self, text: str, position: int) -> object:
        number = _parse(text)
        if number is not None and self.minimum() <= number <= self.maximum():
            return QValidator.State.Acceptable, text, position
        could_become_one = all(character in "0123456789.,eE+- " for character in text)
        state = QValidator.State.Intermediate if could_become_one else QValidator.State.Invalid
        return state, text, position

    def fixup(self, text: str) -> str:
        number = _parse(text)
        nearest = self.value() if number is None else min(max(number, self.minimum()), self.maximum())
        return self.textFromValue(nearest)

    def stepBy(self, steps: int) -> None:
        stepped = next_on_ladder(max(self.value(), self.minimum()), steps)
        self.setValue(min(max(stepped, self.minimum()), self.maximum()))
        self.selectAll()


class DecimalSpinBox(QDoubleSpinBox):
    """A number written without needless zeros; its arrows go by tenths."""

    def __init__(self, minimum: float, maximum: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDecimals(6)
        self.setRange(minimum, maximum)
        self.setSingleStep(0.1)

    def textFromValue(self, value: float) -> str:
        return readable_decimal(value, 7)


def _parse(text: str) -> float | None:
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
