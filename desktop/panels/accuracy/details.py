"""The Accuracy dock's pages besides the verdict, for a chosen horizon and group of candles."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QStackedWidget, QWidget

from core.evaluation.findings import AFTER_GAP, OVERALL, InsideAccuracy, Request, RunAccuracy
from desktop.panels.accuracy.bands import BandsPage
from desktop.panels.accuracy.glossary import GlossaryLinks
from desktop.panels.accuracy.models import ModelsPage
from desktop.panels.accuracy.words import ahead, group_name, how_many, inside_words, not_yet
from desktop.state.run_state import RunState
from desktop.ui.accessible import name_box
from desktop.ui.formatting import format_candles, format_count
from desktop.ui.icons import tabular
from desktop.ui.inputs import set_choices
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, WrappedLabel, set_tooltip
from desktop.ui.stacks import NO_MARGINS, beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

MODELS = QT_TRANSLATE_NOOP("Panels", "Models")
BANDS = QT_TRANSLATE_NOOP("Panels", "Bands and errors")
PAGES = (MODELS, BANDS)
"""English names of the pages' tabs."""
_GROUP_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "Candles to evaluate: all of them, or those whose forecast was made in one market regime. A forecast belongs to "
    "the likeliest regime given the candles before it. Candles after a gap or a session break are a separate group "
    "and in no other, because they span more time than the forecast is for.",
)
_INSIDE_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "The inside of a candle is how much its finer candles moved. HAR reads it: this is its skill of the range one "
    "candle ahead with the inside, less that without, over the newest 10,000 candles of this market, with a 95 % "
    "interval that holds however often you look.",
)
_WAITING = QT_TRANSLATE_NOOP("Panels", "Reading the scores…")


class AccuracyDetails(QWidget):
    """`wanted` requests the figures of one horizon and group; `show_found` shows the result."""

    wanted = Signal(object)
    """Request: another horizon or group was chosen."""

    def __init__(self, state: RunState, theme: Theme) -> None:
        super().__init__()
        self._state, self._theme = state, theme
        self.links = GlossaryLinks(self)
        self.models = ModelsPage(state, theme)
        self.models.table.entry_requested.connect(self.links.chosen)
        self._bands: BandsPage | None = None
        self.horizon, self.group = QComboBox(), QComboBox()
        self._n = Label()
        self._waiting = Label(alignment=Qt.AlignmentFlag.AlignCenter, wraps=True)
        self._first = WrappedLabel()
        """Says how many candles most figures leave out."""
        self._inside = WrappedLabel()
        self._stack = QStackedWidget()
        self._stack.addWidget(self.models)
        self._shown: tuple[object, ...] = ()
        """The data of the page of bands."""
        self._build()
        self.horizon.currentIndexChanged.connect(self._on_chosen)
        self.group.currentIndexChanged.connect(self._on_chosen)

    @property
    def request(self) -> Request:
        """The request for the visible page."""
        wants_touches = self._stack.currentWidget() is not self.models
        return Request(self.horizon.currentData() or 1, self.group.currentData() or OVERALL, wants_touches)

    @property
    def bands(self) -> BandsPage:
        """The page of bands and errors, created on first use: its plots take a third of the window's start."""
        if self._bands is None:
            self._bands = BandsPage(self._theme)
            self._bands.links.chosen.connect(self.links.chosen)
            self._stack.addWidget(self._bands)
        return self._bands

    def open_page(self, name: str) -> None:
        """Bring a page to the front. name: the English one."""
        self._stack.setCurrentWidget(self.models if name == MODELS else self.bands)

    def show_found(self, found: RunAccuracy | None, trouble: str | None) -> None:
        """found: None while nothing is known. Results already shown cost nothing."""
        if found is not None:
            set_choices(self.horizon, {ahead(row.horizon): row.horizon for row in found.horizons})
            set_choices(self.group, {group_name(name): name for name in found.groups})
            self._show_count(found)
        is_models = self._stack.currentWidget() is self.models
        if is_models:
            self.models.show_found(found, self.request)
        elif found is not None and self._shown != (found, self._theme.palette):
            self._shown = (found, self._theme.palette)
            self.bands.show_found(found)
        has_content = self.models.has_rows if is_models else found is not None
        self._stack.setVisible(has_content)
        set_text(self._waiting, self._why_nothing(found, trouble))
        self._waiting.setVisible(not has_content)
        for part in (self.horizon, self._n):
            part.setVisible(found is not None)
        self._first.setVisible(found is not None and found.left_out > 0)
        self.group.setVisible(found is not None and self.group.count() > 1)
        self._show_inside(None if found is None else found.inside)

    def _why_nothing(self, found: RunAccuracy | None, trouble: str | None) -> str:
        trouble = trouble or self._state.leaderboard.trouble
        return trouble or (translate("Panels", _WAITING) if found is None else not_yet(found.chosen.n))

    def _show_count(self, found: RunAccuracy) -> None:
        set_text(self._n, how_many(found.chosen.close.skill.n))
        set_tooltip(self._n, _which(found))
        short = translate("Panels", "{0} left out, except in skill and gain one candle ahead")
        set_text(self._first, short.format(format_candles(found.left_out)))
        why = translate(
            "Panels",
            "Skill and gain one candle ahead count all of the run's own candles. All else leaves out those that are "
            "older than the newest {0}, were corrected, or whose detail was deleted.",
        )
        set_tooltip(self._first, why.format(format_count(found.most)))

    def _show_inside(self, inside: InsideAccuracy | None) -> None:
        self._inside.setVisible(inside is not None)
        if inside is not None:
            set_text(self._inside, inside_words(inside))

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
        mute(self._n, self._first, self._inside, self._waiting)
        self._n.setFont(tabular(self.font()))
        self._first.hide()
        self._inside.hide()
        set_tooltip(self._inside, translate("Panels", _INSIDE_MEANING))
        top = beside(None, self.horizon, self.group, None, self._n, spacing=6)
        parts = (top, self._first, self._inside, self._stack, self._waiting)
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
        "The 95 % intervals of skills, gains and directions hold however often you look, so they are wider than those "
        "of a test that is made once.",
    )
    return f"{words.format(format_count(found.most))}\n{intervals}"
