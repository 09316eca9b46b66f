"""Generate from the code: commands, settings, keys, exchanges, the numbers of the Feed panel and the forms of candle
files in the docs, and the table of CUDA in the README.

python -m tests.support.docs [--check]
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import Field, fields
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import click
from pydantic.fields import FieldInfo
from PySide6.QtGui import QKeySequence

from core.machine.cuda_setup import CASES, CudaFacts, filled_in
from core.market.feeds.ccxt_objects import make_exchange, page_rows_of, timeframes_of
from core.market.feeds.ccxt_tap import reports_close
from core.market.feeds.exchange_facts import ExchangeFacts, facts_of
from core.market.feeds.trouble import HttpResponse, VenueError
from core.market.history.forms.form import Form
from core.market.history.forms.recognise import FORMS
from core.market.history.report import describe_form
from core.settings.group import OWN_DIALOG, all_field_infos, unit_of
from core.settings.tree import Settings
from desktop.actions import ActionId, ActionInfo
from desktop.commands.cli import ghostcandle
from desktop.commands.options import DeviceType
from desktop.dialogs.setting_texts import default, effect, number, spaced, span_of, title
from desktop.dialogs.shortcuts import chart_gestures
from desktop.panels.feed.numbers import MEANINGS

_STREAMS = {"candles": "watchOHLCV", "trades": "watchTrades"}
_KINDS: dict[Any, str] = {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}
DOCS = Path(__file__).resolve().parents[2] / "docs"
README = DOCS.parent / "README.md"
SHARED = "Options of every command"
_OPTION_HEAD = ("option", "takes", "meaning")


def commands() -> str:
    """Every command with every option, from click's tree. Those that all commands have are listed once."""
    rows = {path: [_option(option) for option in _options(command)] for path, command in every_command()}
    shared = [row for row in next(iter(rows.values())) if all(row in others for others in rows.values())]
    parts = ["\n".join([f"### {SHARED}", "", *_table(_OPTION_HEAD, shared)])]
    for path, command in every_command():
        parts.append(_command(command, path, [row for row in rows[path] if row not in shared]))
    return "\n\n".join(parts)


