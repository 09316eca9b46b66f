"""The accuracy panel: how good the forecasts have been, how sure that is, and what it is measured against."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QTabBar, QToolButton, QWidget

from core.domain.events import AccuracySummary, ForecastGroup, MarketStatus
from core.forecast.sample_sizes import FEWEST_FOR_A_PROOF
from core.market.shown_names import shown_symbol
from desktop.panels.accuracy.answers import AnswerLine, Answers, Found, answers_of, is_by_simple_rules
from desktop.panels.accuracy.details import PAGES, AccuracyDetails
from desktop.panels.accuracy.words import kind_word
from desktop.state.run_state import RunState
from desktop.state.training_words import break_sentence, ending_words
from desktop.ui.formatting import format_count, format_duration, format_percent
from desktop.ui.interface_size import scale_text
from desktop.ui.panel_base import EmptyState, Panel, mute, set_text
from desktop.ui.plain_text import Label, WrappedLabel, set_tooltip
from desktop.ui.scrolling import DownScrolling
from desktop.ui.stacks import beside, stacked
from desktop.ui.theme import NarrowTabs, Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_APART = (
    QT_TRANSLATE_NOOP("Panels", "Backtest on past candles. Indicative only."),
    QT_TRANSLATE_NOOP("Panels", "The model has been trained on these candles: the scores prove nothing."),
)
_SHARE_MEANING = QT_TRANSLATE_NOOP(
    "Panels",
    "For the next close, the ghosts combine {0} of the model's forecast with {1} of the baselines': “no change”, "
    "averages, regressions. The better recent ones weigh more; if the model's share is small, the ghosts are those of "
    "the baselines.",
)
_VERDICT = QT_TRANSLATE_NOOP("Panels", "Verdict")
"""The tab that the trainer updates with each candle."""
_VERDICT_SCALE = 1.3


class AccuracyPanel(Panel):
    """The first tab has three sentences, with a bar each, and their figures are nowhere else as large. The others read
    all scores of the run, which costs more, so they are computed only while visible."""

    wanted = Signal(object)
    """Request: what is visible now; emitted with every refresh."""

    def __init__(self, state: RunState, theme: Theme) -> None:
        super().__init__(theme)
        self._state = state
        self._ghosts = AnswerLine(theme, scale=_VERDICT_SCALE)
        self._reason, self._footer = WrappedLabel(), Label(wraps=True)
        """Why it is too early; the number of candles, and the model's share of the ghosts."""
        self._model, self._learning = AnswerLine(theme), AnswerLine(theme)
        self.apart = QToolButton()
        """Shows the scores that are kept apart instead of the run's own."""
        self.tabs, self.details = QTabBar(), AccuracyDetails(state, theme)
        self.links = self.details.links
        self._now = DownScrolling(self._build_layout(), translate("Panels", "Verdict"))
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        NarrowTabs(self.tabs)  # all are in view in the narrowest dock
        for name in (_VERDICT, *PAGES):
            self.tabs.setTabData(self.tabs.addTab(translate("Panels", name)), name)
        stacked(self, self.tabs, self._now, self.details, margins=(8, 2, 8, 2), spacing=3)
        self.details.hide()
        self._empty = EmptyState(translate("Panels", _EMPTY), self)
        self.follow(self.apart.toggled, state.status_changed, state.diagnosis_changed, state.feed_changed)
        self.follow(state.forecast_changed, state.record_changed, state.accuracy_changed)
        self.follow(state.leaderboard.changed, self.details.models.outdated)
        self.tabs.currentChanged.connect(self._on_tab)
        self.details.wanted.connect(self.wanted)

    def refresh(self) -> None:
        status, made = self._state.market_status, self._state.forecast
        has_scores = status is not None and status.accuracy.scored > 0
        has_pages = has_scores or (made is not None and made.experts is not None)  # their ghosts can be drawn already
        is_verdict = self.tabs.currentIndex() == 0
        is_empty, why = not (has_scores if is_verdict else has_pages), break_sentence(self._state)
        self._empty.update_state(is_empty=is_empty, is_loading=self._state.is_loading, why=why)
        self.tabs.setVisible(has_pages)
        self._now.setVisible(is_verdict)
        self.details.setVisible(has_pages and not is_verdict)
        if is_verdict:
            self._refresh_verdict()
        elif has_pages:
            self.details.show_found(self._state.accuracy, self._state.accuracy_trouble)
            self.wanted.emit(self.details.request)

    def _on_tab(self, index: int) -> None:
        if index:
            self.details.open_page(self.tabs.tabData(index))
        self.refresh()

    def _refresh_verdict(self) -> None:
        status = self._state.market_status
        if status is None or status.accuracy.scored == 0:
            for part in (self._ghosts, self._reason, self._model, self._learning, self._footer, self.apart):
                part.hide()
            return
        own, apart = status.accuracy, status.accuracy_apart
        self._offer_apart(own, apart)
        if apart is not None and self.apart.isChecked():
            self._show_apart(apart)
            self._show_footer(own, apart)
            return
        has_ended, has_diverged = bool(ending_words(self._state)), self._state.has_diverged
        self._show_answers(own, answers_of(own, status.online, has_ended=has_ended, has_diverged=has_diverged))
        self._show_footer(own, own)

    def _build_layout(self) -> QWidget:
        mute(self._reason, self._footer)
        answers = ((self._ghosts, "ghost"), (self._model, "model"), (self._learning, "learning-helps"))
        for line, anchor in answers:
            self.links.link(line.sentence, anchor)
            self.links.link(line.figure, "interval")
        self.links.link(self._reason, "too-early")
        self.links.link(self._footer, "weight")
        self.apart.setAutoRaise(True)
        self.apart.setCheckable(True)
        self.apart.hide()  # it has no text before there are scores to choose from
        scale_text(self.apart, 0.9)
        below = beside(None, self._footer, self.apart, stretched=self._footer, spacing=6)
        page = QWidget()
        parts = (self._ghosts, self._reason, self._model, self._learning, below)
        stacked(page, *parts, None, margins=(0, 4, 0, 0), spacing=8)
        return page

    def _offer_apart(self, own: AccuracySummary, apart: AccuracySummary | None) -> None:
        self.apart.setVisible(apart is not None)
        if apart is None:
            self.apart.setChecked(False)
            return
        shown, other = (apart, own) if self.apart.isChecked() else (own, apart)
        self.apart.setText(translate("Panels", "Show {0}").format(kind_word(other.group)))
        meaning = translate(
            "Panels",
            "Show the scores of the {0} forecasts instead of the {1} ones. A forecast is live if it was stored before "
            "the close of its candle could be known.",
        )
        set_tooltip(self.apart, meaning.format(kind_word(other.group), kind_word(shown.group)))

    def _show_answers(self, own: AccuracySummary, answers: Answers) -> None:
        self._show_reason(self._why_early(own, answers))
        lines = self._ghosts, self._model, self._learning
        for line, answer in zip(lines, (answers.ghosts, answers.model, answers.learning), strict=True):
            line.show_answer(answer, QColor() if answer is None else answers.colour(answer, self.palette_now))
        width = max(line.figure.sizeHint().width() for line in lines)
        for line in lines:  # so that the marks at 0 are below each other
            line.figure.setMinimumWidth(width)

    def _why_early(self, own: AccuracySummary, answers: Answers) -> str:
        """How many candles the verdict needs, and how long that is; empty if it needs none."""
        if answers.ghosts.found is not Found.EARLY:
            return ""
        have, fewest, interval_ms = own.skill_close.n, FEWEST_FOR_A_PROOF, self._state.interval_ms
        ending, is_silent = ending_words(self._state), self._state.feed_record.is_silent
        words = translate("Panels", "A proof needs {0} candles ({1} so far).")
        if own.group is ForecastGroup.LIVE and interval_ms is not None and not is_silent and not ending:
            share = self._state.feed_record.candle_share  # in a thin market many intervals have no candle
            wait = format_duration((fewest - have) * interval_ms / 1000 / share)
            words = translate("Panels", "A proof needs {0} candles ({1} so far): in about {2}.")
            return words.format(fewest, format_count(have), wait)
        words = words.format(fewest, format_count(have))
        stays = translate("Panels", "{0}: undecided until more candles arrive. {1}")
        return stays.format(ending, words) if ending else words

    def _show_apart(self, apart: AccuracySummary) -> None:
        for line in (self._model, self._learning):
            line.hide()
        kind = kind_word(apart.group)
        headline = translate("Panels", "{0} candles, scored separately").format(f"{kind[:1].upper()}{kind[1:]}")
        self._show_reason(translate("Panels", _APART[apart.group is ForecastGroup.SEEN]))
        self._ghosts.show()
        self._ghosts.show_figure(headline, apart.skill_close, self.palette_now.text)

    def _show_reason(self, reason: str) -> None:
        set_text(self._reason, reason)
        self._reason.setVisible(bool(reason))

    def _show_footer(self, own: AccuracySummary, shown: AccuracySummary) -> None:
        text = _total_text(shown, is_own=shown is own)
        if shown is not own and shown.coverage_90.n == shown.window:
            text = translate("Panels", "Newest {0}").format(text)  # how many there were before is not counted
        meaning = translate(
            "Panels",
            "Of all {0} scored forecasts of this run, {1} were live: stored before the close of their candle could be "
            "known.\nCandles after a gap or a session break are not counted: the other tabs show them as a group.",
        ).format(format_count(own.scored), format_count(own.live_scored))
        share = own.model_weight
        if is_by_simple_rules(self._state):
            text = translate("Panels", "{0} · next close: baselines only").format(text)
        elif share is not None:
            model, rest = format_percent(share, 0), format_percent(1.0 - share, 0)
            text = translate("Panels", "{0} · next close: {1} model").format(text, model)
            meaning = f"{meaning}\n{translate('Panels', _SHARE_MEANING).format(model, rest)}"
            meaning = f"{meaning}\n{_by_horizon(self._state.market_status)}".rstrip()
        if len(self._state.members) > 1 and self._state.market is not None:
            text = f"{shown_symbol(self._state.market.venue, self._state.market.symbol)} · {text}"
        set_text(self._footer, text)
        set_tooltip(self._footer, meaning)
        self._footer.show()


_EMPTY = QT_TRANSLATE_NOOP("Panels", "No forecasts scored yet.\nEach is scored when its candle closes.")


def _total(shown: AccuracySummary, *, is_own: bool) -> int:
    """Scored candles of a group: for the run's own forecasts all behind the answers, for the others those in the
    window."""
    return shown.skill_close.n if is_own else shown.coverage_90.n


def _by_horizon(status: MarketStatus | None) -> str:
    """The model's share in each close that is forecast: it may differ much."""
    shares = None if status is None else status.shares
    if shares is None or len(shares.shares) < 2:
        return ""
    quantity, model = shares.quantities.index("close"), shares.experts.index("model")
    each = (format_percent(of_horizon[quantity][model], 0) for of_horizon in shares.shares)
    return translate("Panels", "The model's share in the close of each candle ahead: {0}.").format(", ".join(each))


def _total_text(shown: AccuracySummary, *, is_own: bool) -> str:
    total = _total(shown, is_own=is_own)
    text = translate("Panels", "{0} {1} candle") if total == 1 else translate("Panels", "{0} {1} candles")
    return text.format(format_count(total), kind_word(shown.group))
