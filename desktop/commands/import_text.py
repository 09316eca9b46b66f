"""What `ghostcandle import` prints for people: the contents of a file, and the known forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.market.history.forms.table import FORMS
from core.market.history.moments import moment_text
from core.market.history.report import candle_text, describe_form
from desktop.commands.options import print_json
from desktop.commands.text import print_pairs


def print_forms(*, as_json: bool) -> None:
    """Every known form of files: its name, title, zone, stamp, volume and source."""
    forms = [describe_form(form) for form in FORMS.values()]
    if as_json:
        print_json({"forms": forms})
        return
    print_pairs(row for form in forms for row in _form_rows(form))


def _form_rows(form: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield form["name"], form["title"]
    if form["refusal"]:
        yield "", f"cannot be imported: {form['refusal']}"
    else:
        yield "", f"time zone: {form['zone']}; times mark: {form['stamp']}; volume: {form['volume']}"
    yield "", f"source: {form['source']}"


def contents(report: Mapping[str, Any], *, is_dry_run: bool, replaces: bool) -> Iterator[tuple[str, str]]:
    """Names and texts of one file's contents, of the account of an import or a dry run."""
    unnamed, every = " ".join((report.get("unnamed") or {}).values()), f", every {report['interval']}"
    yield "Market", unnamed or f"{report['symbol']} {report['interval']} ({report['venue']})"
    yield from how_read(report)
    yield "Rows", f"{report['rows']:,} {report['kind']}{every if unnamed else ''}"
    yield "Candles", f"{report['candles']:,}, {moment_text(report['first_ms'])} to {moment_text(report['last_ms'])} UTC"
    yield "First", candle_text(report["first"])
    yield "Last", candle_text(report["last"])
    yield "Holes", f"{report['holes']:,} ({report['missing']:,} candles are missing)" if report["holes"] else "none"
    yield from _left_out(report)
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


def _left_out(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not report["left_out"]:
        yield "Left out", "no row"
    for place, each in enumerate(report["left_out"]):
        yield "" if place else "Left out", f"{each['count']:,} ({each['reason']})"
        if each["example"]:
            yield "", f"such as {each['example']}"


def _changes(report: Mapping[str, Any], is_dry_run: bool, replaces: bool) -> Iterator[tuple[str, str]]:
    fate = _fate(report, is_dry_run, replaces)
    yield "Stored already", f"{report['same']:,} the same, {report['different']:,} different{fate}"
    to_store = report["new"] + report["different"] * replaces
    new = f"{to_store:,} would be stored (dry run)" if is_dry_run else f"{report['stored']:,} stored"
    yield "New or changed" if replaces else "New", new


def _fate(report: Mapping[str, Any], is_dry_run: bool, replaces: bool) -> str:
    if not report["different"]:
        return ""
    if not replaces:
        return " (kept; --replace puts the file's in their place)"
    return f" ({'would be ' * is_dry_run}replaced by the file's)"
