"""Results as people read them in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from core.domain.candle import Market
from core.evaluation.report import answers, figures, paper_figures
from core.evaluation.report.figures import AFTER_WARM_UP, judged, measured, missing
from core.market.shown_names import shown_market

_WIDEST = 1_000
"""Characters: no table is wider."""
_QUANTITIES = ("close", "range")


def print_summary(summary: dict[str, Any]) -> None:
    """A run's summary as a short table on stdout; with "pooled", the markets of one model."""
    if "pooled" in summary:
        _print_markets(summary)
    else:
        print_pairs(summary_rows(summary))
    Console(markup=False).print(answers.EXPLAINED)


def print_pairs(rows: Iterable[tuple[str, str]], title: str | None = None) -> None:
    heading = None if title is None else Text(title, style="table.title")
    table = Table(show_header=False, box=None, pad_edge=False, title=heading, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")  # a path that is cut off names nothing
    for name, text in rows:
        table.add_row(name, text)
    Console(markup=False).print(table)


def print_whole(table: Table | str) -> None:
    """Print at full width even in a narrower terminal: a truncated name would be useless."""
    console = Console(markup=False)
    needed = Measurement.get(console, console.options.update(max_width=_WIDEST), table).maximum
    Console(markup=False, width=max(console.width, needed)).print(table)


def text_table(header: Sequence[str] | None, rows: Iterable[Sequence[str]]) -> Table:
    """A table of literal texts, without markup. rows: at least one, if there is no header."""
    rows = list(rows)
    table = Table(*(header or ("",) * len(rows[0])), show_header=header is not None, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _print_markets(summary: dict[str, Any]) -> None:
    _print_figures(summary, lambda name: shown_market(Market.parse(name)))
    pooled, console = summary["pooled"], Console(markup=False)
    console.print(f"Steps: {pooled['steps']:,}; loss {_losses(pooled['loss'])}")
    console.print(f"Checkpoints: {_checkpoints(pooled['checkpoints'])}")


def _print_figures(summary: dict[str, Any], shown_name: Callable[[str], str]) -> None:
    """The figures of each run, and of all as one. shown_name: of a key of the summary."""
    pooled = summary["pooled"]
    skills = Table("Market", "Candles", "Skill, close", "Skill, range", box=None, pad_edge=False)
    gains = Table("Market", "The model adds", "Learning", box=None, pad_edge=False)
    for key, of in summary.items():
        if of is not pooled:
            name, found = Text(shown_name(key)), of["skill"]
            skills.add_row(name, f"{of['candles']:,}", *(_judged(found[each]) for each in _QUANTITIES))
            gains.add_row(name, *(_judged(found[each]) for each in ("model_gain", "online_gain")))
    of_all, n = pooled["anytime"], {"n": pooled["anytime"]["n"]}
    skills.add_row("All", f"{pooled['candles']:,}", *(_judged(of_all[f"{each}_skill"] | n) for each in _QUANTITIES))
    of_each = Table("All markets", "The model adds", box=None, pad_edge=False)
    for each in _QUANTITIES:
        of_each.add_row(each, _judged(of_all[f"{each}_model_gain"] | n))
    for table in (skills, gains, of_each):
        Console(markup=False).print(table)


def _judged(estimate: dict[str, Any]) -> str:
    return judged(estimate["value"], estimate["ci95"], estimate["n"])


def _losses(loss: dict[str, Any]) -> str:
    return f"{_number(loss['current'])} now, {_number(loss['best'])} best, {loss['trend']}"


def summary_rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    accuracy, skill = summary["accuracy"], summary["skill"]
    alone, newest = _percent(accuracy["candle_reference"]), f"newest {accuracy['window']:,}"
    steps, checkpoints = [("Steps, loss, checkpoints", f"see run {summary.get('head_run_id')}")], []
    if "head_run_id" not in summary:  # else they are recorded with the first of several markets
        steps = [("Steps", f"{summary['steps']:,}"), ("Loss", _losses(summary["loss"]))]
        checkpoints = [("Checkpoints", _checkpoints(summary["checkpoints"]))]
    return [
        ("Run", f"{summary['run_id']}, {shown_market(Market.parse(summary['market']))}"),
        ("Candles", f"{summary['candles']:,}, {summary['scored']:,} scored"),
        *steps,
        *answers.answers(summary),
        ("Skill, range", _measured(skill["range"])),
        (f"Direction, {newest}", _direction(accuracy["direction"])),
        (f"Candle accuracy, {newest}", f"{_share(accuracy['candle'])}; “no change” alone {alone}"),
        (f"90 % band covers, {newest}", _share(accuracy["coverage_90"])),
        (f"50 % band covers, {newest}", _share(accuracy["coverage_50"])),
        *checkpoints,
        ("Incidents", str(len(summary["incidents"]))),
    ]


def _checkpoints(saved: dict[str, Any]) -> str:
    best = saved["best"]
    shown = (
        "none yet" if best is None else best["id"] if best["adds"] is not None else f"{best['id']}, not proven to add"
    )
    return f"{saved['kept']} kept of {saved['saved']}; best: {shown}"


def pretraining_rows(account: dict[str, Any]) -> list[tuple[str, str]]:
    best = next(epoch for epoch in account["epochs"] if epoch["epoch"] == account["best_epoch"])
    validation = best["validation"]
    return [
        ("Epochs", f"{len(account['epochs'])}: {account['ended_because']}; best: {account['best_epoch']}"),
        ("Samples", f"{account['samples']:,} learned from, {validation['n']:,} held back"),
        ("Steps", f"{account['steps']:,}, {account['skipped_steps']:,} skipped"),
        ("Skill, close", _validated(validation, "close")),
        ("Skill, range", _validated(validation, "range")),
        ("Device", f"{account['device']}, {account['world_size']} process(es)"),
        ("Checkpoint", account["checkpoint"]["file"]),
        ("Incidents", str(len(account["incidents"]))),
    ]


def _validated(validation: dict[str, Any], name: str) -> str:
    return measured(validation[f"{name}_skill"], validation[f"{name}_ci95"], validation["n"])


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100.0 * value:.1f} %"


def _measured(estimate: dict[str, Any]) -> str:
    return f"{measured(estimate['value'], estimate['ci95'], estimate['n'])}, n = {estimate['n']:,}"


def _direction(estimate: dict[str, Any]) -> str:
    why = "" if estimate["ci95"] is None else f"; {figures.coin_verdict(estimate['ci95'])}"
    return f"{_share(estimate)}{why}"


def _share(estimate: dict[str, Any]) -> str:
    if estimate["ci95"] is None:
        return f"{missing(estimate['n'])} (n = {estimate['n']:,})"
    low, high = estimate["ci95"]
    return f"{_percent(estimate['value'])} (95 %: {100.0 * low:.1f} to {100.0 * high:.1f} %, n = {estimate['n']:,})"


def print_evaluation(summary: dict[str, Any]) -> None:
    """A few short tables on stdout. summary: what --json prints."""
    console = Console(markup=False)
    console.print(Text(figures.heading(summary)))
    console.print(Text(figures.circumstances(summary)))
    if figures.start(summary):
        console.print(Text(figures.start(summary)))
    print_pairs(answers.answers(summary))
    console.print(answers.EXPLAINED)
    console.print()
    console.print(text_table(("One candle ahead", *figures.QUANTITIES), figures.findings(summary)))
    console.print()
    console.print(text_table(("Other values", *figures.ALSO_DRAWN_HEADER[1:]), figures.also_drawn(summary)))
    console.print()
    if challengers := figures.challengers(summary):
        console.print(text_table((f"Challenger, {AFTER_WARM_UP}", *figures.CHALLENGERS_HEADER[1:]), challengers))
        console.print()
    console.print(text_table(("Close", ""), figures.of_the_close(summary)))
    console.print()
    console.print(Text(f"Paper score, {AFTER_WARM_UP}. {paper_figures.headline(summary)}"))
    if rows := paper_figures.rows(summary):
        console.print(text_table(None, rows))
    console.print()
    console.print(
        text_table(
            ("Candles ahead", *(f"skill, {name}" for name in figures.QUANTITIES), "n"),
            figures.horizons(summary, "skill"),
        )
    )
    console.print()
    console.print(text_table((f"By regime, {AFTER_WARM_UP}", *figures.REGIME_HEADER[1:]), figures.regimes(summary)))
    console.print(Text(figures.next_regime(summary)))
    console.print()
    if touched := figures.touched(summary):
        console.print(text_table((f"Touched within, {AFTER_WARM_UP}", *figures.TOUCHED_HEADER[1:]), touched))
        console.print()
    console.print(Text(figures.after_gap(summary)))
    if summary["inside"]:
        console.print(Text(figures.inside(summary)))
    for when, before, after, done in figures.drifts(summary):
        console.print(Text(f"Drift at {when} UTC: loss {before} to {after}. {done}"))
    console.print(Text(figures.EXPLAINED))


def print_together(summary: dict[str, Any]) -> None:
    """A row for each file, and one for all. summary: what --json prints."""
    console = Console(markup=False)
    pooled = summary["pooled"]
    console.print(Text(figures.together_heading(pooled)))
    console.print(Text(figures.circumstances(pooled)))
    console.print()
    _print_figures(summary, figures.printable)
    console.print(answers.EXPLAINED)
    console.print()
    for title, key in (("Against the best", "skill_vs_best"), ("What the model adds", "model_gain")):
        header = (f"{title}, one candle ahead, {AFTER_WARM_UP}", *figures.QUANTITIES, "n")
        console.print(text_table(header, figures.together(summary, key)))
        console.print()
    console.print(
        text_table(
            (f"All files against the best, candles ahead, {AFTER_WARM_UP}", *figures.QUANTITIES),
            figures.pooled_horizons(pooled),
        )
    )
    console.print()
    console.print(Text(figures.pooled_coverage(pooled)))
    console.print(Text(figures.TOGETHER_EXPLAINED))
