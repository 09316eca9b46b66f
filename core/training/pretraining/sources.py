"""The candle files for training: read, and refused if they cannot produce a valid result."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.candle import Candle
from core.forecast.sample_sizes import FEWEST_FOR_AN_ESTIMATE
from core.market.history.candle_file import CandleFile, read_candle_file
from core.settings.tree import ModelSettings
from core.training.pretraining.errors import PretrainingError

_TOLERATED_OVERLAP = 0.01
"""Share of a validation part that another file may contain: quiet markets can have equal candles by chance."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file, its candles, and the index of the first one held back for validation."""

    name: str
    file: CandleFile
    cut: int

    @property
    def learned(self) -> Sequence[Candle]:
        """Candles that training may see, as inputs and as targets."""
        return self.file.candles[: self.cut]

    @property
    def held_back(self) -> Sequence[Candle]:
        return self.file.candles[self.cut :]


def read_sources(paths: Sequence[Path], model: ModelSettings, validation_share: float) -> tuple[Source, ...]:
    """Read all files. Raises CandleFileError for a file without candles, PretrainingError for files that do not fit."""
    sources = tuple(_source(path, model, validation_share) for path in paths)
    _refuse_mixed_intervals(sources)
    _refuse_overlap(sources)
    return sources


def _source(path: Path, model: ModelSettings, validation_share: float) -> Source:
    file = read_candle_file(path)
    count = len(file.candles)
    fewest = fewest_candles(model, validation_share)
    if count < fewest:
        raise PretrainingError(
            f"{path.name} has {count:,} candles; with a validation share of {validation_share:g} at least {fewest:,} "
            "are needed. Use a longer file."
        )
    return Source(path.name, file, count - math.ceil(validation_share * count))


def fewest_candles(model: ModelSettings, validation_share: float) -> int:
    """Enough for a whole training window, and for a validation estimate."""
    for_training = (model.context + model.horizons) / (1.0 - validation_share)
    for_validation = (FEWEST_FOR_AN_ESTIMATE + 1) / validation_share
    return math.ceil(max(for_training, for_validation)) + 1


def _refuse_mixed_intervals(sources: Sequence[Source]) -> None:
    intervals = {source.file.interval for source in sources}
    if len(intervals) > 1:
        named = ", ".join(f"{source.name}: {source.file.interval}" for source in sources)
        raise PretrainingError(
            f"The files' candles are of different lengths ({named}). A model learns one interval; use files of one."
        )


def _refuse_overlap(sources: Sequence[Source]) -> None:
    """Candles held back in one file must not be trained on in another, nor counted twice."""
    learned = [{_key(candle) for candle in source.learned} for source in sources]
    held_back = [{_key(candle) for candle in source.held_back} for source in sources]
    for trained, validated in itertools.permutations(range(len(sources)), 2):
        shared = len(learned[trained] & held_back[validated])
        if shared > _TOLERATED_OVERLAP * len(held_back[validated]):
            raise PretrainingError(
                f"{shared:,} of the candles that {sources[validated].name} holds back for validation are trained on in "
                f"{sources[trained].name}, so the validation would be worthless. Use files that do not overlap."
            )

    for first, second in itertools.combinations(range(len(sources)), 2):
        shared = len(held_back[first] & held_back[second])
        if shared > _TOLERATED_OVERLAP * min(len(held_back[first]), len(held_back[second])):
            raise PretrainingError(
                f"{sources[first].name} and {sources[second].name} both hold back the same {shared:,} candles for "
                "validation. They would count twice, and the intervals of the skill would be too narrow. Use each file "
                "once, and files that do not overlap."
            )


def _key(candle: Candle) -> tuple[float, ...]:
    return candle.open_time_ms, candle.open, candle.high, candle.low, candle.close
