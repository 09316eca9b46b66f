"""The gradient doctor's verdict: the disease in words, its evidence, and a button that applies the one change."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

from core.domain.diagnosis import Diagnosis, Disease, DivergenceRecovery, SettingChange
from core.settings.tree import Settings
from core.settings.when_applied import is_at_once
from desktop.dialogs.setting_texts import effect, setting, title, with_change
from desktop.panels.gradients.layer_names import with_titles
from desktop.ui.formatting import format_count, format_significant
from desktop.ui.icons import icon, put_icon, tabular
from desktop.ui.inputs import readable_decimal
from desktop.ui.interface_size import scale_text
from desktop.ui.panel_base import colour_text, mute, set_text
from desktop.ui.plain_text import Label, set_tooltip, with_whole_figures
from desktop.ui.stacks import beside, stacked
from desktop.ui.theme import Theme, with_alpha
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate
from desktop.ui.words import word

_ICONS = {
    Disease.UNKNOWN: "timer-sand",
    Disease.HEALTHY: "check-circle-outline",
    Disease.DIVERGED: "chart-line-variant",
    Disease.EXPLODING: "trending-up",
    Disease.VANISHING: "trending-down",
    Disease.UPDATES_TOO_LARGE: "arrow-expand-horizontal",
    Disease.ALWAYS_CLIPPING: "content-cut",
    Disease.NEVER_CLIPPING: "content-cut",
    Disease.DEAD_LAYERS: "power-plug-off-outline",
    Disease.NOT_FINITE: "alert-circle-outline",
}
_GRAVE = frozenset({Disease.DIVERGED, Disease.EXPLODING, Disease.NOT_FINITE})
_FINE = frozenset({Disease.UNKNOWN, Disease.HEALTHY})
_RATIOS = {
    0.5: QT_TRANSLATE_NOOP("Panels", "Halve the {0} to {1}"),
    0.1: QT_TRANSLATE_NOOP("Panels", "Lower the {0} to a tenth: {1}"),
    2.0: QT_TRANSLATE_NOOP("Panels", "Double the {0} to {1}"),
}
_SET = QT_TRANSLATE_NOOP("Panels", "Set the {0} to {1}")
_RATE = ("training", "learning_rate")
_NO_CHANGE = QT_TRANSLATE_NOOP("Panels", "No setting fixes this")
_TINT = 26
_STRIPE = 3
_SMALLEST_PLAIN = 1e-9
_TALL = 10_000


@dataclass(frozen=True, slots=True)
class _Applied:
    """A change made by the button, and its undoing."""

    change: SettingChange
    undo: SettingChange
    essence: tuple[Disease, SettingChange | None]
    """The essence of the verdict that proposed the change."""


class DiagnosisCard(QWidget):
    """`change_requested` carries a SettingChange: the verdict's, or its undoing. `recovery_requested` carries the
    DivergenceRecovery of a diverged model."""

    change_requested = Signal(object)
    recovery_requested = Signal(object)

    def __init__(self, settings: Settings, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._settings = settings
        self._diagnosis: Diagnosis | None = None
        self._applied: _Applied | None = None
        self._rate_in_force: float | None = None
        self._icon, self.headline, self.step, self.evidence, self.advice, self.note = (Label() for _ in range(6))
        self.apply_button = WrappingButton()
        self.apply_button.clicked.connect(self._on_apply)
        self.undo_button = QPushButton(translate("Panels", "Undo"))
        self.undo_button.clicked.connect(self._on_undo)
        put_icon(self.undo_button, "undo", theme)
        self._build_layout()
        theme.follow(self, lambda _palette: self._refresh())

    def show_diagnosis(self, diagnosis: Diagnosis | None) -> None:
        """Show a verdict, None before the first. Undo stays until a different one: after a change there is no verdict
        for a while, and an equal one is nothing new."""
        if self._applied is not None and (diagnosis is None or diagnosis.disease is not Disease.UNKNOWN):
            is_same = diagnosis is not None and _essence(diagnosis) == self._applied.essence
            self._applied = self._applied if is_same else None
        self._diagnosis = diagnosis
        self._refresh()

    def show_settings(self, settings: Settings) -> None:
        """Set the current settings, which determine the button's effect."""
        if settings.training.learning_rate != self._settings.training.learning_rate:
            self._rate_in_force = None  # setting the rate replaces the rollbacks' lower one
        self._settings = settings
        self._refresh()

    def show_rate_in_force(self, learning_rate: float | None) -> None:
        """The trainer's current rate: lower than the set one after a rollback. None if unknown."""
        if learning_rate != self._rate_in_force:
            self._rate_in_force = learning_rate
            self._refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        colour = self._colour()
        painter = QPainter(self)
        painter.fillRect(self.rect(), with_alpha(colour, _TINT))
        painter.fillRect(0, 0, _STRIPE, self.height(), colour)
        painter.end()

    def _build_layout(self) -> None:
        scale_text(self.headline, 1.15, bold=True)
        mute(self.step, self.evidence, self.note)
        self.step.setFont(tabular(self.font()))
        for label in (self.headline, self.evidence, self.advice, self.note):
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            label.setWordWrap(True)
        self._icon.setFixedSize(QSize(18, 18))
        top = beside(None, self._icon, self.headline, self.step, stretched=self.headline, spacing=6)
        buttons = beside(None, self.apply_button, self.undo_button, None, spacing=6)
        for row, part in ((top, self._icon), (top, self.step), (buttons, self.apply_button)):
            row.setAlignment(part, Qt.AlignmentFlag.AlignTop)
        stacked(self, top, self.evidence, self.advice, buttons, self.note, margins=(10, 6, 8, 6), spacing=4)

    def _refresh(self) -> None:
        diagnosis = self._diagnosis
        disease = Disease.UNKNOWN if diagnosis is None else diagnosis.disease
        self._icon.setPixmap(icon(_ICONS[disease], self._colour()).pixmap(18, 18))
        headline = word(disease)
        set_text(self.headline, headline[:1].upper() + headline[1:])
        colour_text(self.headline, self._theme.palette.text if disease in _FINE else self._colour())
        step, evidence, advice = "", translate("Panels", "The first diagnosis appears after enough steps."), ""
        if diagnosis is not None:
            step = translate("Panels", "step {0}").format(format_count(diagnosis.step))
            evidence, advice = with_titles(diagnosis.evidence), with_titles(diagnosis.advice)
        for label, text in ((self.step, step), (self.evidence, evidence), (self.advice, advice)):
            set_text(label, text)
            label.setVisible(bool(text))
        self._refresh_buttons(diagnosis)
        self.update()

    def _refresh_buttons(self, diagnosis: Diagnosis | None) -> None:
        change = None if diagnosis is None else diagnosis.change
        is_ill = diagnosis is not None and diagnosis.disease not in _FINE
        applied = self._applied_now()
        for button, is_shown in (
            (self.undo_button, applied is not None),
            (self.apply_button, applied is None and (is_ill or change is not None)),
        ):
            if not is_shown:
                self._move_focus_from(button)
            button.setVisible(is_shown)
        if diagnosis is not None and diagnosis.recovery is not None:
            set_text(self.note, "")
            self._move_focus_from(self.undo_button)
            self.undo_button.hide()
            self._offer(recovery_text(diagnosis.recovery), diagnosis.advice, is_possible=True)
        elif applied is not None:
            set_text(self.note, _done_text(applied.change))
            set_tooltip(self.undo_button, self._phrase(applied.undo))
        elif change is None:
            set_text(self.note, "")
            advice = "" if diagnosis is None else diagnosis.advice
            self._offer(translate("Panels", _NO_CHANGE), advice, is_possible=False)
        else:
            self._offer_change(change)
        self.note.setVisible(bool(self.note.text()))

    def _offer_change(self, change: SettingChange) -> None:
        """Show the button's effect and when it begins, or why it is disabled."""
        try:
            changed = with_change(self._settings, change)
        except ValueError as error:
            set_text(self.note, str(error))
            self._offer(translate("Panels", _NO_CHANGE), str(error), is_possible=False)
            return
        if changed == self._settings:
            reason = translate("Panels", "{0} is {1} already.").format(title(change.name), _value_text(change.value))
            set_text(self.note, reason)
            self._offer(self._phrase(change), reason, is_possible=False)
            return
        when = ""
        if not is_at_once(change.group, change.name):
            when = translate("Panels", "It will take effect {0}.").format(effect(change.group, change.name))
        set_text(self.note, when)
        tooltip = when or translate("Panels", "It takes effect at the next step.")
        self._offer(self._phrase(change), tooltip, is_possible=True)

    def _offer(self, text: str, tooltip: str, *, is_possible: bool) -> None:
        set_text(self.apply_button, text)
        set_tooltip(self.apply_button, tooltip)
        if not is_possible:
            self._move_focus_from(self.apply_button)
        self.apply_button.setEnabled(is_possible)

    def _move_focus_from(self, button: QWidget) -> None:
        """Qt would move the focus of a hidden button to the next widget, and scroll there, away from the verdict."""
        if button.hasFocus():
            can_undo = button is not self.undo_button and not self.undo_button.isHidden()
            (self.undo_button if can_undo else self).setFocus(Qt.FocusReason.OtherFocusReason)

    def _applied_now(self) -> _Applied | None:
        """The applied change, until its setting changes again."""
        applied = self._applied
        if applied is None:
            return None
        current = setting(self._settings, applied.change.group, applied.change.name)
        return applied if _is_same(current, applied.change.value) else None

    def _on_apply(self) -> None:
        diagnosis = self._diagnosis
        if diagnosis is not None and diagnosis.recovery is not None:
            self.recovery_requested.emit(diagnosis.recovery)
            return
        if diagnosis is None or diagnosis.change is None:
            return
        change = diagnosis.change
        former = self._in_force(change)
        if former is not None:
            self._applied = _Applied(change, SettingChange(change.group, change.name, former), _essence(diagnosis))
        self.change_requested.emit(change)
        self._refresh()

    def _in_force(self, change: SettingChange) -> float | int | str | None:
        """The current value of a change's setting: the change replaces it, and Undo restores it."""
        if (change.group, change.name) == _RATE and self._rate_in_force is not None:
            return self._rate_in_force
        return setting(self._settings, change.group, change.name)

    def _phrase(self, change: SettingChange) -> str:
        """``Halve the learning rate to 0.00005``; ``Set the activation to silu, from the next start``."""
        name = title(change.name)
        sentence = translate("Panels", _sentence(self._in_force(change), change.value))
        text = sentence.format(name[:1].lower() + name[1:], _value_text(change.value))
        if is_at_once(change.group, change.name):
            return text
        return translate("Panels", "{0}, from the next start").format(text)

    def _on_undo(self) -> None:
        applied, self._applied = self._applied, None
        if applied is not None:
            self.change_requested.emit(applied.undo)
        self._refresh()

    def _colour(self) -> QColor:
        palette = self._theme.palette
        disease = Disease.UNKNOWN if self._diagnosis is None else self._diagnosis.disease
        if disease in _GRAVE:
            return palette.bad
        plain = {
            Disease.UNKNOWN: palette.muted_text,
            Disease.HEALTHY: palette.good,
            Disease.NEVER_CLIPPING: palette.accent,
        }
        return plain.get(disease, palette.warning)


