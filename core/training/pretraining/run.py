"""Pretraining from start to end: files in, a checkpoint and its report out."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from core.domain.clock import Clock
from core.domain.events import JobProgress
from core.forecast.sample_sizes import FEWEST_FOR_AN_ESTIMATE
from core.training.engine.device import cpu_label, prepare_thread, release_thread
from core.training.engine.device_faults import DeviceFault, classify
from core.training.hosting.opening import build_engine
from core.training.hosting.threads import choose_threads
from core.training.pretraining.dataset import Dataset, Series, build_series
from core.training.pretraining.errors import Interrupted, PretrainingError
from core.training.pretraining.loop import NAME, Pretraining, PretrainingContext, PretrainingRequest
from core.training.pretraining.sources import Source, read_sources
from core.training.pretraining.team import Team, is_one_of_several, join_team

_LEARNING_TO_READING = 9.0
"""Candles trained on in the time of reading one, on one thread: the basis of the first estimate of the time left."""
_REPORT_EVERY_S = 0.25
_log = logging.getLogger("ghostcandle.training")


def pretrain(request: PretrainingRequest, context: PretrainingContext) -> dict[str, Any] | None:
    """Learn from the files and return the report, fit for JSON; None in all processes except the first.

    Raises CandleFileError, DeviceError, and PretrainingError (Interrupted if stopped before the first step).
    """
    started_s = context.clock.monotonic_s()
    sources = read_sources(request.files, context.settings.model, request.validation_share)
    prepare_thread()
    try:
        with join_team(context.settings.training.device) as team:
            return _learn(request, context, sources, team, started_s)
    except Exception as error:
        raise _as_sentence(error) from error
    finally:
        release_thread()


def _as_sentence(error: Exception) -> Exception:
    """Device errors as sentences. One process has already split the batch in the ladder; several cannot."""
    match classify(error):
        case DeviceFault.OUT_OF_MEMORY:
            advice = "Give a smaller --batch-size, or raise the setting gradients.accumulation."
        case DeviceFault.STICKY | DeviceFault.GONE:
            advice = "Start again; the best epoch so far is saved. With --device cpu the GPU is not used."
        case _:
            return error
    sentence = f"The device failed ({str(error).splitlines()[0]}). {advice}"
    if is_one_of_several():
        _log.error("%s", sentence)  # it may have failed in this process alone, whose errors are not reported otherwise
    return PretrainingError(sentence)


def _learn(
    request: PretrainingRequest, context: PretrainingContext, sources: Sequence[Source], team: Team, started_s: float
) -> dict[str, Any] | None:
    """One process's whole part. Returns the report, in the first one. While they work together, PretrainingError is
    raised by all of them alike."""
    device = _device_label(team, context)
    if team.rank != 0:
        context = replace(context, show=lambda job: None, say=lambda sentence: None)
    wanted = context.settings.training.seed
    seed = team.from_first(secrets.randbits(32) if wanted is None else wanted)
    candles = sum(len(source.file.candles) for source in sources)
    rest = request.epochs * candles  # an upper bound: a candle is trained or validated on, once an epoch
    parts = (NAME, "Reading candles", candles + rest, context.clock, context.show)
    meter = Meter(*parts, rest=rest, pace_of_rest=_LEARNING_TO_READING)
    dataset = _read(context, sources, team, meter)
    engine = build_engine(context.settings, team.device.torch_device, seed, team.join)
    of_an_epoch = dataset.samples + dataset.validation_samples
    meter.next_part("Pretraining", candles, candles + request.epochs * of_an_epoch)
    work = Pretraining(request, context, sources, dataset, engine, seed, team, meter.at)
    stop_reason = work.run()
    if team.rank != 0:
        return None
    return work.report(stop_reason, device, context.clock.monotonic_s() - started_s)


def _device_label(team: Team, context: PretrainingContext) -> str:
    """Chooses the number of CPU threads if there is one process; several use one each."""
    if team.device.torch_device.type != "cpu" or team.world_size > 1:
        return team.device.label
    threads = choose_threads(context.settings, context.folder.threads, context.clock)
    torch.set_num_threads(threads)
    return cpu_label(threads)


def _read(context: PretrainingContext, sources: Sequence[Source], team: Team, meter: Meter) -> Dataset:
    """Process all candles. Raises PretrainingError if nothing can be validated, Interrupted on a stop."""
    series = _series(context, sources, meter)
    if team.any(series is None) or series is None:
        raise Interrupted("Stopped before the first step; nothing was learned and nothing was written.")
    dataset = Dataset(series, context.settings.model.context)
    if not dataset.samples or dataset.validation_samples < FEWEST_FOR_AN_ESTIMATE:
        raise PretrainingError(
            f"The files have {dataset.samples:,} samples to learn from and {dataset.validation_samples:,} to validate "
            f"on, of which {FEWEST_FOR_AN_ESTIMATE} are needed: too few candles follow each other without a gap."
        )
    return dataset


def _series(context: PretrainingContext, sources: Sequence[Source], meter: Meter) -> list[Series] | None:
    """The series of the sources; None if this process was asked to stop."""
    done_before = 0

    def progress(done: int) -> None:
        meter.at(done_before + done)
        if context.should_stop():
            raise Interrupted

    series = []
    try:
        for source in sources:
            series.append(build_series(source, context.settings.model.horizons, progress))
            done_before += len(source.file.candles)
    except Interrupted:
        return None
    return series


class Meter:
    """Turns the amount done into progress, now and then and at the end. A job of several parts has one count, which
    never goes back."""

    def __init__(
        self,
        job_id: str,
        title: str,
        total: int,
        clock: Clock,
        show: Callable[[JobProgress], None],
        *,
        rest: int = 0,
        pace_of_rest: float = 1.0,
    ) -> None:
        """rest: the amount of the total that is in later parts, which are `pace_of_rest` times as fast."""
        self._saved_by_pace = rest - rest / pace_of_rest
        """Units of the first part that the faster rest saves."""
        self._job_id = job_id
        self._title = title
        self._total = total
        self._clock = clock
        self._show = show
        self._started_s = clock.monotonic_s()
        self._shown_s: float | None = None
        self._before = 0

    def next_part(self, title: str, before: int, total: int) -> None:
        """`before` of the total was done in earlier parts; this part has another pace."""
        self._title, self._before, self._total, self._saved_by_pace = title, before, total, 0.0
        self._started_s, self._shown_s = self._clock.monotonic_s(), None

    def at(self, done: int) -> None:
        """Report that this much of the part is done."""
        now_s, of_all = self._clock.monotonic_s(), self._before + done
        is_due = self._shown_s is None or now_s - self._shown_s >= _REPORT_EVERY_S
        if is_due or of_all >= self._total:
            self._shown_s = now_s
            left = self._total - of_all - self._saved_by_pace
            left_s = (now_s - self._started_s) / done * left if done else None
            self._show(JobProgress(self._job_id, self._title, of_all, self._total, left_s))
