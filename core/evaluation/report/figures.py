"""The figures of `evaluate` as text, for the terminal and the page. Takes the summary that --json prints."""

from __future__ import annotations

import math
from typing import Any

from core.domain.counts import counted
from core.domain.dates import utc_text
from core.forecast.experts import EXPERTS, REFERENCE
from core.forecast.sample_sizes import FEWEST_FOR_AN_EDGE, FEWEST_FOR_AN_ESTIMATE
from core.storage.evidence_blocks import COMBINATION

NOT_ENOUGH = "not enough candles"
NOTHING = "nothing to forecast"
AFTER_WARM_UP = "after warm-up"
"""Marks figures of another set of candles, with another kind of interval, than the answers."""
EXPLAINED = (
    "Skill: the relative reduction of the loss against “no change”; brackets hold 95 % intervals. After warm-up: "
    "without the first 1,000 candles, if enough are left, and with narrower intervals, for one test at the end. "
    "The best single baseline is named in hindsight. bp: basis points, hundredths of a percent."
)
TOGETHER_EXPLAINED = (
    "Against the best: the relative reduction of the loss against the best single baseline, which is named in "
    "hindsight. What the model adds: the skill against “no change”, less that without the model. Brackets hold 95 % "
    "intervals for one test at the end, after warm-up: without the first 1,000 candles. Not proven: the interval "
    f"includes 0, or fewer than {FEWEST_FOR_AN_EDGE} candles count."
)
PAPER_EXPLAINED = (
    "The rule: long if the median of the next close lies above the last close by more than the cost of a trade, "
    "short if it lies below by more, else flat. The break-even cost is for the same rule without regard to costs. No "
    "order was placed."
)
QUANTITIES = ("close", "range")
DECIMALS = 1
"""Of a skill or a gain in percent, in sentences and in tables."""
ALSO_DRAWN = ("body", "upper_wick", "lower_wick", "volume")
ALSO_DRAWN_HEADER = ("other values", "skill", "", "n")
REGIME_HEADER = ("regime, share", *QUANTITIES, "90 % band", "n")
CHALLENGERS_HEADER = ("challenger", *QUANTITIES)
REGIMES_EXPLAINED = (
    "The regime is known at the close of the candle from which the forecast was made; volatile is relative to the "
    "market's past. Each forecast counts for the likeliest regime."
)
TOUCHED_HEADER = ("touched within", "Brier score", "against a Brownian path", "against climatology, in hindsight", "n")
TOUCHED_EXPLAINED = (
    "The chance that a price is touched, at -2, -1, -1/2, 1/2, 1 and 2 times the volatility over as many candles; how "
    "much smaller its Brier score is than the score of a driftless path as wide as “no change”, and than the score of "
    "climatology: how often each was touched."
)
_COIN = 0.5
_MOST_DECIMALS = 6


def printable(name: str) -> str:
    """A user-chosen name, without characters that control a terminal or reverse text."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)


def percent(value: float) -> str:
    """A skill or a gain with its sign, but for zero."""
    text = f"{100.0 * value:+,.{DECIMALS}f} %"
    return text if any(digit in text for digit in "123456789") else text[1:]


def share(value: float | None, digits: int = 1) -> str:
    return NOT_ENOUGH if value is None else f"{100.0 * value:.{digits}f} %"


def floored_percent(share: float) -> float:
    """Down to a tenth of a point, so that 100 means all."""
    return math.floor(1000.0 * share + 1e-9) / 10.0


def between(ci95: list[float]) -> str:
    """No end is rounded to zero, as its side of zero is the proof."""
    return " to ".join(f"{100.0 * end or 0.0:,.{_decimals(end)}f}" for end in ci95)


def _decimals(end: float) -> int:
    return next((digits for digits in range(DECIMALS, _MOST_DECIMALS) if round(100.0 * end, digits)), DECIMALS)


def missing(n: int) -> str:
    return NOT_ENOUGH if n < FEWEST_FOR_AN_ESTIMATE else NOTHING  # a share of nothing is not defined


def measured(value: float | None, ci95: list[float] | None, n: int) -> str:
    """A difference with its 95 % interval."""
    if value is None or ci95 is None:
        return missing(n) if value is None else NOT_ENOUGH
    return f"{percent(value)} ({between(ci95)})"


def verdict(ci95: list[float] | None, n: int, better: str, worse: str) -> str:
    """The conclusion from the interval of a difference: on one side of 0 on enough candles, or not proven."""
    if ci95 is None:
        return missing(n)
    if ci95[0] <= 0.0 <= ci95[1]:
        return "not proven: the interval includes 0"
    if n < FEWEST_FOR_AN_EDGE:
        return f"not proven: fewer than {FEWEST_FOR_AN_EDGE} candles"
    return better if ci95[0] > 0.0 else worse


def judged(value: float | None, ci95: list[float] | None, n: int) -> str:
    """A value as in `measured`, marked if nothing is proven."""
    is_open = ci95 is not None and bool(verdict(ci95, n, better="", worse=""))
    return measured(value, ci95, n) + (", not proven" if is_open else "")


def heading(summary: dict[str, Any]) -> str:
    """The run's file, size, and number of judged candles."""
    return f"{printable(summary['file'])}: {size(summary, summary['interval'])}{left_out(summary)}"


