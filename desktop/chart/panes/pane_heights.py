"""How high the panes below the prices are: each has a share of the plot, which the user may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_FIRST_SHARE = 0.18
_SMALLEST_SHARE = 0.06
_MOST_FOR_ALL, _MOST_FOR_MANY = 0.55, 0.7
"""The prices keep the rest, however many panes there are."""
_READABLE_SHARE = 0.09
"""In a window of 1280x720 a line of words and a curve below it: many panes get so much each as long as that goes."""


class PaneHeights:
    """The owner of the shares. What a pane was given is remembered while it is away."""

    def __init__(self, chosen: Mapping[str, float] | None = None) -> None:
        self.chosen: Mapping[str, float] = chosen or {}
        """What was changed by hand, to be stored; another with each change."""

    def shares(self, names: Sequence[str]) -> dict[str, float]:
        """The panes' shares of the plot's height, in the order of `names`; pressed together where they ask too much."""
        wanted = {name: self.chosen.get(name, _FIRST_SHARE) for name in names}
        total = sum(wanted.values())
        pressed = min(1.0, _most_for_all(len(names)) / total) if total > 0 else 1.0
        return {name: share * pressed for name, share in wanted.items()}

    def drag(self, names: Sequence[str], name: str, change: float) -> None:
        """Make a pane higher by a share of the plot (lower where it is negative): its upper edge is what moves, so the
        pane above it gives way, and of the topmost one the prices."""
        now = self.shares(names)
        if name not in now:
            return
        above = names[list(names).index(name) - 1] if name != names[0] else None
        room = now[above] - _SMALLEST_SHARE if above is not None else _most_for_all(len(now)) - sum(now.values())
        change = max(min(change, max(room, 0.0)), min(_SMALLEST_SHARE - now[name], 0.0))
        now[name] += change
        if above is not None:
            now[above] -= change
        self.chosen = {**self.chosen, **now}

    def reset(self, name: str) -> None:
        """Back to the height that a new pane has."""
        self.chosen = {other: share for other, share in self.chosen.items() if other != name}


def _most_for_all(panes: int) -> float:
    return min(max(_MOST_FOR_ALL, panes * _READABLE_SHARE), _MOST_FOR_MANY)
