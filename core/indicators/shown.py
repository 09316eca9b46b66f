"""An indicator as it is on a chart: what it is, and how it looks where that is not left to the theme."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.indicators.parameters import IndicatorError, Value
from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec

NARROWEST_PX, WIDEST_PX = 0.5, 6.0
USUAL_PX = 1.5

_COLOUR = re.compile("#[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class Look:
    """colours: (output, #rrggbb) for those that were chosen, in the row's order. width_px: of its lines, in pixels that
    the screen's scale makes larger."""

    colours: tuple[tuple[str, str], ...] = ()
    width_px: float = USUAL_PX

    def colour_of(self, output: str) -> str:
        """Empty where it is the theme's."""
        return dict(self.colours).get(output, "")


@dataclass(frozen=True, slots=True)
class ShownIndicator:
    """Raises IndicatorError where a colour or the width is none that this indicator can have."""

    spec: IndicatorSpec
    look: Look = field(default_factory=Look)

    def __post_init__(self) -> None:
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
        """The kind with these values by name, and defaults for the others, as the theme draws it."""
        return cls(IndicatorSpec.of(kind, **values))

    @classmethod
    def from_json(cls, data: object) -> ShownIndicator:
        """Read what `to_json` wrote; what is left out gets its default. Raises IndicatorError for anything else."""
        if not isinstance(data, Mapping):
            return cls(IndicatorSpec.from_json(data))
        rest = {key: value for key, value in data.items() if key not in ("colours", "width_px")}
        spec, colours = IndicatorSpec.from_json(rest), data.get("colours", {})
        if not isinstance(colours, Mapping):
            raise IndicatorError(f"Colours are written as {{'line': '#rrggbb', ...}}, not as {colours!r}.")
        chosen = tuple((str(output), colour) for output, colour in colours.items())
        return cls(spec, Look(chosen, data.get("width_px", USUAL_PX)))

    def to_json(self) -> dict[str, object]:
        """A plain dict for a JSON file; what is left to the theme is left out."""
        written: dict[str, object] = self.spec.to_json()
        if self.look.colours:
            written["colours"] = dict(self.look.colours)
        if self.look.width_px != USUAL_PX:
            written["width_px"] = self.look.width_px
        return written

    def with_values(self, values: Mapping[str, Value]) -> ShownIndicator:
        """The same with other parameters. Raises IndicatorError."""
        return ShownIndicator(IndicatorSpec.of(self.spec.kind, **values), self.look)
