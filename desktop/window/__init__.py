"""The main window: docks, menus, tool bar and status bar. It owns no data."""
