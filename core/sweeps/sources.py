"""The candle files of a sweep: found by globs, read once, and divided into two parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from core.domain.candle import Interval
from core.domain.dates import utc_text
from core.evaluation.judged_scores import WARM_UP
from core.forecast.sample_sizes import FEWEST_FOR_AN_EDGE
from core.market.history.candle_file import CandleFile, read_candle_file
from core.market.history.errors import CandleFileError
from core.sweeps.errors import SweepError
from core.sweeps.plan import SweepFile, SweepPlan

FEWEST_CANDLES = 4
"""With fewer, a part would have none."""


def find_files(plan: SweepPlan, folder: Path) -> tuple[SweepFile, ...]:
    """The files of the plan's globs in the order of their names, each once. folder: the plan's. Raises SweepError."""
    paths = list(dict.fromkeys(path for pattern in plan.files for path in _matches(pattern, folder)))
    names = _names(paths, folder)
    files = tuple(_read(path, name, plan) for path, name in zip(paths, names, strict=True))
    _require_different(files)
    if plan.together:
        _require_one_interval(files)
    return files


def _matches(pattern: str, folder: Path) -> list[Path]:
    absolute = Path(pattern).expanduser()
    base = Path(absolute.anchor) if absolute.is_absolute() else folder
    relative = absolute.relative_to(base) if absolute.is_absolute() else absolute
    try:
        if (base / relative).is_file():  # its name may have brackets, which are no pattern then
            return [(base / relative).absolute()]
        found = sorted(path for path in base.glob(str(relative)) if path.is_file()) if relative.parts else []
    except (OSError, ValueError, NotImplementedError) as error:
        raise SweepError(f"files: '{pattern}' is no pattern of files ({error}). Correct it.") from error
    if not found:
        raise SweepError(
            f"files: no file in {base.absolute()} matches '{pattern}'. Correct the pattern, or leave it out."
        )
    return [path.absolute() for path in found]


def _names(paths: Sequence[Path], folder: Path) -> list[str]:
    """The files' names; with their folders where two are called the same."""
    counts = Counter(path.name for path in paths)
    root = folder.absolute()
    return [
        path.name
        if counts[path.name] == 1
        else (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()
        for path in paths
    ]


def _read(path: Path, name: str, plan: SweepPlan) -> SweepFile:
    try:
        file = read_candle_file(path)
    except CandleFileError as error:
        raise SweepError(f"files: {error}") from error
    candles = file.candles[: plan.candles]
    if len(candles) < FEWEST_CANDLES:
        raise SweepError(f"files: {name} has {len(candles)} candles, too few for two parts. Leave it out.")
    split_ms = _split_ms(file, len(candles), plan.first_part, name)
    return SweepFile(name, str(path), file.fingerprint, file.interval.duration_ms, len(candles), split_ms)


def _split_ms(file: CandleFile, count: int, first_part: float | str, name: str) -> int:
    """Where the second part begins. A share is of the candles after the warm-up, as only those are judged."""
    times = file.candles.columns.open_time_ms[:count]
    left_out = WARM_UP if count > WARM_UP + FEWEST_FOR_AN_EDGE else 0
    if isinstance(first_part, float):
        return int(times[min(left_out + round(first_part * (count - left_out)), count - 1)])
    split_ms = _moment_ms(first_part)
    if not times[left_out] < split_ms <= times[-1]:
        first, last = (utc_text(int(each), "%Y-%m-%d") for each in (times[left_out], times[-1]))
        raise SweepError(
            f"first_part: {first_part} does not divide the judged candles of {name}, which are from {first} to {last}. "
            "Choose a date in between, or a share such as 0.5."
        )
    return split_ms


def _moment_ms(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise SweepError(f"first_part: '{text}' is neither a share, as 0.5, nor a date, as '2026-05-01'.") from error
    zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return round(zoned.timestamp() * 1000)


def _require_different(files: Sequence[SweepFile]) -> None:
    names: dict[str, str] = {}
    for file in files:
        if file.sha256 in names:
            both = f"{names[file.sha256]} and {file.name}"
            raise SweepError(f"files: {both} hold the same candles, which would count twice. Leave one of them out.")
        names[file.sha256] = file.name


def _require_one_interval(files: Sequence[SweepFile]) -> None:
    first = files[0]
    other = next((file for file in files if file.interval_ms != first.interval_ms), None)
    if other is not None:
        one, another = (f"{file.name} ({Interval(file.interval_ms)})" for file in (first, other))
        raise SweepError(
            f"files: {one} and {another} have different intervals. One model learns markets of one interval: leave "
            "out together = true, or one of the files."
        )
