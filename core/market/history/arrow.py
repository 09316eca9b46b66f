"""Reads Feather and Parquet in parts, with pyarrow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.market.history.errors import CandleFileError
from core.market.history.open_file import LARGEST_BYTES, MOST_ROWS

if TYPE_CHECKING:
    import pandas as pd

_MOST_COLUMNS = 1_000
_CELL_BYTES = 8
_MAGIC = b"ARROW1"


def arrow_frames(path: Path, kind: str, most_rows: int) -> Iterator[pd.DataFrame]:
    """The rows as data frames of at most `most_rows`, each numbered from 0. kind: feather or parquet.

    Columns of types that candles and trades do not have (lists, structs) are left out. Raises ImportError without
    pyarrow, CandleFileError for a file that is too large, and pyarrow's errors for a broken one.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    tables = _parquet_tables(path, most_rows) if kind == "parquet" else _feather_tables(path)
    try:
        for table in tables:
            table.validate(full=True)  # pandas 3 decodes texts only once they are looked at
            for first in range(0, max(table.num_rows, 1), most_rows):
                yield _plain(table.slice(first, most_rows).to_pandas())
    except pa.ArrowException as error:
        if isinstance(error, ValueError | TypeError | LookupError | OSError | MemoryError | NotImplementedError):
            raise
        raise ValueError(f"perhaps text that is not UTF8: {error}") from error


def _parquet_tables(path: Path, most_rows: int) -> Iterator[Any]:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    with pq.ParquetFile(path) as file:
        found = file.metadata
        unpacked = sum(found.row_group(number).total_byte_size for number in range(found.num_row_groups))
        # A column of one repeated value takes no space in a file, whatever its length.
        least = found.num_rows * found.num_columns * _CELL_BYTES
        _refuse_too_much(path, found.num_rows, found.num_columns, max(unpacked, least))
        schema = file.schema_arrow
        columns = [schema.field(place).name for place in _usable(path, schema)]
        ranges, rows = _index_ranges(schema, lambda: found.num_rows), 0
        for batch in file.iter_batches(batch_size=most_rows, columns=columns):
            table = pa.Table.from_batches([batch], schema=batch.schema.with_metadata(schema.metadata))
            yield _with_ranges(table, ranges, rows)
            rows += batch.num_rows


def _feather_tables(path: Path) -> Iterator[Any]:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.dataset as dataset  # noqa: PLC0415
    import pyarrow.feather as feather  # noqa: PLC0415

    with path.open("rb") as file:
        is_current = file.read(len(_MAGIC)) == _MAGIC
    if not is_current:
        yield feather.read_table(path)
        return
    with pa.memory_map(str(path)) as source:
        reader = pa.ipc.open_file(source)
        columns, rows = _usable(path, reader.schema), 0
        ranges = _index_ranges(reader.schema, lambda: dataset.IpcFileFormat().make_fragment(source).count_rows())
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            _refuse_too_much(path, rows + batch.num_rows, len(reader.schema), batch.nbytes)
            yield _with_ranges(pa.Table.from_batches([batch]).select(columns), ranges, rows)
            rows += batch.num_rows


def _index_ranges(schema: Any, count_rows: Callable[[], int]) -> dict[str, range]:
    """The index that has no column, by its name: pandas 3.1 describes evenly spaced integers in the metadata alone.

    pyarrow rebuilds it for a whole table, not for a part. A range of another length than the file is left out.
    """
    try:
        about = json.loads((schema.metadata or {})[b"pandas"])
        kinds = [index for index in about["index_columns"] if isinstance(index, dict) and index["kind"] == "range"]
        ranges = {index["name"]: range(index["start"], index["stop"], index["step"]) for index in kinds}
        without_column = {name: each for name, each in ranges.items() if name and name not in schema.names}
        return {name: each for name, each in without_column.items() if len(each) == count_rows()}
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):  # metadata that pandas did not write
        return {}


def _with_ranges(table: Any, ranges: dict[str, range], first: int) -> Any:
    """first: the number of the table's first row in the file."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    for name, values in ranges.items():
        part = values[first : first + table.num_rows]
        table = table.add_column(0, name, pa.array(np.arange(part.start, part.stop, part.step, dtype=np.int64)))
    return table


def _refuse_too_much(path: Path, rows: int, columns: int, unpacked: int) -> None:
    if columns > _MOST_COLUMNS:
        raise CandleFileError(f"{path.name} has {columns:,} columns. A candle file has a time and five numbers a row.")
    if rows > MOST_ROWS:
        raise CandleFileError(f"{path.name} holds {rows:,} rows, more than {MOST_ROWS:,}; split it.")
    if unpacked > LARGEST_BYTES:
        raise CandleFileError(f"{path.name} unpacks to more than 2 GiB; split it.")


def _usable(path: Path, schema: Any) -> list[int]:
    """The indexes of columns of numbers, texts and times. Raises CandleFileError if prices are bytes."""
    packed = [field.name for field in schema if str(field.type).startswith(("fixed_size_binary", "binary"))]
    if any(name in ("open", "close", "price") for name in packed):
        raise CandleFileError(
            f"{path.name} has its prices as bytes ({', '.join(packed[:3])}), in a form of the program that wrote it. "
            "Export them from there as numbers, to CSV or Parquet."
        )
    return [place for place, field in enumerate(schema) if _is_plain(field.type)]


def _is_plain(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    is_one_of = pa.types
    if is_one_of.is_dictionary(kind):
        return _is_plain(kind.value_type)
    return bool(
        is_one_of.is_primitive(kind)
        or is_one_of.is_decimal(kind)
        or is_one_of.is_string(kind)
        or is_one_of.is_large_string(kind)
    )


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace categories by their texts, and an index with a name, or of times, by a column."""
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    for place, kind in enumerate(frame.dtypes):
        if isinstance(kind, pd.CategoricalDtype):
            frame.isetitem(place, frame.iloc[:, place].to_numpy(object))
    if isinstance(frame.index, pd.DatetimeIndex) and frame.index.name is None:
        frame = frame.rename_axis("time")
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    return frame.reset_index(level=named).reset_index(drop=True)