def every_command(
    command: click.Command = ghostcandle, path: str = "ghostcandle"
) -> Iterator[tuple[str, click.Command]]:
    """The visible commands that are not groups, each with its full name."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        assert child is not None
        if child.hidden:
            continue
        yield from every_command(child, f"{path} {name}")


def _options(command: click.Command) -> list[click.Option]:
    return [param for param in command.params if isinstance(param, click.Option)]


def _command(command: click.Command, path: str, rows: list[tuple[str, ...]]) -> str:
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    usage = " ".join([path, *(each.make_metavar(click.Context(command)) for each in arguments)])
    summary = " ".join((command.help or "").split("\n\n")[0].split())
    table = ["", *_table(_OPTION_HEAD, rows)] if rows else []
    return "\n".join([f"### `{usage}`", "", summary, *table])


def _option(option: click.Option) -> tuple[str, ...]:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    given = option.default
    has_default = isinstance(given, str | int | float) and not option.is_flag
    takes = "" if option.is_flag else _kind(option.type)
    return names, takes, f"{option.help or ''}{f' Default: {given}.' if has_default else ''}"


def _kind(taken: click.ParamType) -> str:
    if isinstance(taken, click.Choice):
        return " or ".join(f"`{choice}`" for choice in taken.choices)
    if isinstance(taken, click.IntRange | click.FloatRange):
        what = "a whole number" if isinstance(taken, click.IntRange) else "a number"
        return f"{what}{_between(taken.min, taken.max)}"
    if isinstance(taken, DeviceType):
        return "`auto`, `cpu`, `cuda`, or a GPU by number: `cuda:1` is the second"
    return {"integer": "a whole number", "float": "a number", "path": "a path"}.get(taken.name, "text")


def _between(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f", {number(low)} to {number(high)}"
    return f", {number(low)} or more" if low is not None else "" if high is None else f", at most {number(high)}"


def settings() -> str:
    """Every setting of every group, from the tree itself."""
    return "\n\n".join(_group(field) for field in fields(Settings))


def _group(field: Field[Any]) -> str:
    group = type(getattr(Settings(), field.name))
    rows = [_setting(field.name, name, info) for name, info in all_field_infos(group).items()]
    summary = " ".join((group.__doc__ or "").split())
    head = ("setting", "default", "may be", "unit", "meaning", "takes effect")
    return "\n".join([f"## {spaced(field.name)}", "", summary, "", *_table(head, rows)])


def _setting(group: str, name: str, info: FieldInfo) -> tuple[str, ...]:
    own = " Changed where it is used, not in the Preferences." if info.json_schema_extra == OWN_DIALOG else ""
    return (
        f"`{group}.{name}`<br>{title(name)}",
        f"`{default(group, name)}`",
        _allowed(info),
        unit_of(name, info),
        f"{info.description}{own}",
        _effect(group, name, info),
    )


def _effect(group: str, name: str, info: FieldInfo) -> str:
    if info.json_schema_extra == OWN_DIALOG:
        return "immediately"
    return "when a market is chosen" if group == "market" else effect(group, name)


def _allowed(info: FieldInfo) -> str:
    """The words of a choice; else the kind and its bounds: ``a whole number, from 1 to 64``."""
    parts = [part for part in get_args(info.annotation) if part is not NoneType]
    is_optional = NoneType in get_args(info.annotation)
    annotation = parts[0] if is_optional and len(parts) == 1 else info.annotation
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{each}`" for each in get_args(annotation))
    kind = _KINDS.get(annotation) or ("a list" if get_origin(annotation) is tuple else "a table")
    if info.examples:
        return f"{kind}, such as {', '.join(f'`{each}`' for each in info.examples)}"
    span = span_of(info)
    return f"{kind}{f', {span}' if span else ''}{' or none' if is_optional else ''}"


def keys() -> str:
    """Every action by menu or panel, with its shortcut, then mouse and keys on the chart."""
    sections: dict[str, list[tuple[str, ...]]] = {}
    for info in (action_id.info for action_id in ActionId):
        sections.setdefault(_section(info), []).append(_action(info))
    parts = [
        "\n".join([f"## {name}", "", *_table(("action", "keys", "what it does"), rows)])
        for name, rows in sections.items()
    ]
    gestures = [(line.name, line.keys) for line in chart_gestures()]
    parts.append("\n".join(["## Mouse and keys on the chart", "", *_table(("to", "do"), gestures)]))
    return "\n\n".join(parts)


def _section(info: ActionInfo) -> str:
    if info.menu:
        return f"Menu {info.menu[0].replace('&', '')}"
    return f"In the panel {info.place}"


def _action(info: ActionInfo) -> tuple[str, ...]:
    path = [*info.menu[1:], info.text]
    name = " › ".join(part.replace("&", "") for part in path)
    keys = QKeySequence(info.shortcut).toString(QKeySequence.SequenceFormat.PortableText)
    is_shared = " (a panel with focus may have it too)" if info.menu and info.place else ""
    return name, f"`{keys}`{is_shared}" if keys else "", info.tooltip


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [head, tuple("---" for _ in head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def feed_numbers() -> str:
    """Every number of the Feed panel, with its tooltip."""
    return "\n".join(_table(("number", "meaning"), MEANINGS.items()))


def exchanges() -> str:
    """Every exchange that opens, as ccxt and the table of exchanges describe it."""
    import ccxt.pro  # noqa: PLC0415 - a second and more

    head = ("exchange", "id", "intervals", "stream", "closed by", "a request has", "list goes back", "source")
    opened = (_opened(venue) for venue in ccxt.pro.exchanges)
    rows = sorted((_exchange(each) for each in opened if each is not None), key=lambda row: row[0].casefold())
    return "\n".join(_table(head, rows))


def _opened(venue: str) -> Any | None:
    with contextlib.suppress(VenueError):
        return make_exchange(venue, None, 1.0, HttpResponse())
    return None


def _exchange(exchange: Any) -> tuple[str, ...]:
    facts, has = facts_of(exchange.id), exchange.has
    streams = [name for name, method in _STREAMS.items() if has.get(method)]
    is_closed_by_stream = reports_close(exchange.id) and bool(has.get("watchOHLCV"))
    return (
        str(exchange.name),
        f"`{exchange.id}`",
        ", ".join(timeframes_of(exchange)),
        " and ".join(streams),
        "its stream" if is_closed_by_stream else "request",
        f"{page_rows_of(exchange):,}",
        _depth(facts),
        facts.source,
    )


def _depth(facts: ExchangeFacts) -> str:
    if facts.listed_rows is not None:
        return f"{facts.listed_rows:,} candles, whatever is requested"
    if facts.farthest_rows is not None:
        return f"{facts.farthest_rows:,} candles; older ones are refused"
    return ""


def candle_files() -> str:
    """Every known form of files, from its row."""
    head = ("`--form`", "what it is", "recognised by", "time zone", "times mark", "volume", "source")
    return "\n".join(_table(head, map(_form_row, FORMS.values())))


def _form_row(form: Form) -> tuple[str, ...]:
    shown = describe_form(form)
    if form.refusal:
        shown |= dict.fromkeys(("zone", "stamp", "volume"), "") | {"title": f"{form.title}: {form.refusal}"}
    facts = (shown[key] for key in ("zone", "stamp", "volume", "source"))
    return f"`{form.name}`", shown["title"], _recognised_by(form), *facts


def _recognised_by(form: Form) -> str:
    """Names of columns, the layout of lines without a header, and patterns of times and of the file's name."""
    columns = ", ".join(f"`{name}`" if name else "an unnamed one" for name in form.columns)
    by_name = "or asked for, unless the name matches" if form.needs_name else "and a name that matches"
    parts = (
        (f"columns {columns}", form.columns),
        (f"lines of {', '.join(form.layout.split())}", form.layout),
        (f"times such as `{form.times}`", form.times),
        (f"{by_name} `{form.file_name}`", form.file_name),
    )
    return "; ".join(text for text, is_set in parts if is_set)


