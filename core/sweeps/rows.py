"""The rows of a sweep's database as objects."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.events import Estimate
from core.sweeps.plan import Configuration, NamedValues
from core.sweeps.schema import ESTIMATE, QUANTITIES

_NUMBERS = np.dtype("<f4")
_TIMES = np.dtype("<i8")
LossArray = NDArray[np.float32]


class CellState(Enum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Part(Enum):
    """A winner is chosen on the first part of each file, and judged on the second."""

    FIRST = "first"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class PartSkills:
    """The skills of the forecast (the combination that the ghosts show) over the reference, one candle ahead, over one
    part of a cell's files."""

    close: Estimate
    range: Estimate


@dataclass(frozen=True, slots=True)
class CellRow:
    """A cell as it is stored. The skills are None until it is done; worker and seconds until it has ended."""

    number: int
    configuration: Configuration
    files: tuple[str, ...]
    seed: int
    state: CellState
    sentence: str
    """Why it failed; empty otherwise."""
    first: PartSkills | None
    second: PartSkills | None
    digest: str | None
    """The sha256 of its forecasts."""
    candles: int | None
    worker: str | None
    seconds: float | None

    @property
    def model(self) -> str:
        return self.configuration.model

    @property
    def settings(self) -> NamedValues:
        return self.configuration.settings


@dataclass(frozen=True, slots=True, eq=False)
class LossSeries:
    """The losses of one file in one part of a cell, in time order, one candle ahead: [n] each."""

    cell: int
    file: str
    seed: int
    target_open_time_ms: NDArray[np.int64]
    forecast_close: LossArray
    forecast_range: LossArray
    reference_close: LossArray
    reference_range: LossArray

    def __len__(self) -> int:
        return len(self.target_open_time_ms)


@dataclass(frozen=True, slots=True, eq=False)
class CellResult:
    """What an evaluation hands back: the same on every machine."""

    digest: str
    candles: int
    first: PartSkills
    second: PartSkills
    losses: tuple[tuple[Part, LossSeries], ...]


def configuration_row(of: Configuration) -> dict[str, Any]:
    settings = json.dumps(dict(of.settings))
    return {"number": of.number, "model": of.model, "settings": settings, "is_default": int(of.is_default)}


def to_configuration(row: Mapping[str, Any]) -> Configuration:
    settings = tuple(json.loads(row["settings"]).items())
    return Configuration(row["number"], row["model"], settings, bool(row["is_default"]))


def skill_columns(first: PartSkills, second: PartSkills) -> dict[str, Any]:
    return {
        f"{part}_{quantity}_{end}": getattr(getattr(skills, quantity), end)
        for part, skills in (("first", first), ("second", second))
        for quantity in QUANTITIES
        for end in ESTIMATE
    }


def to_cell(row: Mapping[str, Any], configuration: Configuration) -> CellRow:
    is_done = row["state"] == CellState.DONE.value
    first, second = (_skills(row, part.value) if is_done else None for part in Part)
    return CellRow(
        number=row["number"],
        configuration=configuration,
        files=tuple(json.loads(row["files"])),
        seed=row["seed"],
        state=CellState(row["state"]),
        sentence=row["sentence"],
        first=first,
        second=second,
        digest=row["digest"],
        candles=row["candles"],
        worker=row["worker"],
        seconds=row["seconds"],
    )


def _skills(row: Mapping[str, Any], part: str) -> PartSkills:
    close, spread = (Estimate(*(row[f"{part}_{quantity}_{end}"] for end in ESTIMATE)) for quantity in QUANTITIES)
    return PartSkills(close, spread)


def loss_row(part: Part, of: LossSeries) -> dict[str, Any]:
    """Times compressed, as they mostly ascend evenly; numbers as they are."""
    numbers = np.stack([of.forecast_close, of.forecast_range, of.reference_close, of.reference_range])
    times = np.diff(of.target_open_time_ms, prepend=0).astype(_TIMES)
    return {
        **{"cell": of.cell, "file": of.file, "part": part.value, "n": len(of)},
        **{"times": zlib.compress(times.tobytes()), "numbers": numbers.astype(_NUMBERS).tobytes()},
    }


def to_losses(row: Mapping[str, Any]) -> LossSeries:
    times = np.frombuffer(zlib.decompress(row["times"]), _TIMES).cumsum()
    numbers = np.frombuffer(row["numbers"], _NUMBERS).reshape(4, row["n"])
    return LossSeries(row["cell"], row["file"], row["seed"], times, *numbers)
