"""A fault of one line, as a tired person makes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """`before` stands exactly once in the file at `path`, which is relative to the root; `after` takes its place."""

    name: str
    path: str
    before: str
    after: str

    def applied_to(self, text: str) -> str:
        """The file with the fault. Raises ValueError where `before` is not there, or more than once."""
        found = text.count(self.before)
        if found != 1:
            raise ValueError(f"{self.name}: found {found} times in {self.path}: {self.before!r}")
        return text.replace(self.before, self.after)

    def apply(self, root: Path) -> None:
        """Break the tree at `root`."""
        path = root / self.path
        path.write_text(self.applied_to(path.read_text(encoding="utf-8")), encoding="utf-8")
