"""State as named arrays, whose first axis is the market; those of a part are called `part.name`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.generic]]

Places = NDArray[np.int64]
"""Some of a run's markets, by their place on the first axis of all arrays: each once. What is computed for a market is
the same, whichever others are computed with it."""


def named(parts: Mapping[str, Mapping[str, NDArray[np.generic]]]) -> Arrays:
    """The arrays of all parts in one mapping."""
    return {f"{part}.{name}": array for part, arrays in parts.items() for name, array in arrays.items()}


def part_of(state: Mapping[str, NDArray[np.generic]], part: str) -> Arrays:
    """The arrays of one part, without the prefix."""
    prefix = f"{part}."
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


class ArrayState:
    """Saves and restores one market's rows of the arrays in the attributes `_STATE`."""

    _STATE: ClassVar[tuple[str, ...]]

    def state(self, market: int) -> Arrays:
        """The complete state of a market, each array by its attribute's name without an underscore."""
        return {name.lstrip("_"): np.array(getattr(self, name)[market]) for name in self._STATE}

    def restore(self, state: Arrays, market: int) -> None:
        """Continue this market from what `state` returned. Raises KeyError or ValueError for another form."""
        for name in self._STATE:
            getattr(self, name)[market] = state[name.lstrip("_")]


def replace_in_order(ordered: NDArray[np.floating], old: NDArray[np.floating], new: NDArray[np.floating]) -> None:
    """Replace one value of each ascending row, in place: ordered [..., n]; old [...], values of these rows; new [...].

    A stable sort takes linear time here, as all but one value are in order already.
    """
    place = (ordered >= old[..., None]).argmax(axis=-1)
    np.put_along_axis(ordered, place[..., None], new[..., None], axis=-1)
    ordered.sort(axis=-1, kind="stable")
