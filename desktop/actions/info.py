"""What there is to know of an action before it exists."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtGui import QAction

from desktop.ui.translation import translate


@dataclass(frozen=True, slots=True)
class ActionInfo:
    """What there is to know of one action before it exists. Texts are English; `translated` gives the user's.

    menu: the path of its menu, outermost first; empty: in no menu. section: a line is drawn between two sections
    of a menu or the tool bar. group: of the actions in one group exactly one is checked. place: the panel whose keys
    these are; empty: they work in the whole window. key: its name in stored layouts, where that is not the id's.
    """

    text: str
    tooltip: str
    shortcut: str = ""
    icon: str = ""
    menu: tuple[str, ...] = ()
    section: int = 0
    is_in_tool_bar: bool = False
    is_checkable: bool = False
    group: str = ""
    place: str = ""
    role: QAction.MenuRole = QAction.MenuRole.NoRole
    key: str = ""


def translated(info: ActionInfo) -> ActionInfo:
    """The same with the words that are shown in the user's language; the table itself is made before that is known."""
    return replace(
        info,
        text=translate("Actions", info.text),
        tooltip=translate("Actions", info.tooltip),
        menu=tuple(translate("Actions", name) for name in info.menu),
        place=translate("Actions", info.place),
    )
