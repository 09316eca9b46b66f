"""What a user can do, one row an action, in tables: menus, tool bar, shortcuts and tooltips are made of them."""

from desktop.actions.registry import ActionId, ActionInfo, ActionRegistry, translated

__all__ = ["ActionId", "ActionInfo", "ActionRegistry", "translated"]
