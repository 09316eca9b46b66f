"""The leaderboard panel: models and baselines of the market on the chart, ranked by what is proven."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QComboBox

from core.evaluation.leaderboard import LeaderboardRow, Ranking
from core.forecast.experts import EXPERTS
from core.storage.evidence_blocks import COMBINATION
from desktop.panels.accuracy.words import expert_name
from desktop.panels.leaderboard.table import Entry, LeaderboardModel, LeaderboardTable
from desktop.state.leaderboard import LeaderboardRequest
from desktop.state.run_state import RunState
from desktop.state.training_words import break_sentence
from desktop.ui.accessible import name_box
from desktop.ui.colour_choice import MOST_PREVIEWS
from desktop.ui.formatting import format_count
from desktop.ui.inputs import set_choices
from desktop.ui.interface_size import scale_text
from desktop.ui.panel_base import EmptyState, Panel, set_text
from desktop.ui.plain_text import ElidedLabel, set_tooltip
from desktop.ui.stacks import beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_EMPTY = QT_TRANSLATE_NOOP("Panels", "No ranking yet.\nThe first numbers come after 50 scored candles.")
_READING = QT_TRANSLATE_NOOP("Panels", "Reading the scores…")
_RANKINGS = {
    Ranking.BOTH: QT_TRANSLATE_NOOP("Panels", "By close and range"),
    Ranking.CLOSE: QT_TRANSLATE_NOOP("Panels", "By close"),
    Ranking.RANGE: QT_TRANSLATE_NOOP("Panels", "By range"),
}
_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "Own forecasts of this run, one candle ahead. All intervals hold however often you look and for all rows "
    "together: in at most 5 % of runs any skill is ever wrong, and likewise any comparison. So they are wider than in "
    "the Accuracy panel, which shows one number at a time.",
)


class LeaderboardPanel(Panel):
    """The ranking of all experts, read on another thread while visible. Ticking a row shows its ghosts on the chart."""

    wanted = Signal(object)
    """LeaderboardRequest: the ranking that is visible now; emitted with every refresh."""
    ghosts_requested = Signal(object)
    """Names of experts whose ghosts are wanted on the chart, in the order of their colours."""

    def __init__(self, state: RunState, theme: Theme) -> None:
        super().__init__(theme)
        self._state = state
        self._ticked: tuple[str, ...] = ()
        self._rows: tuple[LeaderboardRow, ...] = ()
        self.ranking, self.scope, self._headline = QComboBox(), QComboBox(), ElidedLabel()
        self.model = LeaderboardModel(theme, self)
        self.table = LeaderboardTable(self.model)
        self._build()
        self._empty = EmptyState(translate("Panels", _EMPTY), self)
        self.ranking.currentIndexChanged.connect(self.refresh)
        self.scope.currentIndexChanged.connect(self.refresh)
        self.model.tick_changed.connect(self._tick)
        self.follow(state.status_changed, state.forecast_changed, state.record_changed, state.leaderboard.changed)

    @property
    def request(self) -> LeaderboardRequest:
        return LeaderboardRequest(Ranking(self.ranking.currentData()), bool(self.scope.currentData()))

    def refresh(self) -> None:
        self._offer_markets(len(self._state.members))
        found, trouble = self._state.leaderboard.found, self._state.leaderboard.trouble
        ranked = () if found is None else found.board.rows
        self._rows = rows = () if trouble else ranked or self._unranked()
        status = self._state.market_status
        is_unread = found is None and status is not None and status.accuracy.scored > 0
        text = trouble or translate("Panels", _READING if is_unread else _EMPTY)
        self._empty.update_state(
            is_empty=not rows, is_loading=self._state.is_loading, text=text, why=break_sentence(self._state)
        )
        for part in (self.ranking, self._headline, self.table):
            part.setVisible(bool(rows))
        self.scope.setVisible(bool(rows) and self.scope.count() > 1)
        if rows:
            set_text(self._headline, _headline(ranked) if ranked else text.replace("\n", " "))
        self._show_rows()
        self.wanted.emit(self.request)

    def leaveEvent(self, event: QEvent) -> None:
        """The rows may move again."""
        super().leaveEvent(event)
        self.mark_stale()

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
        return Entry(row, is_ticked or row.name == COMBINATION, colour, "" if is_ticked else self._why_not(row.name))

    def _why_not(self, name: str) -> str:
        """Why its ghosts cannot be shown now; empty if they can."""
        made = self._state.forecast
        if name == COMBINATION:
            return translate("Panels", "These are the ghosts on the chart.")
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
        set_tooltip(self.ranking, translate("Panels", "Ranks by close and range in equal parts, or by one of them."))
        self._offer_markets(1)
        name_box(self.scope, translate("Panels", "Ranked markets"))
        self.scope.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        set_tooltip(self._headline, translate("Panels", _MEANING))
        scale_text(self._headline, 1.0, bold=True)
        top = beside(None, self.ranking, self.scope, self._headline, stretched=self._headline, spacing=6)
        stacked(self, top, self.table, stretched=self.table, margins=(6, 4, 6, 4), spacing=4)


def _headline(rows: Sequence[LeaderboardRow]) -> str:
    """The leader, and how sure its lead is."""
    leader, *others = (row for row in rows if row.rank is not None)
    name = expert_name(leader.name)
    if all(row.is_indistinguishable is None for row in others):
        return translate("Panels", "Too early to compare: n = {0}").format(format_count(leader.n))
    equals = sum(row.is_indistinguishable is not False for row in others)  # not proven worse than the leader
    if equals == 0:
        return translate("Panels", "{0} is proven the best").format(name)
    words = (
        translate("Panels", "{0} leads, 1 other may be as good")
        if equals == 1
        else translate("Panels", "{0} leads, {1} others may be as good")
    )
    return words.format(name, format_count(equals))
