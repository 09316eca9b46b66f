"""Dialogs, all opened with open(): exec() would nest the event loop."""
