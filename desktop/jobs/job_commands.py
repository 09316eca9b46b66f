"""The jobs of the window: the command line of each, and its result as a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from core.checkpoints.row import CheckpointRow
from core.domain.candle import FILE_VENUE, Interval, Market
from core.evaluation.report import figures
from core.evaluation.report.answers import answers
from core.market.history.forms.form import Stamp
from core.market.history.forms.recognise import FORMS
from core.market.shown_names import shown_market
from desktop.ui.formatting import format_candles, format_count, format_number, format_percent
from desktop.ui.translation import translate

Summarise = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Order:
    """arguments: without --json, --data-dir and the like. summarise: the result as a sentence."""

    title: str
    arguments: tuple[str, ...]
    summarise: Summarise
    page: Path | None = None
    """A report that it writes."""
    checkpoint_id: str | None = None
    """The checkpoint that the result is stored with."""
    cancelled: str = ""
    """The result once it was cancelled."""
    market_of: Callable[[Mapping[str, Any]], Market | None] = lambda _summary: None
    """The market whose candles it stored, by its summary; None for none or several."""
    replayable_of: Callable[[Mapping[str, Any]], Path | None] = lambda _summary: None
    """The candle file that it read, by its summary, if it can be replayed."""
    works_aside: bool = False
    """It runs with its own temporary folder, so it cannot reach the window's socket among the usual temporary files."""
    has_own_page: bool = False
    """Another part of the window shows it: the list of jobs stays closed."""
    waits: bool = False
    """It starts once training is paused or over."""


def command_line(command: str, files: Sequence[Path] = (), /, **options: str | float | bool) -> tuple[str, ...]:
    """The arguments of a command, with options by the names of their parameters. Empty and False values are omitted."""
    line = [command]
    for name, value in options.items():
        if value is not False and value != "":
            line += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return (*line, *(["--", *map(str, files)] if files else []))


def import_order(files: Sequence[Path], **options: str | bool) -> Order:
    """Read candle and trade files into the database. Other options are found in the files' names and rows."""
    return Order(
        translate("Jobs", "Import {0}").format(_file_names(files)),
        command_line("import", files, **options),
        _summarise_import,
        cancelled=translate("Jobs", "Candles stored so far are kept; importing the file again adds the rest."),
        market_of=_imported_market,
        replayable_of=lambda summary: files[0] if _is_one_candle_file(summary) else None,
    )


def backfill_order(venue: str, symbol: str, interval: str, since: str, **options: str | bool) -> Order:
    return Order(
        translate("Jobs", "Fetch {0} {1} of {2} since {3}").format(symbol, interval, venue, since),
        command_line("backfill", venue=venue, symbol=symbol, interval=interval, since=since, **options),
        _summarise_backfill,
        cancelled=translate("Jobs", "The candles fetched so far are stored; the same job continues from there."),
        market_of=lambda _summary: Market(venue, symbol, Interval.parse(interval)),
    )


def pretrain_order(files: Sequence[Path], **options: str | float) -> Order:
    return Order(
        translate("Jobs", "Pretrain on {0}").format(_file_names(files)),
        command_line("pretrain", files, **options),
        _summarise_pretrain,
        cancelled=translate("Jobs", "The best epoch so far, if any, is kept."),
    )


def evaluate_order(
    kept: CheckpointRow | None, file: Path, reports: Path, now: datetime, **options: str | bool
) -> Order:
    """Run the live session over a file, from a checkpoint or from a new model. reports: the folder of its page."""
    step = "new" if kept is None else f"step-{kept.info.step}"
    page = reports / f"{now:%Y%m%d-%H%M%S}-{step}-{_plain(file.stem)}.html"
    title = translate("Jobs", "Evaluate a new model on {0}").format(file.name)
    if kept is not None:
        options["checkpoint"] = kept.info.checkpoint_id
        name = kept.info.name or translate("Jobs", "step {0}").format(format_count(kept.info.step))
        title = translate("Jobs", "Evaluate {0} on {1}").format(name, file.name)
    return Order(
        title,
        command_line("evaluate", [file], report=str(page), **options),
        _summarise_evaluate,
        page,
        None if kept is None else kept.info.checkpoint_id,
        translate("Jobs", "Nothing was evaluated or stored."),
        works_aside=True,
    )


def share_order(run_id: str, market: Market, reports: Path, now: datetime) -> Order:
    """Write the run's page. reports: the folder for it."""
    page = reports / f"{now:%Y%m%d-%H%M%S}-share-{_plain(market.symbol)}.html"
    return Order(
        translate("Jobs", "Share page of {0}").format(shown_market(market)),
        command_line("share", [page], run=run_id),
        lambda summary: translate("Jobs", "The page is one file: {0}").format(summary["file"]),
        page,
        cancelled=translate("Jobs", "No page was written."),
    )


def skip_title() -> str:
    return translate("Jobs", "Leave out bad rows, however many")


def no_exchange_title() -> str:
    """The choice in the list of exchanges for candles without one."""
    return translate("Jobs", "No exchange")


def stamp_titles() -> dict[str, str]:
    return {
        Stamp.START.value: translate("Jobs", "Beginning of the candle"),
        Stamp.END.value: translate("Jobs", "End of the candle"),
    }


