"""Heights of the panes below the prices: shares of the plot that the user can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_FIRST_SHARE = 0.18
_SMALLEST_SHARE = 0.06
_MOST_FOR_ALL, _MOST_FOR_MANY = 0.55, 0.7
"""The prices keep the rest, however many panes there are."""
_READABLE_SHARE = 0.09
"""In a window of 1280x720 this is a line of text and a curve below it; many panes get this much each while possible."""


class PaneHeights:
    """Owns the shares. A hidden pane's share is remembered."""

    def __init__(self, chosen: Mapping[str, float] | None = None) -> None:
        self.chosen: Mapping[str, float] = chosen or {}
        """Shares changed by the user, to be stored; replaced on each change."""

    def shares(self, names: Sequence[str]) -> dict[str, float]:
        """The panes' shares of the plot's height, in the order of `names`; scaled down if they exceed the limit."""
        wanted = {name: self.chosen.get(name, _FIRST_SHARE) for name in names}
        total = sum(wanted.values())
        pressed = min(1.0, _most_for_all(len(names)) / total) if total > 0 else 1.0
        return {name: share * pressed for name, share in wanted.items()}

    def drag(self, names: Sequence[str], name: str, change: float) -> None:
        """Make a pane higher by a share of the plot (negative: lower). Its upper edge moves, so the pane above it
        shrinks; above the topmost one, the prices do."""
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
        """Restore the height of a new pane."""
        self.chosen = {other: share for other, share in self.chosen.items() if other != name}


def _most_for_all(panes: int) -> float:
    return min(max(_MOST_FOR_ALL, panes * _READABLE_SHARE), _MOST_FOR_MANY)
