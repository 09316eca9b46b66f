"""Errors that end pretraining, each with a sentence."""

from __future__ import annotations


class PretrainingError(Exception):
    """Pretraining cannot be done or continued. The message is a sentence for the user."""


class Interrupted(PretrainingError):  # noqa: N818 - a request, not an error
    """A stop was requested before anything was learned."""
