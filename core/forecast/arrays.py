"""Named arrays of a composite state: `part.name`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.generic]]


def named(parts: Mapping[str, Mapping[str, NDArray[np.generic]]]) -> Arrays:
    """The arrays of all parts in one mapping."""
    return {f"{part}.{name}": array for part, arrays in parts.items() for name, array in arrays.items()}


def part_of(state: Mapping[str, NDArray[np.generic]], part: str) -> Arrays:
    """The arrays of one part, without the prefix."""
    prefix = f"{part}."
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
