"""An exception as text, without its traceback object, which would keep the tensors of the failed pass alive."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from core.training.engine.device_faults import DeviceFault, classify
from core.training.recovery.in_place_errors import is_in_place_error
from models.contract import in_short


@dataclass(frozen=True, slots=True)
class Failure:
    """sentence: the error's type and first line, and the line of a model's file; details: its traceback, as text."""

    fault: DeviceFault
    is_in_place: bool
    sentence: str
    details: str

    @property
    def ends_process(self) -> bool:
        """Whether this process can no longer work."""
        return self.fault in (DeviceFault.STICKY, DeviceFault.GONE)


def failure_of(error: BaseException) -> Failure:
    details = "".join(traceback.format_exception(error))
    return Failure(classify(error), is_in_place_error(error), in_short(error), details)
