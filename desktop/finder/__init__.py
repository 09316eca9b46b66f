"""Ctrl+K: one line that finds actions, settings, checkpoints and markets."""
