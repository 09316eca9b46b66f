"""A banner over the chart for important notices: the feed fell back, training failed, a breaker opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy, QToolButton, QWidget

from core.domain.events import Severity
from core.storage.errors import PassingError, StorageError
from desktop.ui.icons import icon, severity_colour, severity_icon_name
from desktop.ui.interface_size import enlarge_icons
from desktop.ui.panel_base import mute
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.theme import Palette, Theme, with_alpha
from desktop.ui.translation import translate

_STORAGE = "storage"
_RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice. A notice with the same `key` replaces the former. `details` go into the tooltip.

    on_action: called by the button named `action`, which also removes the notice. on_option: called by the button named
    `option`, which leaves it. on_dismiss: called when the user removes it otherwise. is_answer: it answers the user's
    last request, so it precedes graver earlier ones. is_alert: a price alert, shown above all else. passes: it reports
    a result, or a refusal, so it disappears after half a minute on the screen, and with the market on the chart.
    """

    key: str
    severity: Severity
    text: str
    details: str = ""
    action: str = ""
    on_action: Callable[[], object] | None = None
    option: str = ""
    on_option: Callable[[], object] | None = None
    is_answer: bool = False
    is_alert: bool = False
    on_dismiss: Callable[[], object] | None = None
    passes: bool = False


class BannerRow(QWidget):
    """One notice, and the number of notices behind it."""

    acted = Signal()
    chosen = Signal()
    """The other button was pressed."""
    dismissed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._notice: Notice | None = None
        self._icon, self._more, self.text = Label(), Label(), Label(wraps=True)
        mute(self._more)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.option, self.action = QPushButton(), QPushButton()
        self.option.clicked.connect(self.chosen)
        self.action.clicked.connect(self.acted)
        self.dismiss_button = QToolButton(autoRaise=True)
        self.dismiss_button.setToolTip(translate("Panels", "Dismiss this notice"))
        self.dismiss_button.setAccessibleName(translate("Panels", "Dismiss"))
        enlarge_icons(self.dismiss_button, 16)
        self.dismiss_button.clicked.connect(self.dismissed)
        parts = (self._icon, self.text, self._more, self.option, self.action, self.dismiss_button)
        beside(self, *parts, stretched=self.text, margins=(12, 5, 6, 5), spacing=8)

    def show_notice(self, notice: Notice | None, waiting: int) -> None:
        """Show a notice; None hides the row. waiting: number of notices behind it."""
        self._notice, palette = notice, self._theme.palette
        self.setVisible(notice is not None)
        if notice is None:
            return
        name = "bell-ring" if notice.is_alert else severity_icon_name(notice.severity)
        self._icon.setPixmap(icon(name, severity_colour(notice.severity, palette)).pixmap(18, 18))
        self.text.setText(notice.text)
        set_tooltip(self, notice.details)
        self.dismiss_button.setIcon(icon("close", palette.text))
        self.action.setText(notice.action)
        self.action.setVisible(bool(notice.action) and notice.on_action is not None)
        self.option.setText(notice.option)
        self.option.setVisible(bool(notice.option) and notice.on_option is not None)
        self._more.setText(translate("Panels", "{0} more").format(waiting))
        self._more.setVisible(waiting > 0)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._notice is None:
            return
        painter = QPainter(self)
        colour = severity_colour(self._notice.severity, self._theme.palette)
        painter.fillRect(self.rect(), with_alpha(colour, 38))
        painter.fillRect(0, 0, 4, self.height(), colour)
        painter.end()


