"""The bytes of a table file, plain or from a .gz, .zip or .zst; and the kinds of other files."""

from __future__ import annotations

import gzip
import io
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from core.market.history.errors import CandleFileError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LARGEST_BYTES = 2 * 1024**3
"""The largest file, packed and unpacked."""
MOST_ROWS = 50_000_000
"""The most rows of a file: a year and a half of candles of one second."""
_LONGEST_LINE = 1_000_000
_GZIP, _ZIP, _ZSTD = b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
_TABLES = re.compile(r"(?i)\.(csv|tsv|json|jsonl|ndjson)$")
_SPREADSHEETS = (".xlsx", ".xls", ".ods")
_SPREADSHEET_PARTS = ("[Content_Types].xml", "mimetype", "xl/workbook.xml")
_SPREADSHEET = ("a spreadsheet", "Save its sheet as CSV, and choose that.")
_ARCHIVE = ("an archive", "Unpack it, and choose the files to be read.")
_OTHER_KINDS: tuple[tuple[bytes | tuple[bytes, ...], str, str], ...] = (
    (b"\xd0\xcf\x11\xe0", *_SPREADSHEET),
    (b"\x89HDF\r\n", "an HDF5 file", "Save its table as CSV or Parquet (pandas.read_hdf, then to_csv)."),
    (b"SQLite format 3\0", "a database", "Export the table of candles as CSV, and choose that."),
    (b"\x93NUMPY", "a NumPy array", "Save it as CSV (numpy.savetxt, with delimiter=',')."),
    (
        (b"\x80\x04", b"\x80\x05"),
        "a pickle, which is never opened because it may run code",
        "Save its table as CSV or Parquet.",
    ),
    (b"%PDF", "a PDF document", "Choose the table that it was made from, as CSV."),
    (b"\xfd7zXZ", "packed by xz", "Unpack it, and choose the table itself."),
    (b"BZh", "packed by bzip2", "Unpack it, and choose the table itself."),
    ((b"7z\xbc\xaf", b"Rar!"), *_ARCHIVE),
    (
        (b"<!DOCTYPE html", b"<!doctype html", b"<html"),
        *("a web page", "Perhaps the download failed; get it again, or save the page's table as CSV."),
    ),
    (b"<?xml", "XML", "Choose the vendor's CSV or JSON, or convert it."),
)
"""The first bytes of a file, its kind, and the next step."""
_TAR_MARK, _TAR_PLACE = b"ustar", 257
_UNPACKING_ERRORS = (
    *(zlib.error, EOFError, zipfile.BadZipFile, gzip.BadGzipFile, zstd.ZstdError),
    *(NotImplementedError, RuntimeError),
)


def require_readable(path: Path) -> None:
    """Raises CandleFileError if it is not a file, cannot be read, is too large, or of another kind."""
    try:
        if path.is_dir():
            raise CandleFileError(f"{path} is a folder; choose a candle file in it.")
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise CandleFileError(f"{path} is a pipe or a device, not a file; save what it holds, and choose that.")
    except FileNotFoundError as error:
        raise CandleFileError(f"There is no file {path}.") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    if found.st_size > LARGEST_BYTES:
        raise CandleFileError(f"{path.name} is larger than 2 GiB; split it.")
    if found.st_size == 0:
        raise empty(path)
    _refuse_other_kinds(path)


def _refuse_other_kinds(path: Path) -> None:
    if path.suffix.lower() in _SPREADSHEETS and _begins(path) == _ZIP:  # some CSV files have these names
        raise _of_kind(path, *_SPREADSHEET)
    with opened(path) as data:
        beginning = data.read(_TAR_PLACE + len(_TAR_MARK))
    if beginning[_TAR_PLACE:] == _TAR_MARK:
        raise _of_kind(path, *_ARCHIVE)
    for mark, what, instead in _OTHER_KINDS:
        if beginning.startswith(mark):
            raise _of_kind(path, what, instead)


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_ZIP))


def _of_kind(path: Path, what: str, instead: str) -> CandleFileError:
    return CandleFileError(f"{path.name} is {what}. {instead}")


