"""Options that several sub-commands share, and the settings with these options applied."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import logging
import math
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE
from core.domain.challenger_sources import source_of
from core.logs.writing import WINDOW_FILE, log_to_file, log_to_stderr
from core.market.feeds.venue import ExchangeUrls
from core.settings import tree as settings_file
from core.settings.devices import checked_device
from core.settings.faults import sentence_of
from core.settings.repair import back_up
from core.settings.tree import MarketSettings, Settings, TrainingSettings
from core.storage.folder import DataFolder
from desktop.app.context import Context
from desktop.app.progress_lines import ProgressLines, end_with_stdin
from desktop.commands.errors import UserError, speaks
from desktop.commands.inside_option import inside_option, insides_of
from desktop.dialogs import start_failure

_DATA_DIR_VARIABLE = "GHOSTCANDLE_DATA_DIR"
_URLS_VARIABLE = "GHOSTCANDLE_EXCHANGE_URLS"
_SHARED = frozenset(
    {
        *("as_json", "data_dir", "seed", "device", "progress_lines", "model", "feed", "venue", "symbol", "interval"),
        *("file", "inside", "speed", "warm_up", "candles", "trainer", "new_run", "start_from"),
    }
)
"""Options of which a `Context` is made; a command gets the others."""
_SEVERAL = "Can be repeated: one model learns all of them."
_SPEED = "Candles per second; 0: as fast as possible; a simulation without --candles then runs in real time."
_NO_EXCHANGE = (FILE_VENUE, SIMULATED_VENUE)
_FEEDS = click.Choice(["auto", "live", "replay", "sample", "simulate", "stored"])
_STDOUT = "ghostcandle.stdout"
"""Key in a click context's `meta`: the stream for the object of --json."""
_log = logging.getLogger("ghostcandle")

Command = Callable[..., Any]


