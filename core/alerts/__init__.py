"""Alerts on ghosts: when one is due, and its way to a webhook. No Qt."""
