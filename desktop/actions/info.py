"""Descriptions of actions that do not exist yet, and the common parts of the actions of a menu or a panel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtGui import QAction

from desktop.ui.translation import translate


@dataclass(frozen=True, slots=True)
class ActionInfo:
    """Describes an action that does not exist yet. Texts are English; `translated` returns the user's.

    menu: the path of its menu, outermost first; empty: in no menu. section: a line is drawn between two sections of a
    menu or the tool bar. group: of the actions in one group exactly one is checked. place: the panel whose keys these
    are; empty: they work in the whole window. Keys of an action in a menu with a place do too, but a panel with the
    focus that has the same keys comes first. key: its name in stored layouts, if not the id's.
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
    """A copy with its texts in the user's language, which is unknown when the table is made."""
    return replace(
        info,
        text=translate("Actions", info.text),
        tooltip=translate("Actions", info.tooltip),
        menu=tuple(translate("Actions", name) for name in info.menu),
        place=translate("Actions", info.place),
    )


file = partial(ActionInfo, menu=("&File",))
history = partial(ActionInfo, menu=("&File",), section=1)
program = partial(ActionInfo, menu=("&File",), section=2)
training = partial(ActionInfo, menu=("&Training",), is_in_tool_bar=True)
release = partial(ActionInfo, menu=("&Training", "&Release GPU"), section=2)
model = partial(ActionInfo, menu=("&Training",), section=3)
chart = partial(ActionInfo, menu=("&Chart",))
interval = partial(
    ActionInfo, icon="clock-outline", menu=("&Chart", "In&terval"), section=1, is_checkable=True, group="interval"
)
style = partial(ActionInfo, menu=("&Chart", "&Candles"), section=1, is_checkable=True, group="candle_style")
scale = partial(ActionInfo, menu=("&Chart", "Price &scale"), section=1, is_checkable=True, group="scale")
zone = partial(ActionInfo, menu=("&Chart", "Time &zone"), section=1, is_checkable=True, group="time_zone")
past = partial(ActionInfo, menu=("&Chart",), section=3, is_checkable=True)
shown = partial(ActionInfo, menu=("&Chart",), section=2)
switch = partial(shown, is_checkable=True)
line = partial(ActionInfo, menu=("&Chart", "&Lines and measuring"), section=3)
selected_line = partial(line, place="Chart")
drawing = partial(ActionInfo, menu=("&Chart", "&Drawings"), section=3, is_checkable=True)
saved = partial(ActionInfo, menu=("&Chart",), section=3)
travel = partial(ActionInfo, menu=("&Chart", "&Time travel"), section=4)
view = partial(ActionInfo, menu=("&View",), section=1)
theme = partial(ActionInfo, menu=("&View", "&Theme"), section=2, is_checkable=True, group="theme")
panel = partial(ActionInfo, menu=("&View", "&Panels"), section=3, is_checkable=True)
layout = partial(ActionInfo, menu=("&View", "La&youts"), section=3)
help = partial(ActionInfo, menu=("&Help",))
checkpoint = partial(ActionInfo, place="Checkpoints")
checkpoint_button = partial(ActionInfo, is_in_tool_bar=True, place="Checkpoints")
event = partial(ActionInfo, is_in_tool_bar=True, place="Events")
market = partial(ActionInfo, is_in_tool_bar=True, place="Markets")
job = partial(ActionInfo, is_in_tool_bar=True, place="Jobs")
overview = partial(ActionInfo, is_in_tool_bar=True, place="Overview")
sweep = partial(ActionInfo, is_in_tool_bar=True, place="Sweeps")
count = partial(ActionInfo, is_in_tool_bar=True, is_checkable=True, group="overview_charts", place="Overview")
