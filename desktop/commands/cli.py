"""The command line: `ghostcandle` alone opens the window, a sub-command does one thing without it."""

from __future__ import annotations

import errno
import importlib
import json
import logging
import os
import sys
import traceback
from collections.abc import Sequence

import click

from desktop.commands.errors import INTERRUPTED, speaks

_log = logging.getLogger("ghostcandle")
_COMMANDS = {
    "run": ("desktop.commands.run", "run", "Open the window (the default)."),
    "headless": ("desktop.commands.headless", "headless", "Watch, learn and forecast without a window."),
    "evaluate": ("desktop.commands.evaluate", "evaluate", "Run the live session over a candle file and score it."),
    "sweep": ("desktop.commands.sweep", "sweep", "Evaluate models and settings on many files, on one machine or many."),
    "pretrain": ("desktop.commands.pretrain", "pretrain", "Learn from candle files before a run."),
    "check-model": ("desktop.commands.check_model", "check_model", "Check your own model before a run uses it."),
    "import": ("desktop.commands.import_candles", "import_candles", "Read candle and trade files into the database."),
    "export": ("desktop.commands.export", "export", "Write stored candles, or a run's tables, to files."),
    "backfill": ("desktop.commands.backfill", "backfill", "Fetch a market's missing candles."),
    "metrics": ("desktop.commands.metrics", "metrics", "Show a run's results so far."),
    "leaderboard": (
        "desktop.commands.leaderboard",
        "leaderboard_command",
        "Show which model or baseline of a run forecasts best.",
    ),
    "share": ("desktop.commands.share", "share", "Write a run's record as one page to share."),
    "checkpoints": ("desktop.commands.checkpoints", "checkpoints", "List, show and verify checkpoints."),
    "backups": ("desktop.commands.backups", "backups", "List, make, verify and restore backups of the database."),
    "doctor": ("desktop.commands.doctor", "doctor", "Check this machine, and say how to fix what is wrong."),
    "selftest": ("desktop.commands.selftest", "selftest", "Test each part once: trainer, checkpoint, window, ccxt."),
}


class LazyGroup(click.Group):
    """Imports a sub-command's module only when it is used, so that help comes at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name, _ = _COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in _COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ghostcandle")
def ghostcandle() -> None:
    """Watch a model learn a market: live candles, its forecasts ahead of them as ghosts, and an honest score.

    Without a command, the window opens.
    """


def run_command_line(arguments: Sequence[str] | None = None) -> int:
    """Run and return the exit code. Whatever goes wrong is one sentence, or with --json one object."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help", "--version")):
        given = ["run", *given]
    as_json = "--json" in given
    try:
        ghostcandle.main(given, prog_name="ghostcandle", standalone_mode=False)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except click.ClickException as error:
        if as_json:
            _print_error(error.format_message(), as_json)
        elif speaks():
            error.show()
        return error.exit_code
    except click.Abort:
        if as_json:
            _print_error("Stopped before the end.", as_json)
        return INTERRUPTED
    except Exception as error:
        return _report_fault(error, as_json)
    return 0


def _report_fault(error: Exception, as_json: bool) -> int:
    """A mistake of ours: its traceback goes to the log file, or to stderr if there is none yet."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        _log.info("The command ended with an error.", exc_info=error)
        _print_error(f"There is no room left on the disk ({error}). Make room, and try again.", as_json)
        try:
            sys.stdout.flush()
        except OSError:  # Python writes the rest again at exit, and if that fails ends with 120
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    file = next((handler for handler in _log.handlers if isinstance(handler, logging.FileHandler)), None)
    if file is None:
        traceback.print_exception(error)
        where = "on stderr"
    else:
        _log.info("The command ended with an error.", exc_info=error)  # info: graver levels are shown on stderr too
        where = f"in {file.baseFilename}"
    _print_error(f"Ghostcandle made a mistake ({type(error).__name__}: {error}). The details are {where}.", as_json)
    return 1


def _print_error(sentence: str, as_json: bool) -> None:
    if not as_json:
        click.echo(sentence, err=True)
    elif speaks():
        try:
            click.echo(json.dumps({"error": sentence}))
        except OSError:  # of stdout itself
            click.echo(sentence, err=True)