def size(summary: dict[str, Any], interval: str = "") -> str:
    """How many candles there are, were scored and are evaluated, in the same words wherever it is said."""
    candles = f"{summary['candles']:,} candles of {interval}" if interval else f"{summary['candles']:,} candles"
    return f"{candles}, {summary['scored']:,} scored, {summary['judged']:,} evaluated"


def left_out(summary: dict[str, Any]) -> str:
    """The candles that do not count, in brackets; empty if all count."""
    first, thinned = summary["left_out"], summary["without_detail"]
    parts = [f"not the first {first:,}: the reference needs them as its past"] if first else []
    parts += [f"of {thinned:,} older ones the detail is no longer stored"] if thinned else []
    return f" ({'; '.join(parts)})" if parts else ""


def learns(summary: dict[str, Any]) -> bool:
    """Whether the model learned from the candles; False if a checkpoint's weights stayed fixed."""
    return bool(summary.get("checkpoint", {}).get("learns", True))


def circumstances(summary: dict[str, Any]) -> str:
    rate = summary["candles_per_s"]
    training = "with training on" if learns(summary) else "without training"
    speed = "speed not measured" if rate is None else f"{rate:.1f} candles/s {training}"
    return f"seed {summary['seed']}, {printable(summary['device'])}, {speed}"


def start(summary: dict[str, Any]) -> str:
    """The checkpoint that the run started from, in sentences; empty for a new model."""
    checkpoint = summary.get("checkpoint")
    if checkpoint is None:
        return ""
    until = utc_text(checkpoint["learned_until_ms"], "%Y-%m-%d %H:%M")
    learning = (
        "The model kept learning from each candle, as it does live."
        if checkpoint["learns"]
        else "Its weights stayed fixed; its mix with the baselines, and the band, kept adapting."
    )
    return (
        f"The run started from the checkpoint of step {checkpoint['step']:,} ({printable(checkpoint['id'])}), trained "
        f"on {printable(checkpoint['market'])} up to {until} UTC. {learning} {_seen(checkpoint)}"
    )


def _seen(checkpoint: dict[str, Any]) -> str:
    """Candles of the file that the checkpoint may know, and whether they count."""
    if not checkpoint["seen"]:
        return "All candles of the file are later than that."
    seen = f"{checkpoint['seen']:,} candles of the file"
    if checkpoint["counts_seen"]:
        return f"{seen} are earlier; they count, since the checkpoint is declared to be of another market."
    return f"{seen} are earlier, so it may have learned from them; they do not count."


