"""How a challenger is named in the settings and on the command line, and what it is called then."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_CLASS_IN_FILE = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_][A-Za-z0-9_]{0,39})")


class ChallengerError(Exception):
    """A new run cannot begin with a challenger. The message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class ChallengerSource:
    """name: what it is called in tables and checkpoints. file: where its class of that name is; None: a registered or
    an installed model."""

    name: str
    file: str | None = None


def source_of(wanted: str) -> ChallengerSource:
    """From ``gru`` or ``path/own.py:OwnModel``. Raises ValueError, in a sentence."""
    found = _CLASS_IN_FILE.fullmatch(wanted)
    if found is not None:
        return ChallengerSource(found["name"], found["file"])
    if _NAME.fullmatch(wanted) is None:
        raise ValueError(f"'{wanted}' is no model: give the name of one, or a file and its class as path/file.py:Class")
    return ChallengerSource(wanted)


def names_of(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """What these challengers are called. Raises ValueError, in a sentence, also if two have one name."""
    names = tuple(source_of(each).name for each in wanted)
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise ValueError(f"two models are called {twice}; each needs a name that no other has")
    return names
