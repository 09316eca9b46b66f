"""Inputs for numbers that span many powers of ten, as plain decimals; and a slider that goes where one clicks."""

from __future__ import annotations

import math
import re

from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QValidator
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSlider, QSpinBox, QStyle, QStyleOptionSlider, QWidget

from desktop.ui.translation import translate

_MOST_DECIMALS = 12
_LARGEST_OF_QT = 2**31 - 1
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


class _RefusingBox(QDoubleSpinBox):
    """`valueChanged` comes when the number is finished, not while it is typed. `refused` carries the sentence about a
    text that is no number of the range; the number stays as it was."""

    refused = Signal(str)
    digits: int
    """How many of a number are shown."""

    def textFromValue(self, value: float) -> str:
        return readable_decimal(value, self.digits)

    def valueFromText(self, text: str) -> float:
        number = self._parse(text)
        return self.value() if number is None else number

    def validate(self, text: str, position: int) -> object:
        bare = text.removesuffix(self.suffix())
        return _state(bare, self._parse(text), self.minimum(), self.maximum()), text, position

    def _parse(self, text: str) -> float | None:
        if text and text == self.specialValueText():  # which Qt shows in place of the minimum
            return self.minimum()
        return _parse(text.removesuffix(self.suffix()))

    def fixup(self, text: str) -> str:
        bare = text.removesuffix(self.suffix())
        self.refused.emit(_refusal(bare, self._parse(text), self) + _stays(self))
        return f"{self.textFromValue(self.value())}{self.suffix()}"

    def entered(self) -> float:
        """The number as it is typed so far. Raises ValueError with the sentence, where it is none of the range."""
        return _entered(self, self._parse(self.cleanText()))


class LogSpinBox(_RefusingBox):
    """A positive number whose arrows go 1, 2, 5, 10. ``1e-4`` may be typed and becomes ``0.0001``."""

    digits = 4

    def __init__(self, minimum: float, maximum: float) -> None:
        super().__init__()
        self.setDecimals(_MOST_DECIMALS)
        self.setRange(minimum, maximum)
        self.setKeyboardTracking(False)
        self.editingFinished.connect(self._on_finished)

    def _on_finished(self) -> None:
        """Nobody is typing any more, though the cursor may still be here."""
        self.lineEdit().setModified(False)

    def stepBy(self, steps: int) -> None:
        stepped = next_on_ladder(max(self.value(), self.minimum()), steps)
        self.setValue(min(max(stepped, self.minimum()), self.maximum()))
        self.selectAll()


class DecimalSpinBox(_RefusingBox):
    """A number written without needless zeros; its arrows go by tenths."""

    digits = 7

    def __init__(self, minimum: float, maximum: float) -> None:
        super().__init__()
        self.setDecimals(6)
        self.setRange(minimum, maximum)
        self.setSingleStep(0.1)
        self.setKeyboardTracking(False)


class WholeSpinBox(QSpinBox):
    """A whole number, with its thousands apart. `refused` as of `LogSpinBox`."""

    refused = Signal(str)

    def __init__(self, minimum: int, maximum: int) -> None:
        super().__init__()
        self.setRange(minimum, maximum)
        self.setGroupSeparatorShown(True)
        self.setKeyboardTracking(False)

    def valueFromText(self, text: str) -> int:
        number = self._parse(text)
        return self.value() if number is None else number

    def validate(self, text: str, position: int) -> object:
        bare = text.removesuffix(self.suffix())
        return _state(bare, self._parse(text), self.minimum(), self.maximum()), text, position

    def fixup(self, text: str) -> str:
        self.refused.emit(_refusal(text.removesuffix(self.suffix()), self._parse(text), self) + _stays(self))
        return f"{self.prefix()}{self.textFromValue(self.value())}{self.suffix()}"

    def entered(self) -> int:
        """As of `LogSpinBox`."""
        return int(_entered(self, self._parse(self.cleanText())))

    def _parse(self, text: str) -> int | None:
        return _parse_whole(self, text.removesuffix(self.suffix()).removeprefix(self.prefix()))


