"""Ctrl+K: one line that finds actions, settings, indicators, checkpoints and markets."""
