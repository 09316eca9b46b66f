"""Preferences: a page for each group of the settings tree, made from the tree itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from importlib.metadata import entry_points
from pathlib import Path
from shutil import which

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QScrollArea, QTabWidget, QVBoxLayout, QWidget

from core.alerts.service import service_of
from core.domain.challenger_sources import ENTRY_POINTS, MODEL_NAMES, ChallengerSource, source_of
from core.settings.tree import Settings
from core.settings.when_applied import is_at_once
from desktop.dialogs.forms import GroupForm, field_infos
from desktop.dialogs.setting_texts import effect, title
from desktop.ui.dialog_parts import Problem, room_on_screen
from desktop.ui.interface_size import enlarged
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.translation import translate

_WIDTH = 1140
OWN_DIALOG_GROUPS = frozenset({"market", "watchlist", "browser"})


class PreferencesDialog(QDialog):
    """`applied` carries the new Settings, when they were accepted and differ. Open it with `open`."""

    applied = Signal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialogs", "Preferences"))
        self._settings = settings
        self._forms: dict[str, GroupForm[object]] = {}
        self._pages: dict[str, QScrollArea] = {}
        self.buttons = self._make_buttons()
        self.message = Problem(self.settings, self.buttons)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(translate("Dialogs", "Setting groups"))
        for field in fields(Settings):
            if field.name not in OWN_DIALOG_GROUPS:
                self._add_page(field.name)
        self.search = QLineEdit(placeholderText=translate("Dialogs", "Find a setting"), clearButtonEnabled=True)
        self.search.setAccessibleName(translate("Dialogs", "Find a setting"))
        self.search.textChanged.connect(self._on_search)
        self.nothing = Label(
            translate("Dialogs", "No setting matches all of these words."), alignment=Qt.AlignmentFlag.AlignCenter
        )
        self.nothing.hide()
        parts = (self.search, self.tabs, self.nothing, self.message, self.buttons)
        layout = stacked(self, *parts, stretched=self.nothing)
        self._check()
        self.resize(self._fitting_size(layout, room_on_screen(self)))

    def form(self, group: str) -> GroupForm[object]:
        return self._forms[group]

    def show_setting(self, group: str, name: str) -> None:
        """Open the setting's page and focus its editor."""
        self.search.clear()
        self.tabs.setCurrentIndex(list(self._forms).index(group))
        self._forms[group].unfold(name)
        editor = self._forms[group].editor(name).widget
        self._pages[group].ensureWidgetVisible(editor)
        inner = editor.findChild(QWidget) if editor.focusPolicy() is Qt.FocusPolicy.NoFocus else editor
        (inner or editor).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def settings(self) -> Settings:
        """The settings from the forms. Raises ValueError with a sentence for the user."""
        groups = {name: form.value() for name, form in self._forms.items()}
        settings = replace(self._settings, **groups)  # type: ignore[arg-type]
        if settings.notifications.alert_urls != self._settings.notifications.alert_urls:
            _check_alert_urls(settings.notifications.alert_urls or "")
        if settings.model.challengers != self._settings.model.challengers:
            _check_challengers(settings.model.challengers)
        return settings

    def accept(self) -> None:
        try:
            settings = self.settings()
        except ValueError:
            return
        super().accept()
        if settings != self._settings:
            self.applied.emit(settings)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter in the search goes to the match; it must not close the dialog."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.search.hasFocus():
            self.focusNextChild()
            return
        super().keyPressEvent(event)

    def _fitting_size(self, layout: QVBoxLayout, room: QSize) -> QSize:
        """A size at which the longest page need not be scrolled, but no larger than `room`, nor higher than the window
        behind it."""
        self.ensurePolished()
        around = self._around(layout)
        width, highest = min(enlarged(_WIDTH), room.width()), room.height()
        tallest = max(form.heightForWidth(width - around.width()) for form in self._forms.values())
        parent = self.parentWidget()
        if parent is not None and parent.window().isVisible():
            highest = min(highest, parent.window().height())
        return QSize(width, min(tallest + around.height(), highest))

    def _around(self, layout: QVBoxLayout) -> QSize:
        """Size around a page: margins, search, tabs, buttons, and a line of the message."""
        layout.activate()
        margins = layout.contentsMargins()
        frame = self.tabs.sizeHint() - self.tabs.currentWidget().sizeHint()
        beside = margins.left() + margins.right() + frame.width()
        rows = (
            self.search.sizeHint().height(),
            self.buttons.sizeHint().height(),
            self.message.fontMetrics().lineSpacing(),
        )
        above = margins.top() + margins.bottom() + frame.height() + sum(rows) + len(rows) * layout.spacing()
        return QSize(beside, above)

    def _add_page(self, group: str) -> None:
        form: GroupForm[object] = GroupForm(group, getattr(self._settings, group), _note(group))
        form.changed.connect(self._check)
        form.refused.connect(self.message.refuse)
        self._forms[group] = form
        scroll = QScrollArea(widgetResizable=True)
        scroll.setWidget(form)
        scroll.setAccessibleName(title(group))
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._pages[group] = scroll
        self.tabs.addTab(scroll, title(group))

    def _on_search(self, typed: str) -> None:
        """Show only the fields that contain every word, and the pages with such a field."""
        words = typed.casefold().split()
        counts = [form.show_only(words, title(group)) for group, form in self._forms.items()]
        for number, count in enumerate(counts):
            self.tabs.setTabVisible(number, count > 0)
        if any(counts) and not counts[self.tabs.currentIndex()]:
            self.tabs.setCurrentIndex(next(number for number, count in enumerate(counts) if count))
        self.tabs.setVisible(any(counts))
        self.nothing.setVisible(not any(counts))

    def _make_buttons(self) -> QDialogButtonBox:
        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel | kinds.RestoreDefaults)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        defaults = buttons.button(kinds.RestoreDefaults)
        defaults.setText(translate("Dialogs", "Restore this page's defaults"))
        defaults.setToolTip(translate("Dialogs", "Reset the open page to its defaults"))
        defaults.clicked.connect(self._restore_page)
        return buttons

    def _restore_page(self) -> None:
        group = list(self._forms)[self.tabs.currentIndex()]
        default = getattr(Settings(), group)
        for name in field_infos(type(default)):
            self._forms[group].editor(name).put(getattr(default, name))

    def _check(self) -> None:
        """Show at once what is invalid, or what takes effect only later."""
        self.message.check()
        if self.message.text():
            return
        chosen = self.settings()
        waiting = sum(
            getattr(getattr(chosen, group), field.name) != getattr(getattr(self._settings, group), field.name)
            and not is_at_once(group, field.name)
            for group in self._forms
            for field in fields(getattr(chosen, group))
        )
        if not waiting:
            return
        one = translate("Dialogs", "1 change will take effect later; its page says when.")
        several = translate("Dialogs", "{0} changes will take effect later; their pages say when.")
        self.message.show_sentence(one if waiting == 1 else several.format(waiting))


