"""`ghostcandle pretrain FILE...`: learn from candle files before a run, in one process or in several."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import click

from core.domain.clock import SystemClock
from core.training.engine.device_faults import DeviceError
from desktop.app.context import Context
from desktop.app.stopping import stopped_by_signals
from desktop.app.terminal_progress import TerminalProgress
from desktop.commands.errors import INTERRUPTED, UserError, speaks
from desktop.commands.options import NumberRange, common_options, print_json, with_context
from desktop.commands.text import pretraining_rows, print_pairs


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--epochs", type=click.IntRange(1), default=10, show_default=True, help="Passes over the files.")
@click.option(
    "--validation-share",
    type=NumberRange(0.05, 0.5),
    default=0.2,
    show_default=True,
    help="Share at the end of each file that is measured on, never learned from.",
)
@click.option(
    "--patience",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Stop after this many epochs without a better skill on the held-out candles.",
)
@click.option(
    "--batch-size",
    type=click.IntRange(1, 65_536),
    default=32,
    show_default=True,
    help="Samples per step, over all processes.",
)
@common_options
@with_context
def pretrain(context: Context, files: tuple[Path, ...], **options: Any) -> None:
    """Learn from candle files; the next new run of the same interval starts from the result.

    Several GPUs: torchrun --nproc-per-node 2 -m desktop pretrain FILE...

    Ends after --epochs, early without progress, or on Ctrl+C with the best epoch so far kept.
    """
    stop = threading.Event()  # torchrun hands the same signal on, so a second one changes nothing
    with TerminalProgress(is_shown=speaks(), lines=context.lines) as progress, stopped_by_signals(stop.set):
        account = _pretrain(context, files, options, progress, stop)
    if account is not None:
        print_json(account) if context.as_json else print_pairs(pretraining_rows(account))


def _pretrain(
    context: Context,
    files: tuple[Path, ...],
    options: dict[str, Any],
    progress: TerminalProgress,
    stop: threading.Event,
) -> dict[str, Any] | None:
    from core.training.pretraining.errors import Interrupted, PretrainingError  # noqa: PLC0415
    from core.training.pretraining.loop import PretrainingContext, PretrainingRequest  # noqa: PLC0415
    from core.training.pretraining.run import pretrain  # noqa: PLC0415

    parts = context.settings, context.folder, SystemClock(), progress.apply, progress.say, stop.is_set
    try:
        return pretrain(PretrainingRequest(files, **options), PretrainingContext(*parts))
    except Interrupted as error:
        raise UserError(str(error), INTERRUPTED) from error
    except (PretrainingError, DeviceError) as error:
        raise UserError(str(error)) from error