def in_fields(sentence: str) -> str:
    """A command's sentence, with the dialog's fields in place of its options."""
    for form in FORMS.values():
        sentence = sentence.replace(f"--form {form.name} ({form.title})", f"“{form.title}”")
    for stamp, title in stamp_titles().items():
        sentence = sentence.replace(f"--stamp {stamp}", f"“{title}”")
    sentence = sentence.replace(f"--venue {FILE_VENUE}", f"“{no_exchange_title()}”")
    fields = {
        "Leave out --form": translate("Jobs", "Set “Form” to “As recognised”"),
        "add --skip-invalid": translate("Jobs", "select “{0}”").format(skip_title()),
        "--venue": translate("Jobs", "Exchange"),
        "--symbol": translate("Jobs", "Symbol"),
        "--interval": translate("Jobs", "Interval"),
        "--time-zone": translate("Jobs", "Time zone"),
        "--form": translate("Jobs", "Form"),
        "--stamp": translate("Jobs", "Times mark"),
        "--skip-invalid": skip_title(),
        "--batch-size": translate("Jobs", "Batch size"),
        "--device": translate("Jobs", "Device"),
        "--validation-share": translate("Jobs", "Validation share"),
        "--count-seen": translate("Jobs", "Also evaluate earlier candles"),
        "--replace": translate("Jobs", "Overwrite stored candles"),
    }
    for option, field in fields.items():
        sentence = re.sub(rf"{option}\b", field if " --" in option else f"“{field}”", sentence)
    return sentence


def _file_names(files: Sequence[Path]) -> str:
    """``eth.csv``, ``3 files``."""
    return files[0].name if len(files) == 1 else translate("Jobs", "{0} files").format(format_count(len(files)))


def _plain(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)[:60]


def _imported_market(summary: Mapping[str, Any]) -> Market | None:
    markets = {(each["venue"], each["symbol"], each["interval"]) for each in summary["files"]}
    if len(markets) != 1:
        return None
    venue, symbol, interval = markets.pop()
    return Market(venue, symbol, Interval.parse(interval))


def _is_one_candle_file(summary: Mapping[str, Any]) -> bool:
    """Whether it is a single file, and of candles: only such a file is replayed."""
    return [each.get("kind") for each in summary["files"]] == ["candles"]


def _summarise_import(summary: Mapping[str, Any]) -> str:
    files = summary["files"]
    stored, same = (sum(int(each[name] or 0) for each in files) for name in ("stored", "same"))
    left_out: Counter[str] = Counter()
    for each in files:
        left_out.update(each["rejected"])
    markets = {f"{each['symbol']} {each['interval']} ({each['venue']})" for each in files}
    if len(markets) == 1:
        parts = [translate("Jobs", "{0} of {1} stored.").format(format_candles(stored), *markets)]
    else:
        parts = [translate("Jobs", "{0} stored.").format(format_candles(stored))]
    if same:
        parts.append(translate("Jobs", "{0} were already stored.").format(format_count(same)))
    if left_out:
        why = ", ".join(f"{format_count(count)} ({reason})" for reason, count in left_out.items())
        parts.append(translate("Jobs", "Left out: {0}.").format(why))
    if any(each.get("is_zone_assumed") for each in files):
        parts.append(translate("Jobs", "UTC was assumed, as no time zone is named."))
    return " ".join(parts)


def _summarise_backfill(summary: Mapping[str, Any]) -> str:
    if not summary["wanted"]:
        return translate("Jobs", "Nothing was missing.")
    parts = [
        translate("Jobs", "{0} of {1} missing candles stored.").format(
            format_count(summary["stored"]), format_count(summary["wanted"])
        )
    ]
    if summary["all_absent"]:
        parts.append(
            translate("Jobs", "The exchange does not have {0}; they remain gaps.").format(
                format_count(summary["all_absent"])
            )
        )
    if summary["left"]:
        parts.append(translate("Jobs", "{0} are still missing.").format(format_count(summary["left"])))
    return " ".join(parts)


def _summarise_pretrain(summary: Mapping[str, Any]) -> str:
    best = next(each for each in summary["epochs"] if each["epoch"] == summary["best_epoch"])
    close, spread = (_held_back(best["validation"], name) for name in ("close", "range"))
    return translate(
        "Jobs",
        "Epoch {0} of {1} was the best: skill on {4} validation candles, with its 95 % interval: close {2}, range "
        "{3}. The next new run of the same interval starts from it.",
    ).format(summary["best_epoch"], len(summary["epochs"]), close, spread, format_count(int(best["validation"]["n"])))


def _held_back(validation: Mapping[str, Any], name: str) -> str:
    """``+1.25 % (0.31 to 2.19)``: a skill without its interval says nothing."""
    value, interval = format_percent(validation[f"{name}_skill"], 2, signed=True), validation[f"{name}_ci95"]
    if interval is None:
        return value
    low, high = (format_number(100.0 * bound, 2) for bound in interval)
    return translate("Jobs", "{0} ({1} to {2})").format(value, low, high)


def _summarise_evaluate(summary: Mapping[str, Any]) -> str:
    plain = dict(summary)
    count = f"{figures.size(plain)}{figures.left_out(plain)}."
    found = [*(text for _, text in answers(plain)), count, figures.start(plain)]
    return " ".join(part for part in found if part)
