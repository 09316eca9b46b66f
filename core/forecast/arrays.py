"""State as named arrays; those of a part are called `part.name`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

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


class ArrayState:
    """Saves and restores the arrays in the attributes `_STATE`. Those of a changing shape override `restore`."""

    _STATE: ClassVar[tuple[str, ...]]

    def state(self) -> Arrays:
        """The complete state, each array by its attribute's name without an underscore."""
        return {name.lstrip("_"): getattr(self, name).copy() for name in self._STATE}

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned."""
        for name in self._STATE:
            getattr(self, name)[:] = state[name.lstrip("_")]