def cuda() -> str:
    """What a GPU needs, from the doctor's table, with the version of torch that the lock pins."""
    lock = (README.parent / "requirements.lock").read_text(encoding="utf-8")
    torch = next(line for line in lock.splitlines() if line.startswith("torch==")).removeprefix("torch==").split()[0]
    rows = []
    systems = ("Windows", "WSL2", "Linux")  # the last first, after what any has; before all, what needs nothing
    for case in sorted(CASES, key=lambda case: (not case.is_fine, *(system in case.found for system in systems))):
        is_windows = "Windows" in case.found
        folder = ".venv\\Scripts\\" if is_windows else ".venv/bin/"
        programs = {"python": f"{folder}python", "program": f"{folder}ghostcandle"}
        facts = CudaFacts(system="Linux", torch=torch, cuda=None, usable="cuda:1", **programs)
        lines = filled_in(case.advice, facts).splitlines()
        cells = (f"`{line.strip()}`" if line.startswith(" ") else line for line in lines)
        rows.append((case.found, "<br>".join(cells)))
    return "\n".join(_table(("you have", "to do"), rows))


PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings,
    "keys": keys,
    "exchanges": exchanges,
    "feed-panel": feed_numbers,
    "candle-files": candle_files,
    "cuda": cuda,
}
"""The generator of each page's part."""


def page_of(name: str) -> Path:
    """The page that has this part."""
    return README if name == "cuda" else DOCS / f"{name}.md"


def with_part(text: str, name: str) -> str:
    """The page with its part regenerated. Raises ValueError if its marks are missing."""
    first, last = f"<!-- from the code, by make docs: {name} -->", f"<!-- end of {name} -->"
    if text.count(first) != 1 or text.count(last) != 1:
        raise ValueError(f"the page has not one pair of marks: {first} and {last}")
    return f"{text[: text.index(first)]}{first}\n\n{PARTS[name]()}\n\n{text[text.index(last) :]}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    only_checks = parser.parse_args().check
    stale = []
    pages = {page_of(name): name for name in PARTS}
    made = {page: with_part(page.read_text(encoding="utf-8"), name) for page, name in pages.items()}
    for file, after in made.items():
        if not file.exists() or file.read_text(encoding="utf-8") != after:
            stale.append(file.name)
            if not only_checks:
                file.write_text(after, encoding="utf-8")
    print(f"{'Out of date' if only_checks else 'Written'}: {', '.join(stale) or 'none'}")
    return 1 if only_checks and stale else 0


if __name__ == "__main__":
    sys.exit(main())
