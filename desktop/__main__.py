"""The entry: light, because a spawned trainer child imports it again."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import multiprocessing
import os
import sys
from pathlib import Path

_INTERRUPTED = 130
"""Repeats `desktop.commands.errors`, which is not imported yet."""


def main() -> None:
    """Start Ghostcandle from a terminal, a double click, or as the frozen program's child process."""
    multiprocessing.freeze_support()  # in a frozen child this runs the child and does not return
    _load_executor()
    _replace_missing_streams()
    _print_any_character()
    with contextlib.suppress(OSError, ValueError):  # a stderr without a file behind it
        faulthandler.enable()
    try:
        from desktop.commands.cli import run_command_line  # noqa: PLC0415 - not in a spawned child

        sys.exit(run_command_line())
    except KeyboardInterrupt:  # before click takes it
        sys.exit(_INTERRUPTED)


def _load_executor() -> None:
    """Python 3.15 loads it at the first use (https://peps.python.org/pep-0810/).

    Once PySide6 6.12 is imported, a module hands out such a name unloaded, and `asyncio.to_thread` fails.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: F401, PLC0415 - not in a spawned child


def _replace_missing_streams() -> None:
    """A windowed program on Windows has none, and the first write to None would end it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - for the whole run


def _print_any_character() -> None:
    """Print a question mark for a character outside the terminal's encoding, or a file name that is not UTF-8."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


if __name__ == "__main__":  # python -m desktop
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as in run_ghostcandle.py
    main()
