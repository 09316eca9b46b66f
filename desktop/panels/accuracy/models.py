"""The page of models and baselines: all forecasters of the market on the chart, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from core.domain.events import Estimate
from core.evaluation.assess import SHOWN
from core.evaluation.findings import OVERALL, ExpertLoss, HorizonAccuracy, Request, RunAccuracy
from core.evaluation.leaderboard import LeaderboardRow, Ranking
from core.forecast.experts import EXPERTS
from core.storage.evidence_blocks import COMBINATION
from desktop.panels.accuracy.models_table import WITHOUT_MODEL, Entry, ModelsModel, ModelsTable
from desktop.panels.accuracy.words import measured, value_of
from desktop.state.leaderboard import LeaderboardRequest
from desktop.state.run_state import RunState
from desktop.ui.accessible import name_box
from desktop.ui.colour_choice import MOST_PREVIEWS
from desktop.ui.formatting import format_count
from desktop.ui.inputs import set_choices
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import WrappedLabel, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_RANKINGS = {
    Ranking.BOTH: QT_TRANSLATE_NOOP("Panels", "By close and range"),
    Ranking.CLOSE: QT_TRANSLATE_NOOP("Panels", "By close"),
    Ranking.RANGE: QT_TRANSLATE_NOOP("Panels", "By range"),
}
_RANK_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "Ranks by close and range in equal parts, or by one of them, one candle ahead. Ranks and distances from the leader "
    "hold however often you look, and for all rows together.",
)


class ModelsPage(QWidget):
    """One candle ahead and over all candles, the forecasters are ranked by what is proven; for other choices each has
    its skill alone. Ticking a row draws its candles on the chart."""

    ranking_requested = Signal(object)
    """LeaderboardRequest: the ranking that is visible now; emitted with each refresh."""
    ghosts_requested = Signal(object)
    """Names of experts whose ghosts are wanted on the chart, in the order of their colours."""
    outdated = Signal()
    """Another ranking was chosen, or rows that were held under the mouse may move."""

    def __init__(self, state: RunState, theme: Theme) -> None:
        super().__init__()
        self._state = state
        self._ticked: tuple[str, ...] = ()
        self._rows: tuple[LeaderboardRow, ...] = ()
        self._horizon = 1
        self.ranking, self.scope, self.adds = QComboBox(), QComboBox(), WrappedLabel()
        """What to rank by; which markets; below the table, what the model adds at the choice."""
        self.model = ModelsModel(theme, self)
        self.table = ModelsTable(self.model)
        self._build()
        self.ranking.currentIndexChanged.connect(self.outdated)
        self.scope.currentIndexChanged.connect(self.outdated)
        self.model.tick_changed.connect(self._tick)

    @property
    def request(self) -> LeaderboardRequest:
        return LeaderboardRequest(Ranking(self.ranking.currentData()), bool(self.scope.currentData()))

    @property
    def has_rows(self) -> bool:
        return bool(self._rows)

    def show_found(self, found: RunAccuracy | None, chosen: Request) -> None:
        """Show the forecasters for this horizon and group of candles; those of the former choice until they are
        known. found: None for a market of which nothing is known yet."""
        self._offer_markets(len(self._state.members))
        is_answer = found is not None and replace(found.chosen.request, wants_touches=chosen.wants_touches) == chosen
        judged = found.chosen if found is not None and is_answer else None
        is_ranked = (chosen.horizon, chosen.group) == (1, OVERALL)
        self.ranking.setVisible(is_ranked)
        self.scope.setVisible(is_ranked and self.scope.count() > 1)
        if is_ranked:
            self._rows = () if self._state.leaderboard.trouble else self._ranked(judged)
            self.ranking_requested.emit(self.request)
        elif judged is not None or found is None:
            self._rows = () if judged is None else _rows_of(judged)
        self._horizon = chosen.horizon
        self._show_rows()
        set_text(self.adds, "" if judged is None else _adds(judged))
        self.adds.setVisible(bool(self.adds.text()))

    def leaveEvent(self, event: QEvent) -> None:
        """The rows may move again."""
        super().leaveEvent(event)
        self.outdated.emit()

    def show_ticks(self, names: tuple[str, ...]) -> None:
        """Tick the drawn experts, as far as the run has them."""
        if names != self._ticked:
            self._ticked = names
            self._show_rows()

    @Slot()
    def clear_ticks(self) -> None:
        """Remove all ticks, as other ghosts are drawn now."""
        self._set_ticks(())

    def _tick(self, name: str, is_wanted: bool) -> None:
        kept = self._ticked if len(self._ticked) < MOST_PREVIEWS else self._shown_ticks()
        others = tuple(each for each in kept if each != name)
        self._set_ticks((*others, name) if is_wanted else others)

    def _set_ticks(self, names: tuple[str, ...]) -> None:
        if names != self._ticked:
            self.show_ticks(names)
            self.ghosts_requested.emit(names)

    def _shown_ticks(self) -> list[str]:
        """The ticked forecasters that have a row."""
        names = {row.name for row in self._rows}
        return [each for each in self._ticked if each in names]

    def _ranked(self, judged: HorizonAccuracy | None) -> tuple[LeaderboardRow, ...]:
        """The ghosts, with the figures of the verdict, and the same without the model; then the ranking."""
        board, status = self._state.leaderboard.found, self._state.market_status
        rows = self._unranked() if board is None or not board.board.rows else board.board.rows
        if status is None or (board is not None and board.request.of_all_markets):
            return rows
        own, others = status.accuracy, [row for row in rows if row.name != COMBINATION]
        ghosts = replace(
            next((row for row in rows if row.name == COMBINATION), LeaderboardRow(COMBINATION)),
            close=own.skill_close,
            range=own.skill_range,
            n=own.skill_close.n,
        )
        if judged is None:
            return (ghosts, *others)
        ghosts = replace(
            ghosts,
            coverage_90=ghosts.coverage_90 or judged.coverage_90,
            direction=ghosts.direction or judged.direction,
        )
        return (ghosts, *(row for row in _rows_of(judged) if row.name == WITHOUT_MODEL), *others)

    def _unranked(self) -> tuple[LeaderboardRow, ...]:
        """The forecasters whose ghosts can be drawn before the first scores, challengers first."""
        made = self._state.forecast
        if made is None or made.experts is None:
            return ()
        return tuple(map(LeaderboardRow, (COMBINATION, *sorted(made.experts.names, key=EXPERTS.__contains__))))

    def _show_rows(self) -> None:
        """Rows under the mouse stay in place, so that none moves away from a click."""
        rows: Sequence[LeaderboardRow] = self._rows
        if self.table.viewport().underMouse():
            places = {entry.row.name: place for place, entry in enumerate(self.model.rows)}
            rows = sorted(rows, key=lambda row: places.get(row.name, len(places)))
        self.model.show([self._entry(row) for row in rows])

    def _entry(self, row: LeaderboardRow) -> Entry:
        is_ticked = row.name in self._ticked
        colour = self._ticked.index(row.name) if is_ticked else None
        is_drawn, why_not = is_ticked or row.name == COMBINATION, "" if is_ticked else self._why_not(row.name)
        return Entry(row, is_drawn, colour, why_not, self._weight(row.name))

    def _weight(self, name: str) -> float | None:
        """Its weight in the close of the current ghosts; None if it has none, or while no trainer is running."""
        shares = None if self._state.market_status is None else self._state.market_status.shares
        if shares is None or name not in shares.experts or self._horizon > len(shares.shares):
            return None
        return shares.shares[self._horizon - 1][shares.quantities.index("close")][shares.experts.index(name)]

    def _why_not(self, name: str) -> str:
        """Why its ghosts cannot be shown now; empty if they can."""
        made = self._state.forecast
        if name == COMBINATION:
            return translate("Panels", "These are the ghosts on the chart.")
        if name == WITHOUT_MODEL:
            return translate("Panels", "It is scored, and not drawn.")
        if len(self._shown_ticks()) == MOST_PREVIEWS:
            return translate("Panels", "At most {0} can be drawn beside the ghosts.").format(MOST_PREVIEWS)
        if made is None:
            return translate("Panels", "There is no forecast of this market yet.")
        if made.experts is None or name not in made.experts.names:
            return translate("Panels", "Its forecast comes with the next candle, while the trainer is running.")
        return ""

    def _offer_markets(self, count: int) -> None:
        choices = {translate("Panels", "This market"): False}
        if count > 1:
            choices[translate("Panels", "All {0} markets as one").format(format_count(count))] = True
        set_choices(self.scope, choices)

    def _build(self) -> None:
        for ranking, text in _RANKINGS.items():
            self.ranking.addItem(translate("Panels", text), ranking.value)
        name_box(self.ranking, translate("Panels", "Rank by"))
        set_tooltip(self.ranking, translate("Panels", _RANK_MEANING))
        self._offer_markets(1)
        name_box(self.scope, translate("Panels", "Ranked markets"))
        self.scope.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        top = beside(None, self.ranking, self.scope, None, spacing=6)
        mute(self.adds)
        stacked(self, top, self.table, self.adds, stretched=self.table, margins=NO_MARGINS, spacing=4)


def _adds(judged: HorizonAccuracy) -> str:
    """Empty before there are intervals."""
    close, spread = judged.close.model_gain, judged.range.model_gain
    if value_of(close) is None and value_of(spread) is None:
        return ""
    return translate("Panels", "The model adds, %: close {0}, range {1}").format(
        measured(close, 1), measured(spread, 1)
    )


def _rows_of(judged: HorizonAccuracy) -> tuple[LeaderboardRow, ...]:
    """The ghosts with their intervals, the same without the model, then the others by the skill of the close."""
    ghosts = LeaderboardRow(
        COMBINATION,
        n=judged.n,
        close=judged.close.skill,
        range=judged.range.skill,
        coverage_90=judged.coverage_90,
        direction=judged.direction,
    )
    rows = [_row_of(each, judged.n) for each in judged.experts if each.name != SHOWN]
    return (ghosts, *sorted(rows, key=_order)) if rows else ()


def _order(row: LeaderboardRow) -> tuple[bool, float]:
    skill = None if row.close is None else row.close.value
    return row.name != WITHOUT_MODEL, math.inf if skill is None else -skill


def _row_of(expert: ExpertLoss, n: int) -> LeaderboardRow:
    skills = expert.close_skill, expert.range_skill
    close, spread = (None if skill is None else Estimate(skill, None, None, n) for skill in skills)
    return LeaderboardRow(expert.name, n=n, close=close, range=spread)
