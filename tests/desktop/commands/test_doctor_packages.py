"""What the doctor says of Python and the packages."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from desktop.commands.doctor import misfits

PANDAS = version("pandas")


@pytest.mark.parametrize(
    ("requirement", "found"),
    [
        (f"pandas=={PANDAS}", []),
        ("torch>=2.13", []),  # its version may be a build's, such as 2.13.0+cpu
        ("pandas<1", [f"pandas is {PANDAS}, and <1 is needed"]),
        ("pandas<1; python_version < '3'", []),
        ("pandas<1; extra == 'dev'", []),
        ("no-such-package>=1", ["no-such-package is not installed"]),
    ],
)
def test_a_package_outside_its_range_is_named_with_it(requirement: str, found: list[str]) -> None:
    assert list(misfits([requirement])) == found
