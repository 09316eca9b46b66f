"""The option --inside: for each candle file one of finer candles of the same market."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from desktop.commands.errors import UserError

_HELP = (
    "A file of finer candles of the same market, for each {} in its order: the forecasts also use how the price moved "
    "within each candle."
)


def inside_option(files: str, *names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """files: how --help names a candle file. names: of the parameter, as in `click.option`."""
    return click.option("--inside", *names, multiple=True, type=click.Path(), help=_HELP.format(files))


def insides_of(files: Sequence[object], insides: Sequence[str]) -> Sequence[str | None]:
    """The finer file of each candle file; None without any. Raises UserError."""
    if insides and len(insides) != len(files):
        raise UserError("Name as many files with --inside as there are candle files, in their order.", 2)
    return insides or [None] * len(files)
