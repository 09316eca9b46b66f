"""Lists of numbers as options, and figures as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import click
from rich.console import JustifyMethod
from rich.table import Table

ReadNumbers = Callable[[click.Context, click.Parameter, str | None], tuple[int, ...]]


def read_numbers(noun: str, fewest: int, most: int, example: str) -> ReadNumbers:
    """Reads an option's list of numbers, in ascending order; none if the option is not given."""

    def read(ctx: click.Context, option: click.Parameter, text: str | None) -> tuple[int, ...]:
        try:
            numbers = tuple(sorted({int(part) for part in text.split(",")})) if text is not None else ()
        except ValueError:
            raise click.BadParameter(f"'{text}' is no list of numbers; write for example {example}") from None
        if not all(fewest <= number <= most for number in numbers):
            raise click.BadParameter(f"each {noun} lies between {fewest} and {most}, was {text}")
        return numbers

    return read


def figures_table(
    title: str, names: Sequence[str], rows: Iterable[Sequence[str]], first: JustifyMethod = "left"
) -> Table:
    """first: how the first column is justified; the others have numbers."""
    table = Table(title=title)
    for place, name in enumerate(names):
        table.add_column(name, justify="right" if place else first)
    for row in rows:
        table.add_row(*row)
    return table
