"""Boxes for numbers, with plain decimals, and for choices; and a slider that jumps to a click."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, QLocale, QObject, QPoint, QPointF, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QValidator
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QSlider, QStyle, QStyleOptionSlider, QWidget

from desktop.ui.translation import translate

_MOST_DECIMALS = 12
_ENGLISH = QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom)
"""All numbers in the window are written this way."""
_WITH_DECIMAL_COMMA = QLocale(QLocale.Language.German, QLocale.Country.Germany)
_SPACED_THOUSANDS = re.compile(r"(?<=\d)[\s'’](?=\d{3}(?!\d))")
_SIGNS = "+-−\u061c\u200e"
"""With the marks of direction before the sign of Arabic and Persian numbers."""
_LADDER = (1.0, 2.0, 5.0, 10.0)
N = TypeVar("N", bound=float)


def readable_decimal(value: float, digits: int = 3) -> str:
    """`value` to `digits` significant digits as a plain decimal: 0.0001, 0.00025, 1.5, 20."""
    if not math.isfinite(value):
        return "–"
    if value == 0.0:
        return "0"
    decimals = min(max(digits - 1 - math.floor(math.log10(abs(value))), 0), _MOST_DECIMALS)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def readings(text: str, system: QLocale | None = None) -> tuple[Decimal, ...]:
    """What a typed number means: as the window writes numbers, and as the system's language does. Empty: nothing. Two:
    1,125 is above one thousand in the window, and little more than one in German. A decimal comma that can be nothing
    else is one in any language. system: None is the system's language."""
    together = _SPACED_THOUSANDS.sub("", text.strip())
    found = [_read(together, locale) for locale in (_ENGLISH, system or QLocale.system())]
    meant = tuple(dict.fromkeys(number for number in found if number is not None))
    other = None if meant else _read(together, _WITH_DECIMAL_COMMA)
    return meant if other is None else (other,)


def ambiguity(text: str, meanings: Sequence[Decimal]) -> str:
    """The sentence that refuses a number with two readings."""
    words = translate("Panels", "“{0}” can mean {1} or {2}. Enter one of these two.")
    return words.format(text.strip(), *map(_unambiguous, meanings))


def _read(text: str, locale: QLocale) -> Decimal | None:
    """A number with all of its digits, in groups or not."""
    value, is_number = locale.toDouble(text)
    group, digits = locale.groupSeparator(), text.lstrip(_SIGNS)
    if not is_number or not math.isfinite(value) or (group in digits and digits.startswith(locale.zeroDigit())):
        return None  # 0,125 is no 125
    plain = text.replace(group, "").replace(locale.decimalPoint(), ".").replace(locale.exponential(), "e")
    return Decimal("".join(each for each in plain.replace("−", "-") if each in "+-.eE" or each.isdecimal()))


def _unambiguous(number: Decimal) -> str:
    """Not with three decimals: a separator of thousands has three digits behind it."""
    text = f"{number:f}"
    return f"{text}0" if len(text.partition(".")[2]) == 3 else text


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


class NumberBox(QAbstractSpinBox, Generic[N]):
    """A number in a range, typed or stepped. A number out of range may be typed, so that it can be refused in words:
    Qt's own boxes block keys after the 1 of 10. `valueChanged` is emitted when the number is complete, not while
    typing. `refused` carries the message about an invalid text; the number stays."""

    valueChanged = Signal(object)  # noqa: N815  # as Qt's boxes have it
    refused = Signal(str)

    def __init__(self, least: N, most: N) -> None:
        super().__init__()
        self._least, self._most, self._suffix = least, most, ""
        self._value = self.bounded(type(least)(0))
        for name, number in (("minimum", least), ("maximum", most)):
            self.setProperty(name, number)  # Qt reads them here for screen readers
        self._show()
        self.editingFinished.connect(self._on_finished)

    def textFromValue(self, value: N) -> str:
        raise NotImplementedError

    def converted(self, number: Decimal) -> N | None:
        """The number as this box has it; None if it cannot."""
        raise NotImplementedError

    def parse(self, text: str) -> N | None:
        """The typed number, in the range or not; None if the text is no number, or has two readings."""
        meanings = readings(text)
        return self.converted(meanings[0]) if len(meanings) == 1 else None

    def stepped(self, value: N, steps: int) -> N:
        raise NotImplementedError

    def bounded(self, value: N) -> N:
        return min(max(value, self._least), self._most)

    def value(self) -> N:
        return self._value

    def setValue(self, value: N) -> None:
        before, self._value = self._value, self.bounded(value)
        self._show()
        if self._value != before:
            self.valueChanged.emit(self._value)

    def setSuffix(self, suffix: str) -> None:
        self._suffix = suffix
        self._show()
        self.updateGeometry()

    def setSpecialValueText(self, text: str) -> None:
        super().setSpecialValueText(text)
        self._show()

    def entered(self) -> N:
        """The number typed so far. Raises ValueError with a sentence if it is outside the range."""
        typed, number = self._typed(self.text())
        if typed == self.textFromValue(self._value):
            return self._value  # which may have more digits than are shown
        if number is not None and self._least <= number <= self._most:
            return number
        name = f"{self.accessibleName()}: " if self.accessibleName() else ""
        raise ValueError(name + self._refusal(typed, number))

    def _refusal(self, typed: str, number: N | None) -> str:
        meanings = readings(typed)
        if len(meanings) > 1:
            return ambiguity(typed, meanings)
        text = translate("Panels", "{0} is out of range. Enter a number from {1} to {2}.")
        if number is None:
            text = translate("Panels", "“{0}” is not a number. Enter one from {1} to {2}.")
        return text.format(typed.strip(), self.textFromValue(self._least), self.textFromValue(self._most))

    def stepBy(self, steps: int) -> None:
        self._on_finished()
        self.setValue(self.stepped(self._value, steps))
        self.selectAll()

    def stepEnabled(self) -> QAbstractSpinBox.StepEnabledFlag:
        kinds = QAbstractSpinBox.StepEnabledFlag
        down = kinds.StepDownEnabled if self._value > self._least else kinds.StepNone
        return down | (kinds.StepUpEnabled if self._value < self._most else kinds.StepNone)

    def validate(self, text: str, position: int) -> object:
        typed, number = self._typed(text)
        shown = text if text.endswith(self._suffix) or text == self.specialValueText() else text + self._suffix
        if number is not None and self._least <= number <= self._most:
            return QValidator.State.Acceptable, shown, position
        could_become_one = not any(character.isalpha() and character not in "eE" for character in typed)
        return QValidator.State.Intermediate if could_become_one else QValidator.State.Invalid, shown, position

    def sizeHint(self) -> QSize:
        texts = [self.textFromValue(value) + self._suffix for value in (self._least, self._most)]
        advance = self.fontMetrics().horizontalAdvance
        special = advance(self.specialValueText())  # the only text that Qt has left room for
        widest = max(special, *map(advance, texts))
        return super().sizeHint() + QSize(widest - special + advance(" "), 0)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _typed(self, text: str) -> tuple[str, N | None]:
        """A text without the suffix, and as a number."""
        if text and text == self.specialValueText():
            return text, self._least
        typed = text.removesuffix(self._suffix)
        return typed, self.parse(typed)

    def _show(self) -> None:
        is_special = bool(self.specialValueText()) and self._value == self._least
        usual = self.textFromValue(self._value) + self._suffix
        self.lineEdit().setText(self.specialValueText() if is_special else usual)
        self.lineEdit().setCursorPosition(0)  # without room for all, its beginning is visible
        self.setProperty("value", self._value)

    def _on_finished(self) -> None:
        try:
            self.setValue(self.entered())
        except ValueError as error:
            stays = translate("Panels", "{0} stays.").format(self.textFromValue(self._value))
            self._show()
            self.refused.emit(f"{error} {stays}")
        if self.hasFocus():
            self.selectAll()


