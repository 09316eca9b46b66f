"""Errors that end a command with a sentence instead of a traceback, and the choice of the process that prints it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""The exit code after Ctrl+C, as shells have it."""


class UserError(Exception):
    """An error that the user can mend. The message is a whole sentence; `exit_code` is the process's."""

    def __init__(self, sentence: str, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


@contextmanager
def wrong_usage(*kinds: type[Exception]) -> Iterator[None]:
    """Errors of these kinds, whose messages are sentences, end the command as a wrong option does."""
    try:
        yield
    except kinds as error:
        raise UserError(str(error), 2) from error


def speaks() -> bool:
    """Whether this process prints: of torchrun's processes only the first, as errors are the same in all, and stdout
    takes one object."""
    return "WORLD_SIZE" not in os.environ or os.environ.get("RANK", "0") == "0"
