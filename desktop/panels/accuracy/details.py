"""The tabs of the Accuracy dock beside the first: a horizon and a group of candles are chosen, pages show them."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
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
from desktop.ui.panel_base import mute, set_text
from desktop.ui.plain_text import Label, WrappedLabel, paragraphs
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
"""By the English name of their tab."""
_GROUP_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "Candles to evaluate: all of them, or those whose forecast was made in one market regime. A forecast belongs to "
    "the likeliest regime given the candles before it. Candles after a gap or a session break are a separate group "
    "and in no other, because they span more time than the forecast is for.",
)
_WAITING = QT_TRANSLATE_NOOP("Panels", "Reading the scores…")


class AccuracyDetails(QWidget):
    """`wanted` says what is to be found; `show_found` takes it."""

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
        """Which candles “all” are not."""
        self._stack = QStackedWidget()
        self._shown: tuple[object, ...] = (None,) * 4
        """What the page in front was made from."""
        self._build()
        self.horizon.currentIndexChanged.connect(self._on_chosen)
        self.group.currentIndexChanged.connect(self._on_chosen)

    @property
    def request(self) -> Request:
        """What the user looks at."""
        wants_touches = isinstance(self._stack.currentWidget(), BandsPage)
        return Request(self.horizon.currentData() or 1, self.group.currentData() or OVERALL, wants_touches)

    def page(self, name: str) -> Page:
        """By its English name. Made when it is first asked for: the plots of all of them cost a third of the window."""
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
        used = (found, page, shares if isinstance(page, ExpertsPage) else None, self._theme.palette)
        if all(one is other for one, other in zip(used, self._shown, strict=True)):
            return
        self._shown = used
        self._offer(found)
        self.group.setVisible(self.group.count() > 1)
        self._show_count(found)
        page.show_found(found, shares)

    def _show_state(self, found: RunAccuracy | None, trouble: str | None) -> None:
        set_text(self._waiting, trouble or translate("Panels", _WAITING))
        self._waiting.setVisible(found is None)
        self._stack.setVisible(found is not None)
        for part in (self.horizon, self._n):
            part.setVisible(found is not None)
        self._first.setVisible(found is not None and found.left_out > 0)
        self.group.setVisible(found is not None and self.group.count() > 1)

    def _offer(self, found: RunAccuracy) -> None:
        """The horizons and groups that there are; what is chosen stays chosen."""
        horizons = {ahead(of.horizon): of.horizon for of in found.horizons}
        groups = {group_name(name): name for name in found.groups}
        for box, wanted in ((self.horizon, horizons), (self.group, groups)):
            if {box.itemText(place): box.itemData(place) for place in range(box.count())} == wanted:
                continue
            chosen = box.currentData()
            with QSignalBlocker(box):
                box.clear()
                for text, data in wanted.items():
                    box.addItem(text, data)
                box.setCurrentIndex(max(box.findData(chosen), 0))

    def _show_count(self, found: RunAccuracy) -> None:
        set_text(self._n, how_many(found.chosen.n))
        first = translate(
            "Panels", "The first {0} candles are not evaluated: the reference needs them as its past."
        ).format(format_count(found.left_out))
        every = translate(
            "Panels", "All candles are evaluated while there are few; from 1,300 on, the first 1,000 are not."
        )
        self._n.setToolTip(paragraphs(f"{first if found.left_out else every}\n{_which(found)}"))
        short = translate("Panels", "Without the first {0} candles")
        set_text(self._first, short.format(format_count(found.left_out)))
        self._first.setToolTip(paragraphs(first))

    def _on_chosen(self) -> None:
        self.wanted.emit(self.request)

    def _build(self) -> None:
        self.horizon.addItem(ahead(1), 1)
        self.horizon.setToolTip(paragraphs(translate("Panels", "How many candles ahead the forecast was made.")))
        name_box(self.horizon, translate("Panels", "Candles ahead"))
        self.group.addItem(group_name(OVERALL), OVERALL)
        self.group.setToolTip(paragraphs(translate("Panels", _GROUP_MEANING)))
        name_box(self.group, translate("Panels", "Evaluated candles"))
        for box in (self.horizon, self.group):  # what is offered is not known yet, and one may be longer than the first
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        mute(self._n, self._first, self._waiting)
        self._n.setFont(tabular(self.font()))
        self._first.hide()
        top = beside(None, self.horizon, self.group, None, self._n, spacing=6)
        parts = (top, self._first, self._stack, self._waiting)
        stacked(self, *parts, stretched=(self._stack, self._waiting), margins=NO_MARGINS, spacing=4)


def _which(found: RunAccuracy) -> str:
    """Which forecasts are looked at."""
    across = translate(
        "Panels",
        "The run's own forecasts across a gap only, at most the newest {0} of each horizon.",
    )
    without = translate(
        "Panels",
        "The run's own forecasts except those across a gap, at most the newest {0} of each horizon.",
    )
    is_across = found.chosen.request.group == AFTER_GAP
    intervals = translate(
        "Panels",
        "The 95 % intervals of skills, gains and directions hold however often you look. So they are wider than those "
        "of evaluate, and than that of the direction on Now, which hold for one look.",
    )
    return f"{(across if is_across else without).format(format_count(found.most))}\n{intervals}"