class WholeSpinBox(NumberBox[int]):
    """A whole number of any size, with its thousands apart."""

    def __init__(self, least: int, most: int, *, step: int = 1) -> None:
        self._step = step
        super().__init__(least, most)

    def textFromValue(self, value: int) -> str:
        return f"{value:,}"

    def converted(self, number: Decimal) -> int | None:
        return int(number) if number == number.to_integral_value() else None

    def stepped(self, value: int, steps: int) -> int:
        return value + steps * self._step


class DecimalSpinBox(NumberBox[float]):
    digits = 7
    """Number of digits shown."""

    def __init__(self, least: float, most: float, *, step: float = 0.1, decimals: int = 6) -> None:
        self._step, self._decimals = step, decimals
        super().__init__(float(least), float(most))

    def textFromValue(self, value: float) -> str:
        return f"{Decimal(readable_decimal(value, self.digits)):,f}"

    def converted(self, number: Decimal) -> float:
        return float(number)

    def stepped(self, value: float, steps: int) -> float:
        return value + steps * self._step

    def bounded(self, value: float) -> float:
        return round(super().bounded(value), self._decimals)


class LogSpinBox(DecimalSpinBox):
    """A positive number whose arrows go 1, 2, 5, 10. ``1e-4`` may be typed and becomes ``0.0001``."""

    digits = 4

    def __init__(self, least: float, most: float) -> None:
        super().__init__(least, most, decimals=_MOST_DECIMALS)

    def stepped(self, value: float, steps: int) -> float:
        return next_on_ladder(max(value, self._least), steps)


class WheelGuard(QObject):
    """The wheel over an input without the focus scrolls the page around it, and never changes or focuses it."""

    def watch(self, field: QWidget) -> None:
        if field.focusPolicy() is Qt.FocusPolicy.WheelFocus:
            field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.Wheel or not isinstance(watched, QWidget) or watched.hasFocus():
            return False
        event.ignore()
        return True


def set_choices(box: QComboBox, choices: Mapping[str, object]) -> None:
    """Set the entries of a box and their data, by text, without signals. The current one stays current if it is still
    among them."""
    if {box.itemText(place): box.itemData(place) for place in range(box.count())} == choices:
        return
    current = box.currentData()
    with QSignalBlocker(box):
        box.clear()
        for text, data in choices.items():
            box.addItem(text, data)
        box.setCurrentIndex(max(box.findData(current), 0))


class SeekSlider(QSlider):
    """A horizontal slider. A press on the groove moves the handle there, and it can be dragged at once."""

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
        press_on_handle = QMouseEvent(
            event.type(),
            center,
            self.mapToGlobal(center),
            event.button(),
            event.buttons(),
            event.modifiers(),
            event.pointingDevice(),
        )
        super().mousePressEvent(press_on_handle)
        event.accept()

    def handle_rect(self) -> QRect:
        return self._rect_of(QStyle.SubControl.SC_SliderHandle)

    def _value_at(self, place: QPoint) -> int:
        """The slider's value when the middle of its handle is there."""
        groove, handle = self._rect_of(QStyle.SubControl.SC_SliderGroove), self.handle_rect()
        along = place.x() - groove.x() - handle.width() // 2
        way = groove.width() - handle.width()
        is_turned = self.invertedAppearance() is not (self.layoutDirection() is Qt.LayoutDirection.RightToLeft)
        return QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), along, way, is_turned)

    def _rect_of(self, part: QStyle.SubControl) -> QRect:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        return self.style().subControlRect(QStyle.ComplexControl.CC_Slider, option, part, self)