class LongWholeBox(QAbstractSpinBox):
    """A whole number of any size: Qt's own box counts to 2^31, and a double to 2^53. `refused` as of `LogSpinBox`."""

    valueChanged = Signal(object)  # noqa: N815  # as Qt's boxes have it
    refused = Signal(str)

    def __init__(self, minimum: int, maximum: int) -> None:
        super().__init__()
        self._least, self._most = minimum, maximum
        self._value = min(max(0, minimum), maximum)
        self._show()
        self.editingFinished.connect(self._on_finished)

    def minimum(self) -> int:
        return self._least

    def maximum(self) -> int:
        return self._most

    def value(self) -> int:
        return self._value

    def setValue(self, value: int) -> None:
        before, self._value = self._value, min(max(value, self._least), self._most)
        self._show()
        if self._value != before:
            self.valueChanged.emit(self._value)

    def cleanText(self) -> str:
        return self.text()

    def textFromValue(self, value: int) -> str:
        """With its thousands apart."""
        return f"{value:,}".replace(",", self.locale().groupSeparator())

    def stepBy(self, steps: int) -> None:
        self.setValue(self._value + steps)
        self.selectAll()

    def stepEnabled(self) -> QAbstractSpinBox.StepEnabledFlag:
        kinds = QAbstractSpinBox.StepEnabledFlag
        down = kinds.StepDownEnabled if self._value > self._least else kinds.StepNone
        return down | (kinds.StepUpEnabled if self._value < self._most else kinds.StepNone)

    def validate(self, text: str, position: int) -> object:
        return _state(text, _parse_whole(self, text), self._least, self._most), text, position

    def entered(self) -> int:
        """As of `LogSpinBox`."""
        return int(_entered(self, _parse_whole(self, self.text())))

    def sizeHint(self) -> QSize:
        text = self.fontMetrics().horizontalAdvance(self.textFromValue(self._most) + " ")
        return super().sizeHint() + QSize(text, 0)

    def _show(self) -> None:
        self.lineEdit().setText(self.textFromValue(self._value))

    def _on_finished(self) -> None:
        """Take the number that was typed, or refuse it."""
        number = _parse_whole(self, self.text())
        if number is None or not self._least <= number <= self._most:
            self.refused.emit(_refusal(self.text(), number, self) + _stays(self))
            self._show()
            return
        self.setValue(number)


BoundedBox = _RefusingBox | WholeSpinBox | LongWholeBox


def whole_number_box(minimum: int, maximum: int) -> WholeSpinBox | LongWholeBox:
    """The box for a range of whole numbers, however wide."""
    is_long = max(-minimum, maximum) > _LARGEST_OF_QT
    return LongWholeBox(minimum, maximum) if is_long else WholeSpinBox(minimum, maximum)


def _entered(box: BoundedBox, number: float | None) -> float:
    if box.cleanText() == box.textFromValue(box.value()):  # type: ignore[arg-type]
        return box.value()  # which may have more digits than are shown
    if number is None or not box.minimum() <= number <= box.maximum():
        raise ValueError(_refusal(box.cleanText(), number, box))
    return number


def _state(text: str, number: float | None, least: float, most: float) -> QValidator.State:
    """A number out of range may be typed, so that it can be refused in words: stopping the keys at 1 makes 1 of 10."""
    if number is not None and least <= number <= most:
        return QValidator.State.Acceptable
    could_become_one = all(character.isspace() or character in "0123456789.,eE+-'" for character in text)
    return QValidator.State.Intermediate if could_become_one else QValidator.State.Invalid


def _refusal(text: str, number: float | None, box: BoundedBox) -> str:
    """With the box's name, where it has one."""
    least, most = box.textFromValue(box.minimum()), box.textFromValue(box.maximum())  # type: ignore[arg-type]
    if number is None:
        words = translate("Panels", "“{0}” is not a number. Enter one from {1} to {2}.")
    else:
        words = translate("Panels", "{0} is out of range. Enter a number from {1} to {2}.")
    name = box.accessibleName()
    return f"{name}{': ' if name else ''}{words.format(text.strip(), least, most)}"


def _stays(box: BoundedBox) -> str:
    return " " + translate("Panels", "{0} stays.").format(box.textFromValue(box.value()))  # type: ignore[arg-type]


def _parse(text: str) -> float | None:
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _parse_whole(box: QWidget, text: str) -> int | None:
    """Thousands may be apart; another comma may be meant as a decimal one, so it makes no number."""
    between = rf"(?<=\d){re.escape(box.locale().groupSeparator())}(?=\d{{3}}(?!\d))"
    try:
        return int(re.sub(between, "", text).replace(" ", ""))
    except ValueError:
        return None


class SeekSlider(QSlider):
    """Lies down. A press on the groove takes the handle there, and it can be dragged on from there at once."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        is_alone = event.button() is Qt.MouseButton.LeftButton and event.buttons() == Qt.MouseButton.LeftButton
        if not is_alone or self.minimum() == self.maximum() or self.handle_rect().contains(place):
            super().mousePressEvent(event)
            return
        self.setSliderDown(True)  # so that followers of its value are notified
        self.setSliderPosition(self._value_at(place))
        center = QPointF(self.handle_rect().center())
        taken = QMouseEvent(
            event.type(),
            center,
            self.mapToGlobal(center),
            event.button(),
            event.buttons(),
            event.modifiers(),
            event.pointingDevice(),
        )
        super().mousePressEvent(taken)  # as if it had been taken hold of there
        event.accept()

    def handle_rect(self) -> QRect:
        return self._rect_of(QStyle.SubControl.SC_SliderHandle)

    def _value_at(self, place: QPoint) -> int:
        """What the slider is at when the middle of its handle is there."""
        groove, handle = self._rect_of(QStyle.SubControl.SC_SliderGroove), self.handle_rect()
        along = place.x() - groove.x() - handle.width() // 2
        way = groove.width() - handle.width()
        is_turned = self.invertedAppearance() is not (self.layoutDirection() is Qt.LayoutDirection.RightToLeft)
        return QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), along, way, is_turned)

    def _rect_of(self, part: QStyle.SubControl) -> QRect:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        return self.style().subControlRect(QStyle.ComplexControl.CC_Slider, option, part, self)
