"""Reads Feather and Parquet in parts, never more than `source.LARGEST_BYTES` unpacked.

A column of one repeated value takes no space on disk, whatever its length, so the unpacked size of a file is read from
its metadata before unpacking. The forms are those of https://arrow.apache.org/docs/format/Columnar.html
(Message.fbs, File.fbs) and of https://parquet.apache.org/docs/file-format/metadata/.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.market.history.errors import CandleFileError
from core.market.history.parquet_pages import PageSizes, row_groups
from core.market.history.source import LARGEST_BYTES, MOST_ROWS

if TYPE_CHECKING:
    import pandas as pd

_MOST_COLUMNS = 1_000
_LONGEST_TEXT = 10_000
_CELL_BYTES = 8
"""Lower bound of an unpacked cell's size."""
_MAGIC = b"ARROW1"
_CONTINUATION = 0xFFFFFFFF
_BLOCK = struct.Struct("<qi4xq")
_BUFFER = struct.Struct("<qq")


def arrow_frames(path: Path, kind: str, most_rows: int) -> Iterator[pd.DataFrame]:
    """The rows as data frames of at most `most_rows`, each numbered from 0. kind: feather or parquet.

    Columns of types that candles and trades do not have (lists, structs, bytes) are skipped. Raises ImportError without
    pyarrow, CandleFileError for a file that is too large, and pyarrow's errors for a broken one.
    """
    tables = _parquet_tables(path, most_rows) if kind == "parquet" else _feather_tables(path)
    for table in tables:
        _refuse_long_texts(path, table)
        for first in range(0, max(table.num_rows, 1), most_rows):
            frame = table.slice(first, most_rows).to_pandas()
            yield _without_categories(frame)


def _parquet_tables(path: Path, most_rows: int) -> Iterator[Any]:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    places = row_groups(path)
    with pq.ParquetFile(path) as plain:
        found, schema = plain.metadata, plain.schema_arrow
        unpacked = sum(found.row_group(number).total_byte_size for number in range(found.num_row_groups))
        _refuse_too_much(path, found.num_rows, found.num_columns, unpacked)
    texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:  # one long text may be repeated in every row
        columns = [field.name for field in file.schema_arrow if _is_plain(field.type)]
        sizes = PageSizes(path)
        for groups in _row_groups_together(found, most_rows):
            for number in groups:
                sizes.refuse_too_much(places[number], columns)
            for batch in file.iter_batches(batch_size=most_rows, row_groups=groups, columns=columns):
                yield pa.Table.from_batches([batch])


def _row_groups_together(metadata: Any, most_rows: int) -> Iterator[list[int]]:
    """Groups of row group numbers: several small ones, or a larger one, form a part."""
    together: list[int] = []
    rows = 0
    for number in range(metadata.num_row_groups):
        held = metadata.row_group(number).num_rows
        if together and rows + held > most_rows:
            yield together
            together, rows = [], 0
        together.append(number)
        rows += held
    yield together


def _feather_tables(path: Path) -> Iterator[Any]:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.feather as feather  # noqa: PLC0415

    with path.open("rb") as file:
        is_current = file.read(len(_MAGIC)) == _MAGIC
    if not is_current:  # Feather version 1 is not compressed
        yield feather.read_table(path)
        return
    with pa.memory_map(str(path)) as source:
        rows, unpacked = _feather_size(path)
        _refuse_too_much(path, rows, 0, unpacked)
        reader = pa.ipc.open_file(source)
        fields = [number for number, field in enumerate(reader.schema) if _is_plain(field.type)]
        _refuse_too_much(path, rows, len(reader.schema), unpacked)
        for number in range(reader.num_record_batches):
            yield pa.Table.from_batches([reader.get_batch(number)]).select(fields)


def _refuse_too_much(path: Path, rows: int, columns: int, unpacked: int) -> None:
    if columns > _MOST_COLUMNS:
        raise CandleFileError(f"{path.name} has {columns:,} columns. A candle file has a time and five numbers a row.")
    if rows > MOST_ROWS:
        raise CandleFileError(f"{path.name} holds {rows:,} rows, more than {MOST_ROWS:,}; split it.")
    if max(unpacked, rows * columns * _CELL_BYTES) > LARGEST_BYTES:
        raise CandleFileError(f"{path.name} unpacks to more than 2 GiB; split it.")