def _essence(diagnosis: Diagnosis) -> tuple[Disease, SettingChange | None]:
    """The part of a verdict that differs only if its message does, not its numbers."""
    return diagnosis.disease, diagnosis.change


def recovery_text(way: DivergenceRecovery) -> str:
    """The text of the button against a diverged model."""
    if way.checkpoint_id is not None:
        return translate("Panels", "Go back to step {0}").format(format_count(way.checkpoint_step or 0))
    return translate("Panels", "Lower the learning rate")


def _sentence(current: object, value: object) -> str:
    if isinstance(current, int | float) and isinstance(value, int | float) and current:
        for ratio, sentence in _RATIOS.items():
            if math.isclose(value / current, ratio, rel_tol=1e-6):
                return sentence
    return _SET


def _value_text(value: float | int | str) -> str:
    if isinstance(value, str):
        return value
    is_plain = value == 0 or abs(value) >= _SMALLEST_PLAIN
    return readable_decimal(float(value)) if is_plain else format_significant(float(value))


def _done_text(change: SettingChange) -> str:
    name, value = title(change.name), _value_text(change.value)
    if is_at_once(change.group, change.name):
        return translate("Panels", "{0} set to {1}.").format(name, value)
    stored = translate("Panels", "{0} {1} is stored. It takes effect {2}.")
    return stored.format(name, value, effect(change.group, change.name))


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9)
    return one == other


class WrappingButton(QPushButton):
    """A button as high as its text needs at its width, and never wider than the text on one line."""

    def __init__(self) -> None:
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:
        longest = max((self.fontMetrics().horizontalAdvance(word) for word in self._drawn().split(" ")), default=0)
        return QSize(longest + self._padding().width(), super().minimumSizeHint().height())

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, max(width - self._padding().width(), 1), _TALL)
        text = self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, self._drawn())
        return text.height() + self._padding().height()

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""  # type: ignore[attr-defined]  # PySide6's stubs lack it
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        inner = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
        room = self._padding().width() // 2
        inner = QRect(room, inner.top(), self.width() - 2 * room, inner.height())
        self.style().drawItemText(
            painter, inner, int(flags), self.palette(), self.isEnabled(), self._drawn(), QPalette.ColorRole.ButtonText
        )
        painter.end()

    def _drawn(self) -> str:
        return with_whole_figures(self.text())

    def _padding(self) -> QSize:
        """The style's margins around one line."""
        metrics = self.fontMetrics()
        line = QSize(metrics.horizontalAdvance(self.text()), metrics.height())
        around = super().sizeHint() - line
        return QSize(max(around.width(), 8), max(around.height(), 4))
