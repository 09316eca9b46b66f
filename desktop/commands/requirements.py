"""Whether Python and the packages are those that pyproject.toml asks for, by the metadata of the installed program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

PROGRAM = "ghostcandle"


def required_python() -> SpecifierSet:
    """The range of Pythons, such as ``>=3.11,<3.16``."""
    return SpecifierSet(metadata(PROGRAM)["Requires-Python"] or "")


def required_packages() -> list[str]:
    """Each package with its range, as pyproject.toml has them, those of the extras too."""
    return requires(PROGRAM) or []


def misfits(requirements: Iterable[str]) -> Iterator[str]:
    """What is installed outside its range or not at all, for people.

    Those for other Pythons and systems, and the extras, are not looked at.
    """
    for requirement in filter(_applies_here, map(Requirement, requirements)):
        try:
            found = version(requirement.name)
        except PackageNotFoundError:
            yield f"{requirement.name} is not installed"
            continue
        if not requirement.specifier.contains(found, prereleases=True):
            yield f"{requirement.name} is {found}, and {requirement.specifier} is needed"


def _applies_here(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})