def findings(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """One candle ahead: skill, the model, learning, with the figures of the run, then the best baseline; each followed
    by its verdict. A row has its name, and a value for each of QUANTITIES."""
    found = [summary["watched"][name] for name in QUANTITIES]
    learned = [summary["skill"][f"online_gain_{name}"] for name in QUANTITIES]
    return [
        ("Skill", *(_shown(of["skill"]) for of in found)),
        ("", *(_proves(of["skill"], "better", "worse") for of in found)),
        ("What the model adds", *(_shown(of["model_gain"]) for of in found)),
        ("", *(_proves(of["model_gain"], "helps", "harms") for of in found)),
        ("Learning", *map(_shown, learned)),
        ("", *(_proves(of, "helps", "harms") for of in learned)),
        ("Candles (n)", *(f"{of['skill']['n']:,}" for of in found)),
        *against_best(summary),
    ]


def against_best(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """The row of `findings` that no answer and no leaderboard has, with its verdict."""
    found = [summary["pinball"][name] for name in QUANTITIES]
    return [
        (f"Against the best, {AFTER_WARM_UP}", *map(_against_best, found)),
        ("", *("" if _is_no_change(of) else _better_or_worse(of, "skill_vs_best") for of in found)),
    ]


def challengers(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """Two rows for each challenger, one candle ahead: its skill and cost, and its skill against the model. Then one row
    for the gain of all together. Empty without challengers."""
    of = [summary["pinball"][name] for name in QUANTITIES]
    if "challengers" not in of[0]:
        return []
    rows: list[tuple[str, ...]] = []
    for name, cost_ms in summary["challenger_ms"].items():
        alone = [each["challengers"][name] | {"n": each["n"]} for each in of]
        about = "" if cost_ms is None else f", {cost_ms:.1f} ms a candle"
        answered = summary["challenger_answered"][name]
        about += "" if answered in (None, 1.0) else f", answered {floored_percent(answered):.1f} %"
        rows.append((printable(name) + about, *(_judged(each, "skill") for each in alone)))
        rows.append(("\N{NO-BREAK SPACE} against the model", *(_judged(each, "skill_vs_model") for each in alone)))
    added = (judged(each["challengers_gain"], each["challengers_gain_ci95"], each["n"]) for each in of)
    return [*rows, ("What all of them add", *added)]


def together_heading(pooled: dict[str, Any]) -> str:
    return f"{pooled['markets']:,} files, one model: {pooled['candles']:,} candles, {pooled['judged']:,} evaluated"


def together(summary: dict[str, Any], key: str) -> list[tuple[str, ...]]:
    """A row for each file, then one for all: the figure of this key, one candle ahead, and how many candles count."""
    last = {"All files": summary["pooled"]}
    rows = {name: found for name, found in summary.items() if name != "pooled"} | last
    return [
        (printable(name), *(_judged(found["pinball"][of], key) for of in QUANTITIES), f"{found['judged']:,}")
        for name, found in rows.items()
    ]


def pooled_horizons(pooled: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (horizon, *(_judged(of[name], "skill_vs_best") for name in QUANTITIES))
        for horizon, of in pooled["horizons"].items()
    ]


def _shown(of: dict[str, Any]) -> str:
    return measured(of["value"], of["ci95"], of["n"])


def _proves(of: dict[str, Any], above: str, below: str) -> str:
    return verdict(of["ci95"], of["n"], f"{above}: the interval lies above 0", f"{below}: the interval lies below 0")


def _judged(of: dict[str, Any], key: str) -> str:
    return judged(of[key], of[f"{key}_ci95"], of["n"])


def _measured(of: dict[str, Any], key: str) -> str:
    return measured(of[key], of[f"{key}_ci95"], of.get(f"{key}_n", of["n"]))


def _better_or_worse(of: dict[str, Any], key: str) -> str:
    return verdict(of[f"{key}_ci95"], of["n"], "better: the interval lies above 0", "worse: the interval lies below 0")


def pooled_coverage(pooled: dict[str, Any]) -> str:
    """The coverage of the 90 % band, over all files."""
    of = pooled["coverage"]
    if of["overall"] is None:
        return "Not enough candles to judge the 90 % band."
    interval = NOT_ENOUGH if of["overall_ci95"] is None else " to ".join(map(share, of["overall_ci95"]))
    return f"The 90 % band of the close held {share(of['overall'])} of the evaluated closes ({interval})."


def also_drawn(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each other drawn quantity, one candle ahead: skill, verdict, n."""
    rows: list[tuple[str, ...]] = []
    for name in ALSO_DRAWN:
        of = summary["watched"][name]["skill"]
        proves = _proves(of, "better", "worse") if of["ci95"] else ""  # else it would be the same text
        rows.append((name.replace("_", " "), _shown(of), proves, f"{of['n']:,}"))
    return rows


def direction(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """How often the direction was right, compared with rules without a model. Flat candles are left out."""
    of, hits = summary["watched"], _of_ghosts(summary, "direction")
    simple, majority = of["reverse_last"], of["majority"]
    right = _with_n(hits["value"], hits["n"], hits["ci95"])
    return [
        ("Direction right", f"{right}; {coin_verdict(hits['ci95'], simple['value'])}"),
        ("“Reverse last” right", _with_n(simple["value"], simple["n"])),
        ("Majority, in hindsight", _with_n(majority["value"], majority["n"])),
    ]


def _of_ghosts(summary: dict[str, Any], key: str) -> dict[str, Any]:
    """A figure as the leaderboard has it, if the page has one: it does not depend on detail that was deleted since."""
    rows = summary.get("leaderboard", {}).get("rows", [])
    ranked = next((row[key] for row in rows if row["name"] == COMBINATION), None)
    found: dict[str, Any] = summary["watched"][key] if ranked is None or ranked["ci95"] is None else ranked
    return found


def coverage(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """How often the close was inside its 90 % band."""
    of, inside = summary["watched"], _of_ghosts(summary, "coverage_90")
    n = of["coverage_90"]["n"]
    covers = _with_n(inside["value"], inside["n"], inside["ci95"])
    return [
        (f"{share(summary['coverage']['nominal'], 0)} band covers", covers),
        ("Worst 500 in a row", _window(of["worst_500"], n)),
        ("Best 500 in a row", _window(of["best_500"], n)),
    ]


def difference(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Whether chance alone explains the difference between the close's losses and the reference's."""
    chance, n = summary["diebold_mariano_p"], summary["judged"]
    if chance is None:
        return [(f"Diebold-Mariano, close, {AFTER_WARM_UP}", f"{missing(n)} (n = {n:,})")]
    p_value = "p below 0.0001" if chance < 1e-4 else f"p = {chance:.4f}"
    is_proven = chance < 0.05 and n >= FEWEST_FOR_AN_EDGE
    proves = "the losses differ from those of “no change”" if is_proven else "not proven that the losses differ"
    return [(f"Diebold-Mariano, close, {AFTER_WARM_UP}", f"{p_value} (n = {n:,}); {proves}")]


def of_the_close(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """All rows on the close alone, one candle ahead."""
    return [*direction(summary), *coverage(summary), *difference(summary)]


def horizons(summary: dict[str, Any], key: str) -> list[tuple[str, ...]]:
    """A row for each horizon: candles ahead, the skill of each quantity (or the model's gain), n."""
    return [
        (horizon, *(_shown(of[name][key]) for name in QUANTITIES), f"{of[QUANTITIES[0]][key]['n']:,}")
        for horizon, of in summary["watched"]["horizons"].items()
    ]


def regimes(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each regime: its name and share of the candles, the skill of each quantity, coverage, n."""
    return [
        (
            f"{name}, {share(of['share'], 0)}",
            *(_measured(of[quantity] | {"n": of["n"]}, "skill") for quantity in QUANTITIES),
            _covered(of["coverage_90"], of["coverage_90_ci95"]),
            f"{of['n']:,}",
        )
        for name, of in summary["regimes"].items()
    ]


def next_regime(summary: dict[str, Any]) -> str:
    """How good the model's forecasts of the next candle's regime were, in a sentence."""
    of = summary["next_regime"]
    found = f"skill {_measured(of, 'skill')}, n {of['n']:,}" if of["n"] else "none was made"
    return f"The model's forecast of the next candle's regime, against the regime staying ({AFTER_WARM_UP}): {found}."


def after_gap(summary: dict[str, Any]) -> str:
    """The results for candles after a gap, which are in no other figure, in a sentence."""
    of = summary["after_gap"]
    if not of["n"]:
        return "No evaluated candle came after a gap or a session break."
    head = f"Candles after a gap or a session break ({AFTER_WARM_UP}): {of['n']:,}, in none of the other figures"
    if of["coverage_90"] is None:
        return f"{head}; {NOT_ENOUGH} to judge them."
    skills = "; ".join(f"skill of the {name} {_measured(of[name] | {'n': of['n']}, 'skill')}" for name in QUANTITIES)
    covered = _with_n(of["coverage_90"], of["n"], of["coverage_90_ci95"])
    hits = _with_n(of["direction"], of["direction_n"], of["direction_ci95"])
    return f"{head}. One candle ahead: {skills}; 90 % band covers {covered}; direction right {hits}."


def inside(summary: dict[str, Any]) -> str:
    """For how many candles an inside was known, and what HAR gained by it."""
    of = summary["inside"]
    worth = judged(of["worth"]["value"], of["worth"]["ci95"], of["worth"]["n"])
    return (
        f"The inside of {of['known']:,} of the newest {counted(of['candles'], 'candle')} is known. To HAR's skill of "
        f"the range it adds {worth} (valid at every look)."
    )


def touched(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each number of candles within which prices are touched: how good the chances were, and n. Empty without
    a case."""
    return [
        (
            within,
            NOT_ENOUGH if of["brier"] is None else f"{of['brier']:.4f}",
            judged(of["skill"], of["skill_ci95"], of["n"]),
            judged(of["skill_vs_climatology"], of["skill_vs_climatology_ci95"], of["n"]),
            f"{of['n']:,}",
        )
        for within, of in summary["touched"]["within"].items()
    ]


def drifts(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each drift: time, loss before, loss after, response."""
    return [
        (
            utc_text(of["candle_open_time_ms"], "%Y-%m-%d %H:%M"),
            f"{of['loss_before']:.3g}",
            f"{of['loss_after']:.3g} over {of['candles']:,} candles",
            of["what_was_done"],
        )
        for of in summary["drifts"]
    ]


def _is_no_change(of: dict[str, Any]) -> bool:
    return bool(of["best_baseline_name"] == EXPERTS[REFERENCE])


def _against_best(of: dict[str, Any]) -> str:
    if _is_no_change(of):
        return "“no change” is the best: see the skill"  # with its one interval
    name = "" if of["best_baseline_name"] is None else f"{of['best_baseline_name']}: "
    return name + _measured(of, "skill_vs_best")


def coin_verdict(ci95: list[float] | None, reverse_last: float | None = None) -> str:
    """What a share of right directions proves, in the words of the window. reverse_last: how often that rule was right;
    None: not known, so that nothing is proven."""
    if ci95 is None:
        return NOT_ENOUGH
    if ci95[0] <= _COIN <= ci95[1]:
        return "not proven better than a coin flip"
    if ci95[1] < _COIN:
        return "worse than a coin flip"
    if reverse_last is None:
        return "above 50 %, which alone is no proof of skill"
    if reverse_last >= ci95[0]:
        return f"no proof of skill: “reverse last” alone has {share(reverse_last)}"
    return "better than a coin flip, and than “reverse last”"


def _with_n(value: float | None, n: int, ci95: list[float] | None = None) -> str:
    if value is None:
        return f"{NOT_ENOUGH} (n = {n:,})"
    interval = "" if ci95 is None else f"95 %: {100.0 * ci95[0]:.1f} to {100.0 * ci95[1]:.1f}, "
    return f"{share(value)} ({interval}n = {n:,})"


def _covered(value: float | None, ci95: list[float] | None) -> str:
    """A share with its interval, shown with n."""
    if value is None or ci95 is None:
        return NOT_ENOUGH
    return f"{share(value)} ({100.0 * ci95[0]:.0f} to {100.0 * ci95[1]:.0f})"


def _window(value: float | None, n: int) -> str:
    return f"{NOT_ENOUGH} (n = {n:,}, needs 500)" if value is None else share(value)