def _check_alert_urls(text: str) -> None:
    """Raises ValueError for the first URL that apprise cannot use."""
    for number, url in enumerate(text.split(), start=1):
        if service_of(url) is None:
            text = translate(
                "Dialogs", "{0}: apprise cannot use URL {1}, {2}://. Its form is on appriseit.com/services."
            )
            raise ValueError(text.format(title("alert_urls"), number, url.partition("://")[0]))


def _check_challengers(wanted: Sequence[str]) -> None:
    """Raises ValueError for the first one that this machine does not have."""
    for source in map(source_of, wanted):
        if (problem := _missing(source)) is not None:
            raise ValueError(f"{title('challengers')}: {problem}")


def _missing(source: ChallengerSource) -> str | None:
    if source.command:
        program = source.command[0]
        text = translate("Dialogs", "There is no program “{0}”.")
        return None if which(program) is not None else text.format(program)
    if source.file is not None:
        text = translate("Dialogs", "There is no file {0}.")
        return None if Path(source.file).is_file() else text.format(source.file)
    if source.name in MODEL_NAMES or any(point.name == source.name for point in entry_points(group=ENTRY_POINTS)):
        return None
    text = translate("Dialogs", "There is no model “{0}”. There are {1}, or a file and its class: path/file.py:Class.")
    return text.format(source.name, ", ".join(MODEL_NAMES[1:]))


def _note(group: str) -> str:
    """When the page's changes take effect, with its exceptions."""
    names = [field.name for field in fields(getattr(Settings(), group))]
    effects = {name: effect(group, name) for name in names}
    common = max(set(effects.values()), key=list(effects.values()).count)
    others = [name for name in names if effects[name] != common]
    if not others:
        return translate("Dialogs", "Changes take effect {0}.").format(common)
    titles = [title(name).lower() for name in others]
    first, *more = titles
    exception = effects[others[0]]  # no page has two
    if not more:
        text = translate("Dialogs", "{0} takes effect {1}, everything else {2}.")
        return text.format(first.capitalize(), exception, common)
    listed = translate("Dialogs", "{0} and {1}").format(", ".join(titles[:-1]), titles[-1])
    return translate("Dialogs", "{0} take effect {1}, everything else {2}.").format(
        listed.capitalize(), exception, common
    )
