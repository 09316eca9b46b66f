"""The bytes of a table file, plain or from a .gz or .zip."""

from __future__ import annotations

import gzip
import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from core.market.history.errors import CandleFileError

LARGEST_BYTES = 2 * 1024**3
"""Of a file, packed and unpacked."""
MOST_ROWS = 50_000_000
"""Of a file: a year and a half of candles of one second."""
_SPREADSHEETS, _OLD_OFFICE = (".xlsx", ".xls", ".ods"), b"\xd0\xcf\x11\xe0"
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_UNPACKING_ERRORS = (zlib.error, EOFError, zipfile.BadZipFile, gzip.BadGzipFile, NotImplementedError, RuntimeError)


def require_readable(path: Path) -> None:
    """Raises CandleFileError if it is not a file, cannot be read, or is too large."""
    try:
        if path.is_dir():
            raise CandleFileError(f"{path} is a folder; choose a candle file in it.")
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise CandleFileError(f"{path} is a pipe or a device, not a file; save what it holds, and choose that.")
        size = found.st_size
        with path.open("rb") as file:
            beginning = file.read(len(_ZIP))
    except FileNotFoundError as error:
        raise CandleFileError(f"There is no file {path}.") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    if size > LARGEST_BYTES:
        raise CandleFileError(f"{path.name} is larger than 2 GiB; split it.")
    if size == 0:
        raise empty(path)
    if path.suffix.lower() in _SPREADSHEETS and beginning in (_ZIP, _OLD_OFFICE):  # some CSV files have these names
        raise CandleFileError(f"{path.name} is a spreadsheet. Save its sheet as CSV, and choose that.")


def empty(path: Path) -> CandleFileError:
    return CandleFileError(
        f"{path.name} is empty. A candle file has a line for each candle: time, open, high, low, close."
    )


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


def _only_member(path: Path, archive: zipfile.ZipFile) -> str:
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
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


def _limited(path: Path, file: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], io.BufferedReader(_Limited(path, file), 1 << 20))


def _unreadable(path: Path, error: OSError) -> CandleFileError:
    return CandleFileError(f"{path} cannot be read ({error.strerror or error}).")
