"""An indicator on a chart: its parameters, and a look that differs from the theme."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from core.indicators.parameters import IndicatorError, Value
from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec

NARROWEST_PX, WIDEST_PX = 0.5, 6.0
USUAL_PX = 1.5

_COLOUR = re.compile("#[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class Look:
    """colours: (output, #rrggbb) for chosen colours, in the row's order. width_px: its lines' width, in logical
    pixels."""

    colours: tuple[tuple[str, str], ...] = ()
    width_px: float = USUAL_PX

    def colour_of(self, output: str) -> str:
        """The chosen colour; empty: the theme's."""
        return dict(self.colours).get(output, "")


@dataclass(frozen=True, slots=True)
class ShownIndicator:
    """Raises IndicatorError for an invalid colour or width."""

    spec: IndicatorSpec
    look: Look = field(default_factory=Look)
    colour_number: int | None = None
    """Index of its first colour in the theme; None: by its place among the indicators (`colour_numbers`)."""

    def __post_init__(self) -> None:
        number = self.colour_number
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
            raise IndicatorError(f"The number of a colour is a whole one from 0, not {number!r}.")
        inks = INDICATORS[self.spec.kind].inks
        for output, colour in self.look.colours:
            if output not in inks:
                raise IndicatorError(f"{self.spec.kind} has no line '{output}'; it has {', '.join(inks)}.")
            if not isinstance(colour, str) or not _COLOUR.fullmatch(colour):
                raise IndicatorError(f"A colour is written as #rrggbb, not as {colour!r}.")
        width = self.look.width_px
        if isinstance(width, bool) or not isinstance(width, int | float) or not NARROWEST_PX <= width <= WIDEST_PX:
            raise IndicatorError(f"The width of a line is from {NARROWEST_PX} to {WIDEST_PX} pixels, not {width!r}.")

    @classmethod
    def of(cls, kind: str, /, **values: object) -> ShownIndicator:
        """Make one with these values by name, defaults for the others, and the theme's look."""
        return cls(IndicatorSpec.of(kind, **values))

    @classmethod
    def from_json(cls, data: object) -> ShownIndicator:
        """Read the output of `to_json`; missing values get their default. Raises IndicatorError for anything else."""
        if not isinstance(data, Mapping):
            return cls(IndicatorSpec.from_json(data))
        rest = {key: value for key, value in data.items() if key not in ("colours", "width_px", "colour_number")}
        spec, colours = IndicatorSpec.from_json(rest), data.get("colours", {})
        if not isinstance(colours, Mapping):
            raise IndicatorError(f"Colours are written as {{'line': '#rrggbb', ...}}, not as {colours!r}.")
        chosen = tuple((str(output), colour) for output, colour in colours.items())
        return cls(spec, Look(chosen, data.get("width_px", USUAL_PX)), data.get("colour_number"))

    def to_json(self) -> dict[str, object]:
        """A plain dict for a JSON file, without values left to the theme."""
        written: dict[str, object] = self.spec.to_json()
        if self.look.colours:
            written["colours"] = dict(self.look.colours)
        if self.look.width_px != USUAL_PX:
            written["width_px"] = self.look.width_px
        if self.colour_number is not None:
            written["colour_number"] = self.colour_number
        return written

    def with_values(self, values: Mapping[str, Value]) -> ShownIndicator:
        """Copy it with other parameters. Raises IndicatorError."""
        return replace(self, spec=IndicatorSpec.of(self.spec.kind, **values))


def colour_numbers(shown: Sequence[ShownIndicator]) -> tuple[int, ...]:
    """Each indicator's own number; else its place or, if taken, the lowest free number."""
    taken = {each.colour_number for each in shown if each.colour_number is not None}
    found = []
    for place, each in enumerate(shown):
        number = each.colour_number
        if number is None:
            number = place if place not in taken else next(free for free in count() if free not in taken)
            taken.add(number)
        found.append(number)
    return tuple(found)


def without(shown: Sequence[ShownIndicator], place: int) -> tuple[ShownIndicator, ...]:
    """Remove one; the others keep their colours."""
    numbers = colour_numbers(shown)
    coloured = [replace(each, colour_number=number) for each, number in zip(shown, numbers, strict=True)]
    return tuple(coloured[:place] + coloured[place + 1 :])
