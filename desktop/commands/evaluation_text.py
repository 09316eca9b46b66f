"""What `evaluate` found, as people read it in a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from core.evaluation.report import touched_words, words
from desktop.commands.text import text_table


def print_evaluation(summary: dict[str, Any]) -> None:
    """A few short tables on stdout. summary: what --json prints."""
    console = Console(markup=False)
    console.print(Text(words.heading(summary)))
    console.print(Text(words.circumstances(summary)))
    if words.start(summary):
        console.print(Text(words.start(summary)))
    console.print()
    console.print(text_table(("One candle ahead", *words.QUANTITIES), words.findings(summary)))
    console.print()
    console.print(text_table(("Other values", *words.ALSO_DRAWN_HEADER[1:]), words.also_drawn(summary)))
    console.print()
    if challengers := words.challengers(summary):
        console.print(text_table(("Challenger", *words.CHALLENGERS_HEADER[1:]), challengers))
        console.print()
    console.print(text_table(None, words.of_the_close(summary)))
    console.print()
    console.print(Text(f"Paper score. {words.paper_headline(summary)}"))
    if rows := words.paper(summary):
        console.print(text_table(None, rows))
    console.print()
    console.print(
        text_table(("Candles ahead", *(f"skill, {name}" for name in words.QUANTITIES), "n"), words.horizons(summary))
    )
    console.print()
    console.print(text_table(("By regime", *words.REGIME_HEADER[1:]), words.regimes(summary)))
    console.print()
    if touched := touched_words.touched(summary):
        console.print(text_table(("Touched within", *touched_words.HEADER[1:]), touched))
        console.print()
    console.print(Text(words.after_gap(summary)))
    console.print(Text(words.online(summary)))
    for when, before, after, done in words.drifts(summary):
        console.print(Text(f"Drift at {when} UTC: loss {before} to {after}. {done}"))
    console.print(Text(words.EXPLAINED))


def print_together(summary: dict[str, Any]) -> None:
    """A row for each file, and one for all. summary: what --json prints."""
    console = Console(markup=False)
    pooled = summary["pooled"]
    console.print(Text(words.together_heading(pooled)))
    console.print(Text(words.circumstances(pooled)))
    console.print()
    for title, key in (("Against the best", "skill_vs_best"), ("What the model adds", "model_gain")):
        header = (f"One candle ahead: {title.lower()}", *words.QUANTITIES, "evaluated (n)")
        console.print(text_table(header, words.together(summary, key)))
        console.print()
    console.print(
        text_table(("All files against the best, candles ahead", *words.QUANTITIES), words.pooled_horizons(pooled))
    )
    console.print()
    console.print(Text(words.pooled_coverage(pooled)))
    console.print(Text(words.TOGETHER_EXPLAINED))