class Banner(QWidget):
    """The newest price alert, and under it the gravest of the other notices, of equals the newest: neither hides the
    other. Hidden while there is none."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._notices: list[Notice] = []
        self._answered: str | None = None
        self._timed: Notice | None = None
        """The notice that `passing` will remove."""
        self.passing = QTimer(self, interval=30_000)
        """Runs while a notice that disappears by itself is on the screen."""
        self.passing.timeout.connect(self._pass)
        self.alert_row, self.other_row = BannerRow(theme), BannerRow(theme)
        stacked(self, self.alert_row, self.other_row, margins=NO_MARGINS, spacing=1)
        self.alert_row.acted.connect(lambda: self._act(self._alert))
        self.alert_row.dismissed.connect(lambda: self._dismiss(self._alert))
        self.other_row.acted.connect(lambda: self._act(self._other))
        self.other_row.chosen.connect(self._choose)
        self.other_row.dismissed.connect(lambda: self._dismiss(self._other))
        theme.changed.connect(self._show)
        self._show()

    @property
    def shown(self) -> Notice | None:
        """The notice on the screen; of two, the upper."""
        return self._alert or self._other

    @property
    def text(self) -> Label:
        return self._upper_row.text

    @property
    def action(self) -> QPushButton:
        return self._upper_row.action

    def show_notice(self, notice: Notice) -> None:
        """Show it, or queue it until graver ones are dismissed; an answer is shown until a graver one arrives. A new
        text does not bring an existing notice to the front."""
        other, former = self._other, next((each for each in self._notices if each.key == notice.key), None)
        is_news = former is None or _RANK[former.severity] < _RANK[notice.severity]
        if notice.is_answer:
            self._answered = notice.key
        elif is_news and other is not None and not notice.is_alert:
            self._answered = None if _RANK[notice.severity] > _RANK[other.severity] else self._answered
        self._notices = [each for each in self._notices if each.key != notice.key] + [notice]
        self._show()

    def notify(
        self, text: str, severity: Severity = Severity.INFO, key: str = "notice", *, is_answer: bool = False
    ) -> None:
        """Show a sentence. is_answer: the answer to the user's last action is shown at once, and passes."""
        self.show_notice(Notice(key, severity, text, is_answer=is_answer, passes=is_answer))

    def notify_storage_error(self, sentence: str, *, passes: bool = False) -> None:
        """passes: its cause does, so the notice disappears by itself; it returns with the next error."""
        self.show_notice(Notice(_STORAGE, Severity.ERROR, sentence, passes=passes))

    def withdraw_storage_error(self) -> None:
        """The database can be used again."""
        self.withdraw(_STORAGE)

    @contextmanager
    def storage_errors_shown(self) -> Iterator[None]:
        """Show a StorageError of the block as a notice, and continue after the block."""
        try:
            yield
        except StorageError as error:
            self.notify_storage_error(str(error), passes=isinstance(error, PassingError))

    def withdraw(self, key: str) -> None:
        """Remove a notice that no longer holds. An unknown key is no error."""
        self._notices = [notice for notice in self._notices if notice.key != key]
        if key == self._answered:
            self._answered = None
        self._show()

    def withdraw_passing(self) -> None:
        """Remove the notices of finished actions, as another market opens."""
        for notice in tuple(self._notices):
            if notice.passes:
                self.withdraw(notice.key)

    def dismiss(self) -> None:
        """Remove the shown notice, the upper of two; the next one follows."""
        self._dismiss(self.shown)

    @property
    def _alert(self) -> Notice | None:
        return next((notice for notice in reversed(self._notices) if notice.is_alert), None)

    @property
    def _other(self) -> Notice | None:
        others = [notice for notice in self._notices if not notice.is_alert]
        answer = next((notice for notice in others if notice.key == self._answered), None)
        return answer or max(reversed(others), key=lambda notice: _RANK[notice.severity], default=None)

    @property
    def _upper_row(self) -> BannerRow:
        return self.other_row if self._alert is None else self.alert_row

    def _dismiss(self, notice: Notice | None) -> None:
        if notice is not None:
            self.withdraw(notice.key)
            if notice.on_dismiss is not None:
                notice.on_dismiss()

    def _act(self, notice: Notice | None) -> None:
        if notice is not None and notice.on_action is not None:
            self.withdraw(notice.key)
            notice.on_action()

    def _choose(self) -> None:
        if (notice := self._other) is not None and notice.on_option is not None:
            notice.on_option()

    def _pass(self) -> None:
        """Remove the timed notice, but not while it cannot be read, is under the mouse or has the keyboard focus: the
        user may be about to press its button, and the focus would move to another widget."""
        is_seen = self.isVisible() and not self.window().isMinimized()
        focused = QApplication.focusWidget()
        has_focus = focused is not None and self.isAncestorOf(focused)
        if self._timed is not None and is_seen and not self.underMouse() and not has_focus:
            self.withdraw(self._timed.key)

    def _show(self, _palette: Palette | None = None) -> None:
        alert, other = self._alert, self._other
        timed = other if other is not None and other.passes else None
        if timed is not self._timed:
            self._timed = timed
            self.passing.stop()
            if timed is not None:
                self.passing.start()
        alerts = sum(notice.is_alert for notice in self._notices)
        self.alert_row.show_notice(alert, alerts - 1)
        self.other_row.show_notice(other, len(self._notices) - alerts - 1)
        self.setVisible(bool(self._notices))