def taking(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """A decorator for all of these options, in this order in --help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class NumberRange(click.FloatRange):
    """Refuses NaN, which lies in each of click's ranges: it is neither below nor above a bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


class DeviceType(click.types.StringParamType):
    name = "device"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "[auto|cpu|cuda|cuda:N]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return checked_device(str(value))
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


common_options = taking(
    click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout; logs on stderr."),
    click.option("--data-dir", type=click.Path(path_type=Path), help="The data folder, where everything is stored."),
    click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Makes a run repeatable."),
    click.option("--device", type=DeviceType(), help="The device that the model runs on."),
    click.option(
        "--progress-lines",
        is_flag=True,
        help="For programs: progress as JSON lines on stderr; ends when stdin is closed.",
    ),
)
"""Options of every sub-command."""

run_options = taking(
    click.option("--feed", type=_FEEDS, help="Where candles come from."),
    click.option("--venue", help="The exchange, by its ccxt id."),
    click.option("--symbol", multiple=True, help=f"The market's symbol, such as BTC/USDT. {_SEVERAL}"),
    click.option("--interval", help="The length of a candle: 1m, 5m, 15m, 1h, 4h, 1d. A file's are joined to it."),
    click.option("--file", multiple=True, type=click.Path(), help=f"The candle file to replay. {_SEVERAL}"),
    inside_option("--file"),
    click.option("--speed", type=NumberRange(0.0), help=_SPEED),
    click.option("--warm-up", type=click.IntRange(0, 20_000), help="Closed candles to learn first."),
    click.option("--candles", type=click.IntRange(1), help="Stop after this many candles of the feed."),
    click.option("--trainer", type=click.Choice(["process", "thread"]), help="Where training runs."),
    click.option("--new-run", is_flag=True, help="Begin a new run instead of continuing the last one."),
    click.option(
        "--start-from",
        type=click.Choice(["newest", "none"]),
        help="Starting point of a new run: the newest pretrained model that fits, or a new model.",
    ),
)
"""Options of the market, its feed, speed and number of candles, and of training."""


model_option = click.option(
    "--model",
    multiple=True,
    metavar="NAME_OR_FILE",
    help="Another model to compare with the transformer on the same candles: gru, tcn, nlinear, an installed one, your "
    "own as path/file.py:Class, or process:COMMAND. Can be repeated.",
)


def with_context(command: Command) -> Command:
    """Pass the command a `Context` and its other options, and turn every expected failure into one sentence."""
    return _handing(command, _context)


def with_stored_context(command: Command) -> Command:
    """Like `with_context`, for a command on stored data: it makes no data folder."""
    return _handing(command, _stored_context)


def with_some_context(command: Command) -> Command:
    """Like `with_context`, for a window: if the data folder cannot be written, it opens on a temporary one; if it
    cannot open and there is no terminal, a message box says why."""
    return _handing(command, _context_or_temporary, start_failure.show)


def _handing(
    command: Command,
    make_context: Callable[[dict[str, Any], ExitStack], Context],
    also_show: Callable[[str], object] | None = None,
) -> Command:
    @functools.wraps(command)
    def wrapped(**options: Any) -> None:
        own = {name: value for name, value in options.items() if name not in _SHARED}
        try:
            with ExitStack() as stack:
                if options.get("as_json"):
                    click.get_current_context().meta[_STDOUT] = sys.stdout
                    stack.enter_context(contextlib.redirect_stdout(sys.stderr))  # output of a user's model
                command(make_context(options, stack), **own)
        except expected_errors() as error:
            report_failure(str(error), bool(options.get("as_json")))
            if also_show is not None and not options.get("as_json") and start_failure.is_needed():
                also_show(str(error))
            sys.exit(getattr(error, "exit_code", 1))

    return wrapped


def in_safe_mode(context: Context) -> Context:
    """Defaults and the CPU, which no broken setting or driver can affect. The market stays; so do the rules for
    checkpoints, so that no checkpoint of the user's is cleaned up."""
    own = context.settings
    settings = Settings(market=own.market, checkpoints=own.checkpoints, training=TrainingSettings(device="cpu"))
    return dataclasses.replace(context, settings=settings, is_safe_mode=True, is_first_start=False, warnings=())


def expected_errors() -> tuple[type[Exception], ...]:
    from core.domain.challenger_sources import ChallengerError  # noqa: PLC0415 - as below
    from core.market.feeds.base import FeedError  # noqa: PLC0415 - not needed for --help
    from core.market.history.errors import CandleFileError, HistoryError  # noqa: PLC0415
    from core.storage.errors import StorageError  # noqa: PLC0415
    from core.storage.ownership import FolderInUse  # noqa: PLC0415
    from core.sweeps.errors import SweepError  # noqa: PLC0415

    return UserError, ChallengerError, FeedError, CandleFileError, HistoryError, StorageError, FolderInUse, SweepError


def report_failure(sentence: str, as_json: bool) -> None:
    """One JSON object on stdout, or a line on stderr."""
    if not speaks():
        return
    if as_json:
        print_json({"error": sentence})
    else:
        click.echo(sentence, err=True)


def print_json(data: dict[str, Any]) -> None:
    click.echo(json.dumps(data, allow_nan=False), file=click.get_current_context().meta.get(_STDOUT))


def report_whole(context: Context, noun: str, count: int, problems: Mapping[str, str]) -> None:
    """The answer of a `verify`: the faults found, and the number checked. Exit code 1 if one differs."""
    if context.as_json:
        print_json({"ok": not problems, "checked": count, "problems": problems})
    else:
        for name, problem in problems.items():
            click.echo(f"{name}: {problem}")
        click.echo(f"{count - len(problems)} of {count} {noun} are whole.")
    if problems:
        raise SystemExit(1)


def data_folder(chosen: Path | None) -> DataFolder:
    """--data-dir, else the environment's, else the platform's place for a program's data."""
    from platformdirs import user_data_path  # noqa: PLC0415 - only if nothing was chosen

    named = os.environ.get(_DATA_DIR_VARIABLE)
    return DataFolder(chosen or (Path(named) if named else user_data_path("ghostcandle", appauthor=False)))


def _stored_context(options: dict[str, Any], stack: ExitStack) -> Context:
    root = data_folder(options.get("data_dir")).root
    if not root.exists():
        raise UserError(f"There is no data folder {root}. Name another with --data-dir.")
    return _context(options, stack)


def _context_or_temporary(options: dict[str, Any], stack: ExitStack) -> Context:
    from core.storage.errors import StorageError  # noqa: PLC0415 - not needed for --help

    try:
        return _context(options, stack)
    except StorageError as error:
        try:
            root = stack.enter_context(tempfile.TemporaryDirectory(prefix="ghostcandle-", ignore_cleanup_errors=True))
        except OSError:
            raise error from None
        temporary = DataFolder(Path(root))
        with contextlib.suppress(OSError):
            temporary.settings.write_bytes(data_folder(options.get("data_dir")).settings.read_bytes())
        context = _context({**options, "data_dir": temporary.root}, stack)
        sentence = f"{error} Until then this window keeps what it stores in a temporary folder: it is gone at its end."
        return dataclasses.replace(context, folder_notice=sentence, is_first_start=False)


def _context(options: dict[str, Any], stack: ExitStack) -> Context:
    lines = ProgressLines() if options.get("progress_lines") else None
    if lines is not None:
        end_with_stdin()
    folder = data_folder(options.get("data_dir"))
    folder.ensure()
    log_to_file(folder.logs / WINDOW_FILE)
    log_to_stderr()
    is_new = not folder.settings.exists() and not folder.database.exists()
    settings, warnings = settings_file.load(folder.settings)
    if warnings:
        warnings = _with_copy(folder, warnings)
    for warning in warnings:
        _log.warning("%s", warning)
    named = {name: options.get(name) or () for name in ("symbol", "file", "inside")}
    overlaid = _overlaid(settings, {**options, **{name: next(iter(each), None) for name, each in named.items()}})
    return Context(
        settings=overlaid,
        folder=folder,
        as_json=bool(options.get("as_json")),
        candles=options.get("candles"),
        new_run=bool(options.get("new_run")),
        urls=_exchange_urls(),
        is_first_start=is_new and overlaid == Settings(),
        warnings=warnings,
        lines=lines,
        others=_others(overlaid.market, **named),
    )


def _others(
    first: MarketSettings, symbol: Sequence[str], file: Sequence[str], inside: Sequence[str]
) -> tuple[MarketSettings, ...]:
    """The markets after the first. Raises UserError."""
    insides = insides_of(file, inside)[1:]
    if symbol and file:
        raise UserError("A file is a market by itself: give --file or --symbol, not both.", 2)
    names = (*symbol, *file)
    if (twice := next((each for each in names if names.count(each) > 1), None)) is not None:
        raise UserError(f"{twice} is named twice. Name each market once.", 2)
    files = (dataclasses.replace(first, file=each, inside=of) for each, of in zip(file[1:], insides, strict=True))
    return (*files, *(dataclasses.replace(first, symbol=each) for each in symbol[1:]))


def _with_copy(folder: DataFolder, warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Dropped values would be lost at the next change of a setting, so the file is copied first."""
    copy = back_up(folder.settings)
    if copy is None:
        return warnings
    first, *others = warnings
    return (f"{first} A copy of the file was saved as {copy}.", *others)


def _overlaid(settings: Settings, options: dict[str, Any]) -> Settings:
    market = _given(options, "feed", "venue", "symbol", "interval", "file", "inside", "speed")
    training = _given(options, "seed", "device", "start_from")
    challengers = tuple(map(absolute, options.get("model") or ())) or settings.model.challengers
    if options.get("warm_up") is not None:
        market["catch_up_candles"] = options["warm_up"]
    if options.get("trainer") is not None:
        training["host"] = options["trainer"]
    if market.get("file") is not None and "feed" not in market:
        market["feed"] = "replay"
    if "file" in market or "feed" in market:
        market["replayed_as"] = None  # of another one
    if "file" in market:  # it replaces the settings' file with what belongs to that
        market = {"joined_to": market.get("interval"), "inside": None, **market}
    if _ends_feed(settings.market, market):
        market["feed"] = "auto"
        if settings.market.venue in _NO_EXCHANGE:
            market.setdefault("venue", MarketSettings().venue)
    try:
        return dataclasses.replace(
            settings,
            market=dataclasses.replace(settings.market, **market),
            training=dataclasses.replace(settings.training, **training),
            model=dataclasses.replace(settings.model, challengers=challengers),
        )
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(str(part) for part in problem["loc"])
        raise UserError(f"{name} is not right: {sentence_of(problem)}.", 2) from error


def _ends_feed(stored: MarketSettings, named: Mapping[str, Any]) -> bool:
    """Whether the named market ends the settings' replay or simulation, as no feed was named with it."""
    if "feed" in named or not named.keys() & {"venue", "symbol"}:
        return False
    match stored.feed:
        case "replay" | "sample":
            return True
        case "simulate":
            return named.get("venue") != SIMULATED_VENUE and not named.get("symbol", "").startswith("SIM-")
        case "stored":  # an exchange's market is looked up among the stored ones
            return stored.venue in _NO_EXCHANGE and named.get("venue", stored.venue) not in _NO_EXCHANGE
    return False


def absolute(model: str) -> str:
    """A model file's name with its absolute path, as the trainer may run elsewhere; others unchanged. Raises
    UserError."""
    try:
        source = source_of(model)
    except ValueError as error:
        raise UserError(f"{str(error)[:1].upper()}{str(error)[1:]}.", 2) from error
    return model if source.file is None else f"{Path(source.file).resolve()}:{source.name}"


def _given(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: options[name] for name in names if options.get(name) is not None}


def _exchange_urls() -> ExchangeUrls | None:
    """Another address for the exchange: how tests put the loopback exchange in its place."""
    text = os.environ.get(_URLS_VARIABLE)
    try:
        return None if text is None else ExchangeUrls(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise UserError(f'{_URLS_VARIABLE} must be JSON with "public" and "ws" ({error}).', 2) from error
