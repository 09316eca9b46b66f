"""The table of a sweep as Parquet or CSV, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from core.files.durable import replacing
from core.market.history.table_file import arrow_is_missing
from core.sweeps.errors import SweepError
from core.sweeps.rows import CellRow, LossSeries, Part, skill_columns
from core.sweeps.store import SweepStore


def export_sweep(store: SweepStore, folder: Path, form: str, *, with_losses: bool, overwrites: bool) -> dict[Path, int]:
    """Write cells.FORM, and losses.FORM if they are wanted, into the folder, which is created. form: parquet or csv.
    Returns the rows of each. Raises SweepError."""
    if form == "parquet":
        try:
            import pyarrow  # noqa: F401, PLC0415 - an extra
        except ImportError as error:
            raise SweepError(f"The table is to be Parquet. {arrow_is_missing()} For CSV: --format csv.") from error
    paths = [folder / f"{name}.{form}" for name in ("cells", *(["losses"] if with_losses else []))]
    taken = next((path for path in paths if path.exists()), None)
    if taken is not None and not overwrites:
        raise SweepError(f"{taken} exists already. Name another folder, or add --overwrite.")
    frames = (cells_frame(store), losses_frame(store)) if with_losses else (cells_frame(store),)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, frame in zip(paths, frames, strict=True):
            _write(path, frame, form)
    except OSError as error:
        raise SweepError(f"{folder} cannot be written ({error.strerror or error}). Check its disk.") from error
    return {path: len(frame) for path, frame in zip(paths, frames, strict=True)}


def _write(path: Path, frame: pd.DataFrame, form: str) -> None:
    with replacing(path, is_private=False) as file:
        if form == "parquet":
            frame.to_parquet(file, index=False)
        else:
            frame.to_csv(file, mode="wb", index=False, lineterminator="\n")


def cells_frame(store: SweepStore) -> pd.DataFrame:
    """One row a cell; each setting has a column of its dotted name."""
    return pd.DataFrame([_cell(row) for row in store.read_cells()])


def _cell(row: CellRow) -> dict[str, Any]:
    skills = {} if row.first is None or row.second is None else skill_columns(row.first, row.second)
    return {
        "cell": row.number,
        "configuration": row.configuration.number,
        "is_default": row.configuration.is_default,
        "model": row.model,
        **dict(row.settings),
        "files": ", ".join(row.files),
        "seed": row.seed,
        "state": row.state.value,
        "sentence": row.sentence,
        **skills,
        "forecasts_sha256": row.digest,
        "candles": row.candles,
        "worker": row.worker,
        "seconds": row.seconds,
    }


def losses_frame(store: SweepStore) -> pd.DataFrame:
    """One row for each candle of each cell that is done."""
    frames = [_losses(*each) for each in _all_losses(store)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["cell", "configuration"])


def _all_losses(store: SweepStore) -> Iterator[tuple[int, Part, LossSeries]]:
    for configuration in store.read_configurations():
        for part in Part:
            for series in store.losses(configuration.number, part):
                yield configuration.number, part, series


def _losses(configuration: int, part: Part, of: LossSeries) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "cell": of.cell,
            "configuration": configuration,
            "file": of.file,
            "seed": of.seed,
            "part": part.value,
            "target": pd.to_datetime(of.target_open_time_ms, unit="ms", utc=True),
            "forecast_close": of.forecast_close,
            "forecast_range": of.forecast_range,
            "reference_close": of.reference_close,
            "reference_range": of.reference_range,
        }
    )
