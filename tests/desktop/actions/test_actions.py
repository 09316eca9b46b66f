from __future__ import annotations

from collections import Counter

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QToolBar
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId, ActionRegistry, menu_actions, panel_actions
from desktop.ui.icons import icon
from desktop.ui.theme import Theme

ALL = [action_id.info for action_id in ActionId]
PANELS = ("Checkpoints", "Events", "Markets", "Jobs", "Overview", "Sweeps")


def make_registry(qtbot: QtBot) -> tuple[QMainWindow, ActionRegistry]:
    window = QMainWindow()
    qtbot.addWidget(window)
    return window, ActionRegistry(menu_actions(), window, Theme("dark"))


def texts(menu: QMenu) -> list[str]:
    return ["-" if action.isSeparator() else action.text().replace("&", "") for action in menu.actions()]


def test_every_action_is_in_the_menus_or_in_exactly_one_panel() -> None:
    given = Counter((*menu_actions(), *(each for place in PANELS for each in panel_actions(place))))
    assert given == Counter(ActionId)


def test_names_in_stored_layouts_are_unique_and_stay() -> None:
    assert len({action_id.key for action_id in ActionId}) == len(ActionId)
    assert ActionId.SHOW_MARKETS.key == "show_watchlist" and ActionId.SHOW_LOSS.key == "show_loss"
    assert ActionId.SHOW_EVENTS.key == "show_incidents", "they are where incidents were"


def test_every_action_has_texts_and_an_icon_of_the_font(qapp: object, theme: Theme) -> None:
    for info in ALL:
        assert info.text and info.tooltip, info.text
        assert not icon(info.icon, theme.palette.text).pixmap(16, 16).isNull()


def test_no_two_actions_share_a_shortcut_in_one_context() -> None:
    keys = Counter((info.place, info.shortcut) for info in ALL if info.shortcut)
    assert [each for each, count in keys.items() if count > 1] == [], "place and shortcut of several actions"
    window_wide = {info.shortcut for info in ALL if info.shortcut and not info.place}
    assert window_wide & {info.shortcut for info in ALL if info.place} == set(), "panel keys already taken window-wide"


def test_qt_can_parse_every_shortcut() -> None:
    for info in ALL:
        assert not info.shortcut or QKeySequence(info.shortcut).toString(), info.text


def test_menus_hold_every_action_of_the_table_in_its_order(qtbot: QtBot) -> None:
    window, registry = make_registry(qtbot)
    registry.fill_menu_bar(window.menuBar())
    paths = dict.fromkeys(action_id.info.menu for action_id in menu_actions())
    menus = {menu.title(): menu for menu in window.menuBar().findChildren(QMenu)}
    assert [action.text() for action in window.menuBar().actions()] == list(dict.fromkeys(path[0] for path in paths))
    for path in paths:
        own = [registry[each] for each in menu_actions() if each.info.menu == path]
        assert [action for action in menus[path[-1]].actions() if action in own] == own, path
    assert texts(menus["&File"]).count("-") == len({each.section for each in ALL if each.menu[:1] == ("&File",)}) - 1


def test_the_tool_bar_has_exactly_its_actions(qtbot: QtBot) -> None:
    window, registry = make_registry(qtbot)
    bar = QToolBar()
    window.addToolBar(bar)
    registry.fill_tool_bar(bar)
    shown = [action.objectName() for action in bar.actions() if not action.isSeparator()]
    assert shown == [each.key for each in menu_actions() if each.info.is_in_tool_bar]


def test_tooltips_name_the_shortcut(qtbot: QtBot) -> None:
    _window, registry = make_registry(qtbot)
    assert registry[ActionId.STOP].toolTip().endswith("(F8)")
    assert "(" not in registry[ActionId.ABOUT].toolTip()


def test_a_slot_is_called_without_arguments(qtbot: QtBot) -> None:
    _window, registry = make_registry(qtbot)
    calls: list[str] = []
    registry.wire({ActionId.START: lambda: calls.append("start"), ActionId.SHOW_VOLUME: lambda: calls.append("volume")})
    registry[ActionId.START].trigger()
    registry[ActionId.SHOW_VOLUME].trigger()
    assert calls == ["start", "volume"]


def test_exactly_one_theme_is_checked(qtbot: QtBot) -> None:
    _window, registry = make_registry(qtbot)
    themes = (ActionId.THEME_SYSTEM, ActionId.THEME_DARK, ActionId.THEME_LIGHT)
    for chosen in themes:
        registry[chosen].trigger()
        assert [registry[each].isChecked() for each in themes] == [each is chosen for each in themes]


def test_an_action_made_by_qt_gets_text_icon_and_shortcut(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    existing = QAction("bare", window)
    registry = ActionRegistry((ActionId.SHOW_LOSS,), window, Theme("dark"), {ActionId.SHOW_LOSS: existing})
    assert registry[ActionId.SHOW_LOSS] is existing
    assert existing.text() == "&Loss"
    assert existing.shortcut() == QKeySequence("Ctrl+1")
