"""Names of devices, as settings and commands have them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from core.settings.faults import shown_value

DEVICES = ("auto", "cpu", "cuda", "cuda:1")
"""Devices that a form offers; any number of a GPU is accepted."""


def checked_device(name: str) -> str:
    """The name of a device. Raises ValueError in a sentence."""
    if not re.fullmatch(r"auto|cpu|cuda(:\d{1,2})?", name, re.ASCII):
        raise ValueError(
            f"it is {shown_value(name)}, and has to be auto, cpu, cuda, or a GPU by number, such as cuda:1"
        )
    return name


DeviceName = Annotated[str, AfterValidator(checked_device)]


def gpu_name(device: str) -> str:
    """The GPU that a device setting means: the named one, or CUDA's first."""
    return device if device.startswith("cuda") else "cuda"
