"""Writes stored candles to a file that `core.market.history.read` reads back bit for bit."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from core.domain.candle import Market
from core.domain.spans import TimeSpan
from core.files.durable import replacing
from core.market.history.candle_csv import COLUMNS, csv_pieces
from core.market.history.errors import HistoryError
from core.market.history.table_file import arrow_is_missing
from core.market.shown_names import shown_market
from core.storage.candles import CandleStore, StoredColumns

OnRows = Callable[[int], None]
_FORMS = (".csv", ".csv.gz", ".feather", ".parquet", ".pq")


def export_candles(
    store: CandleStore,
    market: Market,
    span: TimeSpan,
    path: Path,
    *,
    overwrites: bool = False,
    on_progress: OnRows = lambda n: None,
) -> int:
    """Write the market's candles that open in the span, ascending. The file's extension determines the format.

    The file appears whole or not at all. on_progress: called now and then with the candles written so far. Returns how
    many. Raises HistoryError and StorageError.
    """
    write = _writer_of(path)
    if path.exists() and not overwrites:
        raise HistoryError(f"{path} exists already. Name another file, or add --overwrite.")
    market = _stored(store, market)
    if not len(store.columns_between(market, span.first_ms, span.stop_ms, 1)):
        raise HistoryError(f"No candle of {market} is stored in that stretch of time, so {path.name} was not written.")
    chunks = store.ascending_chunks(market, span.first_ms, span.stop_ms)
    try:
        with replacing(path, is_private=False) as file:
            return write(file, _counted(chunks, on_progress))
    except OSError as error:
        raise HistoryError(f"{path} cannot be written ({error.strerror or error}).") from error


def _stored(store: CandleStore, market: Market) -> Market:
    """The stored market of this name, in full or as it is shown: a file's without the fingerprint. Raises
    HistoryError."""
    stored = store.markets()
    alike = [each for each in stored if shown_market(each) == str(market)]
    if market in stored or not alike:
        return market
    if len(alike) > 1:
        names = ", ".join(each.symbol for each in alike)
        raise HistoryError(f"{market} is the name of {len(alike)} files. Choose one with --symbol: {names}.")
    return alike[0]


def _counted(chunks: Iterator[StoredColumns], on_progress: OnRows) -> Iterator[StoredColumns]:
    done = 0
    for chunk in chunks:
        yield chunk
        done += len(chunk)
        on_progress(done)


def _writer_of(path: Path) -> Callable[[IO[bytes], Iterator[StoredColumns]], int]:
    name = path.name.lower()
    if name.endswith(".csv"):
        return _write_csv
    if name.endswith(".csv.gz"):
        return _write_packed_csv
    if name.endswith(_FORMS):
        try:
            import pyarrow  # noqa: F401, PLC0415 - an extra
        except ImportError as error:
            raise HistoryError(f"{path.name} is to be Arrow. {arrow_is_missing()}") from error
        return partial(_write_arrow, is_feather=name.endswith(".feather"))
    endings = f"{', '.join(_FORMS[:-1])} or {_FORMS[-1]}"
    raise HistoryError(f"The name '{path.name}' does not show the format. Use one that ends in {endings}.")


def _write_csv(file: IO[bytes], chunks: Iterator[StoredColumns]) -> int:
    text = io.TextIOWrapper(file, "utf-8", newline="\n")
    count = 0
    for chunk in chunks:
        pieces = csv_pieces(chunk.open_time_ms, chunk.values)
        header = next(pieces)
        text.writelines(pieces if count else (header, *pieces))
        count += len(chunk)
    text.flush()
    text.detach()
    return count


def _write_packed_csv(file: IO[bytes], chunks: Iterator[StoredColumns]) -> int:
    with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        return _write_csv(cast(IO[bytes], packed), chunks)


def _batch(chunk: StoredColumns) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    return pa.record_batch([chunk.open_time_ms, *chunk.values], names=list(COLUMNS))


def _write_arrow(file: IO[bytes], chunks: Iterator[StoredColumns], *, is_feather: bool) -> int:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    first = _batch(next(chunks))
    with (pa.ipc.new_file if is_feather else pq.ParquetWriter)(file, first.schema) as writer:
        writer.write_batch(first)
        count = int(first.num_rows)
        for chunk in chunks:
            writer.write_batch(_batch(chunk))
            count += len(chunk)
    return count
