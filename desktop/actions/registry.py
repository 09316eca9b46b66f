"""The registry of actions: menus, tool bar, shortcuts and tooltips are built from the table of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import QObject, QPoint, Qt, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu, QMenuBar, QToolBar, QWidget

from desktop.actions.info import translated
from desktop.actions.table import ActionId
from desktop.ui.icons import icon
from desktop.ui.interface_size import enlarge_icons
from desktop.ui.menus import Menu
from desktop.ui.plain_text import paragraphs
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import translate

_PANEL_ICON_PX = 15
_IN_PANEL = Qt.ShortcutContext.WidgetWithChildrenShortcut


class ActionRegistry(QObject):
    """The QActions of a window or a panel. Raises KeyError for an id that was not given."""

    def __init__(
        self, ids: Iterable[ActionId], owner: QWidget, theme: Theme, existing: Mapping[ActionId, QAction] | None = None
    ) -> None:
        """`existing` are actions that Qt made, such as a dock's toggle; they are dressed like the others."""
        super().__init__(owner)
        self._groups: dict[str, QActionGroup] = {}
        self._actions: dict[ActionId, QAction] = {}
        self._menus: dict[tuple[str, ...], QMenu] = {}
        for action_id in ids:
            action = (existing or {}).get(action_id) or QAction(self)
            self._apply_style(action, action_id)
            self._actions[action_id] = action
        owner.addActions(list(self._actions.values()))
        self._theme = theme
        theme.follow(self, self._draw_icons)

    def __getitem__(self, action_id: ActionId) -> QAction:
        return self._actions[action_id]

    def ids(self) -> tuple[ActionId, ...]:
        """All ids, in the order of the table."""
        return tuple(self._actions)

    def wire(self, slots: Mapping[ActionId, Callable[[], object]]) -> None:
        """Call a slot, without arguments, whenever the user triggers its action."""
        for action_id, slot in slots.items():
            self._actions[action_id].triggered.connect(lambda _checked=False, slot=slot: slot())

    def actions(self) -> list[QAction]:
        """All actions, in the order of the table."""
        return list(self._actions.values())

    def present(self, action_id: ActionId, text: str, tooltip: str, icon_name: str) -> None:
        """Give an action other words and another icon, as Pause becomes Resume. Its keys stay."""
        action = self._actions[action_id]
        action.setText(text)
        action.setIconText(text.replace("&", ""))  # of a button: since Qt 6.11 the default is without the "…"
        action.setToolTip(paragraphs(_with_shortcut(tooltip, action_id.info.shortcut)))
        action.setIcon(icon(icon_name, self._theme.palette.text))
        action.setProperty("icon_name", icon_name)

    def add_to_tooltip(self, action_id: ActionId, more: str) -> None:
        """Set the sentence after the table's tooltip; it replaces the former one."""
        info = translated(action_id.info)
        self._actions[action_id].setToolTip(paragraphs(_with_shortcut(f"{info.tooltip}. {more}", info.shortcut)))

    def _draw_icons(self, palette: Palette) -> None:
        for action in self._actions.values():
            name = str(action.property("icon_name") or "")
            if name:
                action.setIcon(icon(name, palette.text))

    def offer_menu(self, view: QAbstractItemView, *, needs_row: bool = True) -> None:
        """Give a panel's table a context menu with all of them. needs_row: not if the table is empty."""

        def open_menu(place: QPoint) -> None:
            if needs_row and not view.indexAt(place).isValid():
                return
            menu = Menu("", view)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addActions(self.actions())
            menu.popup(view.viewport().mapToGlobal(place))

        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(open_menu)

    def fill_menu_bar(self, bar: QMenuBar) -> None:
        """Add a menu for each path of the table."""
        menus = self._menus
        sections: dict[tuple[str, ...], int] = {}
        for action_id, action in self._actions.items():
            info = action_id.info
            if not info.menu:
                continue
            for depth in range(1, len(info.menu) + 1):
                path = info.menu[:depth]
                is_innermost = depth == len(info.menu)
                if path not in menus:
                    parent = bar if depth == 1 else menus[path[:-1]]
                    self._separate(parent, sections, path[:-1], info.section)
                    menus[path] = Menu(translate("Actions", path[-1]), parent)
                    parent.addMenu(menus[path])
                    sections[path] = info.section
                if is_innermost:
                    self._separate(menus[path], sections, path, info.section)
            menus[info.menu].addAction(action)

    def menu_of(self, action_id: ActionId) -> QMenu:
        """The menu that holds it, once the bar was filled. Raises KeyError for one that is in none."""
        return self._menus[action_id.info.menu]

    def tool_bar(self, name: str, *, has_texts: bool = True) -> QToolBar:
        """A small one for a panel. name: what a screen reader calls it; has_texts: beside the icons."""
        bar = QToolBar(name)
        if has_texts:
            bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        enlarge_icons(bar, _PANEL_ICON_PX)
        self.fill_tool_bar(bar)
        return bar

    def fill_tool_bar(self, tool_bar: QToolBar) -> None:
        """Add the actions meant for a tool bar, in the order of the table."""
        last: tuple[tuple[str, ...], int] | None = None
        for action_id, action in self._actions.items():
            info = action_id.info
            if not info.is_in_tool_bar:
                continue
            place = (info.menu, info.section)
            if last is not None and place != last:
                tool_bar.addSeparator()
            last = place
            tool_bar.addAction(action)

    @staticmethod
    def _separate(
        parent: QMenu | QMenuBar, sections: dict[tuple[str, ...], int], path: tuple[str, ...], section: int
    ) -> None:
        if path and sections.get(path, section) != section and isinstance(parent, QMenu):
            parent.addSeparator()
        sections[path] = section

    def _apply_style(self, action: QAction, action_id: ActionId) -> None:
        action.setObjectName(action_id.key)
        info = action_id.info
        shown = translated(info)
        action.setText(shown.text)
        action.setToolTip(paragraphs(_with_shortcut(shown.tooltip, info.shortcut)))
        action.setStatusTip("")
        action.setMenuRole(info.role)
        action.setCheckable(info.is_checkable)
        action.setProperty("icon_name", info.icon)
        if info.shortcut:
            action.setShortcut(QKeySequence(info.shortcut))
            is_of_panel = info.place and not info.menu
            action.setShortcutContext(_IN_PANEL if is_of_panel else Qt.ShortcutContext.WindowShortcut)
        if info.group:
            if info.group not in self._groups:
                self._groups[info.group] = QActionGroup(self)
            self._groups[info.group].addAction(action)


class SharedKeys(QObject):
    """Lets a panel that has the focus come before an action of the window with the same keys; Qt would do neither."""

    def __init__(self, actions: ActionRegistry, window: QWidget) -> None:
        super().__init__(actions)  # with which it goes
        self._window = window
        self._shared = [actions[each] for each in actions.ids() if each.info.place]
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    @Slot(QWidget, QWidget)
    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        taken: set[str] = set()
        while now is not None and now is not self._window:
            taken |= {action.shortcut().toString() for action in now.actions()}
            now = now.parentWidget()
        contexts = Qt.ShortcutContext
        for action in self._shared:
            is_taken = action.shortcut().toString() in taken
            action.setShortcutContext(contexts.WidgetShortcut if is_taken else contexts.WindowShortcut)


def _with_shortcut(tooltip: str, shortcut: str) -> str:
    if not shortcut:
        return tooltip
    return f"{tooltip} ({QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)})"
