from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.logs.reading import ENTRIES_KEPT, READ_AT_MOST_BYTES, LogBook, LogTail
from core.logs.writing import LOGGER_NAME, TRAINER_FILE, WINDOW_FILE, log_to_file

AT_MS = 1_795_273_200_123
HEAD = "2026-11-21T15:00:00.123Z"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / WINDOW_FILE


@pytest.fixture
def written(path: Path) -> Iterator[Path]:
    handler = log_to_file(path)
    yield path
    logging.getLogger(LOGGER_NAME).removeHandler(handler)
    handler.close()


def test_log_records_are_read_back_with_their_traceback(written: Path) -> None:
    log = logging.getLogger(LOGGER_NAME)
    tail = LogTail(written)
    written_at = {"created": AT_MS / 1000, "msecs": AT_MS % 1000}
    log.handle(
        logging.makeLogRecord(
            {"name": log.name, "levelno": logging.INFO, "levelname": "INFO", "msg": "all is well", **written_at}
        )
    )
    try:
        raise ValueError("a broken thing")
    except ValueError:
        logging.getLogger(f"{LOGGER_NAME}.feed").exception("it ended")
    well, broken = tail.read()
    assert (well.text, well.level, well.details) == ("all is well", logging.INFO, "")
    assert (broken.name, broken.level, broken.text) == (f"{LOGGER_NAME}.feed", logging.ERROR, "it ended")
    assert broken.details.startswith("Traceback") and broken.details.endswith("ValueError: a broken thing")
    assert well.at_ms == AT_MS


def test_each_line_is_read_once_and_only_when_complete(path: Path) -> None:
    tail = LogTail(path)
    assert tail.read() == []
    path.write_text(f"{HEAD} INFO ghostcandle: one\n{HEAD} INFO ghosts")
    (one,) = tail.read()
    assert (one.at_ms, one.text) == (AT_MS, "one")
    assert tail.read() == []
    with path.open("a") as file:
        file.write(".feed: two\n")
    assert [(entry.name, entry.text) for entry in tail.read()] == [("ghosts.feed", "two")]


def test_a_rotated_or_truncated_file_is_read_from_the_start(path: Path) -> None:
    tail = LogTail(path)
    path.write_text(f"{HEAD} INFO ghostcandle: before, and a long line of it\n")
    tail.read()
    path.rename(path.with_suffix(".log.1"))
    path.write_text(f"{HEAD} WARNING ghostcandle: after\n")
    assert [entry.text for entry in tail.read()] == ["after"]
    path.write_text(f"{HEAD} ERROR ghostcandle: cut\n")
    assert [entry.text for entry in tail.read()] == ["cut"]


def test_invalid_bytes_and_an_incomplete_line_are_tolerated(path: Path) -> None:
    tail = LogTail(path)
    path.write_bytes(b"\xff\xfe\0 not a log\n" + f"{HEAD} INFO ghostcandle: ".encode() + b"\xff\n")
    assert [entry.text for entry in tail.read()] == ["\N{REPLACEMENT CHARACTER}"]
    with path.open("ab") as file:
        file.write(b"x" * (READ_AT_MOST_BYTES + 10))
    tail.read()
    with path.open("a") as file:
        file.write(f"\n{HEAD} INFO ghostcandle: after it\n")
    assert [entry.text for entry in (*tail.read(), *tail.read())] == ["after it"]


def test_lines_of_a_clock_that_was_years_ahead_do_not_displace_newer_ones(tmp_path: Path) -> None:
    (tmp_path / WINDOW_FILE).write_text("".join(f"2038{HEAD[4:]} INFO a: {n}\n" for n in range(ENTRIES_KEPT)))
    book = LogBook(tmp_path)
    assert book.update()
    with (tmp_path / WINDOW_FILE).open("a") as file:
        file.write(f"{HEAD} INFO a: now\n")
    assert book.update() and book.entries[-1].text == "now"


def test_both_log_files_are_merged_by_time_and_the_oldest_entries_dropped(tmp_path: Path) -> None:
    book = LogBook(tmp_path)
    assert not book.update()
    lines = [f"2026-11-21T15:00:{second:02d}.000Z INFO ghostcandle: {second}\n" for second in range(60)]
    (tmp_path / WINDOW_FILE).write_text("".join(lines[::2]))
    (tmp_path / TRAINER_FILE).write_text("".join(lines[1::2]))
    assert book.update() and not book.update()
    assert [entry.text for entry in book.entries] == [str(second) for second in range(60)]
    with (tmp_path / WINDOW_FILE).open("a") as file:
        file.writelines(f"{HEAD} INFO ghostcandle: {number}\n" for number in range(ENTRIES_KEPT))
    assert book.update()
    assert len(book.entries) == ENTRIES_KEPT and book.entries[-1].text == str(ENTRIES_KEPT - 1)
