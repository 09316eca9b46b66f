"""The command line: `ghostcandle` alone opens the window, a sub-command does one thing without it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

_COMMANDS = {
    "run": ("desktop.commands.run", "run", "Open the window (the default)."),
    "headless": ("desktop.commands.headless", "headless", "Watch, learn and forecast without a window."),
    "evaluate": ("desktop.commands.evaluate", "evaluate", "Run the live session over a candle file and score it."),
    "metrics": ("desktop.commands.metrics", "metrics", "Show what a run has achieved so far."),
    "checkpoints": ("desktop.commands.checkpoints", "checkpoints", "List, show and verify checkpoints."),
    "doctor": ("desktop.commands.doctor_command", "doctor", "Check this machine, and say what to do."),
    "selftest": (
        "desktop.commands.selftest",
        "selftest",
        "Try each part once: trainer, checkpoint, window, ccxt.",
    ),
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
    """Run and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help", "--version")):
        given = ["run", *given]
    try:
        ghostcandle.main(given, prog_name="ghostcandle")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0