def _refuse_long_texts(path: Path, table: Any) -> None:
    """A text stored once may be repeated in every row. Raises pyarrow's ValueError for invalid text."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.compute as pc  # noqa: PLC0415

    for column in table.columns:
        for chunk in column.chunks:
            texts = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
            if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
                continue
            texts.validate(
                full=True
            )  # where they are no UTF-8, pandas raises what is neither of theirs nor a ValueError
            if (pc.max(pc.binary_length(texts)).as_py() or 0) > _LONGEST_TEXT:
                raise CandleFileError(f"{path.name} has a cell of more than {_LONGEST_TEXT:,} bytes of text.")


def _is_plain(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    is_one_of = pa.types
    return bool(
        is_one_of.is_primitive(kind)
        or is_one_of.is_decimal(kind)
        or is_one_of.is_string(kind)
        or is_one_of.is_large_string(kind)
    )


def _without_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace categories by their texts; equal ones share one object."""
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    for place, kind in enumerate(frame.dtypes):
        if isinstance(kind, pd.CategoricalDtype):
            frame.isetitem(place, frame.iloc[:, place].to_numpy(object))
    if isinstance(frame.index, pd.DatetimeIndex) and frame.index.name is None:
        frame = frame.rename_axis("time")
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    return frame.reset_index(level=named).reset_index(drop=True)


def _feather_size(path: Path) -> tuple[int, int]:
    """Rows and unpacked bytes, from the messages of an Arrow file. Raises struct.error for a truncated file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = len(data) - len(_MAGIC) - 4
        (length,) = struct.unpack_from("<i", data, end)
        footer = _Table(data, end - length + _at(data, "<i", end - length))
        rows, unpacked = 0, 0
        for field, is_dictionary in ((2, True), (3, False)):
            for place in footer.structs(field, _BLOCK.size):
                offset, metadata, _ = _BLOCK.unpack_from(data, place)
                held, size = _batch_size(data, offset, metadata, is_dictionary)
                rows, unpacked = rows + (0 if is_dictionary else held), unpacked + size
        return rows, unpacked


def _batch_size(data: mmap.mmap, offset: int, metadata: int, is_dictionary: bool) -> tuple[int, int]:
    has_mark = _at(data, "<I", offset) == _CONTINUATION
    start = offset + (8 if has_mark else 4)
    batch = _Table(data, start + _at(data, "<i", start)).table(2)
    if is_dictionary:
        batch = batch.table(1)
    is_packed = batch.has(3)
    size = 0
    for place in batch.structs(2, _BUFFER.size):
        begins, length = _BUFFER.unpack_from(data, place)
        # A compressed buffer begins with its unpacked size, or -1 if it is not compressed.
        unpacked = _at(data, "<q", offset + metadata + begins) if is_packed and length else -1
        size += length if unpacked < 0 else unpacked
    return batch.long(0), size


def _at(data: mmap.mmap, form: str, place: int) -> int:
    if place < 0:
        raise struct.error("a place before the file")
    number: int = struct.unpack_from(form, data, place)[0]
    return number


class _Table:
    """A table of FlatBuffers (https://flatbuffers.dev/internals/): fields by number."""

    def __init__(self, data: mmap.mmap, place: int) -> None:
        self._data, self._place = data, place
        self._fields = place - _at(data, "<i", place)
        self._size = _at(data, "<H", self._fields)

    def _field(self, number: int) -> int:
        """The position of a field; 0 if it is absent."""
        entry = 4 + 2 * number
        offset = _at(self._data, "<H", self._fields + entry) if entry < self._size else 0
        return self._place + offset if offset else 0

    def has(self, number: int) -> bool:
        return bool(self._field(number))

    def long(self, number: int) -> int:
        place = self._field(number)
        return _at(self._data, "<q", place) if place else 0

    def table(self, number: int) -> _Table:
        place = self._field(number)
        if not place:
            raise struct.error("a table is left out")
        return _Table(self._data, place + _at(self._data, "<I", place))

    def structs(self, number: int, size: int) -> range:
        """The positions of the structs of a vector."""
        place = self._field(number)
        if not place:
            return range(0)
        place += _at(self._data, "<I", place)
        count = _at(self._data, "<I", place)
        if count * size > len(self._data):
            raise struct.error("a vector longer than the file")
        return range(place + 4, place + 4 + count * size, size)
