"""Connects menus, stored data and the window with the chart; `ensemble` composes the parts."""
