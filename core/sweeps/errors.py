"""Errors of a sweep."""

from __future__ import annotations


class SweepError(Exception):
    """A sweep cannot begin or continue. The message is whole sentences for the user."""


class UnfitSettingsError(SweepError):
    """Values that are each allowed, and do not go together."""