def empty(path: Path) -> CandleFileError:
    return CandleFileError(
        f"{path.name} is empty. A candle file has a line for each candle: time, open, high, low, close."
    )


def table_name(path: Path) -> str:
    """The table's name: the name of the file in a .zip, else the path's. Raises CandleFileError."""
    if _begins(path) != _ZIP:
        return path.name
    try:
        with zipfile.ZipFile(path) as archive:
            return PurePosixPath(_only_member(path, archive)).name
    except zipfile.BadZipFile:
        return path.name


@contextmanager
def opened(path: Path, on_file: Callable[[IO[bytes]], None] = lambda file: None) -> Iterator[IO[bytes]]:
    """The table's bytes, unpacked. Raises CandleFileError, also for errors during reading.

    on_file: called with the file on disk, whose position is the progress.
    """
    try:
        with path.open("rb") as file:
            on_file(file)
            beginning = file.read(len(_ZIP))
            file.seek(0)
            if beginning.startswith(_GZIP):
                with gzip.open(file) as unpacked:
                    yield _limited(path, cast(IO[bytes], unpacked))
            elif beginning == _ZSTD:
                with zstd.open(file) as unzipped:
                    yield _limited(path, cast(IO[bytes], unzipped))
            elif beginning == _ZIP:
                with zipfile.ZipFile(file) as archive, archive.open(_only_member(path, archive)) as member:
                    yield _limited(path, member)
            else:
                yield file
    except _UNPACKING_ERRORS as error:
        raise CandleFileError(
            f"{path.name} cannot be unpacked ({error}). Unpack it yourself, or get it again."
        ) from error
    except OSError as error:
        raise _unreadable(path, error) from error


@contextmanager
def opened_text(
    path: Path, encoding: str, errors: str = "strict", on_file: Callable[[IO[bytes]], None] = lambda file: None
) -> Iterator[io.TextIOWrapper]:
    """The table's text with its line ends, as `opened`. Raises CandleFileError also at a line of more than a megabyte,
    for which memory would be needed as a whole."""
    with opened(path, on_file) as data:
        lines = cast(IO[bytes], io.BufferedReader(_OfLines(path, data), 1 << 20))
        with io.TextIOWrapper(lines, encoding, errors=errors, newline="") as text:
            yield text


def _only_member(path: Path, archive: zipfile.ZipFile) -> str:
    """The only file, or the only table besides descriptions of it."""
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
    if any(name in _SPREADSHEET_PARTS for name in names):
        raise _of_kind(path, *_SPREADSHEET)
    tables = [name for name in names if _TABLES.search(name)]
    if len(names) > 1 and len(tables) == 1:
        return tables[0]
    if len(names) != 1:
        raise CandleFileError(f"{path.name} holds {len(names)} files. Unpack it, and choose those to be read.")
    return names[0]


class _Limited(io.RawIOBase):
    """Limits the unpacked size, as a few kilobytes may unpack to terabytes."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        super().__init__()
        self._path, self._file, self._left = path, file, LARGEST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # typeshed has no protocol for what readinto takes
        data = self._file.read(len(view))
        self._left -= len(data)
        if self._left < 0:
            raise CandleFileError(f"{self._path.name} unpacks to more than 2 GiB; split it.")
        view[: len(data)] = data
        return len(data)


class _OfLines(io.RawIOBase):
    """Limits the length of a line."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        super().__init__()
        self._path, self._file, self._length = path, file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # as above
        data = self._file.read(len(view))
        newest = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._length = len(data) - newest - 1 + (self._length if newest < 0 else 0)
        if self._length > _LONGEST_LINE:
            raise CandleFileError(f"{self._path.name} is not a table: it has a line of more than a megabyte.")
        view[: len(data)] = data
        return len(data)


def _limited(path: Path, file: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], io.BufferedReader(_Limited(path, file), 1 << 20))


def _unreadable(path: Path, error: OSError) -> CandleFileError:
    return CandleFileError(f"{path} cannot be read ({error.strerror or error}).")
