"""Whether Dask is installed, without its import, which takes a second."""

from __future__ import annotations

from importlib.util import find_spec


def has_dask() -> bool:
    return find_spec("distributed") is not None
