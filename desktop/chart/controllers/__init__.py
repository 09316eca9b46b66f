"""Connects menus, stored data and the window with the chart; `composition` composes the parts."""
