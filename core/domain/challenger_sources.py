"""Parses how the settings and the command line name a challenger: a model, a class in a file, or a process."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_CLASS_IN_FILE = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_][A-Za-z0-9_]{0,39})")

_PROCESS = re.compile(r"(?:(?P<name>[A-Za-z][A-Za-z0-9_-]{0,39})=)?process:(?P<command>.*)", re.DOTALL)

MODEL_NAMES = ("transformer", "gru", "tcn", "nlinear")
"""As `models.registry` has them, which needs torch."""
ENTRY_POINTS = "ghostcandle.models"
"""The group of entry points by which an installed package offers models."""


class ChallengerError(Exception):
    """A new run cannot begin with a challenger. The message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class ChallengerSource:
    """name: as shown in tables and checkpoints. file: the file with its class of that name; None: a registered or an
    installed model. command: the command of a forecasting process, with its arguments; empty: no process."""

    name: str
    file: str | None = None
    command: tuple[str, ...] = ()


def source_of(wanted: str) -> ChallengerSource:
    """Parse ``gru``, ``path/own.py:OwnModel``, ``process:python own.py`` or ``name=process:python own.py``. Raises
    ValueError with a sentence."""
    process = _PROCESS.fullmatch(wanted)
    if process is not None:
        command = _split(process["command"])
        return ChallengerSource(process["name"] or _name_of(command), command=command)
    found = _CLASS_IN_FILE.fullmatch(wanted)
    if found is not None:
        return ChallengerSource(found["name"], found["file"])
    if _NAME.fullmatch(wanted) is None:
        raise ValueError(
            f"'{wanted}' is no model: give the name of one, a file and its class as path/file.py:Class, "
            "or a command as process:COMMAND"
        )
    return ChallengerSource(wanted)


def as_command(words: Sequence[str]) -> str:
    """The command as one text, which `source_of` splits into these words again."""
    return shlex.join(words) if os.name == "posix" else " ".join(f'"{word}"' for word in words)


def _split(command: str) -> tuple[str, ...]:
    """Split a command as the system's shell does: on Windows a backslash is a character, and quotes are double."""
    lexer = shlex.shlex(command, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    if os.name != "posix":
        lexer.escape, lexer.quotes = "", '"'
    try:
        words = tuple(lexer)
    except ValueError as error:
        raise ValueError(f"the command '{command}' cannot be split into words ({str(error).lower()})") from error
    if not words:
        raise ValueError("a command must follow process:, as in process:python my_model.py")
    return words


def _name_of(command: tuple[str, ...]) -> str:
    """A challenger's name, from its script. Raises ValueError, in a sentence, if the script's name is none."""
    script = script_of(command)
    name = re.sub(r"[^A-Za-z0-9_-]", "_", Path(script).stem)[:40]
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"the command of '{script}' needs a name: give it as NAME=process:COMMAND")
    return name


def script_of(command: tuple[str, ...]) -> str:
    """The first argument that is no option; else the program."""
    program, *arguments = command
    return next((each for each in arguments if not each.startswith("-")), program)


def column_of(name: str) -> str:
    """How a forecast's name is written in the columns of tables."""
    return name.lower().replace(" ", "_").replace("-", "_")


def names_of(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The names of these challengers. Raises ValueError, in a sentence, also if two have one name, or names that are
    the same column."""
    names = tuple(source_of(each).name for each in wanted)
    columns = [column_of(name) for name in names]
    twice = next((name for place, name in enumerate(names) if columns[place] in columns[:place]), None)
    if twice is not None:
        raise ValueError(f"two models are called {twice}; each needs a name that no other has")
    return names
