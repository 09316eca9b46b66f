"""The run of an evaluation: files replayed once, in a temporary folder."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.settings.tree import Settings
from core.storage.folder import DataFolder
from core.training.online.trainer_spec import StartingPoint
from desktop.app.context import Context
from desktop.app.stopping import stopped_by_signals
from desktop.commands.errors import INTERRUPTED, UserError
from desktop.commands.headless import run_headless
from desktop.commands.inside_option import insides_of


@contextmanager
def run_over(
    context: Context,
    files: Sequence[Path],
    count: int | None,
    start: StartingPoint | None = None,
    insides: Sequence[str] = (),
) -> Iterator[tuple[Context, dict[str, Any]]]:
    """Replay the files once at full speed, several for one model. Yields the context of that run, and its summary; the
    run is deleted afterwards. Raises UserError if it, or the block, was stopped.

    count: the number of candles used of each file, from its start. insides: a file of finer candles for each, or none.
    """
    whole, named = ("file", files[0].name) if len(files) == 1 else ("files", f"{len(files)} files")
    stopped = f"Stopped before the end of the {whole}; nothing was judged and nothing written."
    market = dataclasses.replace(context.settings.market, feed="replay", speed=0.0, replayed_as=None)
    finer = insides_of(files, insides)
    first, *others = (
        dataclasses.replace(market, file=str(file), inside=inside) for file, inside in zip(files, finer, strict=True)
    )
    with stopped_by_signals(_interrupt), tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        replayed = dataclasses.replace(
            context,
            settings=dataclasses.replace(_judged(context.settings), market=first),
            folder=DataFolder(Path(folder)),
            candles=count,
            start=start,
            others=tuple(others),
        )
        replayed.folder.ensure()
        try:
            summary = run_headless(replayed, stopped, evaluated=named)
            of_model = summary.get("pooled", summary)
            of_model["steps_per_s"] = round(of_model["steps"] / of_model["wall_s"], 3)
            if context.lines is not None:
                context.lines.start_part("Judging the forecasts")
            yield replayed, summary
        except KeyboardInterrupt as error:
            raise UserError(stopped, INTERRUPTED) from error


def _interrupt() -> None:
    """Interrupts like Ctrl+C, so that the temporary folder is deleted."""
    raise KeyboardInterrupt


def _judged(settings: Settings) -> Settings:
    """A copy with a seed, so that two evaluations agree, and with all judged records retained."""
    training, record = settings.training, settings.record
    return dataclasses.replace(
        settings,
        training=dataclasses.replace(training, seed=0 if training.seed is None else training.seed),
        record=dataclasses.replace(record, keep_detail_days=0),
    )
