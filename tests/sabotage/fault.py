"""A one-line fault, as a tired programmer makes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """`before` occurs exactly once in the file at `path`, relative to the root; `after` replaces it.

    near: test files that run first, where imports do not show which are the nearest.
    """

    name: str
    path: str
    before: str
    after: str
    near: tuple[str, ...] = ()

    def applied_to(self, text: str) -> str:
        """The text with the fault. Raises ValueError unless `before` occurs exactly once."""
        found = text.count(self.before)
        if found != 1:
            raise ValueError(f"{self.name}: found {found} times in {self.path}: {self.before!r}")
        return text.replace(self.before, self.after)

    def apply(self, root: Path) -> None:
        """Write the fault into the tree at `root`."""
        path = root / self.path
        path.write_text(self.applied_to(path.read_text(encoding="utf-8")), encoding="utf-8")
