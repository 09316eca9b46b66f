"""Texts of `ghostcandle import` for people: the contents of a file, and the known forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.market.history.forms.recognise import FORMS
from core.market.history.report import candle_text, describe_form
from core.market.history.utc_times import moment_text
from desktop.commands.options import print_json
from desktop.commands.text import print_pairs


def print_forms(*, as_json: bool) -> None:
    """Every known form of files: its name, title, zone, stamp, volume and source."""
    forms = [describe_form(form) for form in FORMS.values()]
    if as_json:
        print_json({"forms": forms})
        return
    rows = []
    for form in forms:
        use = f"time zone: {form['zone']}; times mark: {form['stamp']}; volume: {form['volume']}"
        use = f"cannot be imported: {form['refusal']}" if form["refusal"] else use
        rows += [(form["name"], form["title"]), ("", use), ("", f"source: {form['source']}")]
    print_pairs(rows)


def contents(report: Mapping[str, Any], *, is_dry_run: bool, replaces: bool) -> Iterator[tuple[str, str]]:
    """Names and texts of one file's contents, from the report of an import or a dry run."""
    unnamed, every = " ".join((report.get("unnamed") or {}).values()), f", every {report['interval']}"
    yield "Market", unnamed or f"{report['symbol']} {report['interval']} ({report['venue']})"
    yield from how_read(report)
    yield "Rows", f"{report['rows']:,} {report['kind']}{every if unnamed else ''}"
    yield "Candles", f"{report['candles']:,}, {moment_text(report['first_ms'])} to {moment_text(report['last_ms'])} UTC"
    yield "First", candle_text(report["first"])
    yield "Last", candle_text(report["last"])
    yield "Holes", f"{report['holes']:,} ({report['missing']:,} candles are missing)" if report["holes"] else "none"
    if not report["left_out"]:
        yield "Left out", "no row"
    for place, each in enumerate(report["left_out"]):
        yield "" if place else "Left out", f"{each['count']:,} ({each['reason']})"
        if each["example"]:
            yield "", f"such as {each['example']}"
    if report["repeated"]:
        yield "Repeated", f"{report['repeated']:,} rows, {report['contradicting']:,} with other numbers: the last stays"
    if not unnamed:
        yield from _changes(report, is_dry_run, replaces)


def how_read(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The decisions that the numbers rest on."""
    name = report["form"]
    yield "Form", report["form_read_as"] + (f" (--form {name})" if name else "")
    yield "Time zone", report["zone"]
    yield "Volume", report["volume"]
    for title, key in (("Times mark", "stamp"), ("Numbers", "numbers")):
        if report[key]:
            yield title, report[key]


def _changes(report: Mapping[str, Any], is_dry_run: bool, replaces: bool) -> Iterator[tuple[str, str]]:
    fate = f" ({'would be ' * is_dry_run}replaced by the file's)"
    if not replaces:
        fate = " (kept; --replace puts the file's in their place)"
    if not report["different"]:
        fate = ""
    yield "Stored already", f"{report['same']:,} the same, {report['different']:,} different{fate}"
    to_store = report["new"] + report["different"] * replaces
    new = f"{to_store:,} would be stored (dry run)" if is_dry_run else f"{report['stored']:,} stored"
    yield "New or changed" if replaces else "New", new
