"""The other tabs of the Accuracy dock: pages for a chosen horizon and group of candles."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QStackedWidget, QWidget

from core.domain.events import ExpertShares
from core.evaluation.findings import AFTER_GAP, OVERALL, Request, RunAccuracy
from desktop.panels.accuracy.bands import BandsPage
from desktop.panels.accuracy.experts import ExpertsPage
from desktop.panels.accuracy.pages import HorizonsPage, Page, SkillPage
from desktop.panels.accuracy.plots import ErrorsPage
from desktop.panels.accuracy.words import ahead, group_name, how_many
from desktop.ui.accessible import name_box
from desktop.ui.formatting import format_count
from desktop.ui.icons import tabular
from desktop.ui.inputs import set_choices
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, WrappedLabel, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

PAGES: dict[str, type[Page]] = {
    QT_TRANSLATE_NOOP("Panels", "Skill"): SkillPage,
    QT_TRANSLATE_NOOP("Panels", "Ahead"): HorizonsPage,
    QT_TRANSLATE_NOOP("Panels", "Experts"): ExpertsPage,
    QT_TRANSLATE_NOOP("Panels", "Bands"): BandsPage,
    QT_TRANSLATE_NOOP("Panels", "Errors"): ErrorsPage,
}
"""Pages by the English name of their tab."""
_GROUP_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "Candles to evaluate: all of them, or those whose forecast was made in one market regime. A forecast belongs to "
    "the likeliest regime given the candles before it. Candles after a gap or a session break are a separate group "
    "and in no other, because they span more time than the forecast is for.",
)
_WAITING = QT_TRANSLATE_NOOP("Panels", "Reading the scores…")


class AccuracyDetails(QWidget):
    """The tabs with the figures of one horizon and group. `wanted` requests them; `show_found` shows the result."""

    wanted = Signal(object)
    """Request: another horizon or group was chosen."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._pages: dict[str, Page] = {}
        self.horizon, self.group = QComboBox(), QComboBox()
        self._n = Label()
        self._waiting = Label(translate("Panels", _WAITING), alignment=Qt.AlignmentFlag.AlignCenter, wraps=True)
        self._first = WrappedLabel()
        """Says how many candles most figures leave out."""
        self._stack = QStackedWidget()
        self._shown: tuple[object, ...] = (None,) * 4
        """The data of the page in front."""
        self._build()
        self.horizon.currentIndexChanged.connect(self._on_chosen)
        self.group.currentIndexChanged.connect(self._on_chosen)

    @property
    def request(self) -> Request:
        """The request for the visible page."""
        wants_touches = isinstance(self._stack.currentWidget(), BandsPage)
        return Request(self.horizon.currentData() or 1, self.group.currentData() or OVERALL, wants_touches)

    def page(self, name: str) -> Page:
        """A page by its English name, created on first use: the plots of all take a third of the window's start."""
        if name not in self._pages:
            self._pages[name] = page = PAGES[name](self._theme)
            if isinstance(page, HorizonsPage):
                page.chosen.connect(lambda horizon: self.horizon.setCurrentIndex(self.horizon.findData(horizon)))
            self._stack.addWidget(page)
        return self._pages[name]

    def open_page(self, name: str) -> None:
        """Bring a page to the front. name: the English one."""
        self._stack.setCurrentWidget(self.page(name))

    def show_found(self, found: RunAccuracy | None, trouble: str | None, shares: ExpertShares | None) -> None:
        """found: None while nothing is known. Results already shown cost nothing."""
        page = self._stack.currentWidget()
        self._show_state(found, trouble)
        if found is None or not isinstance(page, Page):
            return
        if isinstance(page, ExpertsPage):
            page.shares = shares
        used = (found, page, shares if isinstance(page, ExpertsPage) else None, self._theme.palette)
        if all(one is other for one, other in zip(used, self._shown, strict=True)):
            return
        self._shown = used
        set_choices(self.horizon, {ahead(row.horizon): row.horizon for row in found.horizons})
        set_choices(self.group, {group_name(name): name for name in found.groups})
        self.group.setVisible(self.group.count() > 1)
        self._show_count(found)
        page.show_found(found)

    def _show_state(self, found: RunAccuracy | None, trouble: str | None) -> None:
        set_text(self._waiting, trouble or translate("Panels", _WAITING))
        self._waiting.setVisible(found is None)
        self._stack.setVisible(found is not None)
        for part in (self.horizon, self._n):
            part.setVisible(found is not None)
        self._first.setVisible(found is not None and found.left_out > 0)
        self.group.setVisible(found is not None and self.group.count() > 1)

    def _show_count(self, found: RunAccuracy) -> None:
        set_text(self._n, how_many(found.chosen.n))
        set_tooltip(self._n, _which(found))
        short = translate("Panels", "Without {0} candles, except in skill and gain one candle ahead")
        set_text(self._first, short.format(format_count(found.left_out)))
        why = translate(
            "Panels",
            "Skill and gain one candle ahead count all of the run's own candles. All else leaves out those that are "
            "older than the newest {0}, were corrected, or whose detail was deleted.",
        )
        set_tooltip(self._first, why.format(format_count(found.most)))

    def _on_chosen(self) -> None:
        self.wanted.emit(self.request)

    def _build(self) -> None:
        self.horizon.addItem(ahead(1), 1)
        set_tooltip(self.horizon, translate("Panels", "How many candles ahead the forecast was made."))
        name_box(self.horizon, translate("Panels", "Candles ahead"))
        self.group.addItem(group_name(OVERALL), OVERALL)
        set_tooltip(self.group, translate("Panels", _GROUP_MEANING))
        name_box(self.group, translate("Panels", "Evaluated candles"))
        for box in (self.horizon, self.group):  # the entries are unknown yet, and one may be longer than the first
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        mute(self._n, self._first, self._waiting)
        self._n.setFont(tabular(self.font()))
        self._first.hide()
        top = beside(None, self.horizon, self.group, None, self._n, spacing=6)
        parts = (top, self._first, self._stack, self._waiting)
        stacked(self, *parts, stretched=(self._stack, self._waiting), margins=NO_MARGINS, spacing=4)


def _which(found: RunAccuracy) -> str:
    words = translate(
        "Panels", "The run's own forecasts except those across a gap, at most the newest {0} of each horizon."
    )
    if found.chosen.request.group == AFTER_GAP:
        words = translate(
            "Panels", "The run's own forecasts across a gap only, at most the newest {0} of each horizon."
        )
    intervals = translate(
        "Panels",
        "The 95 % intervals of skills, gains and directions hold however often you look. So they are wider than those "
        "of evaluate, and than that of the direction on Now, which hold for one look.",
    )
    return f"{words.format(format_count(found.most))}\n{intervals}"
