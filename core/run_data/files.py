"""A run's tables as files of a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from core.files.durable import replacing
from core.market.history.table_file import arrow_is_missing
from core.run_data.reader import RunData
from core.storage.errors import StorageError

Format = Literal["parquet", "csv"]
TABLES: dict[str, Callable[[RunData], pd.DataFrame]] = {
    "forecasts": RunData.forecasts,
    "scores": RunData.scores,
    "steps": RunData.steps,
    "checkpoints": RunData.checkpoints,
}
"""Tables by the names of their files."""


def export_tables(
    data: RunData, names: Sequence[str], folder: Path, format: Format, *, overwrites: bool = False
) -> dict[Path, int]:
    """Write these tables to NAME.parquet or NAME.csv in the folder, which is created. Each file appears whole or not at
    all. Returns the rows of each. Raises StorageError.
    """
    if format == "parquet":
        try:
            import pyarrow  # noqa: F401, PLC0415 - an extra
        except ImportError as error:
            sentence = f"These tables are to be Parquet. {arrow_is_missing()} For CSV: --format csv."
            raise StorageError(sentence) from error
    paths = {name: folder / f"{name}.{format}" for name in names}
    taken = [path for path in paths.values() if path.exists()]
    if taken and not overwrites:
        raise StorageError(f"{taken[0]} exists already. Name another folder, or add --overwrite.")
    written = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in paths.items():
            frame = TABLES[name](data)
            with replacing(path, is_private=False) as file:
                if format == "parquet":
                    frame.to_parquet(file, index=False)
                else:
                    frame.to_csv(file, mode="wb", index=False, lineterminator="\n")
            written[path] = len(frame)
    except OSError as error:
        raise StorageError(f"{folder} cannot be written ({error.strerror or error}).") from error
    return written
