"""What ends pretraining with a sentence."""

from __future__ import annotations


class PretrainingError(Exception):
    """Pretraining cannot be done, or cannot go on. The message is a sentence for the user."""


class Interrupted(PretrainingError):  # noqa: N818 - a wish, not an error
    """A stop was asked for before anything was learned."""
