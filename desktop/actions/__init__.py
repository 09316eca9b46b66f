"""Everything a user can do, one row per action: menus, tool bar, shortcuts and tooltips are built from it."""

from desktop.actions.info import ActionInfo, translated
from desktop.actions.registry import ActionRegistry, SharedKeys
from desktop.actions.table import ActionId, menu_actions, panel_actions

__all__ = ["ActionId", "ActionInfo", "ActionRegistry", "SharedKeys", "menu_actions", "panel_actions", "translated"]
